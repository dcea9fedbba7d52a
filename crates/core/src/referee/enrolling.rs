//! How this referee gets into a league, and stays in it after a restart.

use super::{Referee, RefereeEvent};
use crate::agent::{Answer, Outgoing, Parcel, Step};
use crate::enrol::{
    Application, Enrolment, REGISTER_TIMEOUT, Verdict, announced_games, judge, may_ask_plainly,
};
use crate::entropy::Entropy;
use crate::protocol::messages::{BRIEFING, DRAW_2, MATCH_TOKENS, RefereeMeta, RefereeRegisterRequest};
use crate::protocol::{Body, Envelope, Message, RefereeId, Sender, Timestamp};
use smol_str::SmolStr;
use std::time::Duration;

/// How long to wait before asking again when the manager could not be asked.
const ASK_AGAIN: Duration = Duration::from_secs(2);

const PROTOCOL_VERSION: &str = "2.1.0";

impl Referee {
    /// Asks the manager to take this referee on, if it is time to.
    pub(super) fn register(&mut self, now: Timestamp, entropy: &mut Entropy, step: &mut Step<RefereeEvent>) {
        if !self.enrolment.is_due(now) {
            return;
        }
        let meta = RefereeMeta {
            display_name: self.settings.display_name.clone(),
            version: self.settings.version.clone(),
            game_types: announced_games(&self.settings.game_types, self.plain_games),
            contact_endpoint: self.settings.contact_endpoint.clone(),
            max_concurrent_matches: self.settings.max_concurrent_matches,
            protocol_version: Some(SmolStr::new_static(PROTOCOL_VERSION)),
            capabilities: [MATCH_TOKENS, BRIEFING, DRAW_2].map(SmolStr::new_static).to_vec(),
            timeouts: Some(self.settings.bounds).filter(|bounds| !bounds.is_empty()),
        };
        let name = self.name();
        let application = match self.durable.applied() {
            Some(application) => application.clone(),
            None => {
                let application = Application::new(name.as_str(), entropy);
                self.record(now, RefereeEvent::Applied(application.clone()), step);
                application
            }
        };
        let earlier = self.durable.identity().and_then(|identity| identity.auth_token.as_ref());
        let token = application.shown(&self.settings.manager, self.granted.as_ref().or(earlier));
        let envelope =
            Envelope::new(Sender::Referee(name), now, application.conversation_id).with_token(token);
        let request = RefereeRegisterRequest { referee_meta: meta, join_code: self.join_code.clone() };
        let call = self.post.next_call();
        self.enrolment = Enrolment::Asking(call);
        step.outbox.push(Outgoing {
            call,
            to: self.settings.manager.clone(),
            dialect: self.manager_dialect,
            parcel: Parcel::Message(Message::new(envelope, request)),
            deadline: now + REGISTER_TIMEOUT,
        });
    }

    pub(super) fn registered(&mut self, now: Timestamp, answer: Answer, step: &mut Step<RefereeEvent>) {
        let verdict = judge(answer, |body| match body {
            Body::RefereeRegisterResponse(response) => {
                Some((response.referee_id.clone(), response.answer.clone()))
            }
            _ => None,
        });
        self.enrolment = match verdict {
            Verdict::Enrolled(mut identity) => {
                let known = self.durable.identity();
                // A manager that lets an agent back in need not repeat what the agent knows.
                if let Some(known) = known.filter(|known| known.id == identity.id) {
                    identity.auth_token = identity.auth_token.or_else(|| known.auth_token.clone());
                    identity.league_id = identity.league_id.or_else(|| known.league_id.clone());
                }
                if known != Some(&identity) {
                    self.forget_matches();
                    self.record(now, RefereeEvent::Enrolled { identity }, step);
                }
                Enrolment::Done
            }
            Verdict::Refused { reason, .. }
                if !self.plain_games && may_ask_plainly(&self.settings.game_types, reason.raw()) =>
            {
                self.plain_games = true;
                Enrolment::Idle
            }
            // Whoever has been in this league serves on: the manager knows its token, even if it registers nobody now.
            Verdict::Refused { .. } if self.durable.identity().is_some() => Enrolment::Done,
            Verdict::Refused { reason, code } => Enrolment::Refused { reason, code },
            Verdict::TryAgain { why } => Enrolment::Waiting { until: now + ASK_AGAIN, why },
        };
    }

    /// The id that the manager gave, or the referee's own word before it has.
    pub(super) fn name(&self) -> RefereeId {
        if let Some(identity) = self.durable.identity() {
            return identity.id.clone();
        }
        let plain: String = self
            .settings
            .display_name
            .raw()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        RefereeId::new(plain)
    }
}
