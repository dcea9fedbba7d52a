//! The operator revokes and rotates tokens: of agents, and its own.

use super::checkpoints::CHECKPOINT_KEY;
use super::event::LeagueEvent;
use super::manager::{Ctx, Manager};
use super::request::{ReceivedMessage, RequestError};
use crate::agent::{Agent, Content};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{PlayerId, RefereeId};
use crate::protocol::{Message, Sender, Token};

/// The operator's own token, in an order.
pub const OPERATOR: &str = "operator";

impl Manager {
    /// Issues a new token, which only this answer shows; the old one and its registration key become invalid.
    pub(super) fn rotate(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        whose: &str,
    ) -> Result<(), RequestError> {
        if whose == CHECKPOINT_KEY {
            return self.rotate_checkpoint_key(received);
        }
        let agent = if whose == OPERATOR { None } else { Some(self.member_called(whose)?) };
        let token = Token::issue(whose, ctx.entropy);
        let hash = token.hash();
        self.record(
            ctx,
            match agent {
                Some(agent) => LeagueEvent::TokenRotated { agent, token: hash },
                None => LeagueEvent::OperatorTokenRotated { token: hash },
            },
        );
        self.advance(ctx);
        let envelope =
            self.envelope(ctx.now, received.envelope.conversation_id.as_str()).with_token(Some(token));
        let content = Content::Message(Message::new(envelope, self.status()));
        ctx.reply(received.request, content);
        Ok(())
    }

    /// Revokes a token. Until it gets another, a player forfeits its matches and a referee gets none.
    pub(super) fn revoke(&mut self, ctx: &mut Ctx<'_>, whose: &str) -> Result<(), RequestError> {
        if whose == OPERATOR {
            let message = "without a token nobody could run this league any more: rotate it instead";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        let agent = self.member_called(whose)?;
        if self.is_revoked(&agent) {
            let message = format!("the token of {whose} has been revoked already");
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        self.record(ctx, LeagueEvent::TokenRevoked { agent: agent.clone() });
        match &agent {
            Sender::Player(player) => self.take_out(ctx, player),
            Sender::Referee(referee) => self.lose_attempts_of(ctx, referee, "its token was revoked"),
            Sender::LeagueManager | Sender::Launcher => {}
        }
        self.advance(ctx);
        Ok(())
    }

    fn member_called(&self, id: &str) -> Result<Sender, RequestError> {
        let (player, referee) = (PlayerId::new(id), RefereeId::new(id));
        if self.league.players.contains_key(&player) {
            Ok(Sender::Player(player))
        } else if self.league.referees.contains_key(&referee) {
            Ok(Sender::Referee(referee))
        } else {
            let message = format!("nobody is registered here as {id}");
            Err(RequestError::new(ErrorCode::PlayerNotRegistered, message)
                .with("id", id)
                .with("player_id", id))
        }
    }

    pub(super) fn is_revoked(&self, agent: &Sender) -> bool {
        match agent {
            Sender::Player(id) => self.league.players.get(id).is_some_and(|player| player.revoked),
            Sender::Referee(id) => self.league.referees.get(id).is_some_and(|referee| referee.revoked),
            Sender::LeagueManager | Sender::Launcher => false,
        }
    }
}
