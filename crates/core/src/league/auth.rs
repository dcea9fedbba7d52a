//! Who may ask what of the manager: the sender's name, the token behind it, and the table of message by role.

use super::event::LeagueEvent;
use super::manager::{Act, Manager, Refusal};
use crate::protocol::decode::{Conformance, Deviation};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{PlayerId, RefereeId};
use crate::protocol::token::TokenHash;
use crate::protocol::{Envelope, MessageType, Sender, Token};

/// Whom a message is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// Anyone: it is how one becomes known.
    Anyone,
    /// The operator: from this machine, or with the operator's token.
    Launcher,
    /// The operator, by the operator's token and nothing else.
    Operator,
    Referees,
    Members,
    /// Nobody sends this to a manager.
    Nobody,
}

fn taken_from(message: MessageType) -> From {
    match message {
        MessageType::LeagueRegisterRequest | MessageType::RefereeRegisterRequest => From::Anyone,
        MessageType::StartLeague => From::Launcher,
        MessageType::LeagueOrder => From::Operator,
        MessageType::MatchResultReport => From::Referees,
        MessageType::LeagueQuery => From::Members,
        _ => From::Nobody,
    }
}

impl Manager {
    /// Establishes who sends a message and whether that agent may; `None` for senders that need no name.
    pub(super) fn admit(
        &self,
        envelope: &Envelope,
        message: MessageType,
        local: bool,
    ) -> Result<Option<Sender>, Refusal> {
        match taken_from(message) {
            From::Anyone | From::Nobody => Ok(None),
            From::Launcher => self.admit_operator(envelope, local).map(|()| None),
            From::Operator => self.admit_operator(envelope, false).map(|()| None),
            From::Members => self.identify(envelope).map(Some),
            From::Referees => match self.identify(envelope)? {
                referee @ Sender::Referee(_) => Ok(Some(referee)),
                other => Err(Refusal::new(
                    ErrorCode::TokenInvalid,
                    format!("only a referee may send {message}, and {other} is none"),
                )),
            },
        }
    }

    fn admit_operator(&self, envelope: &Envelope, local: bool) -> Result<(), Refusal> {
        if envelope.sender != Sender::Launcher && self.league.settings.conformance == Conformance::Strict {
            return Err(Refusal::new(
                ErrorCode::TokenInvalid,
                format!("sender: expected launcher, got {}: agents do not run the league", envelope.sender),
            ));
        }
        match (&envelope.auth_token, &self.league.settings.operator_token) {
            (Some(shown), Some(kept)) if kept.admits(shown) => Ok(()),
            (None, _) if local => Ok(()),
            (None, _) => Err(Refusal::new(
                ErrorCode::TokenMissing,
                "only the operator may do this: send the operator token as auth_token",
            )),
            (Some(shown), _) => Err(invalid_token(shown, "this is not the operator token")),
        }
    }

    /// Finds out who speaks, by name and token together.
    fn identify(&self, envelope: &Envelope) -> Result<Sender, Refusal> {
        let Some(token) = &envelope.auth_token else {
            return Err(Refusal::new(
                ErrorCode::TokenMissing,
                "send the token of the registration response as auth_token",
            ));
        };
        match self.token_of(&envelope.sender) {
            Some(kept) if kept.admits(token) => Ok(envelope.sender.clone()),
            Some(_) => Err(invalid_token(token, &format!("it is not the token of {}", envelope.sender))),
            None => self.identify_by_token(&envelope.sender, token),
        }
    }

    /// An agent that calls itself something else is known by its token alone, where the league is lenient.
    fn identify_by_token(&self, claimed: &Sender, token: &Token) -> Result<Sender, Refusal> {
        if self.league.settings.conformance == Conformance::Lenient
            && let Some(owner) = self.owner_of(token)
        {
            return Ok(owner);
        }
        let (code, kind, id) = match claimed {
            Sender::Player(id) => (ErrorCode::PlayerNotRegistered, "player", id.as_str()),
            Sender::Referee(id) => (ErrorCode::RefereeNotRegistered, "referee", id.as_str()),
            other => {
                return Err(invalid_token(token, &format!("no token lets an agent speak as {other}")));
            }
        };
        Err(Refusal::new(code, format!("no {kind} is registered here as {id}: register first"))
            .with("id", id))
    }

    pub(super) fn token_of(&self, agent: &Sender) -> Option<&TokenHash> {
        match agent {
            Sender::Player(id) => self.league.players.get(id).map(|player| &player.token),
            Sender::Referee(id) => self.league.referees.get(id).map(|referee| &referee.token),
            Sender::LeagueManager | Sender::Launcher => None,
        }
    }

    fn owner_of(&self, token: &Token) -> Option<Sender> {
        self.player_with(token).map(Sender::Player).or_else(|| self.referee_with(token).map(Sender::Referee))
    }

    pub(super) fn player_with(&self, token: &Token) -> Option<PlayerId> {
        let hash = token.hash();
        self.league.players.iter().find(|(_, player)| player.token.is(&hash)).map(|(id, _)| id.clone())
    }

    pub(super) fn referee_with(&self, token: &Token) -> Option<RefereeId> {
        let hash = token.hash();
        self.league.referees.iter().find(|(_, referee)| referee.token.is(&hash)).map(|(id, _)| id.clone())
    }

    pub(super) fn note_deviations(&mut self, act: &mut Act<'_>, agent: &Sender, deviations: &[Deviation]) {
        if !deviations.is_empty() {
            let deviations = deviations.iter().map(ToString::to_string).collect();
            self.record(act, LeagueEvent::DeviationsNoted { agent: agent.clone(), deviations });
        }
    }
}

fn invalid_token(token: &Token, why: &str) -> Refusal {
    Refusal::new(ErrorCode::TokenInvalid, format!("the auth_token does not fit: {why}"))
        .with("provided_token", token.hint())
        .with("expected_format", "tok_{agent_id}_{hash}")
}
