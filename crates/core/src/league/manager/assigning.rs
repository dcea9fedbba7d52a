//! Assignment of matches to referees: releases them, sends them, and reassigns those that fail or are overdue.

use super::{Ctx, Manager};
use crate::agent::{Agent, Answer};
use crate::league::assignments::{AssignmentForm, must_repeat, refusal};
use crate::league::cause::{LossCause, Suspicion};
use crate::league::deliveries::Purpose;
use crate::league::event::LeagueEvent;
use crate::outbox::Sent;
use crate::protocol::Sender;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{BRIEFING, Cause, Culprit, Phase};

impl Manager {
    /// Repeats the assignments of a referee.
    pub(super) fn remind_referee(&mut self, ctx: &mut Ctx<'_>, referee: &RefereeId) {
        let open = self.league.in_hand(|id| id == referee);
        self.send_assignments(ctx, open);
        self.advance(ctx);
    }

    /// Assigns every match that can begin to a referee with capacity: no backoff is running, and both players have
    /// acknowledged the announcement.
    pub(super) fn release_matches(&mut self, ctx: &mut Ctx<'_>) {
        let may_begin =
            |id: &&MatchId| !self.assignments.is_backing_off(id) && !self.rounds.is_awaiting(id);
        let ready = self
            .league
            .waiting
            .iter()
            .filter(may_begin)
            .cloned()
            .collect();
        self.release(ctx, ready);
    }

    pub(super) fn release(&mut self, ctx: &mut Ctx<'_>, waiting: Vec<MatchId>) {
        if self.league.phase != Phase::Running || !self.rounds.is_released(ctx.now) {
            return;
        }
        if self.rounds.take_untold() {
            self.tell_idle_referees(ctx);
        }
        if waiting.is_empty() {
            return;
        }
        let mut loads = self.league.loads();
        let all_present = self
            .league
            .players
            .values()
            .all(|player| !player.withdrawn && !player.is_suspended());
        let mut given = Vec::new();
        for match_id in waiting {
            // Without forfeits and without capacity nothing can be assigned.
            if all_present
                && !self
                    .league
                    .referees
                    .keys()
                    .any(|id| self.league.has_room(id, &loads))
            {
                break;
            }
            let Some(fixture) = self.league.matches.get(&match_id) else {
                continue;
            };
            let forfeits = self.league.forfeits_of(fixture);
            let is_exhausted = self.league.is_exhausted(fixture);
            if !forfeits.is_empty()
                && (is_exhausted || self.league.only_third_party_referees(fixture))
            {
                self.forfeit(ctx, &match_id, &forfeits);
                continue;
            }
            if is_exhausted {
                self.decide_unplayed(ctx, &match_id);
                continue;
            }
            let referee = self
                .league
                .choose_referee(fixture, &loads, !forfeits.is_empty());
            let Some(referee) = referee else { continue };
            *loads.entry(referee.clone()).or_default() += 1;
            self.assign(ctx, &match_id, &referee, forfeits);
            given.push((match_id, referee));
        }
        self.send_assignments(ctx, given);
    }

    fn assign(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        referee: &RefereeId,
        forfeits: Vec<(PlayerId, Cause)>,
    ) {
        let Some(fixture) = self.league.matches.get(match_id) else {
            return;
        };
        let attempt = fixture.attempt().map_or(Attempt::FIRST, Attempt::next);
        let as_told = fixture.planned.as_ref() == Some(referee);
        let match_id = match_id.clone();
        let referee_id = referee.clone();
        let event = LeagueEvent::MatchAssigned {
            match_id: match_id.clone(),
            attempt,
            referee_id,
            forfeits,
        };
        self.record(ctx, event);
        if !as_told {
            self.tell_reassignment(ctx, &match_id);
        }
    }

    pub(super) fn send_assignments(&mut self, ctx: &mut Ctx<'_>, given: Vec<(MatchId, RefereeId)>) {
        let assignments = self
            .assignments
            .send(&self.league, &mut self.keyrings, ctx.now, given);
        self.send(ctx, assignments);
    }

    pub(super) fn on_assignment_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        matches: &[MatchId],
        agent: Sender,
        mut sent: Box<Sent<Purpose>>,
        answer: &Answer,
    ) {
        let Sender::Referee(referee) = &agent else {
            return;
        };
        let refusal = refusal(answer);
        if refusal.is_none() && !must_repeat(answer) {
            let form = AssignmentForm::of(&sent.delivery.payload);
            self.assignments.on_taken(referee, form);
            return;
        }
        let is_its_own = |id: &&MatchId| {
            let fixture = self.league.matches.get(*id);
            fixture.is_some_and(|fixture| fixture.in_play && fixture.referee() == Some(referee))
        };
        let its_own: Vec<MatchId> = matches.iter().filter(is_its_own).cloned().collect();
        let form = AssignmentForm::of(&sent.delivery.payload);
        if let Some(why) = refusal {
            return self.on_assignment_refused(ctx, referee, form, its_own, &why);
        }
        let payload =
            self.assignments
                .payload(&self.league, &mut self.keyrings, ctx.now, referee, &its_own);
        let Some(payload) = payload else { return };
        sent.delivery.payload = payload;
        sent.delivery.purpose = Purpose::Assignment(its_own.clone(), agent.clone());
        if self.outbox.retry(ctx.now, sent).is_err() {
            self.suspend(ctx, agent, Suspicion::Unreachable);
            for match_id in &its_own {
                let why = "the match could not be assigned to it";
                self.lose_attempt(ctx, match_id, Culprit::Referee, LossCause::Unreachable, why);
            }
            self.advance(ctx);
        }
    }

    /// Tells a third-party referee of its matches in the next form. After the last one, and at once for a referee of ours,
    /// it loses them.
    fn on_assignment_refused(
        &mut self,
        ctx: &mut Ctx<'_>,
        referee: &RefereeId,
        form: AssignmentForm,
        refused: Vec<MatchId>,
        why: &str,
    ) {
        let known = self.league.referees.get(referee);
        let is_ours = known.is_some_and(|known| known.meta.has_capability(BRIEFING));
        // It knew of the matches, and was only asked for them again.
        if refused
            .iter()
            .any(|match_id| self.assignments.was_asked_again(match_id))
        {
            return self.ask_again(ctx, referee, form, &refused);
        }
        if self.assignments.try_next_form(referee, form, is_ours) {
            let refused = refused
                .into_iter()
                .map(|match_id| (match_id, referee.clone()))
                .collect();
            return self.send_assignments(ctx, refused);
        }
        // One that asks for the schedule learns its matches from that.
        if !is_ours && self.assignments.is_polling(referee) {
            return;
        }
        let agent = Sender::Referee(referee.clone());
        self.suspend(ctx, agent.clone(), Suspicion::RefusedMatch);
        let others = self
            .league
            .referees
            .values()
            .any(|known| !known.is_suspended() && !known.revoked);
        for match_id in &refused {
            let attempt = self
                .league
                .matches
                .get(match_id)
                .and_then(|fixture| fixture.attempt());
            self.lose_attempt(ctx, match_id, Culprit::Referee, LossCause::NotTaken, why);
            if !others {
                self.assignments
                    .back_off_refused(&self.league, ctx.now, match_id);
            }
            // Of several matches in one message it may have taken some.
            if let Some(attempt) = attempt.filter(|_| is_ours) {
                self.tell_superseded(ctx, agent.clone(), match_id, attempt);
            }
        }
        self.advance(ctx);
    }

    /// Asks third-party referees for matches that they have taken and not reported for longer than a match takes whose
    /// players answer: some acknowledge an announcement and wait for an assignment.
    pub(super) fn ask_idle_referees(&mut self, ctx: &mut Ctx<'_>) {
        for match_id in self.assignments.take_idle(ctx.now) {
            let fixture = self.league.matches.get(&match_id);
            let referee = fixture
                .filter(|fixture| fixture.in_play)
                .and_then(|fixture| fixture.referee().cloned());
            if let Some(referee) = referee {
                let form = self.assignments.form(&referee);
                self.ask_again(ctx, &referee, form, &[match_id]);
            }
        }
    }

    /// Asks a referee for a match in the form after this one, if there is one.
    fn ask_again(
        &mut self,
        ctx: &mut Ctx<'_>,
        referee: &RefereeId,
        form: AssignmentForm,
        matches: &[MatchId],
    ) {
        let again = self.assignments.send_again(
            &self.league,
            &mut self.keyrings,
            ctx.now,
            (referee, form),
            matches,
        );
        self.send(ctx, again);
    }

    /// Reassigns every match whose report is overdue.
    pub(super) fn reassign_overdue(&mut self, ctx: &mut Ctx<'_>) {
        let mut any = false;
        for match_id in self.assignments.take_overdue(ctx.now) {
            let Some(fixture) = self
                .league
                .matches
                .get(&match_id)
                .filter(|fixture| fixture.in_play)
            else {
                continue;
            };
            let held = fixture.referee().cloned().zip(fixture.attempt());
            let why = "it did not report in time";
            self.lose_attempt(ctx, &match_id, Culprit::Referee, LossCause::Overdue, why);
            if let Some((referee, attempt)) = held {
                let referee = Sender::Referee(referee);
                self.suspend(ctx, referee.clone(), Suspicion::Overdue);
                // The referee may be alive after all, and must not ask the players beside its successor.
                self.tell_superseded(ctx, referee, &match_id, attempt);
            }
            any = true;
        }
        if any {
            self.advance(ctx);
        }
    }
}
