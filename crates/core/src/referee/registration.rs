//! Registration of the referee, and its re-registration after a restart.

use super::{Ctx, Referee, RefereeEvent};
use crate::agent::{Agent, Answer};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{
    BRIEFING, DRAW_2, MATCH_TOKENS, PING, RefereeMeta, RefereeRegisterRequest,
};
use crate::protocol::{Body, RefereeId};
use crate::registration::{Application, PROTOCOL_VERSION, own_word};
use crate::signature::SigningKey;
use smol_str::SmolStr;

impl Referee {
    /// Sends the registration, if it is due.
    pub(super) fn register(&mut self, ctx: &mut Ctx<'_>) {
        if !self.registration.is_due(ctx.now) {
            return;
        }
        let application = self.durable.applied().cloned().unwrap_or_else(|| {
            let application = Application::new(self.name().as_str(), ctx.entropy);
            self.record(ctx, RefereeEvent::Applied(application.clone()));
            application
        });
        let adds = !self.registration.says_printed_fields_alone();
        let referee_meta = RefereeMeta {
            display_name: self.settings.display_name.clone(),
            version: self.settings.version.clone(),
            game_types: self.registration.announced_games(),
            contact_endpoint: self.settings.contact_endpoint.clone(),
            max_concurrent_matches: self.settings.max_concurrent_matches,
            protocol_version: adds.then_some(SmolStr::new_static(PROTOCOL_VERSION)),
            capabilities: if adds {
                [MATCH_TOKENS, BRIEFING, DRAW_2, PING]
                    .map(SmolStr::new_static)
                    .to_vec()
            } else {
                Vec::new()
            },
            timeouts: Some(self.settings.bounds).filter(|bounds| adds && !bounds.is_empty()),
            public_key: self
                .key
                .as_ref()
                .map(SigningKey::public_key)
                .filter(|_| adds),
        };
        let request = RefereeRegisterRequest {
            referee_meta,
            join_code: self.registration.join_code.clone(),
        };
        let call = self.outbox.next_call();
        let sender = self.sender();
        let earlier = self
            .durable
            .identity()
            .and_then(|identity| identity.auth_token.as_ref());
        let outgoing = self
            .registration
            .ask(ctx.now, call, sender, application, earlier, request);
        ctx.step.outbox.push(outgoing);
    }

    pub(super) fn on_register_answer(
        &mut self,
        ctx: &mut Ctx<'_>,
        dialect: Dialect,
        answer: Answer,
    ) {
        let known = self.durable.identity();
        let registered = self
            .registration
            .on_answer(ctx.now, dialect, answer, known, |body| match body {
                Body::RefereeRegisterResponse(response) => {
                    Some((response.referee_id.clone(), response.answer.clone()))
                }
                _ => None,
            });
        if known.is_some() {
            self.registration.keep_identity();
        }
        if let Some(identity) = registered {
            // With another key of the manager alone, its matches go on.
            if !known.is_some_and(|known| known.is_of_same_registration(&identity)) {
                self.forget_matches();
            }
            self.record(ctx, RefereeEvent::Registered { identity });
        }
    }

    /// The id from the manager, or a name of its own before registration.
    pub(super) fn name(&self) -> RefereeId {
        if let Some(identity) = self.durable.identity() {
            return identity.id.clone();
        }
        RefereeId::new(own_word(&self.settings.display_name, "referee"))
    }
}
