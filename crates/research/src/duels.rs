//! Duels: every strategy against every other.

use crate::distinct::DistinctGames;
use crate::ending::{Ending, Tally};
use crate::engine::Engine;
use crate::entrant::{Entrant, ExternalRules};
use crate::match_row::Row;
use crate::openings::Opening;
use crate::parallel::Run;
use crate::seeds::{Purpose, stream};
use matchday_core::game::{GameEntry, Seat};
use serde::Serialize;
use std::num::NonZeroU32;
use std::ops::{ControlFlow, Range};

#[derive(Debug, Clone, Copy)]
pub struct Duels<'a> {
    pub game: &'static GameEntry,
    pub entrants: &'a [Entrant],
    /// Of a game whose rules are in an external program.
    pub rules: Option<&'a dyn ExternalRules>,
    /// The number of matches of each pair.
    pub matches: u64,
    /// After how many matches both players forget.
    pub series: NonZeroU32,
    /// From which two matches each begin, with swapped seats; then comes the next one. May be empty.
    pub openings: &'a [Opening],
    pub seed: u64,
    /// Whether to report after every unit, instead of after many.
    pub every_unit: bool,
    /// Whether what happened in each match is shown, too.
    pub records: bool,
}

/// What was played of a pair without a pause.
struct Block {
    pair: usize,
    played: Pair,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// Indices into the entrants.
    pub a: usize,
    pub b: usize,
    /// From the point of view of `a`.
    #[serde(flatten)]
    pub tally: Tally,
    #[serde(skip)]
    pub distinct: DistinctGames,
}

/// About how many turns of fast matches make a block.
const FAST_TURNS: u64 = 1 << 16;

impl Duels<'_> {
    pub fn pairs(&self) -> Vec<Pair> {
        let places = 0..self.entrants.len();
        let pairs = places
            .clone()
            .flat_map(|a| (a + 1..places.end).map(move |b| (a, b)));
        let distinct = DistinctGames::of_openings(self.openings.len());
        pairs
            .map(|(a, b)| Pair {
                a,
                b,
                tally: Tally::default(),
                distinct: distinct.clone(),
            })
            .collect()
    }

    /// The number of matches of all pairs.
    pub fn matches_in_all(&self) -> u64 {
        self.matches.saturating_mul(self.pairs().len() as u64)
    }

    /// The number of matches of a unit, in which each player has each seat equally often: one series of even length, or
    /// two of odd length.
    pub fn unit_matches(&self) -> u64 {
        let length = u64::from(self.series.get());
        if length.is_multiple_of(2) {
            length
        } else {
            2 * length
        }
    }

    /// Plays, and reports the results after each block until `watch` breaks, with the block's matches if they are
    /// recorded. Blocks of the pairs alternate, so that an early end leaves about as many matches of each.
    pub fn play(
        &self,
        run: &Run<'_>,
        mut watch: impl FnMut(&[Pair], Vec<Row>) -> ControlFlow<()>,
    ) -> Vec<Pair> {
        let mut pairs = self.pairs();
        let still: Vec<Pair> = pairs.clone();
        let count = still.len().max(1) as u64;
        let all_units = self.matches.div_ceil(self.unit_matches());
        let together = if self.every_unit {
            1
        } else {
            self.units_together()
        };
        let blocks = if still.is_empty() {
            0
        } else {
            all_units.div_ceil(together) * count
        };
        let work = |block: u64| {
            let part = block / count;
            let units = part * together..((part + 1) * together).min(all_units);
            let number = usize::try_from(block % count).ok()?;
            Some(self.block(run, still.get(number)?, number, units))
        };
        let wide = || self.entrants.iter().any(Entrant::takes_batches);
        run.in_order(blocks, wide, work, |block| {
            let mut rows = Vec::new();
            if let Some(block) = block
                && let Some(pair) = pairs.get_mut(block.pair)
            {
                pair.tally.add(&block.played.tally);
                pair.distinct.merge(&block.played.distinct);
                rows = block.rows;
            }
            watch(&pairs, rows)
        });
        pairs
    }

    fn units_together(&self) -> u64 {
        let all_fast = Engine::new(self.game, self.rules, self.entrants.iter(), false).is_fast();
        let turns = self.unit_matches() * u64::from(self.game.turns_max);
        if all_fast {
            (FAST_TURNS / turns.max(1)).max(1)
        } else {
            1
        }
    }

    fn block(&self, run: &Run<'_>, pair: &Pair, number: usize, units: Range<u64>) -> Block {
        let mut block = Block {
            pair: number,
            played: pair.clone(),
            rows: Vec::new(),
        };
        let mut engine = self.engine(pair);
        for unit in units {
            self.unit(run, &mut engine, unit, &mut block);
        }
        block
    }

    fn engine(&self, pair: &Pair) -> Engine<'_> {
        let places = [pair.a, pair.b].into_iter();
        Engine::new(
            self.game,
            self.rules,
            places.filter_map(|place| self.entrants.get(place)),
            self.records,
        )
    }

    /// Plays one unit of the pair of this number.
    pub fn play_unit(&self, run: &Run<'_>, number: usize, unit: u64) -> Vec<Row> {
        let pairs = self.pairs();
        let pair = pairs.get(number);
        pair.map_or_else(Vec::new, |pair| {
            self.block(run, pair, number, unit..unit + 1).rows
        })
    }

    /// Matches in sequence, with alternating seats.
    fn unit(&self, run: &Run<'_>, engine: &mut Engine<'_>, unit: u64, block: &mut Block) {
        let pair = block.pair as u64;
        let length = self.unit_matches();
        let series = u64::from(self.series.get());
        let mut tally = Tally::default();
        let mut before = None;
        for place in unit * length..((unit + 1) * length).min(self.matches) {
            if run.is_stopped() {
                break;
            }
            if place % series == 0 {
                engine.begin(stream(self.seed, Purpose::Duel(pair), place / series));
            }
            if place % 2 == 0 {
                self.opening(place / 2)
                    .into_iter()
                    .for_each(|opening| engine.open(opening));
            }
            let first = if place % 2 == 0 { Seat::A } else { Seat::B };
            let seated = |[one, other]: [usize; 2]| match first {
                Seat::A => [one, other],
                Seat::B => [other, one],
            };
            let [a, b] = seated([0, 1]);
            let played = engine.play(a, b);
            if run.is_stopped() && !engine.is_fast() {
                // An external strategy, or the rules, may have ended it before its time.
                break;
            }
            tally.count_swapped(played.ending, first, &mut before);
            let is_paid = self.game.ranks_by_payoff() && played.ending != Ending::NotPlayed;
            if let Some(payoffs) = played.payoffs.filter(|_| is_paid) {
                tally.pay(payoffs, first);
            }
            block.played.distinct.add(first == Seat::A, played.moves);
            if self.records {
                // Matches of a repetition are numbered through all pairs.
                let number = pair * length + place % length + 1;
                let players = seated([block.played.a, block.played.b]);
                block.rows.push(Row::of(unit, number, players, played));
            }
        }
        block.played.tally.add_series(&tally);
    }

    fn opening(&self, pair: u64) -> Option<&Opening> {
        let place = pair.checked_rem(self.openings.len() as u64)?;
        usize::try_from(place)
            .ok()
            .and_then(|place| self.openings.get(place))
    }
}
