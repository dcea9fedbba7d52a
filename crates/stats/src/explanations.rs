//! What an honest player may let its calls of even/odd depend on: everything that it has seen. Pure.
//!
//! Each explanation sorts a player's matches into a few *cells* by what came before. It explains the player if within
//! each cell its calls are as if by one coin, however biased. So a strategy that follows the past without chance is
//! explained, and so is one that follows it most of the time. All strategies that come with the program are among
//! these, with their opposites.

use crate::results::Parity;
use std::collections::BTreeMap;

/// A match as one of its players saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) league: usize,
    pub(crate) opponent: usize,
    /// Its own call, and the opponent's; none in a forfeited match.
    pub(crate) calls: Option<[Parity; 2]>,
    pub(crate) drawn: Option<Parity>,
}

pub(crate) const EXPLANATIONS: usize = 10;
/// The most cells that an explanation has.
pub(crate) const CELLS: usize = 5;
/// Players remember so many draws.
const REMEMBERED: usize = 1_000;
const PATTERN_LEN: usize = 3;

/// The cell of each match under each explanation. A player's memory begins anew with each league, or goes on.
pub(crate) fn cells(seen: &[Seen], memory_goes_on: bool) -> Vec<[usize; EXPLANATIONS]> {
    let mut memory = Memory::default();
    let mut league = None;
    let each = seen.iter().map(|one| {
        if league.replace(one.league) != Some(one.league) && !memory_goes_on {
            memory = Memory::default();
        }
        let cells = memory.cells(one.opponent);
        memory.add(one);
        cells
    });
    each.collect()
}

#[derive(Debug, Default)]
struct Memory {
    played: usize,
    own_last: Option<Parity>,
    /// The last own call that was not forfeited, and what was drawn then.
    last_draw: Option<(Parity, Parity)>,
    drawn: Vec<Parity>,
    /// The last calls with each opponent, own first, and by how many calls its evens lead.
    with: BTreeMap<usize, ([Parity; 2], i64)>,
}

impl Memory {
    fn cells(&self, opponent: usize) -> [usize; EXPLANATIONS] {
        let with = self.with.get(&opponent);
        let last = |side: usize| with.and_then(|(calls, _)| calls.get(side)).copied();
        let both = with.map_or(4, |([own, other], _)| 2 * cell_of(*own) + cell_of(*other));
        let stay = self.last_draw.map(|(own, drawn)| if own == drawn { own } else { own.other() });
        [
            0,
            self.played % 2,
            cell(self.own_last),
            cell(last(0)),
            cell(last(1)),
            both,
            cell(with.and_then(|(_, lead)| Parity::ahead(*lead))),
            cell(majority(self.drawn.iter().copied())),
            cell(pattern(&self.drawn)),
            cell(stay),
        ]
    }

    fn add(&mut self, seen: &Seen) {
        self.played += 1;
        if let Some([own, other]) = seen.calls {
            self.own_last = Some(own);
            self.last_draw = seen.drawn.map(|drawn| (own, drawn)).or(self.last_draw);
            let (last, lead) = self.with.entry(seen.opponent).or_insert(([own, other], 0));
            *last = [own, other];
            *lead += other.sign();
        }
        self.drawn.extend(seen.drawn);
        if self.drawn.len() > REMEMBERED {
            self.drawn.remove(0);
        }
    }
}

fn cell_of(parity: Parity) -> usize {
    usize::from(parity == Parity::Odd)
}

fn cell(parity: Option<Parity>) -> usize {
    parity.map_or(2, cell_of)
}

fn majority(parities: impl Iterator<Item = Parity>) -> Option<Parity> {
    Parity::ahead(parities.map(Parity::sign).sum())
}

/// What most often followed the last three draws; if they never came before, the last two, or the last one.
fn pattern(drawn: &[Parity]) -> Option<Parity> {
    (1..=PATTERN_LEN.min(drawn.len())).rev().find_map(|length| {
        let recent = drawn.get(drawn.len() - length..)?;
        majority(drawn.windows(length + 1).filter_map(|window| {
            let (next, before) = window.split_last()?;
            (before == recent).then_some(*next)
        }))
    })
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "a test may fail by panicking")]
mod tests {
    use super::*;
    use Parity::{Even, Odd};

    fn seen(opponent: usize, calls: [Parity; 2], drawn: Parity) -> Seen {
        Seen { league: 0, opponent, calls: Some(calls), drawn: Some(drawn) }
    }

    #[test]
    fn a_cell_is_what_came_before() {
        let past = [seen(1, [Even, Odd], Odd), seen(2, [Odd, Odd], Odd), seen(1, [Even, Even], Even)];
        let found = cells(&past, false);
        assert_eq!(found[0], [0, 0, 2, 2, 2, 4, 2, 2, 2, 2]);
        // Odd was drawn, so that even was wrong.
        assert_eq!(found[1], [0, 1, 0, 2, 2, 4, 2, 1, 2, 1]);
        assert_eq!(found[2], [0, 0, 1, 0, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn memory_goes_on_from_league_to_league_or_begins_anew() {
        let next = Seen { league: 1, ..seen(1, [Even, Odd], Odd) };
        let past = [seen(1, [Even, Odd], Odd), next];
        assert_eq!(cells(&past, false)[0], cells(&past, false)[1]);
        assert_eq!(cells(&past, true)[1][1..5], [1, 0, 0, 1]);
    }
}
