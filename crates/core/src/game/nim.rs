//! Nim: three heaps of 3, 5 and 7 objects; players take turns, and the one who takes the last object wins.

use super::json_game::JsonGame;
use super::prospect::Prospect;
use super::rules::{Moves, Presentation, Rules, StrategyOf, written};
use super::strategy;
use super::view::{Grid, View};
use super::{BuiltIn, GameEntry, Outcome, Seat, Turn};
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::GameDetails;
use serde_json::{Map, Value, json};
use smol_str::{SmolStr, ToSmolStr};

pub(super) const GAME: GameEntry = GameEntry {
    name: "nim",
    about: "take from one of three heaps; the last object wins",
    rules: RULES,
    turns_max: 15,
    sides_matter: true,
    payoff: None,
    new: JsonGame::<Nim>::begin,
    built_in: Some(BuiltIn::of::<Nim>()),
};

const RULES: &str = "\
# nim

There are three heaps, of 3, 5 and 7 objects. Player A begins, and the players take turns: a move takes as many objects as
one likes, but at least one, from one heap. The player who takes the very last object wins. There are no draws.

A win is worth 3 points, a loss 0.

The context of a turn holds in `heaps` how many objects each heap has left, and in `moves` all moves so far; the options are
every move, as in `{\"heap\": 1, \"take\": 2}`. The heaps are numbered 1 to 3.

The player who begins can force a win, and after a single mistake so can the other.
";

const HEAPS: [u64; 3] = [3, 5, 7];

#[derive(Debug, Clone)]
struct Nim {
    heaps: [u64; 3],
    /// Whose move it is, or would be if there were objects left.
    next: Seat,
}

impl Default for Nim {
    fn default() -> Self {
        Self {
            heaps: HEAPS,
            next: Seat::A,
        }
    }
}

impl Rules for Nim {
    /// Which heap, from 1, and how many.
    type Move = (u64, u64);
    type Memory = ();

    const STRATEGIES: &'static [StrategyOf<Self>] = &[StrategyOf::new(
        "optimal",
        "leaves heaps whose sizes cancel out in binary, whenever that can be done",
        |situation| situation.position.best_move(),
    )];

    fn turn(&self) -> Turn {
        if self.heaps == [0; 3] {
            Turn::Over
        } else {
            Turn::One(self.next)
        }
    }

    fn options(&self) -> usize {
        self.heaps.iter().sum::<u64>() as usize
    }

    fn option(&self, number: usize) -> (u64, u64) {
        let mut take = number as u64 + 1;
        for (heap, size) in self.numbered() {
            if take <= size {
                return (heap, take);
            }
            take -= size;
        }
        (0, 0)
    }

    fn play(&mut self, seat: Seat, (heap, take): (u64, u64)) {
        for (_, size) in (1..)
            .zip(&mut self.heaps)
            .filter(|(number, _)| *number == heap)
        {
            *size -= take;
        }
        self.next = seat.other();
    }

    fn outcome(&self) -> Option<Outcome> {
        (self.heaps == [0; 3]).then(|| Outcome::Win(self.next.other()))
    }
}

impl Nim {
    fn numbered(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        (1..).zip(self.heaps)
    }

    fn balance(&self) -> u64 {
        self.heaps.iter().fold(0, |all, size| all ^ size)
    }

    /// Heaps whose sizes cancel out in binary are lost for the player to move. Where they do already, one object from the
    /// largest heap gives the opponent the most to go wrong with.
    fn best_move(&self) -> Option<(u64, u64)> {
        let balance = self.balance();
        let mut heaps = self.numbered();
        match heaps.clone().find(|(_, size)| size ^ balance < *size) {
            Some((heap, size)) => Some((heap, size - (size ^ balance))),
            None => heaps
                .by_ref()
                .max_by_key(|(_, size)| *size)
                .map(|(heap, _)| (heap, 1)),
        }
    }
}

impl Presentation for Nim {
    const MOVE_TYPE: &'static str = "take_objects";

    fn write((heap, take): (u64, u64)) -> Value {
        json!({ "heap": heap, "take": take })
    }

    fn context(&self, _: Seat, moves: &Moves<Self>) -> Map<String, Value> {
        Map::from_iter([
            ("heaps".to_owned(), json!(self.heaps)),
            ("moves".to_owned(), written::<Self>(moves)),
        ])
    }

    fn read(turn: &strategy::Turn<'_>) -> Option<(Self, Seat)> {
        let heaps: Vec<u64> = turn
            .context
            .get("heaps")?
            .as_array()?
            .iter()
            .map_while(Value::as_u64)
            .collect();
        Some((
            Self {
                heaps: heaps.try_into().ok()?,
                next: Seat::A,
            },
            Seat::A,
        ))
    }

    fn details(&self, moves: &Moves<Self>, _: &[PlayerId; 2]) -> GameDetails {
        GameDetails::Other(Map::from_iter([
            ("heaps".to_owned(), json!(self.heaps)),
            ("moves".to_owned(), written::<Self>(moves)),
        ]))
    }

    fn reason(&self, _: &Moves<Self>, players: &[PlayerId; 2]) -> String {
        match self.outcome() {
            Some(Outcome::Win(seat)) => format!("{} took the last object", seat.of(players)),
            _ => format!("{} objects were left", self.options()),
        }
    }

    fn view(&self, moves: &Moves<Self>) -> View {
        let columns = HEAPS.into_iter().max().unwrap_or(0);
        let row = |size: u64| (0..columns).map(move |place| if place < size { "●" } else { "" });
        // The objects that the last move took stood behind those that are left.
        let taken = moves.last().map_or(0..0, |(_, (heap, take))| {
            let left = self
                .numbered()
                .find(|(number, _)| number == heap)
                .map_or(0, |(_, left)| left);
            let first = heap.saturating_sub(1) * columns + left;
            first..first + take
        });
        View::Grid(Grid {
            columns: columns as usize,
            cells: self
                .heaps
                .into_iter()
                .flat_map(row)
                .map(SmolStr::new_static)
                .collect(),
            last: taken.map(|index| index as usize).collect(),
            row_names: self.numbered().map(|(heap, _)| heap.to_smolstr()).collect(),
            ..Grid::default()
        })
    }

    fn prospect(&self, (heap, take): (u64, u64)) -> Option<Prospect> {
        let mut after = self.clone();
        after.play(self.next, (heap, take));
        Some(if after.balance() == 0 {
            Prospect::Won
        } else {
            Prospect::Lost
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Game;
    use super::super::tests::{self, Tally};
    use super::*;
    use crate::protocol::error::ErrorCode;

    #[test]
    fn taking_the_last_object_wins() {
        let players = [1, 2].map(PlayerId::numbered);
        for (moves, outcome, reason) in [
            (
                &[(1, 3), (2, 5), (3, 7)][..],
                Some(Outcome::Win(Seat::A)),
                "P01 took the last object",
            ),
            (
                &[(1, 3), (2, 5), (3, 6), (3, 1)],
                Some(Outcome::Win(Seat::B)),
                "P02 took the last object",
            ),
            (&[(3, 7), (2, 1)], None, "7 objects were left"),
        ] {
            let mut game = JsonGame::at(Nim::default());
            for (heap, take) in moves {
                let Turn::One(seat) = game.turn() else {
                    panic!("over before {heap}:{take}")
                };
                game.play(seat, &Nim::write((*heap, *take))).unwrap();
            }
            assert_eq!(game.outcome(), outcome, "{moves:?}");
            assert_eq!(game.reason(&players), reason, "{moves:?}");
        }
    }

    #[test]
    fn only_what_a_heap_holds_can_be_taken_and_only_on_ones_own_turn() {
        let mut game = JsonGame::at(Nim {
            heaps: [0, 1, 2],
            next: Seat::A,
        });
        let legal = [Nim::write((2, 1)), Nim::write((3, 1)), Nim::write((3, 2))];
        for bad in [
            json!({"heap": 1, "take": 1}),
            json!({"heap": 2, "take": 0}),
            json!({"heap": 3, "take": 3}),
            json!({"heap": 4, "take": 1}),
            json!({"heap": 2, "take": 1, "more": 1}),
            json!({"heap": "2", "take": 1}),
            json!([2, 1]),
            json!(null),
        ] {
            let illegal = game.play(Seat::A, &bad).unwrap_err();
            assert_eq!(
                (illegal.code, illegal.legal),
                (ErrorCode::InvalidMove, legal.to_vec()),
                "{bad}"
            );
        }
        assert!(
            game.play(Seat::B, &Nim::write((2, 1))).is_err(),
            "not B's turn"
        );
        assert!(game.play(Seat::A, &Nim::write((2, 1))).is_ok());
    }

    #[test]
    fn optimal_play_leaves_heaps_that_cancel_out() {
        for (heaps, best) in [
            ([3, 5, 7], (1, 1)),
            ([0, 5, 7], (3, 2)),
            ([1, 0, 0], (1, 1)),
            ([0, 4, 4], (3, 1)),
            ([2, 5, 6], (2, 1)),
        ] {
            let game = JsonGame::at(Nim {
                heaps,
                next: Seat::A,
            });
            assert_eq!(
                tests::asked(&GAME, &game, Seat::A, "optimal"),
                Nim::write(best),
                "{heaps:?}"
            );
        }
    }

    #[test]
    fn optimal_play_beats_chance_and_with_itself_the_first_player_wins() {
        let tally = tests::series(&GAME, "optimal", "random", 200);
        assert!(tally.won > 190, "{tally:?}");
        assert_eq!(
            tests::series(&GAME, "optimal", "optimal", 2),
            Tally {
                won: 1,
                drawn: 0,
                lost: 1
            }
        );
    }
}
