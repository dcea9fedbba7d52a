//! Every strategy against every other, so many matches each pair.

use crate::blocks::Run;
use crate::ending::Tally;
use crate::entrant::Entrant;
use crate::pitch::Pitch;
use crate::seeds::{Purpose, stream};
use matchday_core::game::{GameEntry, Seat};
use serde::Serialize;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

/// What is to be played.
#[derive(Debug, Clone, Copy)]
pub struct Duels<'a> {
    pub game: &'static GameEntry,
    pub entrants: &'a [Entrant],
    /// How many each pair plays.
    pub matches: u64,
    /// After how many of them both forget what they have seen.
    pub series: NonZeroU32,
    pub seed: u64,
    /// Whether to look at what there is after every series, instead of after many.
    pub closely: bool,
}

/// What came of two entrants' matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// Their places among the entrants.
    pub a: usize,
    pub b: usize,
    /// Seen from the first.
    #[serde(flatten)]
    pub tally: Tally,
}

/// About how many quick matches are one piece of work.
const QUICK_MATCHES: u64 = 1 << 16;

impl Duels<'_> {
    pub fn pairs(&self) -> Vec<Pair> {
        let places = 0..self.entrants.len();
        let pairs = places.clone().flat_map(|a| (a + 1..places.end).map(move |b| (a, b)));
        pairs.map(|(a, b)| Pair { a, b, tally: Tally::default() }).collect()
    }

    /// How many matches all pairs play together.
    pub fn matches_in_all(&self) -> u64 {
        self.matches.saturating_mul(self.pairs().len() as u64)
    }

    /// Plays, and shows what there is after each block until `watch` breaks. The blocks of all pairs take turns, so that
    /// whoever ends it early has about as much of each.
    pub fn play(&self, run: &Run<'_>, mut watch: impl FnMut(&[Pair]) -> ControlFlow<()>) -> Vec<Pair> {
        let mut pairs = self.pairs();
        let still: Vec<Pair> = pairs.clone();
        let count = still.len().max(1) as u64;
        let length = u64::from(self.series.get());
        let all_series = self.matches.div_ceil(length);
        let together = if self.closely { 1 } else { self.series_together() };
        let blocks = if still.is_empty() { 0 } else { all_series.div_ceil(together) * count };
        let work = |block: u64| {
            let (number, part) = (block % count, block / count);
            let series = part * together..((part + 1) * together).min(all_series);
            let pair = usize::try_from(number).ok().and_then(|number| still.get(number));
            (number, pair.map_or_else(Tally::default, |pair| self.block(run, pair, number, series)))
        };
        run.in_order(blocks, work, |(number, tally)| {
            let pair = usize::try_from(number).ok().and_then(|number| pairs.get_mut(number));
            pair.into_iter().for_each(|pair| pair.tally.add(&tally));
            watch(&pairs)
        });
        pairs
    }

    fn entrants_of(&self, pair: &Pair) -> impl ExactSizeIterator<Item = &Entrant> + Clone {
        let found: Vec<&Entrant> =
            [pair.a, pair.b].iter().filter_map(|place| self.entrants.get(*place)).collect();
        found.into_iter()
    }

    fn series_together(&self) -> u64 {
        let all_quick = Pitch::new(self.game, self.entrants.iter(), stream(0, Purpose::League, 0)).is_quick();
        if all_quick { (QUICK_MATCHES / u64::from(self.series.get())).max(1) } else { 1 }
    }

    fn block(&self, run: &Run<'_>, pair: &Pair, number: u64, series: std::ops::Range<u64>) -> Tally {
        let chance = |series| stream(self.seed, Purpose::Duel(number), series);
        let mut pitch = Pitch::new(self.game, self.entrants_of(pair), chance(series.start));
        let length = u64::from(self.series.get());
        let mut tally = Tally::default();
        for series in series {
            pitch.begin(chance(series));
            let matches = (self.matches - series * length).min(length);
            tally.add_series(&self.series(run, &mut pitch, matches));
        }
        tally
    }

    /// Matches one after the other, with the seats changed after each.
    fn series(&self, run: &Run<'_>, pitch: &mut Pitch<'_>, matches: u64) -> Tally {
        let quick = pitch.is_quick();
        let mut tally = Tally::default();
        for number in 0..matches {
            if !quick && run.is_stopped() {
                break;
            }
            if number % 2 == 0 {
                tally.count(pitch.play(0, 1), Seat::A);
            } else {
                tally.count(pitch.play(1, 0), Seat::B);
            }
        }
        tally
    }
}
