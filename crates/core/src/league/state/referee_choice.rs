//! The choice of a referee for a match: by plan, by capacity, and by whom it failed before.

use super::League;
use crate::league::fixture::{Match, Round};
use crate::league::member::Member;
use crate::protocol::ids::{MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{BRIEFING, Cause, RefereeMeta};
use std::collections::BTreeMap;

/// How many begun attempts at one match a referee may lose. A referee that may not call a player hands the match back
/// four times and then decides it, so the limit cannot be lower.
pub const ATTEMPTS_PER_REFEREE_MAX: usize = 5;

impl League {
    /// Whether every available referee that may run this match has used up its attempts at it.
    pub fn is_exhausted(&self, fixture: &Match) -> bool {
        let is_used_up = |id: &RefereeId| fixture.lost_attempts(id) >= ATTEMPTS_PER_REFEREE_MAX;
        let able = || {
            self.referees
                .iter()
                .filter(|(_, known)| self.may_run(known, fixture))
        };
        able().any(|(id, _)| is_used_up(id))
            && able()
                .filter(|(_, known)| known.is_available())
                .all(|(id, _)| is_used_up(id))
    }

    /// Plans the matches of a round for the referees, by capacity.
    pub(crate) fn plan(&self, round: &Round) -> Vec<(MatchId, RefereeId)> {
        let mut loads: BTreeMap<&RefereeId, u32> = BTreeMap::new();
        let mut plan = Vec::new();
        for match_id in &round.matches {
            let load = |id: &RefereeId| loads.get(id).copied().unwrap_or(0);
            let fixture = self.matches.get(match_id);
            let able = |known: &Member<RefereeMeta>| {
                fixture.is_some_and(|fixture| self.may_run(known, fixture))
            };
            let Some(referee) = self.least_loaded(load, None, able) else {
                continue;
            };
            *loads.entry(referee).or_default() += 1;
            plan.push((match_id.clone(), referee.clone()));
        }
        plan
    }

    /// The referee with the lowest relative load. Suspended ones, the one that failed this match last, and those that
    /// lost it too often come last.
    fn least_loaded<'a>(
        &'a self,
        load: impl Fn(&RefereeId) -> u32,
        of_match: Option<&Match>,
        fit: impl Fn(&Member<RefereeMeta>) -> bool,
    ) -> Option<&'a RefereeId> {
        self.referees
            .iter()
            .filter(|(_, referee)| !referee.revoked && fit(referee))
            .min_by(|(one, first), (other, second)| {
                let failed = of_match.and_then(Match::referee);
                let unfit = |id: &RefereeId, suspended: bool| {
                    let lost = of_match.map_or(0, |fixture| fixture.lost_attempts(id));
                    (
                        lost >= ATTEMPTS_PER_REFEREE_MAX,
                        failed == Some(id),
                        suspended,
                        lost,
                    )
                };
                let share = |id: &RefereeId, capacity: u32, by: u32| {
                    u64::from(load(id).saturating_add(1)) * u64::from(by)
                        / u64::from(capacity.max(1))
                };
                let scale = first
                    .meta
                    .max_concurrent_matches
                    .saturating_mul(second.meta.max_concurrent_matches);
                unfit(one, first.is_suspended())
                    .cmp(&unfit(other, second.is_suspended()))
                    .then_with(|| {
                        share(one, first.meta.max_concurrent_matches, scale).cmp(&share(
                            other,
                            second.meta.max_concurrent_matches,
                            scale,
                        ))
                    })
                    .then_with(|| one.cmp(other))
            })
            .map(|(id, _)| id)
    }

    /// How many matches each referee has.
    pub(crate) fn loads(&self) -> BTreeMap<RefereeId, u32> {
        self.referees
            .iter()
            .map(|(id, known)| (id.clone(), known.in_hand))
            .collect()
    }

    pub(crate) fn has_room(&self, referee: &RefereeId, loads: &BTreeMap<RefereeId, u32>) -> bool {
        let load = loads.get(referee).copied().unwrap_or(0);
        self.referees
            .get(referee)
            .is_some_and(|known| load < known.meta.max_concurrent_matches)
    }

    /// Whether all available referees of a match are third-party ones, so that none can be told to decide a forfeit.
    pub(crate) fn only_third_party_referees(&self, fixture: &Match) -> bool {
        let mut live = self
            .referees
            .values()
            .filter(|known| !known.is_suspended() && !known.revoked)
            .filter(|known| self.may_run(known, fixture))
            .peekable();
        live.peek().is_some() && live.all(|known| !known.meta.has_capability(BRIEFING))
    }

    /// The planned referee, or another if that one has failed or has no capacity; `None` while none has. `briefed`
    /// requires one that takes a briefing.
    pub(crate) fn choose_referee(
        &self,
        fixture: &Match,
        loads: &BTreeMap<RefereeId, u32>,
        briefed: bool,
    ) -> Option<RefereeId> {
        let load = |id: &RefereeId| loads.get(id).copied().unwrap_or(0);
        let failed = fixture.referee();
        let has_room = |id: &RefereeId| self.has_room(id, loads);
        let able = |known: &Member<RefereeMeta>| {
            self.may_run(known, fixture) && (!briefed || known.meta.has_capability(BRIEFING))
        };
        let fit = |id: &RefereeId| {
            let known = self.referees.get(id);
            known.is_some_and(|known| !known.is_suspended() && !known.revoked && able(known))
        };
        let planned = fixture
            .planned
            .as_ref()
            .filter(|id| failed.is_none() && fit(id) && has_room(id));
        planned
            .or_else(|| {
                self.least_loaded(load, Some(fixture), able)
                    .filter(|id| has_room(id))
            })
            .cloned()
    }

    /// The assigned, undecided matches with their referees.
    pub(crate) fn in_hand(
        &self,
        mut wanted: impl FnMut(&RefereeId) -> bool,
    ) -> Vec<(MatchId, RefereeId)> {
        let assigned = self.awaited().filter(|(_, fixture)| fixture.in_play);
        let assigned =
            assigned.filter_map(|(id, fixture)| Some((id.clone(), fixture.referee()?.clone())));
        assigned.filter(|(_, referee)| wanted(referee)).collect()
    }

    /// The players that forfeit a match, and why: suspended, withdrawn or revoked.
    pub(crate) fn forfeits_of(&self, fixture: &Match) -> Vec<(PlayerId, Cause)> {
        let cause = |player: &PlayerId| {
            let known = self.players.get(player)?;
            if known.withdrawn {
                Some(Cause::Withdrawn)
            } else if known.revoked {
                Some(Cause::Revoked)
            } else {
                known.is_suspended().then_some(Cause::Suspended)
            }
        };
        let players = [&fixture.a, &fixture.b].into_iter();
        players
            .filter_map(|player| Some((player.clone(), cause(player)?)))
            .collect()
    }
}
