//! A match as a line of `matches.csv`, written and read back. Pure.

use super::plan::{Cell, format_name};
use crate::{Ending, Played};
use matchday_core::game::{Outcome, Seat};

pub(super) const HEADER: &str =
    "game,format,seed,repetition,match,a,b,result,forfeit,payoff_a,payoff_b,rank_a,rank_b,moves";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Counted from 0, within the plan and within the cell.
    pub cell: usize,
    pub repetition: u64,
    /// Counted from 1, within the repetition.
    pub number: u32,
    /// The entrants in the seats A and B.
    pub players: [usize; 2],
    pub ending: Ending,
    /// What each scored within the match, or else league points.
    pub payoffs: [u32; 2],
    /// Of the league, once it was over.
    pub ranks: Option<[u32; 2]>,
    /// A hash of the moves, if chance had no part in the game.
    pub moves: Option<u64>,
}

/// League points of A and B.
fn points(ending: Ending) -> [u32; 2] {
    match ending.winner() {
        Some(Seat::A) => [3, 0],
        Some(Seat::B) => [0, 3],
        None if ending == Ending::Drawn => [1, 1],
        None => [0, 0],
    }
}

impl Row {
    pub(super) fn of(cell: usize, repetition: u64, players: [usize; 2], played: Played) -> Self {
        let payoffs = played.payoffs.unwrap_or_else(|| points(played.ending));
        Self {
            cell,
            repetition,
            number: 0,
            players,
            ending: played.ending,
            payoffs,
            ranks: None,
            moves: played.moves,
        }
    }

    pub(super) fn write(&self, cell: &Cell<'_>, names: &[String]) -> String {
        let name = |place: usize| names.get(place).map_or("", String::as_str);
        let ([a, b], [payoff_a, payoff_b]) = (self.players, self.payoffs);
        let (result, forfeit) = match self.ending {
            Ending::Won(Seat::A) => ("a", ""),
            Ending::Won(Seat::B) => ("b", ""),
            Ending::Drawn => ("draw", ""),
            Ending::Forfeited(Seat::A) => ("b", "a"),
            Ending::Forfeited(Seat::B) => ("a", "b"),
            Ending::ForfeitedByBoth => ("none", "both"),
        };
        let [rank_a, rank_b] = self
            .ranks
            .map_or_else(Default::default, |ranks| ranks.map(|rank| rank.to_string()));
        format!(
            "{},{},{},{},{},{},{},{result},{forfeit},{payoff_a},{payoff_b},{rank_a},{rank_b},{}\n",
            cell.tournament.game.name,
            format_name(cell.competition),
            cell.seed,
            self.repetition + 1,
            self.number,
            name(a),
            name(b),
            self.moves
                .map_or_else(String::new, |moves| format!("{moves:016x}"))
        )
    }

    /// `None` if it is no line of this plan. `from` is the cell of the line before: cells follow each other.
    pub(super) fn read(line: &str, cells: &[Cell<'_>], from: usize) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let &[
            game,
            format,
            seed,
            repetition,
            number,
            a,
            b,
            result,
            forfeit,
            payoff_a,
            payoff_b,
            rank_a,
            rank_b,
            moves,
        ] = fields.as_slice()
        else {
            return None;
        };
        let of_row = |cell: &Cell<'_>| {
            cell.tournament.game.name == game
                && format_name(cell.competition) == format
                && seed.parse() == Ok(cell.seed)
        };
        let cell = from + cells.get(from..)?.iter().position(of_row)?;
        let entrants = &cells.get(cell)?.tournament.entrants.entrants;
        let place = |name: &str| entrants.iter().position(|entrant| entrant.name == name);
        let ending = match (result, forfeit) {
            ("a", "") => Outcome::Win(Seat::A).into(),
            ("b", "") => Outcome::Win(Seat::B).into(),
            ("draw", "") => Ending::Drawn,
            ("b", "a") => Ending::Forfeited(Seat::A),
            ("a", "b") => Ending::Forfeited(Seat::B),
            ("none", "both") => Ending::ForfeitedByBoth,
            _ => return None,
        };
        let ranks = match (rank_a, rank_b) {
            ("", "") => None,
            (rank_a, rank_b) => Some([rank_a.parse().ok()?, rank_b.parse().ok()?]),
        };
        let moves = match moves {
            "" => None,
            moves => Some(
                u64::from_str_radix(moves, 16)
                    .ok()
                    .filter(|_| moves.len() == 16)?,
            ),
        };
        Some(Self {
            cell,
            repetition: repetition.parse::<u64>().ok()?.checked_sub(1)?,
            number: number.parse().ok()?,
            players: [place(a)?, place(b)?],
            ending,
            payoffs: [payoff_a.parse().ok()?, payoff_b.parse().ok()?],
            ranks,
            moves,
        })
    }
}
