//! Authentication and authorization of requests to the manager: sender, token, and the table of rights.

use super::event::LeagueEvent;
use super::manager::{Ctx, Manager};
use super::request::{ReceivedMessage, RequestError};
use crate::agent::Agent;
use crate::protocol::decode::{Conformance, Deviation};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{PlayerId, RefereeId};
use crate::protocol::methods::Party;
use crate::protocol::rights::{Right, who_may};
use crate::protocol::token::TokenHash;
use crate::protocol::{Envelope, MessageType, Sender, Timestamp, Token};
use std::time::Duration;

impl Manager {
    /// Authenticates and authorizes the sender; `None` for messages that need no member.
    pub(super) fn authorize(
        &self,
        envelope: &Envelope,
        message: MessageType,
        local: bool,
    ) -> Result<Option<Sender>, RequestError> {
        match who_may(Party::Manager, message) {
            Right::NewPlayer if matches!(envelope.sender, Sender::Player(_)) => Ok(None),
            Right::NewReferee if matches!(envelope.sender, Sender::Referee(_)) => Ok(None),
            Right::NewPlayer => Err(wrong_kind(&envelope.sender, "player")),
            Right::NewReferee => Err(wrong_kind(&envelope.sender, "referee")),
            Right::Launcher => self.authorize_operator(envelope, local).map(|()| None),
            // A player of a ladder may order that it leaves.
            Right::Operator if self.league.is_ladder() && matches!(envelope.sender, Sender::Player(_)) => {
                self.authenticate(envelope).map(Some)
            }
            Right::Operator => self.authorize_operator(envelope, false).map(|()| None),
            Right::Member => self.authenticate(envelope).map(Some),
            Right::Referee => match self.authenticate(envelope)? {
                referee @ Sender::Referee(_) => Ok(Some(referee)),
                other => Err(RequestError::new(
                    ErrorCode::TokenInvalid,
                    format!("only a referee may send {message}, and {other} is none"),
                )),
            },
            Right::Manager | Right::RefereeOfMatch | Right::PlayerOfMatch | Right::Nobody => {
                Err(RequestError::new(
                    ErrorCode::InvalidState,
                    format!("a league manager does not take {message}"),
                ))
            }
        }
    }

    /// Rejects the message, with a delay if there are too many wrong tokens in one name. An agent with the right token
    /// is never affected by wrong tokens that others show in its name.
    pub(super) fn reject_sender(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        error: RequestError,
    ) {
        let (error, late) = self.limit_wrong_tokens(ctx.now, received, error);
        self.reply_error(ctx, received, error);
        if late {
            self.delay_reply(ctx);
        }
    }

    /// The error to reply, and whether the reply is to be delayed because of too many wrong tokens.
    pub(super) fn limit_wrong_tokens(
        &mut self,
        now: Timestamp,
        received: &ReceivedMessage,
        error: RequestError,
    ) -> (RequestError, bool) {
        let most = self.league.settings.token_guesses_max;
        let guess = error.guess.clone();
        let Some(wait) = guess.and_then(|name| self.rate_limiter.count_wrong_token(now, name, most)) else {
            return (error, false);
        };
        let mut limited = RequestError::new(
            ErrorCode::RateLimited,
            format!("more than {most} wrong tokens a minute in the name of {}", received.envelope.sender),
        );
        limited.context = error.context;
        (limited.retry_after(wait), true)
    }

    /// Delays the last reply of the step.
    pub(super) fn delay_reply(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(reply) = ctx.step.replies.pop() {
            let at_once = self.rate_limiter.delay(ctx.now, reply);
            ctx.step.replies.extend(at_once);
        }
    }

    /// The error for a member that exceeds its request rate.
    pub(super) fn over_rate_limit(&mut self, now: Timestamp, member: &Sender) -> Option<RequestError> {
        let most = self.league.settings.requests_per_second;
        let wait = self.rate_limiter.count_request(now, member, most)?;
        let message = format!("{member} asks more than {most} times a second");
        Some(RequestError::new(ErrorCode::RateLimited, message).retry_after(wait))
    }

    fn authorize_operator(&self, envelope: &Envelope, local: bool) -> Result<(), RequestError> {
        if envelope.sender != Sender::Launcher && self.league.settings.conformance == Conformance::Strict {
            return Err(RequestError::new(
                ErrorCode::TokenInvalid,
                format!("sender: expected launcher, got {}: agents do not run the league", envelope.sender),
            ));
        }
        match (&envelope.auth_token, &self.league.settings.operator_token) {
            (Some(shown), Some(kept)) if kept.admits(shown) => Ok(()),
            (None, _) if local => Ok(()),
            (None, _) => Err(RequestError::new(
                ErrorCode::TokenMissing,
                "only the operator may do this: send the operator token as auth_token",
            )),
            (Some(shown), _) => Err(invalid_token(shown, "this is not the operator token", Sender::Launcher)),
        }
    }

    /// Authenticates a sender by its name and token together.
    fn authenticate(&self, envelope: &Envelope) -> Result<Sender, RequestError> {
        let Some(token) = &envelope.auth_token else {
            return Err(RequestError::new(
                ErrorCode::TokenMissing,
                "send the token of the registration response as auth_token",
            ));
        };
        let Some(kept) = self.token_of(&envelope.sender) else {
            return self.authenticate_by_token(&envelope.sender, token);
        };
        if !kept.admits(token) {
            let why = format!("it is not the token of {}", envelope.sender);
            return Err(invalid_token(token, &why, envelope.sender.clone()));
        }
        if self.is_revoked(&envelope.sender) {
            let message = "the operator has revoked this token: ask for another";
            return Err(
                RequestError::new(ErrorCode::TokenInvalid, message).with("provided_token", token.hint())
            );
        }
        Ok(envelope.sender.clone())
    }

    /// In a lenient league an agent that uses another name is authenticated by its token alone.
    fn authenticate_by_token(&self, claimed: &Sender, token: &Token) -> Result<Sender, RequestError> {
        if self.league.settings.conformance == Conformance::Lenient
            && let Some(owner) = self.owner_of(token).filter(|owner| !self.is_revoked(owner))
        {
            return Ok(owner);
        }
        let (code, kind, id) = match claimed {
            Sender::Player(id) => (ErrorCode::PlayerNotRegistered, "player", id.as_str()),
            Sender::Referee(id) => (ErrorCode::RefereeNotRegistered, "referee", id.as_str()),
            other => {
                let why = format!("no token lets an agent speak as {other}");
                return Err(invalid_token(token, &why, Sender::LeagueManager));
            }
        };
        let error = RequestError::new(code, format!("no {kind} is registered here as {id}: register first"));
        // Unregistered names share one counter, because their number is unlimited.
        let lenient = self.league.settings.conformance == Conformance::Lenient;
        let guess = lenient.then_some(Sender::LeagueManager);
        Err(RequestError { guess, ..error.with("id", id) })
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

    pub(super) fn note_deviations(&mut self, ctx: &mut Ctx<'_>, agent: &Sender, deviations: &[Deviation]) {
        if !deviations.is_empty() {
            let deviations = deviations.iter().map(ToString::to_string).collect();
            self.record(ctx, LeagueEvent::DeviationsNoted { agent: agent.clone(), deviations });
        }
    }
}

/// A registration whose sender has another role than the one it registers.
fn wrong_kind(sender: &Sender, kind: &str) -> RequestError {
    let message = format!("sender: expected {kind}:ID, got {sender}: an agent registers as what it is");
    RequestError::new(ErrorCode::TokenInvalid, message)
        .with("path", "sender")
        .with("expected", format!("{kind}:ID"))
        .with("came", sender.to_string())
}

/// `name` is the sender in whose name the token was shown.
fn invalid_token(token: &Token, why: &str, name: Sender) -> RequestError {
    let error = RequestError::new(ErrorCode::TokenInvalid, format!("the auth_token does not fit: {why}"))
        .with("provided_token", token.hint())
        .with("expected_format", "tok_{agent_id}_{hash}");
    RequestError { guess: Some(name), ..error }
}

impl RequestError {
    /// Adds when a retry may succeed.
    fn retry_after(self, wait: Duration) -> Self {
        self.with("retry_after_sec", wait.as_secs().saturating_add(1))
    }
}
