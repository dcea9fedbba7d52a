//! What a match that is not decided is about, in plain words: "If Ada wins, Ada is first." Pure.

use matchday_audit::league_view::PlayerName;
use matchday_core::league::League;
use matchday_core::league::fixture::Match;
use matchday_core::league::settings::Score;
use matchday_core::league::standings::POINTS_WIN;
use matchday_core::protocol::PlayerId;

/// One sentence for each player whose win would change the top of the table; nothing where points do not rank.
pub(super) fn of(league: &League, game: &Match) -> Vec<String> {
    let by_points = league.settings.score == Score::Match && !league.is_ladder();
    if game.decision.is_some() || !by_points || league.matches_decided == 0 {
        return Vec::new();
    }
    let sentences = [&game.a, &game.b].map(|player| of_player(league, player));
    sentences.into_iter().flatten().collect()
}

fn of_player(league: &League, player: &PlayerId) -> Option<String> {
    let rows = league.rows();
    let own = rows.iter().find(|row| row.player_id == *player)?.points;
    let others = rows.iter().filter(|row| row.player_id != *player);
    let rival = others.max_by_key(|row| row.points)?;
    let name = PlayerName::of(league, player).name;
    let then = own + POINTS_WIN;
    if own > rival.points {
        Some(format!("A win keeps {name} first"))
    } else if then > rival.points {
        Some(format!("If {name} wins, {name} is first"))
    } else if then == rival.points {
        let rival = PlayerName::of(league, &rival.player_id).name;
        Some(format!(
            "If {name} wins, {name} is level with {rival} at the top"
        ))
    } else {
        None
    }
}
