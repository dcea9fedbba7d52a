//! Connect four: A drops X and begins, B drops O, into seven columns of six cells. The first with four in a row wins.

mod search;

use super::json_game::JsonGame;
use super::prospect::Prospect;
use super::rules::{Moves, Presentation, Rules, StrategyOf, nth_bit, written};
use super::strategy;
use super::view::{Grid, Marks, View};
use super::{BuiltIn, GameEntry, Outcome, Seat, Turn};
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::GameDetails;
use serde_json::{Map, Value, json};
use smol_str::{SmolStr, ToSmolStr};

pub(super) const GAME: GameEntry = GameEntry {
    name: "connect_four",
    about: "drop marks into seven columns; four in a row win",
    rules: RULES,
    turns_max: COLUMNS * ROWS,
    sides_matter: true,
    payoff: None,
    new: JsonGame::<ConnectFour>::begin,
    built_in: Some(BuiltIn::of::<ConnectFour>()),
};

const RULES: &str = "\
# connect_four

Two players drop marks into a standing board of seven columns and six rows in turn; a mark falls to the lowest free cell of
its column. Player A has X and begins, player B has O. The player who first has four marks in a row, across, upright or
diagonally, wins. A full board without such a row is a draw.

A win is worth 3 points, a draw 1, a loss 0.

Columns are numbered 0 to 6 from the left. The context of a turn holds `your_mark`, the `board`, six lines of seven letters, the
top one first, with `.` for a free cell, and `moves`, all columns so far; the options are the numbers of the columns that are not
full.
";

const COLUMNS: u32 = 7;
const ROWS: u32 = 6;
/// A column has one bit more than it has cells, so that lines do not go over its edge.
const STRIDE: u32 = ROWS + 1;
const DIRECTIONS: [u32; 4] = [1, STRIDE - 1, STRIDE, STRIDE + 1];
/// Every cell there is.
const BOARD: u64 = 0x3F * BOTTOM;

/// The lowest cell of each column.
const BOTTOM: u64 = 0x0408_1020_4081;

/// A set of cells: the bit `column * STRIDE + row`, rows from the bottom.
type Cells = u64;

fn cell(column: u32, row: u32) -> Cells {
    1 << (column * STRIDE + row)
}

/// The lowest free cell of a column, if it has one.
fn landing(taken: Cells, column: u32) -> Option<Cells> {
    // Adding the lowest cell carries into the first free one; from a full column, beyond the board.
    let cell = (taken + cell(column, 0)) & !taken & (0x3F << (column * STRIDE));
    (cell != 0).then_some(cell)
}

/// The cells of every line of four, or none.
fn fours(marks: Cells) -> Cells {
    DIRECTIONS.iter().fold(0, |all, step| {
        let pairs = marks & marks >> step;
        let first = pairs & pairs >> (2 * step);
        (0..4).fold(all, |all, place| all | first << (place * step))
    })
}

fn has_four(marks: Cells) -> bool {
    DIRECTIONS.iter().any(|step| {
        let pairs = marks & marks >> step;
        pairs & pairs >> (2 * step) != 0
    })
}

#[derive(Debug, Clone)]
struct ConnectFour {
    marks: [Cells; 2],
    next: Seat,
    /// Who has four in a row.
    winner: Option<Seat>,
}

impl Default for ConnectFour {
    fn default() -> Self {
        Self {
            marks: [0, 0],
            next: Seat::A,
            winner: None,
        }
    }
}

impl Rules for ConnectFour {
    /// The column.
    type Move = u32;
    type Memory = ();

    const STRATEGIES: &'static [StrategyOf<Self>] = &[StrategyOf::new(
        "lookahead",
        "looks five moves ahead, and sees who wins at once after them; of equal moves the one nearest to the middle",
        |situation| {
            let marks = &situation.position.marks;
            let seat = situation.seat;
            search::best_column(*seat.of(marks), *seat.other().of(marks))
        },
    )];

    fn turn(&self) -> Turn {
        if self.outcome().is_some() {
            Turn::Over
        } else {
            Turn::One(self.next)
        }
    }

    fn options(&self) -> usize {
        self.free().count_ones() as usize
    }

    fn option(&self, number: usize) -> u32 {
        nth_bit(self.free(), number) / STRIDE
    }

    fn play(&mut self, seat: Seat, column: u32) {
        let marks = seat.of(&self.marks) | landing(self.taken(), column).unwrap_or(0);
        *seat.of_mut(&mut self.marks) = marks;
        self.winner = has_four(marks).then_some(seat);
        self.next = seat.other();
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.winner {
            Some(seat) => Some(Outcome::Win(seat)),
            None => (self.taken() == BOARD).then_some(Outcome::Draw),
        }
    }
}

impl ConnectFour {
    fn taken(&self) -> Cells {
        let [a, b] = self.marks;
        a | b
    }

    /// The top cells that are free, one for each column that is not full.
    fn free(&self) -> Cells {
        BOTTOM << (ROWS - 1) & !self.taken()
    }

    fn letter(&self, cell: Cells) -> char {
        let holder = Seat::BOTH
            .into_iter()
            .find(|seat| seat.of(&self.marks) & cell != 0);
        holder.map_or('.', mark)
    }

    /// Line by line, the top one first.
    fn board(&self) -> Vec<String> {
        let line = |row| {
            (0..COLUMNS)
                .map(|column| self.letter(cell(column, row)))
                .collect()
        };
        (0..ROWS).rev().map(line).collect()
    }
}

fn mark(seat: Seat) -> char {
    match seat {
        Seat::A => 'X',
        Seat::B => 'O',
    }
}

impl Presentation for ConnectFour {
    const MOVE_TYPE: &'static str = "drop_mark";

    fn write(column: u32) -> Value {
        column.into()
    }

    fn context(&self, seat: Seat, moves: &Moves<Self>) -> Map<String, Value> {
        Map::from_iter([
            ("board".to_owned(), json!(self.board())),
            ("your_mark".to_owned(), json!(mark(seat))),
            ("opponent_mark".to_owned(), json!(mark(seat.other()))),
            ("moves".to_owned(), written::<Self>(moves)),
        ])
    }

    fn read(turn: &strategy::Turn<'_>) -> Option<(Self, Seat)> {
        let own_mark = turn.context.get("your_mark")?.as_str()?.chars().next()?;
        let lines = turn.context.get("board")?.as_array()?;
        let mut position = Self::default();
        for (row, line) in (0..ROWS).zip(lines.iter().rev()) {
            for (column, letter) in (0..COLUMNS)
                .zip(line.as_str()?.chars())
                .filter(|(_, letter)| *letter != '.')
            {
                let seat = if letter == own_mark { Seat::A } else { Seat::B };
                *seat.of_mut(&mut position.marks) |= cell(column, row);
            }
        }
        Some((position, Seat::A))
    }

    fn details(&self, moves: &Moves<Self>, players: &[PlayerId; 2]) -> GameDetails {
        let marks = Seat::BOTH.map(|seat| (seat.of(players).to_string(), json!(mark(seat))));
        GameDetails::Other(Map::from_iter([
            ("board".to_owned(), json!(self.board())),
            ("marks".to_owned(), Map::from_iter(marks).into()),
            ("moves".to_owned(), written::<Self>(moves)),
        ]))
    }

    fn reason(&self, moves: &Moves<Self>, players: &[PlayerId; 2]) -> String {
        match self.winner {
            Some(seat) => {
                format!(
                    "{} ({}) has four in a row after {} moves",
                    seat.of(players),
                    mark(seat),
                    moves.len()
                )
            }
            None => "The board is full and nobody has four in a row".into(),
        }
    }

    fn view(&self, moves: &Moves<Self>) -> View {
        let cells: Vec<Cells> = (0..ROWS)
            .rev()
            .flat_map(|row| (0..COLUMNS).map(move |column| cell(column, row)))
            .collect();
        let indices = |wanted: Cells| {
            let found = (0..).zip(&cells).filter(|(_, cell)| wanted & **cell != 0);
            found.map(|(index, _)| index).collect()
        };
        // The last mark is the topmost of its column.
        let last = moves.last().and_then(|(_, column)| {
            (0..ROWS)
                .rev()
                .map(|row| cell(*column, row))
                .find(|cell| self.taken() & cell != 0)
        });
        let text = |cell: &Cells| match self.letter(*cell) {
            '.' => SmolStr::default(),
            letter => letter.to_smolstr(),
        };
        View::Grid(Grid {
            columns: COLUMNS as usize,
            cells: cells.iter().map(text).collect(),
            marks: Marks::pair(mark(Seat::A).to_smolstr(), mark(Seat::B).to_smolstr()),
            last: indices(last.unwrap_or(0)),
            line: indices(
                self.marks
                    .into_iter()
                    .fold(0, |all, marks| all | fours(marks)),
            ),
            column_names: (0..COLUMNS).map(|column| column.to_smolstr()).collect(),
            ..Grid::default()
        })
    }

    fn prospect(&self, column: u32) -> Option<Prospect> {
        let [own, theirs] = [self.next, self.next.other()].map(|seat| *seat.of(&self.marks));
        Some(search::prospect(
            own | landing(own | theirs, column)?,
            theirs,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Game, tests};
    use super::*;
    use crate::protocol::error::ErrorCode;

    fn played(columns: &str) -> JsonGame<ConnectFour> {
        let mut game = JsonGame::at(ConnectFour::default());
        for digit in columns.chars() {
            let Turn::One(seat) = game.turn() else {
                panic!("over before {digit} of {columns}")
            };
            game.play(seat, &json!(digit.to_digit(10))).unwrap();
        }
        game
    }

    #[test]
    fn marks_pile_up_in_their_columns() {
        let board = [
            ".......", ".......", ".......", "...X...", "...O...", "..OXX..",
        ];
        assert_eq!(played("33423").position.board(), board);
    }

    #[test]
    fn four_in_a_row_win_in_every_direction_and_three_do_not() {
        let win_a = Some(Outcome::Win(Seat::A));
        let win_b = Some(Outcome::Win(Seat::B));
        for (columns, outcome) in [
            ("0011223", win_a),
            ("001122", None),
            ("0101010", win_a),
            ("61010101", win_b),
            // Rising to the right, and to the left.
            ("01122323363", win_a),
            ("65544343303", win_a),
            // Upright marks at the top of one column and the bottom of the next are no row.
            ("0000001111", None),
        ] {
            assert_eq!(played(columns).outcome(), outcome, "{columns}");
        }
    }

    #[test]
    fn a_full_board_without_four_is_a_draw() {
        let game = played("545062455041104565311226266362030334314210");
        assert_eq!(
            (game.outcome(), game.turn()),
            (Some(Outcome::Draw), Turn::Over)
        );
        let players = [1, 2].map(PlayerId::numbered);
        assert_eq!(
            game.reason(&players),
            "The board is full and nobody has four in a row"
        );
    }

    #[test]
    fn only_columns_with_room_on_ones_own_turn_are_moves() {
        let mut game = played("000000");
        for bad in [
            json!(0),
            json!(7),
            json!(-1),
            json!(1.0),
            json!("1"),
            json!(null),
        ] {
            let illegal = game.play(Seat::A, &bad).unwrap_err();
            assert_eq!(illegal.code, ErrorCode::InvalidMove, "{bad}");
            assert_eq!(illegal.legal, [1, 2, 3, 4, 5, 6].map(Value::from), "{bad}");
        }
        assert!(game.play(Seat::B, &json!(1)).is_err(), "not B's turn");
        assert!(game.play(Seat::A, &json!(1)).is_ok());
    }

    #[test]
    fn a_seat_sees_the_board_and_its_mark() {
        let request = played("3").request(Seat::B);
        assert_eq!(
            Value::from(request.context),
            json!({
                "board": [".......", ".......", ".......", ".......", ".......", "...X..."],
                "your_mark": "O",
                "opponent_mark": "X",
                "moves": [3],
            })
        );
    }

    #[test]
    fn lookahead_wins_at_once_stops_the_opponent_and_sees_an_open_three_coming() {
        for (columns, good) in [
            ("001122", &[3][..]),
            ("010101", &[0]),
            ("00112", &[3]),
            ("263", &[1, 4]),
        ] {
            let game = played(columns);
            let Turn::One(seat) = game.turn() else {
                panic!("over after {columns}")
            };
            let chosen = tests::asked(&GAME, &game, seat, "lookahead");
            assert!(
                good.iter().any(|column| chosen == *column),
                "{chosen} after {columns}"
            );
        }
    }

    #[test]
    fn lookahead_beats_chance() {
        let tally = tests::series(&GAME, "lookahead", "random", 20);
        assert_eq!((tally.won, tally.lost), (20, 0));
    }
}
