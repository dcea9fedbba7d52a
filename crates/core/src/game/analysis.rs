//! The move that decided a lost match: after it the game was lost whatever was played, before it it was not. For games whose
//! rules can tell what a move leads to. Pure.

use super::prospect::Prospect;
use super::replay::Replay;
use super::words::move_noun;
use super::{Game, Outcome, Seat, Turn};
use crate::protocol::ids::{GameType, PlayerId};
use crate::protocol::messages::ResultDetails;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The last move of the loser that had a better alternative.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidingMove {
    game_type: GameType,
    /// Its ply, from 1: the position after so many turns.
    pub ply: usize,
    /// The move that was made.
    pub made: Value,
    /// What would have led to most.
    pub better: Value,
    /// What that would have led to.
    pub instead: Prospect,
}

/// "move 8 (column 3) lost the game; column 5 would have held the draw".
impl fmt::Display for DecidingMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            game_type,
            ply,
            made,
            better,
            instead,
        } = self;
        let instead = match instead {
            Prospect::Won => "would have won",
            Prospect::Drawn => "would have held the draw",
            Prospect::Open | Prospect::Lost => "was not lost, as far as the search reaches",
        };
        write!(
            f,
            "move {ply} ({}) lost the game; {} {instead}",
            move_noun(game_type, made),
            move_noun(game_type, better)
        )
    }
}

/// The move by which `loser` lost a match; `None` if the game cannot tell, or if it was lost from the first move on.
pub fn deciding_move(
    game_type: &GameType,
    players: [&PlayerId; 2],
    details: &ResultDetails,
    loser: &PlayerId,
) -> Option<DecidingMove> {
    let entry = super::find(game_type)?;
    let seat = Seat::BOTH
        .into_iter()
        .find(|seat| *seat.of(&players) == loser)?;
    let turns = details.turn_log.as_ref()?;
    // From the end: positions near it are decided soonest, and the last mistake is the one that counts.
    (0..turns.len()).rev().find_map(|before| {
        let made = turns.get(before)?.get(loser)?;
        let mut replay = Replay::new((entry.new)(), players, None);
        for moves in turns.iter().take(before) {
            replay.turn(moves).ok()?;
        }
        if replay.game.turn() != Turn::One(seat) {
            return None;
        }
        let prospects = replay.game.prospects();
        let (_, came) = prospects.iter().find(|(option, _)| option == made)?;
        let (better, instead) = prospects
            .iter()
            .rev()
            .max_by_key(|(_, prospect)| *prospect)?;
        (*came == Prospect::Lost && *instead > Prospect::Lost).then(|| DecidingMove {
            game_type: game_type.clone(),
            ply: before + 1,
            made: made.clone(),
            better: better.clone(),
            instead: *instead,
        })
    })
}

/// Who would win from a position, if both played as well as one can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// Player A can force a win, or has won.
    A,
    /// Player B can force a win, or has won.
    B,
    /// Neither can.
    Level,
    /// The search ended before it was decided.
    Open,
}

/// The outlook of each position of a match that is over: of the first, and after each turn. Empty if the game cannot tell.
pub fn outlooks(
    game_type: &GameType,
    players: [&PlayerId; 2],
    details: &ResultDetails,
) -> Vec<Outlook> {
    let (Some(entry), Some(turns)) = (super::find(game_type), details.turn_log.as_ref()) else {
        return Vec::new();
    };
    let mut replay = Replay::new((entry.new)(), players, None);
    let first = outlook(&*replay.game);
    let later = turns.iter().map_while(|moves| {
        replay.turn(moves).ok()?;
        outlook(&*replay.game)
    });
    first.into_iter().chain(later).collect()
}

/// The outlook of a position; none if the game cannot tell.
pub fn outlook(game: &dyn Game) -> Option<Outlook> {
    let of = |seat| match seat {
        Seat::A => Outlook::A,
        Seat::B => Outlook::B,
    };
    let seat = match game.turn() {
        Turn::One(seat) => seat,
        Turn::Over => {
            return Some(match game.outcome()? {
                Outcome::Win(seat) => of(seat),
                Outcome::Draw => Outlook::Level,
            });
        }
        Turn::Both | Turn::Chance | Turn::External => return None,
    };
    let prospects = game.prospects();
    let best = prospects.into_iter().map(|(_, prospect)| prospect).max()?;
    Some(match best {
        Prospect::Won => of(seat),
        Prospect::Lost => of(seat.other()),
        Prospect::Drawn => Outlook::Level,
        Prospect::Open => Outlook::Open,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::messages::{ByPlayer, GameDetails};
    use serde_json::{Map, json};

    /// The deciding move of the loser in a match of these moves, which A began.
    fn decided(game: &str, moves: &[Value], loser: usize) -> Option<DecidingMove> {
        let ids = [1, 2].map(PlayerId::numbered);
        let [a, b] = &ids;
        let turn = |(number, made): (usize, &Value)| {
            ByPlayer::from_iter([(if number % 2 == 0 { a } else { b }.clone(), made.clone())])
        };
        let mut details = ResultDetails::of(GameDetails::Other(Map::new()));
        details.turn_log = Some(moves.iter().enumerate().map(turn).collect());
        deciding_move(&GameType::new(game), [a, b], &details, &ids[loser])
    }

    fn cells(moves: &[u32]) -> Vec<Value> {
        moves.iter().map(|cell| json!(cell)).collect()
    }

    #[test]
    fn the_last_mistake_at_tic_tac_toe_is_found() {
        // B had to take the middle; 8 lets A fork.
        let found = decided("tic_tac_toe", &cells(&[0, 8, 2, 1, 6, 3, 4]), 1).unwrap();
        assert_eq!(
            (found.ply, found.made, found.better),
            (2, json!(8), json!(4))
        );
        assert_eq!(found.instead, Prospect::Drawn);
        // B did not stop the row.
        let found = decided("tic_tac_toe", &cells(&[0, 4, 1, 8, 2]), 1).unwrap();
        assert_eq!((found.ply, found.better), (4, json!(2)));
    }

    #[test]
    fn the_outlook_changes_with_the_mistake() {
        let ids = [1, 2].map(PlayerId::numbered);
        let [a, b] = &ids;
        let moves = cells(&[0, 8, 2, 1, 6, 3, 4]);
        let turn = |(number, made): (usize, &Value)| {
            ByPlayer::from_iter([(if number % 2 == 0 { a } else { b }.clone(), made.clone())])
        };
        let mut details = ResultDetails::of(GameDetails::Other(Map::new()));
        details.turn_log = Some(moves.iter().enumerate().map(turn).collect());
        let all = outlooks(&GameType::new("tic_tac_toe"), [a, b], &details);
        assert_eq!(all.len(), 8);
        assert_eq!(all[..2], [Outlook::Level, Outlook::Level]);
        assert!(all[2..].iter().all(|one| *one == Outlook::A), "{all:?}");
        assert_eq!(
            outlooks(&GameType::new("rock_paper_scissors"), [a, b], &details),
            []
        );
    }

    #[test]
    fn a_heap_that_was_not_balanced_decided_nim() {
        let take = |heap: u64, take: u64| json!({ "heap": heap, "take": take });
        let moves = [take(3, 7), take(2, 2), take(1, 3), take(2, 3)];
        let found = decided("nim", &moves, 0).unwrap();
        assert_eq!((found.ply, found.instead), (1, Prospect::Won));
        assert_eq!(found.better, take(1, 1));
    }

    #[test]
    fn an_open_three_was_not_stopped_at_connect_four() {
        // A has 2, 3 and 4 at the bottom open on both sides after B looked away.
        let found = decided("connect_four", &cells(&[3, 3, 2, 2, 4, 4, 5]), 1).unwrap();
        assert_eq!((found.ply, found.made), (4, json!(2)));
        assert!(
            [json!(1), json!(4), json!(5)].contains(&found.better),
            "{}",
            found.better
        );
    }

    #[test]
    fn a_game_of_choices_at_once_cannot_tell() {
        assert_eq!(decided("rock_paper_scissors", &[json!("rock")], 0), None);
        assert_eq!(decided("no_such_game", &[], 0), None);
    }
}
