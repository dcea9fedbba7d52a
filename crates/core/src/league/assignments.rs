//! Assignment of matches to referees: releases them, sends them, and reassigns those that fail or are overdue.

use super::cause::{LossCause, Suspicion};
use super::event::LeagueEvent;
use super::manager::{Ctx, Manager, Purpose};
use crate::agent::{Agent, Answer, Parcel};
use crate::outbox::{Delivery, Sent, Tries};
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId, RoundId};
use crate::protocol::messages::{
    AssignmentName, BRIEFING, Cause, Culprit, MatchAssignment, Phase, RoundAnnouncement,
};
use crate::protocol::{Body, ErrorCode, Message, MessageType, Sender, Timestamp};
use crate::timing::Timing;
use smol_str::{SmolStr, format_smolstr};
use std::collections::BTreeMap;

/// How a referee is told of its matches, in the order in which one of another make is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AssignmentForm {
    /// All of a round in ROUND_ANNOUNCEMENT. Referees of ours know no other.
    #[default]
    Announcement,
    /// Each in a message of its own.
    Single(AssignmentName),
}

impl AssignmentForm {
    fn of(parcel: &Parcel) -> Self {
        match parcel {
            Parcel::Message(Message { body: Body::MatchAssignment(single), .. }) => Self::Single(single.name),
            Parcel::Message(_) | Parcel::Probe => Self::Announcement,
        }
    }

    fn next(self) -> Option<Self> {
        match self {
            Self::Announcement => Some(Self::Single(AssignmentName::MatchAssignment)),
            Self::Single(AssignmentName::MatchAssignment) => Some(Self::Single(AssignmentName::StartMatch)),
            Self::Single(AssignmentName::StartMatch) => None,
        }
    }
}

/// Why a referee does not take an assignment, if its answer says so.
pub(super) fn refusal(answer: &Answer) -> Option<String> {
    let incoming = match answer {
        Answer::NotUnderstood(why) => return Some(why.clone()),
        Answer::Message(Ok(incoming)) => incoming,
        Answer::Message(Err(_)) | Answer::Received | Answer::Garbled(_) | Answer::Undelivered(_) => {
            return None;
        }
    };
    match &incoming.body {
        Ok(Body::LeagueError(error)) if is_not_now(&error.error_code) => None,
        Ok(Body::LeagueError(error)) => {
            let said = error.error_message.as_ref().unwrap_or(&error.error_description);
            Some(format!("it refused the match: {}: {}", error.error_code, said.raw()))
        }
        Err(rejection) if incoming.message_type == MessageType::LeagueError => Some(rejection.to_string()),
        Ok(_) | Err(_) => None,
    }
}

/// Whether an assignment that was answered like this is to be sent again.
fn must_repeat(answer: &Answer) -> bool {
    match answer {
        Answer::Undelivered(_) | Answer::Garbled(_) => true,
        Answer::Message(Ok(incoming)) => {
            matches!(&incoming.body, Ok(Body::LeagueError(error)) if is_not_now(&error.error_code))
        }
        Answer::Message(Err(_)) | Answer::Received | Answer::NotUnderstood(_) => false,
    }
}

fn is_not_now(code: &ErrorCode) -> bool {
    code.retryable() || *code == ErrorCode::RateLimited
}

impl Manager {
    /// The assigned, undecided matches with their referees.
    pub(super) fn in_hand(&self, mut wanted: impl FnMut(&RefereeId) -> bool) -> Vec<(MatchId, RefereeId)> {
        self.league
            .awaited()
            .filter(|(_, game)| game.in_play)
            .filter_map(|(id, game)| Some((id.clone(), game.referee()?.clone())))
            .filter(|(_, referee)| wanted(referee))
            .collect()
    }

    /// Repeats the assignments of a referee.
    pub(super) fn remind_referee(&mut self, ctx: &mut Ctx<'_>, referee: &RefereeId) {
        let open = self.in_hand(|id| id == referee);
        self.send_assignments(ctx, open);
        self.advance(ctx);
    }

    /// Assigns every match that can begin to a referee with capacity.
    pub(super) fn release_matches(&mut self, ctx: &mut Ctx<'_>) {
        let ready = self.league.waiting.iter().filter(|id| self.may_begin(id)).cloned().collect();
        self.release(ctx, ready);
    }

    /// Whether only a referee is missing: no backoff is running, and both players have acknowledged the announcement.
    fn may_begin(&self, match_id: &MatchId) -> bool {
        !self.backoff_until.contains_key(match_id)
            && !self.unacknowledged.values().any(|waits| waits == match_id)
    }

    pub(super) fn release(&mut self, ctx: &mut Ctx<'_>, waiting: Vec<MatchId>) {
        if self.release_at.is_some_and(|at| at > ctx.now) || self.league.phase != Phase::Running {
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
            // Without forfeits and without capacity nothing can be assigned.
            if all_present && !self.league.referees.keys().any(|id| self.has_room(id, &loads)) {
                break;
            }
            let forfeits = self.forfeits_of(&match_id);
            let is_exhausted = self.is_exhausted(&match_id);
            if !forfeits.is_empty() && (is_exhausted || self.only_foreign_referees(&match_id)) {
                self.forfeit(ctx, &match_id, &forfeits);
                continue;
            }
            if is_exhausted {
                self.decide_unplayed(ctx, &match_id);
                continue;
            }
            let Some(referee) = self.choose_referee(&match_id, &loads, !forfeits.is_empty()) else {
                continue;
            };
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
        let Some(game) = self.league.matches.get(match_id) else {
            return;
        };
        let attempt = game.attempt().map_or(Attempt::FIRST, Attempt::next);
        let as_planned = game.planned.as_ref() == Some(referee) && attempt == Attempt::FIRST;
        let (match_id, referee_id) = (match_id.clone(), referee.clone());
        let event = LeagueEvent::MatchAssigned { match_id: match_id.clone(), attempt, referee_id, forfeits };
        self.record(ctx, event);
        if !as_planned {
            self.tell_reassignment(ctx, &match_id);
        }
    }

    /// Sends each referee its matches in one message, and sets their report deadlines.
    pub(super) fn send_assignments(&mut self, ctx: &mut Ctx<'_>, given: Vec<(MatchId, RefereeId)>) {
        let mut shares: BTreeMap<(RefereeId, RoundId), Vec<MatchId>> = BTreeMap::new();
        for (match_id, referee) in given {
            let Some(round_id) = self.league.matches.get(&match_id).map(|game| game.round_id) else {
                continue;
            };
            let due = self.league.settings.overdue_after(&self.timing_of(&referee));
            self.due.set(&match_id, Some(ctx.now + due));
            shares.entry((referee, round_id)).or_default().push(match_id);
        }
        for ((referee, _), matches) in shares {
            let at_once = match self.assignment_form(&referee) {
                AssignmentForm::Announcement => matches.len(),
                AssignmentForm::Single(_) => 1,
            };
            for matches in matches.chunks(at_once) {
                self.send_assignment(ctx, &referee, matches.to_vec());
            }
        }
    }

    fn send_assignment(&mut self, ctx: &mut Ctx<'_>, referee: &RefereeId, matches: Vec<MatchId>) {
        let agent = Sender::Referee(referee.clone());
        let Some((to, dialect)) = self.address(&agent) else {
            return;
        };
        let Some(parcel) = self.assignment(ctx.now, referee, &matches) else {
            return;
        };
        let policy = self.league.settings.timing.retry;
        let delivery = Delivery {
            to,
            dialect,
            parcel,
            purpose: Purpose::Assignment(matches, agent),
            timeout: self.league.settings.timing.other,
            tries: Tries::Retry(policy.retries, policy.backoff),
        };
        self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
    }

    fn assignment_form(&self, referee: &RefereeId) -> AssignmentForm {
        self.assignment_forms.get(referee).copied().unwrap_or_default()
    }

    /// The timeouts that a referee uses: the league's within its own bounds; without a briefing those that it
    /// announced, or the defaults.
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

    fn assignment(&mut self, now: Timestamp, referee: &RefereeId, matches: &[MatchId]) -> Option<Parcel> {
        let first = matches.first()?;
        let round_id = self.league.matches.get(first)?.round_id;
        let league_id = self.league.settings.league_id.clone();
        let (conversation, body): (SmolStr, Body) = match self.assignment_form(referee) {
            AssignmentForm::Announcement => {
                let matches = matches.iter().filter_map(|id| self.briefed(id)).collect();
                let remark = self.remark_to(referee);
                let body = RoundAnnouncement { league_id, round_id, matches, starts_at: None, remark };
                (format_smolstr!("conv-round-{round_id}-announce"), body.into())
            }
            AssignmentForm::Single(name) => {
                let briefed = self.briefed(first)?;
                let briefing = *briefed.briefing?;
                let body = MatchAssignment {
                    name,
                    league_id: Some(league_id),
                    round_id: Some(round_id),
                    match_id: briefed.match_id,
                    game_type: Some(briefed.game_type),
                    player_a_id: briefed.player_a_id,
                    player_b_id: briefed.player_b_id,
                    player_a_endpoint: Some(briefing.player_a_endpoint),
                    player_b_endpoint: Some(briefing.player_b_endpoint),
                };
                (briefed.conversation_id?.as_str().into(), body.into())
            }
        };
        let agent = Sender::Referee(referee.clone());
        let token = self.keyring(&agent).map(|keyring| keyring.notice_token().clone());
        let envelope = self.envelope(now, conversation).with_token(token);
        Some(Parcel::Message(Message::new(envelope, body)))
    }

    pub(super) fn on_assignment_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        matches: &[MatchId],
        mut sent: Box<Sent<Purpose>>,
        answer: &Answer,
    ) {
        let Purpose::Assignment(_, Sender::Referee(referee)) = &sent.delivery.purpose else {
            return;
        };
        let (referee, refusal) = (referee.clone(), refusal(answer));
        if refusal.is_none() && !must_repeat(answer) {
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
        if let Some(why) = refusal {
            let form = AssignmentForm::of(&sent.delivery.parcel);
            return self.on_assignment_refused(ctx, &referee, form, still_its_own, &why);
        }
        let Some(parcel) = self.assignment(ctx.now, &referee, &still_its_own) else {
            return;
        };
        let agent = Sender::Referee(referee);
        sent.delivery.parcel = parcel;
        sent.delivery.purpose = Purpose::Assignment(still_its_own.clone(), agent.clone());
        if self.try_again(ctx.now, sent).is_some() {
            self.suspend(ctx, agent, Suspicion::Unreachable);
            for match_id in &still_its_own {
                let why = "it could not be told of the match";
                self.lose_attempt(ctx, match_id, Culprit::Referee, LossCause::Unreachable, why);
            }
            self.advance(ctx);
        }
    }

    /// Tells a referee of another make of its matches in the next form. After the last one, and at once for a referee of ours,
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
        if let Some(next) = form.next().filter(|_| !is_ours) {
            // Of another match it may be known already that this one is not understood either.
            let form = next.max(self.assignment_form(referee));
            self.assignment_forms.insert(referee.clone(), form);
            let refused = refused.into_iter().map(|match_id| (match_id, referee.clone())).collect();
            return self.send_assignments(ctx, refused);
        }
        self.assignment_forms.remove(referee);
        let agent = Sender::Referee(referee.clone());
        self.suspend(ctx, agent.clone(), Suspicion::RefusedMatch);
        let others = self.league.referees.values().any(|known| !known.is_suspended() && !known.revoked);
        for match_id in &refused {
            let attempt = self.league.matches.get(match_id).and_then(|game| game.attempt());
            self.lose_attempt(ctx, match_id, Culprit::Referee, LossCause::NotTaken, why);
            if !others {
                self.back_off(ctx.now, match_id);
            }
            // Of several matches in one message it may have taken some.
            if let Some(attempt) = attempt.filter(|_| is_ours) {
                self.tell_superseded(ctx, agent.clone(), match_id, attempt);
            }
        }
        self.advance(ctx);
    }

    /// Reassigns every match whose report is overdue.
    pub(super) fn reassign_overdue(&mut self, ctx: &mut Ctx<'_>) {
        let mut any = false;
        let overdue: Vec<MatchId> = self.due.due(ctx.now).cloned().collect();
        for match_id in overdue {
            self.due.set(&match_id, None);
            let Some(game) = self.league.matches.get(&match_id).filter(|game| game.in_play) else {
                continue;
            };
            let held = game.referee().cloned().zip(game.attempt());
            self.lose_attempt(
                ctx,
                &match_id,
                Culprit::Referee,
                LossCause::Overdue,
                "it did not report in time",
            );
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
