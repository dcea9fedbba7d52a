//! Whether a schedule leaves a player on one side, in a game where that matters. Pure.

use matchday_core::game;
use matchday_core::league::League;

/// A sentence on who is on side B in all matches of a whole round robin.
pub fn note(league: &League) -> Option<String> {
    let game = game::find(&league.settings.game_type).filter(|game| game.sides_matter)?;
    if !league.settings.competition.format.is_fixed() {
        return None;
    }
    let always_b = league.players.keys().find(|player| {
        let mut own = league
            .matches
            .values()
            .filter(|game| game.has(player))
            .peekable();
        own.peek().is_some() && own.all(|game| game.b == **player)
    })?;
    let by = if league.players.len() == 4 {
        ", by the schedule of the sources for four players"
    } else {
        ""
    };
    Some(format!(
        "{always_b} is on side B in all of its matches{by}, and in {} the side matters: --format double_round_robin gives \
         everyone both sides, --seeding lots chooses that player at random.",
        game.name
    ))
}
