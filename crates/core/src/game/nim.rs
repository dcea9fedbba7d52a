//! Nim: three heaps of 3, 5 and 7 objects; players take turns, and the one who takes the last object wins.

use super::analysis::Prospect;
use super::fast::{self, Position};
use super::strategy;
use super::strategy::StrategyEntry;
use super::view::{Grid, View};
use super::{Game, GameEntry, IllegalMove, Outcome, Seat, Turn};
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::{GameDetails, MoveRequest};
use serde_json::{Map, Value, json};
use smol_str::{SmolStr, ToSmolStr};

pub(super) const GAME: GameEntry = GameEntry {
    name: "nim",
    about: "take from one of three heaps; the last object wins",
    rules: RULES,
    turns_max: 15,
    sides_matter: true,
    payoff: None,
    new: || Box::new(Nim::default()),
    strategies: &[StrategyEntry {
        name: "optimal",
        about: "leaves heaps whose sizes cancel out in binary, whenever that can be done",
        choose: |turn, _| optimal(turn),
    }],
    fast: Some(|names| fast::players(Heaps::default(), &[("optimal", Heaps::optimal)], names)),
};

const RULES: &str = "\
# nim

There are three heaps, of 3, 5 and 7 objects. Player A begins, and the players take turns: a move takes as many objects as
one likes, but at least one, from one heap. The player who takes the very last object wins. There are no draws.

A win is worth 3 points, a loss 0. A player who does not answer in time loses the match.

The context of a turn holds in `heaps` how many objects each heap has left; the options are every move, as in
`{\"heap\": 1, \"take\": 2}`. The heaps are numbered 1 to 3.

The player who begins can force a win, and after a single mistake so can the other.
";

const HEAPS: [u64; 3] = [3, 5, 7];

#[derive(Debug, Clone)]
struct Nim {
    heaps: [u64; 3],
    /// Which heap, from 1, and how many.
    moves: Vec<(u64, u64)>,
}

impl Default for Nim {
    fn default() -> Self {
        Self { heaps: HEAPS, moves: Vec::new() }
    }
}

fn written(heap: u64, take: u64) -> Value {
    json!({ "heap": heap, "take": take })
}

impl Nim {
    fn numbered(&self) -> impl Iterator<Item = (u64, u64)> {
        (1..).zip(self.heaps)
    }

    fn options(&self) -> Vec<Value> {
        self.numbered().flat_map(|(heap, size)| (1..=size).map(move |take| written(heap, take))).collect()
    }

    /// Whose move it is, or would be if there were objects left.
    fn next(&self) -> Seat {
        if self.moves.len().is_multiple_of(2) { Seat::A } else { Seat::B }
    }

    fn is_empty(&self) -> bool {
        self.heaps.iter().all(|size| *size == 0)
    }
}

impl Game for Nim {
    fn turn(&self) -> Turn {
        if self.is_empty() { Turn::Over } else { Turn::One(self.next()) }
    }

    fn request(&self, _seat: Seat) -> MoveRequest {
        MoveRequest {
            move_type: SmolStr::new_static("take_objects"),
            valid_options: self.options(),
            context: Map::from_iter([("heaps".to_owned(), json!(self.heaps))]),
        }
    }

    fn play(&mut self, seat: Seat, choice: &Value) -> Result<(), IllegalMove> {
        let on_turn = self.turn() == Turn::One(seat);
        let legal = if on_turn { self.options() } else { Vec::new() };
        if !legal.contains(choice) {
            return Err(IllegalMove::none_of(legal, choice));
        }
        let number = |name: &str| choice.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (heap, take) = (number("heap"), number("take"));
        for (_, size) in (1..).zip(&mut self.heaps).filter(|(place, _)| *place == heap) {
            *size = size.saturating_sub(take);
        }
        self.moves.push((heap, take));
        Ok(())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.is_empty().then(|| Outcome::Win(self.next().other()))
    }

    fn details(&self, _players: &[PlayerId; 2]) -> GameDetails {
        let moves: Vec<Value> = self.moves.iter().map(|(heap, take)| written(*heap, *take)).collect();
        GameDetails::Other(Map::from_iter([
            ("heaps".to_owned(), json!(self.heaps)),
            ("moves".to_owned(), moves.into()),
        ]))
    }

    fn view(&self) -> Option<View> {
        let columns = HEAPS.into_iter().max().unwrap_or(0);
        let row = |size: u64| (0..columns).map(move |place| if place < size { "●" } else { "" });
        // The objects that the last move took stood behind those that are left.
        let taken = self.moves.last().map_or(0..0, |(heap, take)| {
            let left = self.numbered().find(|(number, _)| number == heap).map_or(0, |(_, left)| left);
            let first = heap.saturating_sub(1) * columns + left;
            first..first + take
        });
        Some(View::Grid(Grid {
            columns: usize::try_from(columns).ok()?,
            cells: self.heaps.into_iter().flat_map(row).map(SmolStr::new_static).collect(),
            last: taken.filter_map(|index| usize::try_from(index).ok()).collect(),
            row_names: (1..=self.heaps.len()).map(|heap| heap.to_smolstr()).collect(),
            ..Grid::default()
        }))
    }

    /// Heaps whose sizes cancel out in binary are lost for the player who finds them.
    fn prospects(&self) -> Vec<(Value, Prospect)> {
        let balance = self.heaps.iter().fold(0, |all, size| all ^ size);
        let moves = self.numbered().flat_map(|(heap, size)| (1..=size).map(move |take| (heap, size, take)));
        let prospect = |size: u64, take: u64| match balance ^ size ^ (size - take) {
            0 => Prospect::Won,
            _ => Prospect::Lost,
        };
        moves.map(|(heap, size, take)| (written(heap, take), prospect(size, take))).collect()
    }

    fn reason(&self, players: &[PlayerId; 2]) -> String {
        match self.outcome() {
            Some(Outcome::Win(seat)) => format!("{} took the last object", seat.of(players)),
            _ => format!("{} objects were left", self.heaps.iter().sum::<u64>()),
        }
    }
}

fn optimal(turn: &strategy::Turn<'_>) -> Option<Value> {
    let heaps: Vec<u64> = turn.context.get("heaps")?.as_array()?.iter().map_while(Value::as_u64).collect();
    optimal_move(&heaps).map(|(heap, take)| written(heap, take))
}

/// Heaps whose sizes cancel out in binary are lost for the player to move. Where they do already, one object from the
/// largest heap gives the opponent the most to go wrong with.
fn optimal_move(heaps: &[u64]) -> Option<(u64, u64)> {
    let balance = heaps.iter().fold(0, |all, size| all ^ size);
    let mut numbered = (1..).zip(heaps);
    match numbered.clone().find(|(_, size)| **size ^ balance < **size) {
        Some((heap, size)) => Some((heap, size - (size ^ balance))),
        None => numbered.by_ref().max_by_key(|(_, size)| **size).map(|(heap, _)| (heap, 1)),
    }
}

#[derive(Debug, Clone)]
struct Heaps {
    sizes: [u64; 3],
    next: Seat,
}

impl Default for Heaps {
    fn default() -> Self {
        Self { sizes: HEAPS, next: Seat::A }
    }
}

impl Heaps {
    fn optimal(&self, _: Seat) -> Option<u32> {
        let (heap, take) = optimal_move(&self.sizes)?;
        let before: u64 = (1..heap).zip(self.sizes).map(|(_, size)| size).sum();
        u32::try_from(before + take - 1).ok()
    }
}

impl Position for Heaps {
    fn turn(&self) -> Turn {
        if self.sizes == [0; 3] { Turn::Over } else { Turn::One(self.next) }
    }

    fn options(&self) -> u32 {
        u32::try_from(self.sizes.iter().sum::<u64>()).unwrap_or_default()
    }

    fn play(&mut self, seat: Seat, option: u32) {
        let mut place = u64::from(option);
        for size in &mut self.sizes {
            if place < *size {
                *size -= place + 1;
                break;
            }
            place -= *size;
        }
        self.next = seat.other();
    }

    fn outcome(&self) -> Outcome {
        if self.sizes == [0; 3] { Outcome::Win(self.next.other()) } else { Outcome::Draw }
    }
}

#[cfg(test)]
mod tests {
    use super::super::arena::{self, Tally};
    use super::*;
    use crate::protocol::error::ErrorCode;

    #[test]
    fn taking_the_last_object_wins() {
        let players = [1, 2].map(PlayerId::numbered);
        for (moves, outcome, reason) in [
            (&[(1, 3), (2, 5), (3, 7)][..], Some(Outcome::Win(Seat::A)), "P01 took the last object"),
            (&[(1, 3), (2, 5), (3, 6), (3, 1)], Some(Outcome::Win(Seat::B)), "P02 took the last object"),
            (&[(3, 7), (2, 1)], None, "7 objects were left"),
        ] {
            let mut game = Nim::default();
            for (heap, take) in moves {
                let Turn::One(seat) = game.turn() else { panic!("over before {heap}:{take}") };
                game.play(seat, &written(*heap, *take)).unwrap();
            }
            assert_eq!(game.outcome(), outcome, "{moves:?}");
            assert_eq!(game.reason(&players), reason, "{moves:?}");
        }
    }

    #[test]
    fn only_what_a_heap_holds_can_be_taken_and_only_on_ones_own_turn() {
        let mut game = Nim { heaps: [0, 1, 2], moves: Vec::new() };
        let legal = [written(2, 1), written(3, 1), written(3, 2)];
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
            assert_eq!((illegal.code, illegal.legal), (ErrorCode::InvalidMove, legal.to_vec()), "{bad}");
        }
        assert!(game.play(Seat::B, &written(2, 1)).is_err(), "not B's turn");
        assert!(game.play(Seat::A, &written(2, 1)).is_ok());
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
            let game = Nim { heaps, moves: Vec::new() };
            let (heap, take) = best;
            assert_eq!(arena::asked(&GAME, &game, Seat::A, "optimal"), written(heap, take), "{heaps:?}");
        }
    }

    #[test]
    fn optimal_play_beats_chance_and_with_itself_the_first_player_wins() {
        let tally = arena::series(&GAME, "optimal", "random", 200);
        assert!(tally.won > 190, "{tally:?}");
        assert_eq!(arena::series(&GAME, "optimal", "optimal", 2), Tally { won: 1, drawn: 0, lost: 1 });
    }
}
