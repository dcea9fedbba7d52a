//! A match that cannot be played from here, by no fault of its players: the manager is told, and gives it to another.

use super::{Purpose, Referee, RefereeEvent};
use crate::agent::{Parcel, Step};
use crate::post::{Errand, Tries};
use crate::protocol::messages::{Culprit, LeagueError};
use crate::protocol::{Envelope, ErrorCode, MatchId, Message, Sender, Timestamp};
use crate::referee::Held;
use serde_json::{Map, json};

impl Referee {
    pub(super) fn hand_back(
        &mut self,
        now: Timestamp,
        match_id: &MatchId,
        reason: String,
        step: &mut Step<RefereeEvent>,
    ) {
        let Some(ended) = self.playing.remove(match_id) else {
            return;
        };
        self.let_go(match_id, &ended);
        self.drop_match(match_id);
        if self.durable.identity().is_some_and(|identity| !identity.match_tokens) {
            return self.begin_anew(now, match_id);
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
        self.record(now, event, step);
        let envelope = Envelope::new(Sender::Referee(self.name()), now, assignment.conversation_id.clone())
            .with_token(self.own_token());
        let retry = self.settings.timing.retry;
        let errand = Errand {
            to: self.settings.manager.clone(),
            dialect: self.manager_dialect,
            parcel: Parcel::Message(Message::new(envelope, error)),
            purpose: Purpose::HandBack,
            timeout: self.settings.timing.other,
            // If none arrives, the manager will miss the report, and take the match back itself.
            tries: Tries::Retry(retry.retries, retry.backoff),
        };
        self.post.send(now, errand, &mut step.outbox);
    }

    /// A manager of another make takes no match back, and it must have a result some day.
    fn begin_anew(&mut self, now: Timestamp, match_id: &MatchId) {
        let pause = self.settings.timing.retry.pause(1).unwrap_or_default();
        if let Some(Held::Open { order, .. }) = self.durable.matches().get(match_id) {
            self.queue.insert((now + pause, *order, match_id.clone()));
        }
    }
}
