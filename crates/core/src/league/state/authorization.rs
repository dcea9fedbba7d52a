//! Authentication and authorization of requests to the manager: sender, token, and the table of rights.

use super::League;
use crate::league::request::RequestError;
use crate::protocol::decode::{Conformance, Rejection};
use crate::protocol::error::ErrorCode;
use crate::protocol::methods::Party;
use crate::protocol::rights::{Right, who_may};
use crate::protocol::token::TOKEN_FORM;
use crate::protocol::{Body, Envelope, MessageType, Sender, Token};

impl League {
    /// Authenticates and authorizes the sender; `None` for messages that need no member.
    pub(crate) fn authorize(
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
            Right::Operator if self.is_ladder() && matches!(envelope.sender, Sender::Player(_)) => {
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
                    format!("a league manager does not accept {message}"),
                ))
            }
        }
    }

    /// The referee of the match, if a report shows no token where none is required and names no agent of this league.
    pub(crate) fn assumed_reporter(
        &self,
        envelope: &Envelope,
        body: &Result<Body, Rejection>,
    ) -> Option<Sender> {
        let Ok(Body::MatchResultReport(report)) = body else {
            return None;
        };
        let is_nobody = envelope.auth_token.is_none() && self.member(&envelope.sender).is_none();
        (is_nobody && !self.settings.tokens.is_required()).then_some(())?;
        let referee = self.matches.get(&report.match_id)?.referee()?;
        Some(Sender::Referee(referee.clone()))
    }

    fn authorize_operator(&self, envelope: &Envelope, local: bool) -> Result<(), RequestError> {
        if envelope.sender != Sender::Launcher && self.settings.conformance == Conformance::Strict {
            return Err(RequestError::new(
                ErrorCode::TokenInvalid,
                format!(
                    "sender: expected launcher, got {}: agents do not run the league",
                    envelope.sender
                ),
            ));
        }
        match (&envelope.auth_token, &self.settings.operator_token) {
            (Some(shown), Some(kept)) if kept.admits(shown) => Ok(()),
            (None, _) if local => Ok(()),
            (None, _) => Err(RequestError::new(
                ErrorCode::TokenMissing,
                "only the operator may do this: send the operator token as auth_token",
            )),
            (Some(shown), _) => Err(invalid_token(
                shown,
                "this is not the operator token",
                Sender::Launcher,
            )),
        }
    }

    /// Authenticates a sender by its name and token together.
    fn authenticate(&self, envelope: &Envelope) -> Result<Sender, RequestError> {
        let Some(token) = &envelope.auth_token else {
            let is_known = self
                .member(&envelope.sender)
                .is_some_and(|known| !known.revoked);
            if is_known && !self.settings.tokens.is_required() {
                return Ok(envelope.sender.clone());
            }
            return Err(RequestError::new(
                ErrorCode::TokenMissing,
                "auth_token: expected the token of the registration response, got none: send it with every report and \
                 every query",
            ));
        };
        let Some(kept) = self.member(&envelope.sender) else {
            return self.authenticate_by_token(&envelope.sender, token);
        };
        if !kept.token.admits(token) {
            let why = format!("it is not the token of {}", envelope.sender);
            return Err(invalid_token(token, &why, envelope.sender.clone()));
        }
        if kept.revoked {
            let message = "the operator has revoked this token: ask for another";
            return Err(RequestError::new(ErrorCode::TokenInvalid, message)
                .with("provided_token", token.hint()));
        }
        Ok(envelope.sender.clone())
    }

    /// In a lenient league an agent that uses another name is authenticated by its token alone.
    fn authenticate_by_token(
        &self,
        claimed: &Sender,
        token: &Token,
    ) -> Result<Sender, RequestError> {
        if self.settings.conformance == Conformance::Lenient
            && let Some(owner) = self
                .member_with(token)
                .filter(|owner| !self.is_revoked(owner))
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
        let error = RequestError::new(
            code,
            format!("no {kind} is registered here as {id}: register first"),
        );
        // Unregistered names share one counter, because their number is unlimited.
        let lenient = self.settings.conformance == Conformance::Lenient;
        let guess = lenient.then_some(Sender::LeagueManager);
        Err(RequestError {
            guess,
            ..error.with("id", id)
        })
    }
}

/// A registration whose sender has another role than the one it registers.
fn wrong_kind(sender: &Sender, kind: &str) -> RequestError {
    let message =
        format!("sender: expected {kind}:ID, got {sender}: an agent registers as what it is");
    RequestError::new(ErrorCode::TokenInvalid, message)
        .with("path", "sender")
        .with("expected", format!("{kind}:ID"))
        .with("came", sender.to_string())
}

/// `name` is the sender in whose name the token was shown.
fn invalid_token(token: &Token, why: &str, name: Sender) -> RequestError {
    let error = RequestError::new(
        ErrorCode::TokenInvalid,
        format!("the auth_token does not fit: {why}"),
    )
    .with("provided_token", token.hint())
    .with("expected_format", TOKEN_FORM);
    RequestError {
        guess: Some(name),
        ..error
    }
}
