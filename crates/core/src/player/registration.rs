//! Registration of the player, and its re-registration after a restart.

use super::event::PlayerEvent;
use super::keys::Keys;
use super::{Ctx, Player, slug};
use crate::agent::{Agent, Answer, CallId};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{LeagueRegisterRequest, PlayerMeta};
use crate::protocol::{Body, Timestamp};
use crate::registration::{Application, PROTOCOL_VERSION};
use smol_str::SmolStr;
use std::time::Duration;

/// How often messages of another league make us register again, at most: anyone can send them.
const RENEW_EVERY: Duration = Duration::from_secs(10);

impl Player {
    /// A message that names another league may be the first of the next league of a season, whose manager has the address of
    /// ours; one that comes before we are registered says that the manager has registered us, and that its answer was lost. In both
    /// cases registering again tells.
    pub(super) fn on_other_league(&mut self, ctx: &mut Ctx<'_>, body: Option<&Body>) {
        let named = match body {
            Some(Body::RoundAnnouncement(announcement)) => &announcement.league_id,
            Some(Body::LeagueStandingsUpdate(update)) => &update.league_id,
            _ => return,
        };
        let (is_registered, league_id) =
            self.identity().map_or((false, None), |identity| (true, identity.league_id.as_ref()));
        let is_ours = is_registered && league_id.is_none_or(|own| own == named);
        let is_recent = |at: Timestamp| ctx.now.since(at) < RENEW_EVERY;
        if is_ours || self.renewed_at.is_some_and(is_recent) {
            return;
        }
        self.renewed_at = Some(ctx.now);
        match is_registered {
            true => self.registration.renew(),
            false => self.registration.ask_again(),
        }
        self.register(ctx);
    }

    /// Sends the registration, if it is due.
    pub(super) fn register(&mut self, ctx: &mut Ctx<'_>) {
        if !self.registration.is_due(ctx.now) {
            return;
        }
        let application = self.durable.applied().cloned().unwrap_or_else(|| {
            let application = Application::new(&slug(&self.settings.display_name), ctx.entropy);
            self.record(ctx, PlayerEvent::Applied(application.clone()));
            application
        });
        let player_meta = PlayerMeta {
            display_name: self.settings.display_name.clone(),
            version: self.settings.version.clone(),
            game_types: self.registration.announced_games(),
            contact_endpoint: self.settings.contact_endpoint.clone(),
            protocol_version: Some(SmolStr::new_static(PROTOCOL_VERSION)),
            public_key: self.keys.as_ref().map(Keys::public_key),
            max_matches_per_hour: self.max_matches_per_hour,
        };
        let request = LeagueRegisterRequest { player_meta, join_code: self.registration.join_code.clone() };
        self.last_call += 1;
        let (call, sender) = (CallId(self.last_call), self.sender());
        let earlier = self.durable.identity().and_then(|identity| identity.auth_token.as_ref());
        let outgoing = self.registration.ask(ctx.now, call, sender, application, earlier, request);
        ctx.step.outbox.push(outgoing);
    }

    pub(super) fn on_answer(&mut self, ctx: &mut Ctx<'_>, call: CallId, dialect: Dialect, answer: Answer) {
        if !self.registration.awaits(call) {
            return;
        }
        let known = self.durable.identity();
        let registered = self.registration.on_answer(ctx.now, dialect, answer, known, |body| match body {
            Body::LeagueRegisterResponse(response) => {
                Some((response.player_id.clone(), response.answer.clone()))
            }
            _ => None,
        });
        if let Some(identity) = registered {
            self.cancel_decisions(ctx);
            self.record(ctx, PlayerEvent::Registered { identity });
        }
        if self.renewed_at.is_some() && self.identity().is_some() {
            self.registration.keep_identity();
        }
        // The manager may want a shorter list of games.
        self.register(ctx);
    }
}
