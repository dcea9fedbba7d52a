//! The choice of a referee for a match: by plan, by capacity, and by whom it failed before.

use super::fixture::{Match, Round};
use super::handing_back::ATTEMPTS_PER_REFEREE_MAX;
use super::manager::Manager;
use super::member::Member;
use crate::protocol::ids::{MatchId, RefereeId};
use crate::protocol::messages::{BRIEFING, RefereeMeta};
use std::collections::BTreeMap;

impl Manager {
    /// Plans the matches of a round for the referees, by capacity.
    pub(super) fn plan(&self, round: &Round) -> Vec<(MatchId, RefereeId)> {
        let mut loads: BTreeMap<&RefereeId, u32> = BTreeMap::new();
        let mut plan = Vec::new();
        for match_id in &round.matches {
            let load = |id: &RefereeId| loads.get(id).copied().unwrap_or(0);
            let game = self.league.matches.get(match_id);
            let able =
                |known: &Member<RefereeMeta>| game.is_some_and(|game| self.league.may_run(known, game));
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
        self.league
            .referees
            .iter()
            .filter(|(_, referee)| !referee.revoked && fit(referee))
            .min_by(|(one, first), (other, second)| {
                let failed = of_match.and_then(Match::referee);
                let unfit = |id: &RefereeId, suspended: bool| {
                    let lost = of_match.map_or(0, |game| game.lost_attempts(id));
                    (lost >= ATTEMPTS_PER_REFEREE_MAX, failed == Some(id), suspended, lost)
                };
                let share = |id: &RefereeId, capacity: u32, by: u32| {
                    u64::from(load(id).saturating_add(1)) * u64::from(by) / u64::from(capacity.max(1))
                };
                let scale =
                    first.meta.max_concurrent_matches.saturating_mul(second.meta.max_concurrent_matches);
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
    pub(super) fn loads(&self) -> BTreeMap<RefereeId, u32> {
        self.league.referees.iter().map(|(id, known)| (id.clone(), known.in_hand)).collect()
    }

    pub(super) fn has_room(&self, referee: &RefereeId, loads: &BTreeMap<RefereeId, u32>) -> bool {
        let load = loads.get(referee).copied().unwrap_or(0);
        self.league.referees.get(referee).is_some_and(|known| load < known.meta.max_concurrent_matches)
    }

    /// Whether all available referees of a match are foreign, so that none can be told to decide a forfeit.
    pub(super) fn only_foreign_referees(&self, match_id: &MatchId) -> bool {
        let game = self.league.matches.get(match_id);
        let mut live = self
            .league
            .referees
            .values()
            .filter(|known| !known.is_suspended() && !known.revoked)
            .filter(|known| game.is_some_and(|game| self.league.may_run(known, game)))
            .peekable();
        live.peek().is_some() && live.all(|known| !known.meta.has_capability(BRIEFING))
    }

    /// The planned referee, or another if that one has failed or has no capacity; `None` while none has. `briefed`
    /// requires one that takes a briefing.
    pub(super) fn choose_referee(
        &self,
        match_id: &MatchId,
        loads: &BTreeMap<RefereeId, u32>,
        briefed: bool,
    ) -> Option<RefereeId> {
        let load = |id: &RefereeId| loads.get(id).copied().unwrap_or(0);
        let game = self.league.matches.get(match_id)?;
        let failed = game.referee();
        let has_room = |id: &RefereeId| self.has_room(id, loads);
        let able = |known: &Member<RefereeMeta>| {
            self.league.may_run(known, game) && (!briefed || known.meta.has_capability(BRIEFING))
        };
        let fit = |id: &RefereeId| {
            let known = self.league.referees.get(id);
            known.is_some_and(|known| !known.is_suspended() && !known.revoked && able(known))
        };
        let planned = game.planned.as_ref().filter(|id| failed.is_none() && fit(id) && has_room(id));
        planned.or_else(|| self.least_loaded(load, Some(game), able).filter(|id| has_room(id))).cloned()
    }
}
