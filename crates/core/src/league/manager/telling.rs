//! Replies, and notices to agents.

use super::{Ctx, Manager, envelope};
use crate::agent::{Agent, Content, Payload};
use crate::league::cause::Suspicion;
use crate::league::deliveries::Purpose;
use crate::league::event::LeagueEvent;
use crate::league::notices::Notice;
use crate::league::request::{ReceivedMessage, RequestError};
use crate::outbox::{Delivery, Sent, Tries};
use crate::protocol::decode::Deviation;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{Attempt, ConversationId, MatchId, RefereeId};
use crate::protocol::messages::{AnnouncedMatch, BRIEFING, LeagueError, MATCH_TOKENS, Phase};
use crate::protocol::{Body, Message, MessageType, Sender, Token};
use serde_json::{Map, Value};

/// Replies.
impl Manager {
    pub(super) fn reply(
        &self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        body: impl Into<Body>,
    ) {
        self.reply_with_token(ctx, received, body, None);
    }

    pub(super) fn reply_with_token(
        &self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        body: impl Into<Body>,
        token: Option<Token>,
    ) {
        let envelope =
            envelope(ctx.now, received.envelope.conversation_id.clone()).with_token(token);
        ctx.reply(
            received.request,
            Content::Message(Message::new(envelope, body)),
        );
    }

    pub(super) fn reply_error(
        &self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        error: RequestError,
    ) {
        let original = received.message_type.clone();
        let mut context = error.context.unwrap_or_default();
        if let Some(named) = &original {
            let action = MessageType::parse(named.raw()).map_or(named.raw(), |kind| kind.method());
            context
                .entry("action")
                .or_insert_with(|| action.to_owned().into());
            let registers = ["LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST"];
            if registers.contains(&named.raw()) {
                context.insert(MATCH_TOKENS.to_owned(), true.into());
            }
        }
        let about_sender = matches!(
            error.code,
            ErrorCode::PlayerNotRegistered | ErrorCode::TokenInvalid
        );
        if let (Sender::Player(id), true) = (&received.envelope.sender, about_sender) {
            context
                .entry("player_id")
                .or_insert_with(|| id.as_str().into());
        }
        let context = (!context.is_empty()).then_some(context);
        self.reply(
            ctx,
            received,
            LeagueError::new(error.code, error.message, original, context),
        );
    }

    /// Rejects the message, with a delay if there are too many wrong tokens in one name.
    pub(super) fn reject_sender(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        error: RequestError,
    ) {
        let settings = &self.league.settings;
        let (error, late) = self
            .registrar
            .limit_wrong_tokens(settings, ctx.now, received, error);
        self.reply_error(ctx, received, error);
        if late {
            self.registrar.delay_last(ctx.now, &mut ctx.step.replies);
        }
    }
}

/// What is recorded of members.
impl Manager {
    pub(super) fn record_deviations(
        &mut self,
        ctx: &mut Ctx<'_>,
        agent: &Sender,
        deviations: &[Deviation],
    ) {
        if !deviations.is_empty() {
            let deviations = deviations.iter().map(ToString::to_string).collect();
            self.record(
                ctx,
                LeagueEvent::DeviationsNoted {
                    agent: agent.clone(),
                    deviations,
                },
            );
        }
    }

    /// Records that an agent without a key has shown its token, so that no other is issued without proof.
    pub(super) fn record_token_shown(&mut self, ctx: &mut Ctx<'_>, agent: &Sender) {
        if self
            .league
            .member(agent)
            .is_some_and(|member| member.could_show_token())
        {
            self.record(
                ctx,
                LeagueEvent::TokenShown {
                    agent: agent.clone(),
                },
            );
        }
    }

    pub(super) fn suspend(&mut self, ctx: &mut Ctx<'_>, agent: Sender, cause: Suspicion) {
        if !self.league.is_suspended(&agent) {
            self.liveness.forget_answer(&agent);
            let suspended = agent.clone();
            self.record(ctx, LeagueEvent::AgentSuspended { agent, cause });
            let times = self
                .league
                .member(&suspended)
                .map_or(0, |member| member.suspensions);
            self.liveness
                .hold(&self.league.settings, ctx.now, &suspended, times);
        }
        self.liveness
            .schedule_probes(ctx.now + self.league.settings.probe_every);
    }

    /// An endpoint has answered: a suspended agent recovers.
    pub(super) fn on_sign_of_life(&mut self, ctx: &mut Ctx<'_>, agent: &Sender) {
        let recovers = self
            .league
            .member(agent)
            .is_some_and(|member| member.is_suspended() && !member.barred)
            && self.liveness.may_recover(ctx.now, agent);
        if recovers && self.league.phase != Phase::Completed {
            self.liveness.release(agent);
            self.record(
                ctx,
                LeagueEvent::AgentRecovered {
                    agent: agent.clone(),
                },
            );
            self.advance(ctx);
        }
    }
}

/// Notices.
impl Manager {
    pub(super) fn send(
        &mut self,
        ctx: &mut Ctx<'_>,
        deliveries: impl IntoIterator<Item = Delivery<Purpose>>,
    ) {
        for delivery in deliveries {
            self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
        }
    }

    pub(super) fn tell(&mut self, ctx: &mut Ctx<'_>, agent: Sender, notice: Notice) {
        let next = self
            .notices
            .put(&self.league, &mut self.keyrings, ctx.now, agent, notice);
        self.send(ctx, next);
    }

    pub(super) fn tell_everyone(&mut self, ctx: &mut Ctx<'_>, notice: &Notice) {
        for agent in self
            .league
            .members()
            .map(|(agent, _)| agent)
            .collect::<Vec<_>>()
        {
            self.tell(ctx, agent, notice.clone());
        }
    }

    fn tell_players(&mut self, ctx: &mut Ctx<'_>, notice: &Notice) {
        for player in self.league.players.keys().cloned().collect::<Vec<_>>() {
            self.tell(ctx, Sender::Player(player), notice.clone());
        }
    }

    pub(super) fn on_notice_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        agent: &Sender,
        sent: Box<Sent<Purpose>>,
        reached: bool,
    ) {
        let in_vain = !reached && sent.delivery.tries != Tries::Once;
        let announces = self.announces_open_round(&sent.delivery.payload);
        if !reached && self.outbox.retry(ctx.now, sent).is_ok() {
            return;
        }
        let outcome = (reached, in_vain);
        let next = self
            .notices
            .done(&self.league, &mut self.keyrings, ctx.now, agent, outcome);
        self.send(ctx, next);
        if let (true, Sender::Player(player)) = (announces, agent) {
            self.on_announcement_told(ctx, player);
        }
    }

    fn announces_open_round(&self, payload: &Payload) -> bool {
        let Payload::Message(Message {
            body: Body::RoundAnnouncement(announcement),
            ..
        }) = payload
        else {
            return false;
        };
        announcement.round_id.0 == self.league.current_round
    }

    /// Announces the open round to everyone except referees that would start matches on an announcement. A match waits
    /// until its players have acknowledged the announcement.
    pub(super) fn tell_announcement(&mut self, ctx: &mut Ctx<'_>) {
        let Some(announcement) = self.league.open_announcement() else {
            return;
        };
        let until = ctx.now + self.league.settings.timing.other;
        self.rounds
            .await_players(self.league.players_to_notify(), until);
        self.tell_players(ctx, &announcement.clone().into());
        let briefed = self
            .league
            .referees
            .iter()
            .filter(|(_, known)| known.meta.has_capability(BRIEFING));
        for referee in briefed.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            let mut announcement = announcement.clone();
            announcement.remark = self.league.remark_to(&referee);
            self.tell(ctx, Sender::Referee(referee), announcement.into());
        }
    }

    /// Announces the open round to those that have not heard of it: third-party referees without a match in it. They begin
    /// matches on hearing of them, so they hear when the first may begin.
    pub(super) fn tell_idle_referees(&mut self, ctx: &mut Ctx<'_>) {
        let Some(announcement) = self.league.open_announcement() else {
            return;
        };
        let has_match = |id: &RefereeId| {
            let named = |announced: &AnnouncedMatch| announced.referee_id.as_ref() == Some(id);
            announcement.matches.iter().any(named)
        };
        let idle = self.league.referees.iter().filter(|(id, known)| {
            !known.meta.has_capability(BRIEFING)
                && !known.is_suspended()
                && !known.revoked
                && !has_match(id)
        });
        for referee in idle.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.tell(ctx, Sender::Referee(referee), announcement.clone().into());
        }
    }

    /// An agent has registered again and may have lost its state: repeats what concerns it.
    pub(super) fn on_rejoined(&mut self, ctx: &mut Ctx<'_>, member: &Sender) {
        let news = match (self.league.phase, member) {
            (Phase::Completed, _) => self.league.completion().map(Notice::from),
            (Phase::Running, Sender::Referee(referee)) => return self.remind_referee(ctx, referee),
            (Phase::Running, _) => self.league.open_announcement().map(Notice::from),
            (Phase::Registration | Phase::Paused, _) => None,
        };
        if let Some(notice) = news {
            self.tell(ctx, member.clone(), notice);
        }
    }

    /// Tells both players that their match has another referee.
    pub(super) fn tell_reassignment(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let Some(fixture) = self.league.matches.get(match_id) else {
            return;
        };
        let players = [fixture.a.clone(), fixture.b.clone()];
        let matches = self.league.announced(match_id).into_iter().collect();
        let notice = Notice::from(self.league.announcement(fixture.round_id, matches, None));
        for player in players {
            self.tell(ctx, Sender::Player(player), notice.clone());
        }
    }

    /// Tells a referee to stop a match whose attempt was superseded by another attempt or decision.
    pub(super) fn tell_superseded(
        &mut self,
        ctx: &mut Ctx<'_>,
        referee: Sender,
        match_id: &MatchId,
        attempt: Attempt,
    ) {
        let message =
            format!("{match_id} is decided, or was given to another referee: do not play it here");
        let context = Map::from_iter([("match_id".to_owned(), Value::from(match_id.as_str()))]);
        let error = LeagueError::new(ErrorCode::ResultConflict, message, None, Some(context));
        let conversation = ConversationId::of_match(match_id, attempt);
        self.tell(
            ctx,
            referee,
            Notice::lasting(conversation.as_str().into(), error),
        );
    }

    pub(super) fn tell_standings(&mut self, ctx: &mut Ctx<'_>) {
        self.notices.take_standings();
        self.tell_players(ctx, &self.league.standings_update().into());
    }
}
