//! How a competition goes: who meets whom in which round, as far as that follows from the results. Pure arithmetic.
//!
//! # Layout
//! - [`competition`]: what the operator chooses, and what of it is impossible
//! - `fixed` (the two round robins), [`swiss`], [`knockout`], `groups`: one format each; `legs` repeats their pairings
//! - [`ladder`]: a league without an end, paired by rating
//! - `swiss_cost` with `min_cost_matching`: the pairing of swiss rounds that costs least
//!
//! A [`Draw`] keeps no results: the caller holds them and asks it for the rounds that follow from them. So a
//! manager that has crashed, a simulation, and someone who checks a log all get the same answer.

pub mod competition;
mod fixed;
mod groups;
pub mod knockout;
pub mod ladder;
pub(super) mod legs;
mod min_cost_matching;
pub mod swiss;
mod swiss_cost;

pub use competition::{Competition, Format, Impossible, Seeding};
pub use ladder::Ladder;

use super::lots;
use super::schedule::Pairings;
use super::standings::{self, Basis, IndexedMatch, Place, TieBreak, Verdict};
use crate::protocol::PlayerId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A round as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawnRound {
    /// What people call it: "Semifinals, game 2 of 3".
    pub title: String,
    /// Which pairing of the competition it belongs to, counted from 1. The games of one tie share it.
    pub stage: u32,
    /// Which game of that pairing it is, counted from 1.
    pub leg: u32,
    /// Side A first. Nobody is in two of them.
    pub pairs: Vec<(PlayerId, PlayerId)>,
    /// Who sits out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub byes: Vec<PlayerId>,
    /// Whether it is the same whatever came of the rounds before it.
    #[serde(default)]
    pub fixed: bool,
    /// Whether it is played between those who are level for the first place, after all other rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub play_off: bool,
}

/// A round and what has come of it: for each pair, in their order, how its match was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedRound<'a> {
    /// Its pairs and byes.
    pub drawn: &'a DrawnRound,
    /// `None` for a match that has no result yet.
    pub verdicts: Vec<Option<Verdict>>,
}

impl<'a> PlayedRound<'a> {
    fn games(&self) -> impl Iterator<Item = (&'a PlayerId, &'a PlayerId, Option<Verdict>)> {
        let verdicts = self.verdicts.iter().copied().chain(std::iter::repeat(None));
        self.drawn
            .pairs
            .iter()
            .zip(verdicts)
            .map(|((a, b), verdict)| (a, b, verdict))
    }
}

/// The rounds of a competition that was played out.
#[derive(Debug, Default)]
pub struct Course(Vec<(DrawnRound, Vec<Option<Verdict>>)>);

impl Course {
    /// As [`Draw::basis`] takes them.
    pub fn played(&self) -> Vec<PlayedRound<'_>> {
        let rounds = self.0.iter().map(|(drawn, verdicts)| PlayedRound {
            drawn,
            verdicts: verdicts.clone(),
        });
        rounds.collect()
    }
}

/// A tie that nothing but the lot could decide.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lot {
    /// The pairing of the competition that the tie belongs to, counted from 1.
    pub stage: u32,
    /// The player that goes on to the next stage.
    pub winner: PlayerId,
    /// The player that is out.
    pub loser: PlayerId,
}

/// A competition among certain players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    competition: Competition,
    tie_breaks: Vec<TieBreak>,
    /// The best first, by their seeding.
    players: Vec<PlayerId>,
    /// Where each player stands among them.
    places: BTreeMap<PlayerId, usize>,
    seed: u64,
}

impl Draw {
    /// `entered` in the order of registration. Fails if so many players cannot play such a competition.
    pub fn begin(
        competition: &Competition,
        entered: &[PlayerId],
        tie_breaks: &[TieBreak],
        seed: u64,
    ) -> Result<Self, Impossible> {
        competition.check_for(entered.len())?;
        let mut players = entered.to_vec();
        if competition.seeding == Seeding::Lots {
            players.sort_by_cached_key(|player| {
                std::cmp::Reverse(lots::of_player(seed, "seeding", player))
            });
        }
        let places = players.iter().cloned().zip(0..).collect();
        let competition = competition.clone();
        let tie_breaks = tie_breaks.to_vec();
        Ok(Self {
            competition,
            tie_breaks,
            players,
            places,
            seed,
        })
    }

    /// As the operator chose it.
    pub fn competition(&self) -> &Competition {
        &self.competition
    }

    /// Who takes part, the best seed first.
    pub fn players(&self) -> &[PlayerId] {
        &self.players
    }

    /// From the manager's entropy, and in the log: everyone can repeat the draw.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The rounds that follow when all that were drawn have been played: as many as do not depend on each other's
    /// results, and none when the competition is over. Those who are `out` have left it.
    pub fn next(&self, played: &[PlayedRound<'_>], out: &BTreeSet<PlayerId>) -> Vec<DrawnRound> {
        match self.competition.format {
            Format::RoundRobin | Format::DoubleRoundRobin if played.is_empty() => {
                self.fixed_rounds()
            }
            Format::RoundRobin | Format::DoubleRoundRobin => Vec::new(),
            Format::Swiss => self.swiss_round(played, out),
            Format::Knockout => self
                .knockout_round(&self.players, 1, played)
                .into_iter()
                .collect(),
            Format::GroupsKnockout => self.groups_round(played),
            // The league holds the ratings that its rounds follow from.
            Format::Ladder => Vec::new(),
        }
    }

    /// Plays the competition to its end: `decide` says how a match ends, side A first, or `None` to break off.
    pub fn play_out(
        &self,
        mut decide: impl FnMut(&PlayerId, &PlayerId) -> Option<Verdict>,
    ) -> Option<Course> {
        let nobody = BTreeSet::new();
        let mut course = Course::default();
        loop {
            let next = self.next(&course.played(), &nobody);
            if next.is_empty() {
                return Some(course);
            }
            for round in next {
                let verdicts = round.pairs.iter().map(|(a, b)| decide(a, b).map(Some));
                let verdicts = verdicts.collect::<Option<_>>()?;
                course.0.push((round, verdicts));
            }
        }
    }

    /// All rounds of a format that has them fixed beforehand.
    pub fn fixed_pairings(&self) -> Vec<Pairings> {
        if !self.competition.format.is_fixed() {
            return Vec::new();
        }
        let rounds = self.fixed_rounds().into_iter();
        rounds
            .map(|DrawnRound { pairs, byes, .. }| Pairings {
                pairs,
                bye: byes.into_iter().next(),
            })
            .collect()
    }

    /// How many rounds there will be, if no tie needs more games than the shortest way takes.
    pub fn rounds_in_all(&self, played: &[PlayedRound<'_>]) -> u32 {
        match self.competition.format {
            Format::RoundRobin | Format::DoubleRoundRobin => count(self.fixed_rounds().len()),
            Format::Swiss => {
                self.competition.swiss_rounds(self.players.len()) * self.competition.legs()
            }
            Format::Knockout => self.knockout_rounds(self.players.len(), 1, played),
            Format::GroupsKnockout => self.groups_rounds(played),
            Format::Ladder => 0,
        }
    }

    /// The ties that were decided by lot.
    pub fn lots(&self, played: &[PlayedRound<'_>]) -> Vec<Lot> {
        match self.competition.format {
            Format::RoundRobin | Format::DoubleRoundRobin | Format::Swiss | Format::Ladder => {
                Vec::new()
            }
            Format::Knockout => self.bracket(&self.players, 1, played).lots,
            Format::GroupsKnockout => self.groups_lots(played),
        }
    }

    /// What the table goes by besides the results of matches. The players are named by their places in `ids`.
    pub fn basis(&self, ids: &[&PlayerId], played: &[PlayedRound<'_>]) -> Basis {
        let by_place = |of: Vec<i64>| -> Vec<i64> {
            let own = |id: &&PlayerId| {
                self.places
                    .get(*id)
                    .and_then(|place| of.get(*place))
                    .copied()
            };
            ids.iter().map(|id| own(id).unwrap_or(i64::MIN)).collect()
        };
        let levels: Vec<(&'static str, Vec<i64>)> = match self.competition.format {
            Format::RoundRobin | Format::DoubleRoundRobin | Format::Swiss | Format::Ladder => {
                Vec::new()
            }
            Format::Knockout => vec![(
                knockout::REACHED,
                self.bracket(&self.players, 1, played).reached,
            )],
            Format::GroupsKnockout => self.groups_levels(played),
        };
        let levels = levels
            .into_iter()
            .map(|(rule, keys)| (rule, by_place(keys)))
            .collect();
        let byes = match self.competition.format {
            Format::Swiss => swiss::byes(ids, played),
            _ => Vec::new(),
        };
        Basis {
            seed: self.seed,
            byes,
            levels,
            play_offs: Vec::new(),
        }
    }

    /// The table, first place first. When the competition is over, its champion is the first.
    pub fn standings(&self, played: &[PlayedRound<'_>]) -> Vec<Place> {
        let ids: Vec<&PlayerId> = self.players.iter().collect();
        let ranked = standings::rank_by(
            &ids,
            self.games(played),
            &self.tie_breaks,
            &self.basis(&ids, played),
        );
        standings::named(&ids, &ranked)
    }

    /// The matches that have a result, by the places of their players.
    fn games(&self, played: &[PlayedRound<'_>]) -> Vec<IndexedMatch> {
        let place = |player: &PlayerId| self.places.get(player).copied();
        let games = played.iter().flat_map(PlayedRound::games);
        let decided = games.filter_map(|(a, b, verdict)| {
            Some(IndexedMatch {
                a: place(a)?,
                b: place(b)?,
                verdict: verdict?,
                technical: false,
            })
        });
        decided.collect()
    }
}

fn count(many: usize) -> u32 {
    u32::try_from(many).unwrap_or(u32::MAX)
}
