//! A whole competition played by chance, for the tests to look at.

use matchday_core::entropy::Entropy;
use matchday_core::league::TieBreak;
use matchday_core::league::format::{Competition, Draw, DrawnRound, PlayedRound};
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::PlayerId;
use std::collections::BTreeSet;

pub(crate) struct Season {
    pub(crate) draw: Draw,
    pub(crate) rounds: Vec<DrawnRound>,
    pub(crate) verdicts: Vec<Vec<Option<Verdict>>>,
    pub(crate) out: BTreeSet<PlayerId>,
}

pub(crate) fn players(count: usize) -> Vec<PlayerId> {
    (1..=count)
        .map(|number| PlayerId::numbered(number as u32))
        .collect()
}

impl Season {
    pub(crate) fn new(competition: &Competition, count: usize) -> Self {
        let draw = Draw::begin(competition, &players(count), &TieBreak::DEFAULT, 7).unwrap();
        Self {
            draw,
            rounds: Vec::new(),
            verdicts: Vec::new(),
            out: BTreeSet::new(),
        }
    }

    /// Plays it to its end; `decide` is asked for each match.
    pub(crate) fn play(
        competition: &Competition,
        count: usize,
        mut decide: impl FnMut(&PlayerId, &PlayerId) -> Verdict,
    ) -> Self {
        let mut season = Self::new(competition, count);
        while season.step(&mut decide) {}
        season
    }

    pub(crate) fn by_chance(competition: &Competition, count: usize, seed: u64) -> Self {
        let mut chance = Entropy::numbered(seed);
        Self::play(competition, count, |_, _| match chance.below(20) {
            0..8 => Verdict::WonByA,
            8..16 => Verdict::WonByB,
            16..19 => Verdict::Drawn,
            _ => Verdict::LostByBoth,
        })
    }

    /// Draws and plays what comes next; false if that is nothing.
    pub(crate) fn step(
        &mut self,
        decide: &mut impl FnMut(&PlayerId, &PlayerId) -> Verdict,
    ) -> bool {
        let drawn = self.draw.next(&self.played(), &self.out);
        for round in &drawn {
            self.verdicts.push(
                round
                    .pairs
                    .iter()
                    .map(|(a, b)| Some(decide(a, b)))
                    .collect(),
            );
        }
        self.rounds.extend(drawn.iter().cloned());
        !drawn.is_empty()
    }

    pub(crate) fn played(&self) -> Vec<PlayedRound<'_>> {
        let rounds = self.rounds.iter().zip(&self.verdicts);
        rounds
            .map(|(drawn, verdicts)| PlayedRound {
                drawn,
                verdicts: verdicts.clone(),
            })
            .collect()
    }

    pub(crate) fn table(&self) -> Vec<String> {
        self.draw
            .standings(&self.played())
            .into_iter()
            .map(|place| place.player.to_string())
            .collect()
    }
}

/// The lower number is the better player, and always wins.
pub(crate) fn the_better(a: &PlayerId, b: &PlayerId) -> Verdict {
    if a < b {
        Verdict::WonByA
    } else {
        Verdict::WonByB
    }
}

pub(crate) fn pair<'a>(a: &'a PlayerId, b: &'a PlayerId) -> (&'a PlayerId, &'a PlayerId) {
    (a.min(b), a.max(b))
}
