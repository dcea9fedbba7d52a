//! The operator takes tokens away and gives new ones out: for an agent whose token has become known to others, for one
//! that is to be kept out, and for itself.

use super::checkpoints::CHECKPOINT_KEY;
use super::event::LeagueEvent;
use super::manager::{Act, Asked, Manager, Refusal};
use crate::agent::{Content, Reply};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{PlayerId, RefereeId};
use crate::protocol::{Message, Sender, Token};

/// Whose token the operator's own is, in an order.
pub const OPERATOR: &str = "operator";

impl Manager {
    /// Makes a new token, which the answer shows this once; the old one, and the key behind it, are worth nothing.
    pub(super) fn rotate(&mut self, act: &mut Act<'_>, asked: &Asked, whose: &str) -> Result<(), Refusal> {
        if whose == CHECKPOINT_KEY {
            return self.rotate_checkpoint_key(asked);
        }
        let agent = if whose == OPERATOR { None } else { Some(self.member_called(whose)?) };
        let token = Token::issue(whose, act.entropy);
        let hash = token.hash();
        self.record(
            act,
            match agent {
                Some(agent) => LeagueEvent::TokenRotated { agent, token: hash },
                None => LeagueEvent::OperatorTokenRotated { token: hash },
            },
        );
        self.advance(act);
        let envelope =
            self.envelope(act.now, asked.envelope.conversation_id.as_str()).with_token(Some(token));
        let content = Content::Message(Message::new(envelope, self.status()));
        act.step.replies.push(Reply { to: asked.request, content });
        Ok(())
    }

    /// The token dies. Without one the agent is out: a player forfeits, a referee has no matches, until there is a new
    /// token for it.
    pub(super) fn revoke(&mut self, act: &mut Act<'_>, whose: &str) -> Result<(), Refusal> {
        if whose == OPERATOR {
            let message = "without a token nobody could run this league any more: rotate it instead";
            return Err(Refusal::new(ErrorCode::InvalidState, message));
        }
        let agent = self.member_called(whose)?;
        if self.is_revoked(&agent) {
            let message = format!("the token of {whose} has been revoked already");
            return Err(Refusal::new(ErrorCode::InvalidState, message));
        }
        self.record(act, LeagueEvent::TokenRevoked { agent: agent.clone() });
        match &agent {
            Sender::Player(player) => self.take_out(act, player),
            Sender::Referee(referee) => self.lose_attempts_of(act, referee, "its token was revoked"),
            Sender::LeagueManager | Sender::Launcher => {}
        }
        self.advance(act);
        Ok(())
    }

    fn member_called(&self, id: &str) -> Result<Sender, Refusal> {
        let (player, referee) = (PlayerId::new(id), RefereeId::new(id));
        if self.league.players.contains_key(&player) {
            Ok(Sender::Player(player))
        } else if self.league.referees.contains_key(&referee) {
            Ok(Sender::Referee(referee))
        } else {
            let message = format!("nobody is registered here as {id}");
            Err(Refusal::new(ErrorCode::PlayerNotRegistered, message).with("id", id).with("player_id", id))
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
