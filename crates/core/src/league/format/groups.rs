//! Groups and a knockout: a round robin in each group, then the best of them against each other. Pure arithmetic.

use super::{Draw, DrawnRound, Lot, PlayedRound, count, knockout, legs};
use crate::league::schedule::round_robin;
use crate::league::standings::TieBreak;
use crate::league::standings::{self, Basis, IndexedMatch};
use crate::protocol::PlayerId;
use std::collections::BTreeMap;

const PLACE: &str = "place in the group";

impl Draw {
    /// The groups: seeds go to them in order, then in reverse order, and so on, so that each gets its share of strong
    /// players.
    pub fn groups(&self) -> Vec<Vec<PlayerId>> {
        let groups = usize::try_from(self.competition.group_count(self.players.len()))
            .unwrap_or(1)
            .max(1);
        let mut members = vec![Vec::new(); groups];
        for (seed, player) in self.players.iter().enumerate() {
            let row = seed / groups;
            let place = seed % groups;
            let group = if row.is_multiple_of(2) {
                place
            } else {
                groups - 1 - place
            };
            if let Some(group) = members.get_mut(group) {
                group.push(player.clone());
            }
        }
        members
    }

    pub(super) fn groups_round(&self, played: &[PlayedRound<'_>]) -> Vec<DrawnRound> {
        let group_stage = self.group_stage();
        if let Some(left) = group_stage
            .get(played.len()..)
            .filter(|left| !left.is_empty())
        {
            return left.to_vec();
        }
        let first_stage = self.group_stages() + 1;
        self.knockout_round(&self.qualified(played), first_stage, played)
            .into_iter()
            .collect()
    }

    pub(super) fn groups_rounds(&self, played: &[PlayedRound<'_>]) -> u32 {
        let in_groups = self.group_stages() * self.competition.legs();
        let entrants =
            self.groups().len() * usize::try_from(self.competition.qualifier_count()).unwrap_or(0);
        in_groups + self.knockout_rounds(entrants, self.group_stages() + 1, played)
    }

    pub(super) fn groups_lots(&self, played: &[PlayedRound<'_>]) -> Vec<Lot> {
        self.bracket_after_groups(played)
            .map_or_else(Vec::new, |bracket| bracket.lots)
    }

    /// First how far one came in the knockout, then one's place in the group.
    pub(super) fn groups_levels(
        &self,
        played: &[PlayedRound<'_>],
    ) -> Vec<(&'static str, Vec<i64>)> {
        let mut places = vec![0; self.players.len()];
        for group in self.group_tables(played) {
            for (rank, player) in (1_i64..).zip(&group) {
                let place = self
                    .places
                    .get(player)
                    .and_then(|place| places.get_mut(*place));
                place.into_iter().for_each(|place| *place = -rank);
            }
        }
        match self.bracket_after_groups(played) {
            None => vec![(PLACE, places)],
            Some(bracket) => {
                // Those who went through are told apart by what they did since.
                let through = places.iter().zip(&bracket.reached);
                let below = through
                    .map(|(place, reached)| if *reached < 0 { *place } else { 0 })
                    .collect();
                vec![(knockout::REACHED, bracket.reached), (PLACE, below)]
            }
        }
    }

    fn bracket_after_groups(&self, played: &[PlayedRound<'_>]) -> Option<knockout::Bracket> {
        let first_stage = self.group_stages() + 1;
        let begun = played.iter().any(|round| round.drawn.stage >= first_stage);
        begun.then(|| self.bracket(&self.qualified(played), first_stage, played))
    }

    /// How many pairings the largest group takes.
    fn group_stages(&self) -> u32 {
        let largest = self.groups().iter().map(Vec::len).max().unwrap_or(0);
        count(if largest.is_multiple_of(2) {
            largest.saturating_sub(1)
        } else {
            largest
        })
    }

    fn group_stage(&self) -> Vec<DrawnRound> {
        let schedules: Vec<_> = self
            .groups()
            .iter()
            .map(|group| (group.clone(), round_robin(group)))
            .collect();
        let stages = (1..).zip(0..self.group_stages());
        let drawn = stages.map(|(stage, index)| {
            let mut pairs = Vec::new();
            let mut byes = Vec::new();
            for (group, rounds) in &schedules {
                match usize::try_from(index)
                    .ok()
                    .and_then(|index| rounds.get(index))
                {
                    Some(round) => {
                        pairs.extend(round.pairs.iter().cloned());
                        byes.extend(round.bye.iter().cloned());
                    }
                    None => byes.extend(group.iter().cloned()),
                }
            }
            let title = format!("Group stage, round {stage}");
            DrawnRound {
                title,
                stage,
                leg: 1,
                pairs,
                byes,
                fixed: true,
                play_off: false,
            }
        });
        drawn
            .flat_map(|round| legs::repeated(round, self.competition.legs()))
            .collect()
    }

    /// The table of each group, first place first.
    pub fn group_tables(&self, played: &[PlayedRound<'_>]) -> Vec<Vec<PlayerId>> {
        let stages = self.group_stages();
        let in_groups = played.iter().filter(|round| round.drawn.stage <= stages);
        let games: Vec<_> = in_groups.flat_map(PlayedRound::games).collect();
        let tables = self.groups().into_iter().map(|group| {
            let ids: Vec<&PlayerId> = group.iter().collect();
            let places: BTreeMap<&PlayerId, usize> = ids.iter().copied().zip(0..).collect();
            let own = games.iter().filter_map(|(a, b, verdict)| {
                let a = *places.get(a)?;
                let b = *places.get(b)?;
                Some(IndexedMatch {
                    a,
                    b,
                    verdict: (*verdict)?,
                    technical: false,
                })
            });
            let basis = Basis {
                seed: self.seed,
                ..Basis::default()
            };
            let ranked =
                standings::rank_by(&ids, own.collect(), &self.tie_breaks_in_groups(), &basis);
            ranked
                .iter()
                .filter_map(|row| ids.get(row.player).map(|id| PlayerId::clone(id)))
                .collect()
        });
        tables.collect()
    }

    /// Qualification must be decided, so that between level players the lot has the last word.
    fn tie_breaks_in_groups(&self) -> Vec<TieBreak> {
        self.tie_breaks
            .iter()
            .copied()
            .chain([TieBreak::Lots])
            .collect()
    }

    /// Who goes through, as the seeds of the knockout: the firsts of all groups, then the seconds, and so on.
    pub(super) fn qualified(&self, played: &[PlayedRound<'_>]) -> Vec<PlayerId> {
        let tables = self.group_tables(played);
        let each = usize::try_from(self.competition.qualifier_count()).unwrap_or(0);
        let size = (tables.len() * each).next_power_of_two();
        let mut seeds: Vec<(usize, PlayerId)> = Vec::new();
        for place in 0..each {
            let tier: Vec<(usize, PlayerId)> = (0..)
                .zip(&tables)
                .filter_map(|(group, table)| Some((group, table.get(place)?.clone())))
                .collect();
            let first = seeds.len();
            // In the first stage of a bracket, two seeds meet whose numbers add up to its size.
            let met: Vec<Option<usize>> = (first..first + tier.len())
                .map(|seed| seeds.get(size - 1 - seed).map(|(group, _)| *group))
                .collect();
            seeds.extend(kept_apart(tier, &met));
        }
        seeds.into_iter().map(|(_, player)| player).collect()
    }
}

/// Puts one player of each group onto seeds whose first opponents are of the groups in `met`, so that no two of a group
/// meet; as near to the given order as that allows.
fn kept_apart(tier: Vec<(usize, PlayerId)>, met: &[Option<usize>]) -> Vec<(usize, PlayerId)> {
    let mut seats: Vec<usize> = (0..tier.len()).collect();
    let clashes = |seat: usize, member: usize| {
        let group = tier.get(member).map(|(group, _)| *group);
        group.is_some() && met.get(seat).copied().flatten() == group
    };
    for seat in 0..seats.len() {
        let Some(member) = seats
            .get(seat)
            .copied()
            .filter(|member| clashes(seat, *member))
        else {
            continue;
        };
        let others = (seat + 1..seats.len()).chain(0..seat);
        let swap = others.into_iter().find(|other| {
            seats
                .get(*other)
                .is_some_and(|theirs| !clashes(seat, *theirs) && !clashes(*other, member))
        });
        if let Some(other) = swap {
            seats.swap(seat, other);
        }
    }
    seats
        .into_iter()
        .filter_map(|member| tier.get(member).cloned())
        .collect()
}
