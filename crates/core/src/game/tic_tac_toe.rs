//! Tic-tac-toe: A plays X and begins, B plays O. Cells are numbered 0 to 8, row by row from the top left.

use super::json_game::JsonGame;
use super::memo::Memo;
use super::prospect::Prospect;
use super::rules::{Moves, Presentation, Rules, StrategyOf, nth_bit, written};
use super::strategy;
use super::view::{Grid, Marks, View};
use super::{BuiltIn, GameEntry, Outcome, Seat, Turn};
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::GameDetails;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

pub(super) const GAME: GameEntry = GameEntry {
    name: "tic_tac_toe",
    about: "three in a row on a board of three by three: a draw between players who know how",
    rules: RULES,
    turns_max: 9,
    sides_matter: true,
    payoff: None,
    new: JsonGame::<TicTacToe>::begin,
    built_in: Some(BuiltIn::of::<TicTacToe>()),
};

const RULES: &str = "\
# tic_tac_toe

Two players mark the cells of a board of three by three in turn. Player A has X and begins, player B has O. The player who first
has three marks in a row, across, down or diagonally, wins. A full board without such a row is a draw.

A win is worth 3 points, a draw 1, a loss 0.

Cells are numbered 0 to 8, row by row from the top left. The context of a turn holds the `board`,
`your_mark` and `moves`, all cells so far; the options are the numbers of the free cells.
";

/// A set of cells, as bits.
type Cells = u16;

/// Every cell.
const FULL: Cells = 0b1_1111_1111;

const LINES: [Cells; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

fn line(marks: Cells) -> Option<Cells> {
    LINES.into_iter().find(|line| marks & line == *line)
}

fn numbers(cells: Cells) -> impl Iterator<Item = u32> {
    (0..9).filter(move |cell| cells & 1 << cell != 0)
}

#[derive(Debug, Clone, Default)]
struct TicTacToe {
    marks: [Cells; 2],
}

impl Rules for TicTacToe {
    type Move = u32;
    type Memory = ();

    const STRATEGIES: &'static [StrategyOf<Self>] = &[StrategyOf::new(
        "perfect",
        "never loses: looks ahead to the end of the game, and wins as soon as it can",
        |situation| situation.position.best_cell(situation.seat),
    )];

    fn turn(&self) -> Turn {
        let [a, b] = self.marks;
        if self.outcome().is_some() {
            Turn::Over
        } else if a.count_ones() == b.count_ones() {
            Turn::One(Seat::A)
        } else {
            Turn::One(Seat::B)
        }
    }

    fn options(&self) -> usize {
        self.free().count_ones() as usize
    }

    fn option(&self, number: usize) -> u32 {
        nth_bit(self.free().into(), number)
    }

    fn play(&mut self, seat: Seat, cell: u32) {
        *seat.of_mut(&mut self.marks) |= 1 << cell;
    }

    fn outcome(&self) -> Option<Outcome> {
        let [a, b] = self.marks;
        match (line(a), line(b)) {
            (Some(_), _) => Some(Outcome::Win(Seat::A)),
            (None, Some(_)) => Some(Outcome::Win(Seat::B)),
            (None, None) => (self.free() == 0).then_some(Outcome::Draw),
        }
    }
}

impl TicTacToe {
    fn free(&self) -> Cells {
        let [a, b] = self.marks;
        FULL & !(a | b)
    }

    /// The line that someone has filled.
    fn full_line(&self) -> Option<Vec<u32>> {
        let found = self.marks.into_iter().find_map(line);
        found.map(|cells| numbers(cells).collect())
    }

    fn best_cell(&self, seat: Seat) -> Option<u32> {
        static KNOWN: Memo<{ 1 << 14 }> = Memo::new();
        let [own, theirs] = [seat, seat.other()].map(|seat| *seat.of(&self.marks));
        let best = KNOWN.get(u64::from(own) << 9 | u64::from(theirs), || {
            let cell = numbers(self.free())
                .max_by_key(|cell| (-worth(theirs, own | 1 << cell, -WON, WON), 9 - cell));
            u8::try_from(cell?).ok()
        });
        best.map(u32::from)
    }

    fn board(&self) -> [&'static str; 9] {
        let [a, b] = self.marks;
        std::array::from_fn(|cell| match (a >> cell & 1, b >> cell & 1) {
            (1, _) => mark(Seat::A),
            (_, 1) => mark(Seat::B),
            _ => "",
        })
    }

    /// With null for a free cell.
    fn board_in_json(&self) -> Value {
        self.board()
            .map(|mark| (!mark.is_empty()).then_some(mark))
            .to_vec()
            .into()
    }
}

fn mark(seat: Seat) -> &'static str {
    match seat {
        Seat::A => "X",
        Seat::B => "O",
    }
}

impl Presentation for TicTacToe {
    const MOVE_TYPE: &'static str = "place_mark";

    fn write(cell: u32) -> Value {
        cell.into()
    }

    fn context(&self, seat: Seat, moves: &Moves<Self>) -> Map<String, Value> {
        Map::from_iter([
            ("board".to_owned(), self.board_in_json()),
            ("your_mark".to_owned(), mark(seat).into()),
            ("opponent_mark".to_owned(), mark(seat.other()).into()),
            ("moves".to_owned(), written::<Self>(moves)),
        ])
    }

    fn read(turn: &strategy::Turn<'_>) -> Option<(Self, Seat)> {
        let own_mark = turn.context.get("your_mark")?;
        let mut marks = [0, 0];
        for (cell, mark) in (0..9)
            .zip(turn.context.get("board")?.as_array()?)
            .filter(|(_, mark)| !mark.is_null())
        {
            let seat = if mark == own_mark { Seat::A } else { Seat::B };
            *seat.of_mut(&mut marks) |= 1 << cell;
        }
        Some((Self { marks }, Seat::A))
    }

    fn details(&self, moves: &Moves<Self>, players: &[PlayerId; 2]) -> GameDetails {
        let marks = Seat::BOTH.map(|seat| (seat.of(players).to_string(), mark(seat).into()));
        GameDetails::Other(Map::from_iter([
            ("board".to_owned(), self.board_in_json()),
            ("marks".to_owned(), Map::from_iter(marks).into()),
            ("moves".to_owned(), written::<Self>(moves)),
            ("winning_line".to_owned(), json!(self.full_line())),
        ]))
    }

    fn reason(&self, _: &Moves<Self>, players: &[PlayerId; 2]) -> String {
        match (self.outcome(), self.full_line().as_deref()) {
            (Some(Outcome::Win(seat)), Some([x, y, z])) => {
                format!(
                    "{} ({}) filled the line {x}-{y}-{z}",
                    seat.of(players),
                    mark(seat)
                )
            }
            _ => "The board is full and nobody filled a line".into(),
        }
    }

    fn view(&self, moves: &Moves<Self>) -> View {
        let indices = |cells: Vec<u32>| cells.into_iter().map(|cell| cell as usize).collect();
        View::Grid(Grid {
            columns: 3,
            cells: self.board().map(SmolStr::new_static).to_vec(),
            marks: Marks::pair(mark(Seat::A), mark(Seat::B)),
            last: moves
                .last()
                .map(|(_, cell)| *cell as usize)
                .into_iter()
                .collect(),
            line: self.full_line().map(indices).unwrap_or_default(),
            ..Grid::default()
        })
    }

    fn prospect(&self, cell: u32) -> Option<Prospect> {
        let Turn::One(seat) = self.turn() else {
            return None;
        };
        let [own, theirs] = [seat, seat.other()].map(|seat| *seat.of(&self.marks));
        Some(match -worth(theirs, own | 1 << cell, -WON, WON) {
            0 => Prospect::Drawn,
            won if won > 0 => Prospect::Won,
            _ => Prospect::Lost,
        })
    }
}

/// More than any game has moves.
const WON: i8 = 10;

/// What a position is worth to the player to move, both playing as well as one can: the sooner a win, the more, the later
/// a defeat, the less bad. `low` and `high` bound what is still of interest.
fn worth(own: Cells, theirs: Cells, mut low: i8, high: i8) -> i8 {
    if line(theirs).is_some() {
        return -WON;
    }
    let mut best = if own | theirs == FULL { 0 } else { -WON };
    for cell in numbers(FULL & !(own | theirs)) {
        let found = -worth(theirs, own | 1 << cell, -high, -low);
        // One step nearer to the middle for each move that it takes.
        best = best.max(found - found.signum());
        low = low.max(best);
        if low >= high {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::Game;
    use super::super::tests::{self, Tally};
    use super::*;
    use crate::protocol::error::ErrorCode;

    fn played(moves: &[usize]) -> JsonGame<TicTacToe> {
        let mut game = JsonGame::at(TicTacToe::default());
        for cell in moves {
            let Turn::One(seat) = game.turn() else {
                panic!("over before {cell}")
            };
            game.play(seat, &json!(cell)).unwrap();
        }
        game
    }

    #[test]
    fn a_full_line_wins_and_a_full_board_draws() {
        let players = [1, 2].map(PlayerId::numbered);
        for (moves, outcome, reason) in [
            (
                &[0, 3, 1, 4, 2][..],
                Some(Outcome::Win(Seat::A)),
                "P01 (X) filled the line 0-1-2",
            ),
            (
                &[0, 2, 1, 4, 8, 6],
                Some(Outcome::Win(Seat::B)),
                "P02 (O) filled the line 2-4-6",
            ),
            (
                &[0, 1, 2, 4, 3, 5, 7, 6, 8],
                Some(Outcome::Draw),
                "The board is full and nobody filled a line",
            ),
            (
                &[0, 1, 4, 2, 5, 3, 7, 6, 8],
                Some(Outcome::Win(Seat::A)),
                "P01 (X) filled the line 0-4-8",
            ),
            (
                &[0, 1, 2],
                None,
                "The board is full and nobody filled a line",
            ),
        ] {
            let game = played(moves);
            assert_eq!(game.outcome(), outcome, "{moves:?}");
            assert_eq!(game.reason(&players), reason, "{moves:?}");
        }
    }

    #[test]
    fn every_line_wins() {
        for line in LINES {
            let game = TicTacToe { marks: [0, line] };
            assert_eq!(game.outcome(), Some(Outcome::Win(Seat::B)), "{line:o}");
        }
    }

    #[test]
    fn only_free_cells_on_ones_own_turn_are_moves() {
        let mut game = played(&[4]);
        for bad in [
            json!(4),
            json!(9),
            json!(-1),
            json!(1.0),
            json!("0"),
            json!(null),
            json!(true),
        ] {
            let illegal = game.play(Seat::B, &bad).unwrap_err();
            assert_eq!(illegal.code, ErrorCode::InvalidMove, "{bad}");
            assert_eq!(illegal.legal, [0, 1, 2, 3, 5, 6, 7, 8].map(Value::from));
        }
        assert!(game.play(Seat::A, &json!(0)).is_err(), "not A's turn");
        assert!(game.play(Seat::B, &json!(0)).is_ok());
    }

    #[test]
    fn a_seat_sees_the_board_and_its_mark() {
        let request = played(&[4, 0]).request(Seat::A);
        assert_eq!(request.move_type, "place_mark");
        assert_eq!(
            Value::from(request.context),
            json!({
                "board": ["O", null, null, null, "X", null, null, null, null],
                "your_mark": "X",
                "opponent_mark": "O",
                "moves": [4, 0],
            })
        );
    }

    #[test]
    fn perfect_play_takes_the_win_and_stops_the_opponents() {
        for (moves, best) in [
            // A wins at once rather than stop B.
            (&[0, 3, 1, 4][..], 2),
            // B has to stop A.
            (&[0, 4, 1], 2),
            // The fork of the two corners is met on an edge.
            (&[0, 4, 8], 1),
            // Against a corner only the middle holds.
            (&[0], 4),
        ] {
            let game = played(moves);
            let Turn::One(seat) = game.turn() else {
                panic!("over after {moves:?}")
            };
            assert_eq!(
                tests::asked(&GAME, &game, seat, "perfect"),
                json!(best),
                "{moves:?}"
            );
        }
    }

    #[test]
    fn perfect_play_never_loses_and_draws_with_itself() {
        let tally = tests::series(&GAME, "perfect", "random", 40);
        assert_eq!(tally.lost, 0);
        assert!(tally.won > 30, "{tally:?}");
        assert_eq!(
            tests::series(&GAME, "perfect", "perfect", 2),
            Tally {
                won: 0,
                drawn: 2,
                lost: 0
            }
        );
    }
}
