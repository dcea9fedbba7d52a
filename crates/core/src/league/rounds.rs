//! The course of the rounds: announced, released to the referees as they have room, rescued from dead referees, closed.

use super::event::{LeagueEvent, LossCause, Suspicion};
use super::fixture::{Match, Round};
use super::handing_back::ATTEMPTS_PER_REFEREE_MAX;
use super::manager::{Act, Manager, Purpose};
use super::member::Member;
use super::notices::Notice;
use crate::agent::{Answer, Parcel};
use crate::post::{Errand, Sent, Tries};
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::{
    BRIEFING, Cause, Culprit, GameStatus, Phase, RefereeMeta, RoundAnnouncement, RoundCompleted, RoundSummary,
};
use crate::protocol::{Message, Sender, Timestamp};
use crate::timing::Timing;
use smol_str::format_smolstr;
use std::collections::BTreeMap;

impl Manager {
    /// After a crash: says again what is open. Whoever has heard it before takes no harm.
    pub(super) fn resume(&mut self, act: &mut Act<'_>) {
        if self.everyone().any(|agent| self.is_suspended(&agent)) {
            self.probe_at = Some(act.now + self.league.settings.probe_every);
        }
        if self.league.current_round == 0 {
            return self.call_roll(act);
        }
        // A clock that was set back must not make the league wait for longer than it ever does.
        let latest = act.now + self.league.settings.announce_lead;
        let starts_at = self.league.open_round().and_then(|round| round.starts_at);
        self.release_at = starts_at.map(|starts_at| starts_at.min(latest)).filter(|at| *at > act.now);
        self.tell_announcement(act);
        self.tell_standings(act);
        let open = self.in_hand(|_| true);
        self.send_assignments(act, open);
        self.advance(act);
    }

    /// The open matches of the round with the referees that have them.
    fn in_hand(&self, mut wanted: impl FnMut(&RefereeId) -> bool) -> Vec<(MatchId, RefereeId)> {
        self.league
            .awaited()
            .filter(|(_, game)| game.in_play)
            .filter_map(|(id, game)| Some((id.clone(), game.referee()?.clone())))
            .filter(|(_, referee)| wanted(referee))
            .collect()
    }

    /// Tells a referee again of the matches it has in hand.
    pub(super) fn remind_referee(&mut self, act: &mut Act<'_>, referee: &RefereeId) {
        let open = self.in_hand(|id| id == referee);
        self.send_assignments(act, open);
        self.advance(act);
    }

    /// Moves the league on as far as it can go now.
    pub(super) fn advance(&mut self, act: &mut Act<'_>) {
        while self.league.phase == Phase::Running && self.roll.is_none() {
            let idle = self.league.open_round().is_none() && self.league.undecided.is_empty();
            if idle && !self.announce_next(act) {
                return self.complete_league(act, false);
            }
            self.release_matches(act);
            if !self.league.undecided.is_empty() {
                return;
            }
            if self.league.open_round().is_some() {
                self.close_round(act);
            }
        }
    }

    /// Announces the next round; false if there is none.
    fn announce_next(&mut self, act: &mut Act<'_>) -> bool {
        self.draw_ahead(act);
        let next = RoundId(self.league.current_round.saturating_add(1));
        let Some(round) = self.league.rounds.iter().find(|round| round.round_id == next) else {
            return false;
        };
        let plan = self.plan(round);
        let starts_at = act.now + self.league.settings.announce_lead;
        self.release_at = (starts_at > act.now).then_some(starts_at);
        self.record(act, LeagueEvent::RoundAnnounced { round_id: next, starts_at, plan });
        self.tell_announcement(act);
        true
    }

    /// Shares the matches of a round out among the referees, each by its capacity.
    pub(super) fn plan(&self, round: &Round) -> Vec<(MatchId, RefereeId)> {
        let mut loads: BTreeMap<&RefereeId, u32> = BTreeMap::new();
        let mut plan = Vec::new();
        for match_id in &round.matches {
            let load = |id: &RefereeId| loads.get(id).copied().unwrap_or(0);
            let Some(referee) = self.least_loaded(load, None, |_| true) else {
                continue;
            };
            *loads.entry(referee).or_default() += 1;
            plan.push((match_id.clone(), referee.clone()));
        }
        plan
    }

    /// The referee with the most room for its size, those in good standing first; and of one match, only then the one that
    /// failed last, and last those that have lost it too often.
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

    /// How many matches each referee has in hand.
    fn loads(&self) -> BTreeMap<RefereeId, u32> {
        self.league.referees.iter().map(|(id, known)| (id.clone(), known.in_hand)).collect()
    }

    fn has_room(&self, referee: &RefereeId, loads: &BTreeMap<RefereeId, u32>) -> bool {
        let load = loads.get(referee).copied().unwrap_or(0);
        self.league.referees.get(referee).is_some_and(|known| load < known.meta.max_concurrent_matches)
    }

    /// Gives out every match of the round that can begin to referees with room.
    fn release_matches(&mut self, act: &mut Act<'_>) {
        let ready = self.league.waiting.iter().filter(|id| self.may_begin(id)).cloned().collect();
        self.release(act, ready);
    }

    /// Whether nothing but a referee is missing: a match that was handed back rests for a while, and both players have
    /// been told of their round.
    fn may_begin(&self, match_id: &MatchId) -> bool {
        !self.resting.contains_key(match_id) && !self.unheard.values().any(|waits| waits == match_id)
    }

    /// A player has answered the announcement of the round, or cannot be told: its match waits for it no longer.
    pub(super) fn on_announcement_told(&mut self, act: &mut Act<'_>, player: &PlayerId) {
        let Some(match_id) = self.unheard.remove(player) else {
            return;
        };
        if self.unheard.is_empty() {
            self.unheard_until = None;
        }
        let opponent = self.league.matches.get(&match_id).map(|game| game.opponent(player));
        if self.league.waiting.contains(&match_id)
            && opponent.is_none_or(|opponent| !self.unheard.contains_key(opponent))
            && !self.resting.contains_key(&match_id)
        {
            self.release(act, vec![match_id]);
            if self.league.undecided.is_empty() {
                self.advance(act);
            }
        }
    }

    fn release(&mut self, act: &mut Act<'_>, waiting: Vec<MatchId>) {
        if self.release_at.is_some_and(|at| at > act.now) || self.league.phase != Phase::Running {
            return;
        }
        self.release_at = None;
        if waiting.is_empty() {
            return;
        }
        let mut loads = self.loads();
        let all_present =
            self.league.players.values().all(|player| !player.withdrawn && !player.is_suspended());
        let mut given = Vec::new();
        for match_id in waiting {
            // Where nobody forfeits and nobody has room, nothing can be done for those that still wait.
            if all_present && !self.league.referees.keys().any(|id| self.has_room(id, &loads)) {
                break;
            }
            let forfeits = self.forfeits_of(&match_id);
            let is_exhausted = self.is_exhausted(&match_id);
            if !forfeits.is_empty() && (is_exhausted || self.only_foreign_referees()) {
                self.forfeit(act, &match_id, &forfeits);
                continue;
            }
            if is_exhausted {
                self.decide_unplayed(act, &match_id);
                continue;
            }
            let Some(referee) = self.choose_referee(&match_id, &loads, !forfeits.is_empty()) else {
                continue;
            };
            *loads.entry(referee.clone()).or_default() += 1;
            self.assign(act, &match_id, &referee, forfeits);
            given.push((match_id, referee));
        }
        self.send_assignments(act, given);
    }

    /// Whether the referees that answer are all of another make, so that none can be told to decide a match without play.
    fn only_foreign_referees(&self) -> bool {
        let mut live =
            self.league.referees.values().filter(|known| !known.is_suspended() && !known.revoked).peekable();
        live.peek().is_some() && live.all(|known| !known.meta.has_capability(BRIEFING))
    }

    /// The planned referee, or another if that one has failed or has no room; `None` while nobody has. `briefed`: one that
    /// can be told to decide the match without play.
    fn choose_referee(
        &self,
        match_id: &MatchId,
        loads: &BTreeMap<RefereeId, u32>,
        briefed: bool,
    ) -> Option<RefereeId> {
        let load = |id: &RefereeId| loads.get(id).copied().unwrap_or(0);
        let game = self.league.matches.get(match_id)?;
        let failed = game.referee();
        let has_room = |id: &RefereeId| self.has_room(id, loads);
        let able = |known: &Member<RefereeMeta>| !briefed || known.meta.has_capability(BRIEFING);
        let fit = |id: &RefereeId| {
            let known = self.league.referees.get(id);
            known.is_some_and(|known| !known.is_suspended() && !known.revoked && able(known))
        };
        let planned = game.planned.as_ref().filter(|id| failed.is_none() && fit(id) && has_room(id));
        planned.or_else(|| self.least_loaded(load, Some(game), able).filter(|id| has_room(id))).cloned()
    }

    fn assign(
        &mut self,
        act: &mut Act<'_>,
        match_id: &MatchId,
        referee: &RefereeId,
        forfeits: Vec<(PlayerId, Cause)>,
    ) {
        let Some(game) = self.league.matches.get(match_id) else {
            return;
        };
        let attempt = game.attempt().map_or(Attempt::FIRST, Attempt::next);
        let as_planned = game.planned.as_ref() == Some(referee) && attempt == Attempt::FIRST;
        let (match_id, referee_id) = (match_id.clone(), referee.clone());
        let event = LeagueEvent::MatchAssigned { match_id: match_id.clone(), attempt, referee_id, forfeits };
        self.record(act, event);
        if !as_planned {
            self.tell_reassignment(act, &match_id);
        }
    }

    /// Tells each referee of the matches that are now its own, in one message, and starts the clock on them.
    fn send_assignments(&mut self, act: &mut Act<'_>, given: Vec<(MatchId, RefereeId)>) {
        let mut shares: BTreeMap<(RefereeId, RoundId), Vec<MatchId>> = BTreeMap::new();
        for (match_id, referee) in given {
            let Some(round_id) = self.league.matches.get(&match_id).map(|game| game.round_id) else {
                continue;
            };
            let due = self.league.settings.overdue_after(&self.timing_of(&referee));
            self.due.set(&match_id, Some(act.now + due));
            shares.entry((referee, round_id)).or_default().push(match_id);
        }
        for ((referee, _), matches) in shares {
            let agent = Sender::Referee(referee);
            let Some((to, dialect)) = self.address(&agent) else {
                continue;
            };
            let Some(parcel) = self.assignment(act.now, &agent, &matches) else {
                continue;
            };
            let policy = self.league.settings.timing.retry;
            let errand = Errand {
                to,
                dialect,
                parcel,
                purpose: Purpose::Assignment(matches, agent),
                timeout: self.league.settings.timing.other,
                tries: Tries::Retry(policy.retries, policy.backoff),
            };
            self.post.send(act.now, errand, &mut act.step.outbox);
        }
    }

    /// What a referee plays by: the league's timeouts within its own bounds; if they cannot be handed to it, those that it
    /// has announced, or the sources'.
    fn timing_of(&self, referee: &RefereeId) -> Timing {
        let own = self.league.settings.timing;
        let Some(meta) = self.league.referees.get(referee).map(|known| &known.meta) else {
            return own;
        };
        let announced = meta.timeouts.unwrap_or_default();
        match meta.has_capability(BRIEFING) {
            true => own.within(&announced),
            false => Timing::default().assigned(&announced),
        }
    }

    fn assignment(&mut self, now: Timestamp, agent: &Sender, matches: &[MatchId]) -> Option<Parcel> {
        let round_id = self.league.matches.get(matches.first()?)?.round_id;
        let announced = matches.iter().filter_map(|id| self.briefed(id)).collect();
        let body = RoundAnnouncement {
            league_id: self.league.settings.league_id.clone(),
            round_id,
            matches: announced,
            starts_at: None,
        };
        let conversation = format_smolstr!("conv-round-{round_id}-announce");
        let token = self.keyring(agent).map(|keyring| keyring.notice_token().clone());
        let envelope = self.envelope(now, conversation).with_token(token);
        Some(Parcel::Message(Message::new(envelope, body)))
    }

    pub(super) fn on_assignment_answered(
        &mut self,
        act: &mut Act<'_>,
        matches: &[MatchId],
        mut sent: Box<Sent<Purpose>>,
        answer: &Answer,
    ) {
        let Purpose::Assignment(_, Sender::Referee(referee)) = &sent.errand.purpose else {
            return;
        };
        let referee = referee.clone();
        if !matches!(answer, Answer::Undelivered(_)) {
            return;
        }
        let still_its_own: Vec<MatchId> = matches
            .iter()
            .filter(|id| {
                self.league
                    .matches
                    .get(*id)
                    .is_some_and(|game| game.in_play && game.referee() == Some(&referee))
            })
            .cloned()
            .collect();
        let agent = Sender::Referee(referee);
        let Some(parcel) = self.assignment(act.now, &agent, &still_its_own) else {
            return;
        };
        sent.errand.parcel = parcel;
        sent.errand.purpose = Purpose::Assignment(still_its_own.clone(), agent.clone());
        if self.try_again(act.now, sent).is_some() {
            self.suspend(act, agent, Suspicion::Unreachable);
            for match_id in &still_its_own {
                let why = "it could not be told of the match";
                self.lose_attempt(act, match_id, Culprit::Referee, LossCause::Unreachable, why);
            }
            self.advance(act);
        }
    }

    /// Takes back every match whose referee should have reported by now.
    pub(super) fn reassign_overdue(&mut self, act: &mut Act<'_>) {
        let mut any = false;
        let overdue: Vec<MatchId> = self.due.due(act.now).cloned().collect();
        for match_id in overdue {
            self.due.set(&match_id, None);
            let Some(game) = self.league.matches.get(&match_id).filter(|game| game.in_play) else {
                continue;
            };
            let held = game.referee().cloned().zip(game.attempt());
            self.lose_attempt(
                act,
                &match_id,
                Culprit::Referee,
                LossCause::Overdue,
                "it did not report in time",
            );
            if let Some((referee, attempt)) = held {
                let referee = Sender::Referee(referee);
                self.suspend(act, referee.clone(), Suspicion::Overdue);
                // It may be alive after all, and must not ask the players beside the next one.
                self.tell_moot(act, referee, &match_id, attempt);
            }
            any = true;
        }
        if any {
            self.advance(act);
        }
    }

    fn close_round(&mut self, act: &mut Act<'_>) {
        let Some(round) = self.league.open_round() else {
            return;
        };
        let round_id = round.round_id;
        let summary = self.summary(round);
        self.record(act, LeagueEvent::RoundCompleted { round_id });
        self.draw_ahead(act);
        self.tell_standings(act);
        let next = RoundId(round_id.0.saturating_add(1));
        let follows = self.league.rounds.iter().any(|round| round.round_id == next);
        let completed = RoundCompleted {
            league_id: self.league.settings.league_id.clone(),
            round_id,
            matches_completed: summary.total_matches,
            matches_played: summary.total_matches,
            next_round_id: follows.then_some(next),
            summary,
        };
        let notice = Notice::lasting(format_smolstr!("conv-round-{round_id}-complete"), completed);
        self.tell_everyone(act, &notice);
    }

    fn summary(&self, round: &Round) -> RoundSummary {
        let count = |wanted: GameStatus| {
            let decided = self.league.matches_of(round).filter_map(|(_, game)| game.decision.as_ref());
            u32::try_from(decided.filter(|decision| decision.status == wanted).count()).unwrap_or(u32::MAX)
        };
        RoundSummary {
            total_matches: u32::try_from(round.matches.len()).unwrap_or(u32::MAX),
            wins: count(GameStatus::Win),
            draws: count(GameStatus::Draw),
            technical_losses: count(GameStatus::TechnicalLoss),
        }
    }

    pub(super) fn complete_league(&mut self, act: &mut Act<'_>, by_order: bool) {
        let Some(champion) = self.league.table().into_iter().next().map(|place| place.player) else {
            return;
        };
        self.record(act, LeagueEvent::LeagueCompleted { champion, by_order });
        self.probe_at = None;
        self.tell_completed(act);
    }
}
