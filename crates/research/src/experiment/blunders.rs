//! Moves held against what the game's rules can tell of them: how many threw away a win or a draw. Pure.

use crate::game_log::{Entry, GameLog};
use matchday_core::game::prospect::Prospect;
use matchday_core::game::{GameEntry, Seat, Turn};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Of the moves of one player.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Judged {
    /// Whose worth is known.
    pub(super) moves: u64,
    /// That lost a game which was not lost, or gave away a win.
    pub(super) blunders: u64,
}

/// What the moves in a position lead to, by what was played before.
pub(super) type Known = BTreeMap<String, Vec<(Value, Prospect)>>;

/// For A and B; nothing in games whose rules cannot tell. The same position is searched once.
pub(super) fn judge(game: &GameEntry, log: &GameLog, known: &mut Known) -> [Judged; 2] {
    let mut position = (game.new)();
    let mut judged = [Judged::default(); 2];
    let mut before = String::new();
    for entry in log.entries().into_iter().flatten() {
        let (Entry::Move(made), Turn::One(seat)) = (entry, position.turn()) else {
            return judged;
        };
        let prospects = known
            .entry(before.clone())
            .or_insert_with(|| position.prospects());
        if let Some(is_blunder) = is_blunder(prospects, &made) {
            let [a, b] = &mut judged;
            let own = if seat == Seat::A { a } else { b };
            own.moves += 1;
            own.blunders += u64::from(is_blunder);
        }
        if position.play(seat, &made).is_err() {
            return judged;
        }
        before = format!("{before} {made}");
    }
    judged
}

/// `None` if the search does not tell.
fn is_blunder(prospects: &[(Value, Prospect)], made: &Value) -> Option<bool> {
    let own = prospects.iter().find(|(option, _)| option == made)?.1;
    let best = prospects.iter().map(|(_, prospect)| *prospect).max()?;
    match (own, best) {
        (Prospect::Open, _) => None,
        (Prospect::Lost, best) => Some(best != Prospect::Lost),
        (own, best) => Some(best == Prospect::Won && own != Prospect::Won),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::game;
    use matchday_core::protocol::GameType;

    #[test]
    fn a_corner_unanswered_by_the_centre_is_a_blunder() {
        let tic_tac_toe = game::find(&GameType::new("tic_tac_toe")).unwrap();
        let mut log = GameLog::default();
        for cell in [0, 1, 4, 2, 8] {
            log.push_move(&Value::from(cell));
        }
        let mut known = Known::new();
        let [a, b] = judge(tic_tac_toe, &log, &mut known);
        assert_eq!((a.moves, a.blunders), (3, 0));
        assert_eq!((b.moves, b.blunders), (2, 1), "the first move lost it");
        assert_eq!(known.len(), 5);
    }
}
