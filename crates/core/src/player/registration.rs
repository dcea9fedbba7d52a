//! Registration of the player, and its re-registration after a restart.

use super::event::PlayerEvent;
use super::keys::Keys;
use super::{Ctx, Player};
use crate::agent::{Agent, Answer, CallId};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{LeagueRegisterRequest, PING, PlayerMeta};
use crate::protocol::token::same_token;
use crate::protocol::{Body, Envelope, LeagueId, PlayerId, Timestamp};
use crate::registration::{Application, Identity, PROTOCOL_VERSION, own_word};
use smol_str::SmolStr;
use std::time::Duration;

/// How often messages of another league make us register again, at most: anyone can send them.
const RENEW_EVERY: Duration = Duration::from_secs(10);

/// The league that a notice is about, if it says so.
fn named_league(body: Option<&Body>) -> Option<&LeagueId> {
    match body? {
        Body::RoundAnnouncement(announcement) => Some(&announcement.league_id),
        Body::LeagueStandingsUpdate(update) => Some(&update.league_id),
        _ => None,
    }
}

impl Player {
    /// A manager that has registered us shows a token made from our registration key: that says who we are, even if its
    /// answer to the registration was lost with the process that would have sent it.
    pub(super) fn learn_identity(
        &mut self,
        ctx: &mut Ctx<'_>,
        envelope: &Envelope,
        body: Option<&Body>,
    ) {
        let key = self
            .durable
            .applied()
            .map(|application| &application.registration_key);
        let (None, Some(shown), Some(key)) = (self.identity(), &envelope.auth_token, key) else {
            return;
        };
        let (league_id, named): (_, Vec<&PlayerId>) = match body {
            Some(Body::RoundAnnouncement(round)) => {
                let players = round
                    .matches
                    .iter()
                    .flat_map(|game| [&game.player_a_id, &game.player_b_id]);
                (&round.league_id, players.collect())
            }
            Some(Body::LeagueStandingsUpdate(update)) => (
                &update.league_id,
                update.standings.iter().map(|row| &row.player_id).collect(),
            ),
            _ => return,
        };
        let key = key.shown_to(&self.settings.manager);
        let own = named.into_iter().find_map(|id| {
            let token = key.league_token(league_id, id.as_str());
            same_token(shown, &token.hash().notice_token(league_id)).then_some((id, token))
        });
        let Some((id, token)) = own else { return };
        let identity = Identity {
            id: id.clone(),
            league_id: Some(league_id.clone()),
            auth_token: Some(token),
            match_tokens: true,
            // Its next answer to a registration tells it.
            manager_key: None,
        };
        self.registration.complete();
        self.record(ctx, PlayerEvent::Registered { identity });
    }

    /// Whether a notice names another league and shows the token that our own gives there: the next league of the season has taken
    /// us over with it.
    pub(super) fn is_of_next_league(&self, envelope: &Envelope, body: Option<&Body>) -> bool {
        let own = self.identity().and_then(|known| known.auth_token.as_ref());
        let shown = envelope.auth_token.as_ref();
        let named = named_league(body);
        own.zip(shown)
            .zip(named)
            .is_some_and(|((own, shown), named)| same_token(shown, &own.hash().notice_token(named)))
    }

    /// A message that names another league may be the first of the next league of a season, whose manager has the address of
    /// ours: registering again tells.
    pub(super) fn on_other_league(&mut self, ctx: &mut Ctx<'_>, body: Option<&Body>) {
        let Some(named) = named_league(body) else {
            return;
        };
        let own = self
            .identity()
            .and_then(|identity| identity.league_id.as_ref());
        let is_recent = |at: Timestamp| ctx.now.since(at) < RENEW_EVERY;
        if own.is_none_or(|own| own == named) || self.renewed_at.is_some_and(is_recent) {
            return;
        }
        self.renewed_at = Some(ctx.now);
        self.registration.renew();
        self.register(ctx);
    }

    /// What the player calls itself before the manager gives it an id.
    pub(super) fn own_word(&self) -> String {
        own_word(&self.settings.display_name, "player")
    }

    /// Sends the registration, if it is due.
    pub(super) fn register(&mut self, ctx: &mut Ctx<'_>) {
        if !self.registration.is_due(ctx.now) {
            return;
        }
        let application = self.durable.applied().cloned().unwrap_or_else(|| {
            let application = Application::new(&self.own_word(), ctx.entropy);
            self.record(ctx, PlayerEvent::Applied(application.clone()));
            application
        });
        let adds = !self.registration.says_printed_fields_alone();
        let player_meta = PlayerMeta {
            display_name: self.settings.display_name.clone(),
            version: self.settings.version.clone(),
            game_types: self.registration.announced_games(),
            contact_endpoint: self.settings.contact_endpoint.clone(),
            protocol_version: adds.then_some(SmolStr::new_static(PROTOCOL_VERSION)),
            public_key: self.keys.as_ref().map(Keys::public_key).filter(|_| adds),
            strategy: self.settings.strategy.clone().filter(|_| adds),
            capabilities: if adds {
                vec![SmolStr::new_static(PING)]
            } else {
                Vec::new()
            },
            max_matches_per_hour: self.max_matches_per_hour.filter(|_| adds),
        };
        let request = LeagueRegisterRequest {
            player_meta,
            join_code: self.registration.join_code.clone(),
        };
        self.last_call += 1;
        let call = CallId(self.last_call);
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

    pub(super) fn on_answer(
        &mut self,
        ctx: &mut Ctx<'_>,
        call: CallId,
        dialect: Dialect,
        answer: Answer,
    ) {
        if !self.registration.awaits(call) {
            return;
        }
        let known = self.durable.identity();
        let registered = self
            .registration
            .on_answer(ctx.now, dialect, answer, known, |body| match body {
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
