//! How the player gets into the league, and back into it after a restart.

use super::event::PlayerEvent;
use super::keys::Keys;
use super::{Player, slug};
use crate::agent::{Agent, Answer, CallId, Parcel, Step};
use crate::enrol::{
    Application, Enrolment, Identity, REGISTER_TIMEOUT, Verdict, announced_games, judge, may_ask_plainly,
};
use crate::entropy::Entropy;
use crate::post::{Errand, Tries};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{LeagueRegisterRequest, PlayerMeta};
use crate::protocol::{Body, Envelope, Message, PlayerId, Timestamp};
use crate::retry::Backoff;
use smol_str::SmolStr;
use std::time::Duration;

/// The version of the protocol that this player claims to speak.
pub const PROTOCOL_VERSION: &str = "2.1.0";

/// A manager may be started after its players, and may be away for a while: there is no number of tries to give up at.
const RETRY: Tries = Tries::Forever(Backoff::Fixed { delay: Duration::from_secs(2) });

impl Player {
    pub(super) fn register(&mut self, now: Timestamp, entropy: &mut Entropy, step: &mut Step<PlayerEvent>) {
        let application = match self.durable.applied() {
            Some(application) => application.clone(),
            None => {
                let application = Application::new(&slug(&self.settings.display_name), entropy);
                step.events.push(PlayerEvent::Applied(application.clone()));
                application
            }
        };
        self.ask_manager(now, application, step);
    }

    fn ask_manager(&mut self, now: Timestamp, application: Application, step: &mut Step<PlayerEvent>) {
        let errand = Errand {
            to: self.settings.manager.clone(),
            dialect: Dialect::Standard,
            parcel: Parcel::Message(self.registration(now, application)),
            purpose: (),
            timeout: REGISTER_TIMEOUT,
            tries: RETRY,
        };
        self.enrolment = Enrolment::Asking(self.post.send(now, errand, &mut step.outbox));
    }

    fn registration(&self, now: Timestamp, application: Application) -> Message {
        let earlier = self.identity().and_then(|identity| identity.auth_token.as_ref());
        let token = application.shown(&self.settings.manager, self.granted.as_ref().or(earlier));
        let meta = PlayerMeta {
            display_name: self.settings.display_name.clone(),
            version: self.settings.version.clone(),
            game_types: announced_games(&self.settings.game_types, self.plain_games),
            contact_endpoint: self.settings.contact_endpoint.clone(),
            protocol_version: Some(SmolStr::new_static(PROTOCOL_VERSION)),
            public_key: application.registration_key.as_ref().map(|key| Keys::of(key).public_key()),
        };
        let envelope = Envelope::new(self.sender(), now, application.conversation_id).with_token(token);
        Message::new(envelope, LeagueRegisterRequest { player_meta: meta, join_code: self.join_code.clone() })
    }

    pub(super) fn retry_registration(&mut self, now: Timestamp, step: &mut Step<PlayerEvent>) {
        self.post.tick(now, &mut step.outbox);
        if let Some(sent) = step.outbox.last() {
            self.enrolment = Enrolment::Asking(sent.call);
        }
    }

    pub(super) fn hear_of_registration(
        &mut self,
        now: Timestamp,
        call: CallId,
        dialect: Dialect,
        answer: Answer,
        step: &mut Step<PlayerEvent>,
    ) {
        let Some(mut sent) = self.post.answered(call) else {
            return;
        };
        let verdict = judge(answer, |body| match body {
            Body::LeagueRegisterResponse(response) => {
                Some((response.player_id.clone(), response.answer.clone()))
            }
            _ => None,
        });
        match verdict {
            Verdict::Enrolled(granted) => {
                self.enrolment = Enrolment::Done;
                let identity = self.completed(granted);
                if self.identity() != Some(&identity) {
                    self.abandon_thoughts(now, step);
                    step.events.push(PlayerEvent::Enrolled { identity });
                }
            }
            Verdict::Refused { reason, .. }
                if !self.plain_games && may_ask_plainly(&self.settings.game_types, reason.raw()) =>
            {
                self.plain_games = true;
                if let Some(application) = self.durable.applied().cloned() {
                    self.ask_manager(now, application, step);
                }
            }
            // Whoever has an identity goes on serving under it: the league may be one that lets nobody in any more.
            Verdict::Refused { reason, code } => self.enrolment = Enrolment::Refused { reason, code },
            Verdict::TryAgain { why } => {
                sent.errand.dialect = dialect;
                if self.post.again(now, sent).is_ok()
                    && let Some(until) = self.post.deadline()
                {
                    self.enrolment = Enrolment::Waiting { until, why };
                }
            }
        }
    }

    /// A manager that lets us back in need not repeat what we know already.
    fn completed(&self, granted: Identity<PlayerId>) -> Identity<PlayerId> {
        match self.identity() {
            Some(earlier) if earlier.id == granted.id => Identity {
                league_id: granted.league_id.or_else(|| earlier.league_id.clone()),
                auth_token: granted.auth_token.or_else(|| earlier.auth_token.clone()),
                ..granted
            },
            _ => granted,
        }
    }
}
