//! Tic-tac-toe: A plays X and begins, B plays O. Cells are numbered 0 to 8, row by row from the top left.

use super::analysis::Prospect;
use super::fast::{self, Memo, Position};
use super::strategy;
use super::strategy::StrategyEntry;
use super::view::{Grid, Marks, View};
use super::{Game, GameEntry, IllegalMove, Outcome, Seat, Turn};
use crate::protocol::ids::PlayerId;
use crate::protocol::messages::{GameDetails, MoveRequest};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

pub(super) const GAME: GameEntry = GameEntry {
    name: "tic_tac_toe",
    about: "three in a row on a board of three by three: a draw between players who know how",
    rules: RULES,
    turns_max: 9,
    sides_matter: true,
    payoff: None,
    new: || Box::new(TicTacToe::default()),
    strategies: &[StrategyEntry {
        name: "perfect",
        about: "never loses: looks ahead to the end of the game, and wins as soon as it can",
        choose: |turn, _| perfect(turn),
    }],
    fast: Some(|names| fast::players(Board::default(), &[("perfect", Board::perfect)], names)),
};

const RULES: &str = "\
# tic_tac_toe

Two players mark the cells of a board of three by three in turn. Player A has X and begins, player B has O. The player who first
has three marks in a row, across, down or diagonally, wins. A full board without such a row is a draw.

A win is worth 3 points, a draw 1, a loss 0. A player who does not answer in time loses the match.

Cells are numbered 0 to 8, row by row from the top left. The context of a turn holds the `board` and `your_mark`; the
options are the numbers of the free cells.
";

#[derive(Debug, Clone, Default)]
struct TicTacToe {
    cells: [Option<Seat>; 9],
    /// Cells in the order in which they were taken.
    moves: Vec<usize>,
}

const LINES: [[usize; 3]; 8] =
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

fn mark(seat: Seat) -> &'static str {
    match seat {
        Seat::A => "X",
        Seat::B => "O",
    }
}

impl TicTacToe {
    fn cell(&self, index: usize) -> Option<Seat> {
        self.cells.get(index).copied().flatten()
    }

    /// The line that someone has filled, and who.
    fn row_of_three(&self) -> Option<(Seat, [usize; 3])> {
        LINES.into_iter().find_map(|line| {
            let [first, second, third] = line.map(|index| self.cell(index));
            (first == second && second == third).then_some(first).flatten().map(|seat| (seat, line))
        })
    }

    fn free(&self) -> Vec<Value> {
        let empty = self.cells.iter().enumerate().filter(|(_, cell)| cell.is_none());
        empty.map(|(index, _)| Value::from(index)).collect()
    }

    fn board(&self) -> Vec<Value> {
        self.cells.iter().map(|cell| cell.map(mark).into()).collect()
    }
}

impl Game for TicTacToe {
    fn turn(&self) -> Turn {
        match self.outcome() {
            Some(_) => Turn::Over,
            None if self.moves.len().is_multiple_of(2) => Turn::One(Seat::A),
            None => Turn::One(Seat::B),
        }
    }

    fn request(&self, seat: Seat) -> MoveRequest {
        let mut context = Map::new();
        context.insert("board".into(), self.board().into());
        context.insert("your_mark".into(), mark(seat).into());
        context.insert("opponent_mark".into(), mark(seat.other()).into());
        MoveRequest { move_type: SmolStr::new_static("place_mark"), valid_options: self.free(), context }
    }

    fn play(&mut self, seat: Seat, choice: &Value) -> Result<(), IllegalMove> {
        let on_turn = self.turn() == Turn::One(seat);
        let index = choice.as_u64().and_then(|number| usize::try_from(number).ok());
        match index.and_then(|index| Some((index, self.cells.get_mut(index)?))) {
            Some((index, cell @ None)) if on_turn => {
                *cell = Some(seat);
                self.moves.push(index);
                Ok(())
            }
            _ => Err(IllegalMove::none_of(if on_turn { self.free() } else { Vec::new() }, choice)),
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.row_of_three() {
            Some((seat, _)) => Some(Outcome::Win(seat)),
            None => (self.moves.len() == self.cells.len()).then_some(Outcome::Draw),
        }
    }

    fn details(&self, players: &[PlayerId; 2]) -> GameDetails {
        let [a, b] = players.each_ref().map(|id| id.as_str().to_owned());
        let marks = Map::from_iter([(a, mark(Seat::A).into()), (b, mark(Seat::B).into())]);
        GameDetails::Other(Map::from_iter([
            ("board".to_owned(), self.board().into()),
            ("marks".to_owned(), marks.into()),
            ("moves".to_owned(), json!(self.moves)),
            ("winning_line".to_owned(), json!(self.row_of_three().map(|(_, line)| line))),
        ]))
    }

    fn view(&self) -> Option<View> {
        let text = |cell: &Option<Seat>| SmolStr::new_static(cell.map_or("", mark));
        Some(View::Grid(Grid {
            columns: 3,
            cells: self.cells.iter().map(text).collect(),
            marks: Marks::pair(mark(Seat::A), mark(Seat::B)),
            last: self.moves.last().copied().into_iter().collect(),
            line: self.row_of_three().map(|(_, line)| line.to_vec()).unwrap_or_default(),
            ..Grid::default()
        }))
    }

    fn prospects(&self) -> Vec<(Value, Prospect)> {
        let Turn::One(seat) = self.turn() else { return Vec::new() };
        let marks = |of: Seat| {
            (0..9_u16)
                .zip(self.cells)
                .filter(|(_, cell)| *cell == Some(of))
                .fold(0, |all, (at, _)| all | 1 << at)
        };
        let (own, theirs) = (marks(seat), marks(seat.other()));
        let free = (0..9_u16).filter(|cell| (own | theirs) & 1 << cell == 0);
        let prospect = |cell: u16| match -worth(theirs, own | 1 << cell, -WON, WON) {
            0 => Prospect::Drawn,
            won if won > 0 => Prospect::Won,
            _ => Prospect::Lost,
        };
        free.map(|cell| (Value::from(cell), prospect(cell))).collect()
    }

    fn reason(&self, players: &[PlayerId; 2]) -> String {
        match self.row_of_three() {
            Some((seat, [x, y, z])) => {
                format!("{} ({}) filled the line {x}-{y}-{z}", seat.of(players), mark(seat))
            }
            None => "The board is full and nobody filled a line".into(),
        }
    }
}

/// The best cell of the board that is shown.
fn perfect(turn: &strategy::Turn<'_>) -> Option<Value> {
    let board = turn.context.get("board")?.as_array()?;
    let own_mark = turn.context.get("your_mark")?;
    let marked = |wanted: fn(&Value, &Value) -> bool| {
        (0..9).zip(board).filter(|(_, cell)| wanted(cell, own_mark)).fold(0, |all, (cell, _)| all | 1 << cell)
    };
    let own = marked(|cell, own| cell == own);
    let theirs = marked(|cell, own| cell != own && !cell.is_null());
    best_cell(own, theirs).map(Value::from)
}

fn best_cell(own: u16, theirs: u16) -> Option<u8> {
    static KNOWN: Memo<{ 1 << 14 }> = Memo::new();
    KNOWN.get(u64::from(own) << 9 | u64::from(theirs), || {
        let cells = (0..9_u8).filter(|cell| (own | theirs) & 1 << cell == 0);
        cells.max_by_key(|cell| (-worth(theirs, own | 1 << cell, -WON, WON), 9 - cell))
    })
}

/// More than any game has moves.
const WON: i8 = 10;

/// Every cell.
const FULL: u16 = 0b1_1111_1111;

fn has_line(marks: u16) -> bool {
    const MASKS: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];
    MASKS.iter().any(|line| marks & line == *line)
}

#[derive(Debug, Clone, Default)]
struct Board {
    marks: [u16; 2],
}

impl Board {
    fn free(&self) -> u16 {
        let [a, b] = self.marks;
        FULL & !(a | b)
    }

    fn perfect(&self, seat: Seat) -> Option<u32> {
        let cell = best_cell(*seat.of(&self.marks), *seat.other().of(&self.marks))?;
        Some((self.free() & ((1 << cell) - 1)).count_ones())
    }
}

impl Position for Board {
    fn turn(&self) -> Turn {
        let [a, b] = self.marks;
        if self.free() == 0 || has_line(a) || has_line(b) {
            Turn::Over
        } else if a.count_ones() == b.count_ones() {
            Turn::One(Seat::A)
        } else {
            Turn::One(Seat::B)
        }
    }

    fn options(&self) -> u32 {
        self.free().count_ones()
    }

    fn play(&mut self, seat: Seat, option: u32) {
        // Without its lowest free cells, the next one is that of this number.
        let free = (0..option).fold(self.free(), |free, _| free & free.wrapping_sub(1));
        *seat.of_mut(&mut self.marks) |= free & free.wrapping_neg();
    }

    fn outcome(&self) -> Outcome {
        let won = Seat::BOTH.into_iter().find(|seat| has_line(*seat.of(&self.marks)));
        won.map_or(Outcome::Draw, Outcome::Win)
    }
}

/// What a position is worth to the player to move, both playing as well as one can: the sooner a win, the more, the later
/// a defeat, the less bad. Boards are sets of cells, as bits; `low` and `high` bound what is still of interest.
fn worth(own: u16, theirs: u16, mut low: i8, high: i8) -> i8 {
    if has_line(theirs) {
        return -WON;
    }
    let mut best = if own | theirs == FULL { 0 } else { -WON };
    for cell in (0..9).filter(|cell| (own | theirs) & 1 << cell == 0) {
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
    use super::super::arena::{self, Tally};
    use super::*;
    use crate::protocol::error::ErrorCode;

    fn played(moves: &[usize]) -> TicTacToe {
        let mut game = TicTacToe::default();
        for cell in moves {
            let Turn::One(seat) = game.turn() else { panic!("over before {cell}") };
            game.play(seat, &json!(cell)).unwrap();
        }
        game
    }

    #[test]
    fn a_full_line_wins_and_a_full_board_draws() {
        let players = [1, 2].map(PlayerId::numbered);
        for (moves, outcome, reason) in [
            (&[0, 3, 1, 4, 2][..], Some(Outcome::Win(Seat::A)), "P01 (X) filled the line 0-1-2"),
            (&[0, 2, 1, 4, 8, 6], Some(Outcome::Win(Seat::B)), "P02 (O) filled the line 2-4-6"),
            (&[0, 1, 2, 4, 3, 5, 7, 6, 8], Some(Outcome::Draw), "The board is full and nobody filled a line"),
            (&[0, 1, 4, 2, 5, 3, 7, 6, 8], Some(Outcome::Win(Seat::A)), "P01 (X) filled the line 0-4-8"),
            (&[0, 1, 2], None, "The board is full and nobody filled a line"),
        ] {
            let game = played(moves);
            assert_eq!(game.outcome(), outcome, "{moves:?}");
            assert_eq!(game.reason(&players), reason, "{moves:?}");
        }
    }

    #[test]
    fn every_line_wins() {
        for line in LINES {
            let game = TicTacToe {
                cells: std::array::from_fn(|cell| line.contains(&cell).then_some(Seat::B)),
                moves: Vec::new(),
            };
            assert_eq!(game.outcome(), Some(Outcome::Win(Seat::B)), "{line:?}");
        }
    }

    #[test]
    fn only_free_cells_on_ones_own_turn_are_moves() {
        let mut game = played(&[4]);
        for bad in [json!(4), json!(9), json!(-1), json!(1.0), json!("0"), json!(null), json!(true)] {
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
            let Turn::One(seat) = game.turn() else { panic!("over after {moves:?}") };
            assert_eq!(arena::asked(&GAME, &game, seat, "perfect"), json!(best), "{moves:?}");
        }
    }

    #[test]
    fn perfect_play_never_loses_and_draws_with_itself() {
        let tally = arena::series(&GAME, "perfect", "random", 40);
        assert_eq!(tally.lost, 0);
        assert!(tally.won > 30, "{tally:?}");
        assert_eq!(arena::series(&GAME, "perfect", "perfect", 2), Tally { won: 0, drawn: 2, lost: 0 });
    }
}
