//! Hands a match back to the manager that cannot be played from here, without fault of its players.

use super::AssignedMatch;
use super::{Ctx, Purpose, Referee, RefereeEvent};
use crate::agent::{Agent, Payload};
use crate::outbox::{Delivery, Tries};
use crate::protocol::messages::{Culprit, LeagueError};
use crate::protocol::{Envelope, ErrorCode, MatchId, Message, Sender, Timestamp};
use serde_json::{Map, json};

impl Referee {
    pub(super) fn hand_back(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId, reason: String) {
        let Some(ended) = self.playing.remove(match_id) else {
            return;
        };
        self.stop_waiting_for(match_id, &ended);
        self.drop_match(match_id);
        if self
            .durable
            .identity()
            .is_some_and(|identity| !identity.match_tokens)
        {
            return self.restart_later(ctx.now, match_id);
        }
        let assignment = ended.assignment;
        let context = Map::from_iter([
            ("match_id".to_owned(), json!(match_id)),
            ("culprit".to_owned(), json!(Culprit::Infrastructure)),
        ]);
        let error = LeagueError::new(ErrorCode::Internal, reason.clone(), None, Some(context));
        let event = RefereeEvent::HandedBack {
            match_id: match_id.clone(),
            attempt: assignment.attempt,
            reason: reason.into(),
        };
        self.record(ctx, event);
        let envelope = Envelope::new(
            Sender::Referee(self.name()),
            ctx.now,
            assignment.conversation_id.clone(),
        )
        .with_token(self.own_token());
        let retry = self.settings.timing.retry;
        let delivery = Delivery {
            to: self.settings.manager.clone(),
            dialect: self.registration.dialect(),
            payload: Payload::Message(Message::new(envelope, error)),
            purpose: Purpose::HandBack,
            timeout: self.settings.timing.other,
            // If none arrives, the match becomes overdue and the manager reassigns it.
            tries: Tries::Retry(retry.retries, retry.backoff),
        };
        self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
    }

    /// A foreign manager takes no match back, so the match is restarted here.
    fn restart_later(&mut self, now: Timestamp, match_id: &MatchId) {
        let pause = self.settings.timing.retry.pause(1).unwrap_or_default();
        if let Some(AssignedMatch::Open { order, .. }) = self.durable.matches().get(match_id) {
            self.queue.put_at(now + pause, *order, match_id.clone());
        }
    }
}
