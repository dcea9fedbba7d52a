//! Authentication of senders, and the tokens that the player shows.
//!
//! With a manager that derives tokens, every message must show the token made for it. With any other, senders cannot be
//! authenticated, and the player answers only about known matches.

use super::Player;
use crate::protocol::keyring::Keyring;
use crate::protocol::messages::LeagueError;
use crate::protocol::token::same_token;
use crate::protocol::{
    Attempt, Envelope, ErrorCode, MatchId, PlayerId, Sender, Token, UntrustedText,
};
use crate::registration::Identity;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(super) fn league_error(code: ErrorCode, message: impl Into<UntrustedText>) -> LeagueError {
    LeagueError::new(code, message, None, None)
}

impl Player {
    /// The keyring, with a manager that derives tokens.
    pub(super) fn keyring_of(identity: &Identity<PlayerId>) -> Option<Keyring> {
        let own = identity
            .auth_token
            .as_ref()
            .filter(|_| identity.match_tokens)?;
        Some(Keyring::new(own.hash(), identity.league_id.as_ref()?))
    }

    /// Our id in the league, or an error before registration.
    pub(super) fn own_id(&self) -> Result<&PlayerId, LeagueError> {
        let not_yet =
            "this player is not registered yet; send this again once the manager has accepted it";
        match self.identity() {
            Some(identity) => Ok(&identity.id),
            None => Err(league_error(ErrorCode::InvalidState, not_yet)),
        }
    }

    /// Authenticates the manager.
    pub(super) fn authenticate_manager(&self, envelope: &Envelope) -> Result<(), LeagueError> {
        self.own_id()?;
        if envelope.sender != Sender::LeagueManager {
            return Err(wrong_sender(&envelope.sender, "the league manager"));
        }
        match &self.keyring {
            Some(keys) => check_token(envelope, keys.notice_token()),
            None => Ok(()),
        }
    }

    /// Authenticates the referee of a match; returns the attempt.
    pub(super) fn authenticate_referee(
        &mut self,
        envelope: &Envelope,
        match_id: &MatchId,
    ) -> Result<Attempt, LeagueError> {
        self.own_id()?;
        if matches!(envelope.sender, Sender::Player(_) | Sender::Launcher) {
            return Err(wrong_sender(&envelope.sender, "the referee of the match"));
        }
        let named = envelope.conversation_id.attempt_of(match_id);
        let notice = self.durable.find(match_id).and_then(|known| known.notice);
        let Some(keys) = &mut self.keyring else {
            let announced = notice.map(|notice| notice.attempt);
            return Ok(named.or(announced).unwrap_or(Attempt::FIRST));
        };
        if let Some(notice) = notice.filter(|notice| !notice.match_tokens) {
            // An unauthenticated sender must not choose the attempt and so obtain its token.
            return Ok(notice.attempt);
        }
        let Some(attempt) = named else {
            let message = format!(
                "conversation_id: {} is not the conversation of match {match_id}, for which its token is made",
                envelope.conversation_id
            );
            return Err(league_error(ErrorCode::TokenInvalid, message));
        };
        let tokens = keys.match_tokens(match_id, attempt);
        check_token(envelope, &tokens.to_player)?;
        if let Cow::Owned(made) = tokens {
            keys.keep(match_id, attempt, made);
        }
        Ok(attempt)
    }

    /// Whether the referee of a match is not known to be one of ours: those announce themselves by match tokens.
    pub(super) fn is_foreign_referee(&self, match_id: &MatchId) -> bool {
        let notice = self.durable.find(match_id).and_then(|known| known.notice);
        self.keyring.is_none() || notice.is_some_and(|notice| !notice.match_tokens)
    }

    /// Whether the match is known, if no token proves that it exists.
    pub(super) fn check_match_known(&self, match_id: &MatchId) -> Result<(), LeagueError> {
        if self.keyring.is_some() || self.durable.find(match_id).is_some() {
            return Ok(());
        }
        let message = format!(
            "match {match_id} was neither announced to this player nor was it invited to it; send GAME_INVITATION first"
        );
        Err(league_error(ErrorCode::MatchNotFound, message))
    }

    /// Whether a match can still be played. Choices are dropped when the round is completed, so a late question could
    /// get another answer. A foreign league may reuse ids.
    pub(super) fn check_not_over(&self, match_id: &MatchId) -> Result<(), LeagueError> {
        let is_forgotten =
            self.durable.find(match_id).is_none() && self.history().has_finished(match_id);
        if is_forgotten && self.keyring.is_some() {
            let message = format!("match {match_id} is over, as this player has been told");
            return Err(league_error(ErrorCode::InvalidState, message));
        }
        Ok(())
    }

    /// Whether a message is addressed to us.
    pub(super) fn check_addressee(&self, named: Option<&PlayerId>) -> Result<(), LeagueError> {
        let own = self.own_id()?;
        match named {
            Some(other) if other != own => Err(league_error(
                ErrorCode::PlayerNotRegistered,
                format!("player_id: the player here is {own}, not {other}"),
            )),
            _ => Ok(()),
        }
    }

    /// The token that we show a referee. Our own token is sent only if the manager derives no match tokens.
    pub(super) fn answer_token(&self, match_id: &MatchId, attempt: Attempt) -> Option<Token> {
        match &self.keyring {
            Some(keys) => Some(keys.match_tokens(match_id, attempt).from_player.clone()),
            None => self.identity()?.auth_token.clone(),
        }
    }
}

fn wrong_sender(sender: &Sender, rightful: &str) -> LeagueError {
    let message = format!("sender: only {rightful} may send this, and it came from {sender}");
    league_error(ErrorCode::TokenInvalid, message)
}

fn check_token(envelope: &Envelope, wanted: &Token) -> Result<(), LeagueError> {
    match &envelope.auth_token {
        None => Err(league_error(
            ErrorCode::TokenMissing,
            "auth_token: expected the token made for this message, got none",
        )),
        Some(shown) if same_token(shown, wanted) => Ok(()),
        Some(shown) => Err(LeagueError::new(
            ErrorCode::TokenInvalid,
            "auth_token: this is not the token made for this message; nothing was changed",
            None,
            Some(Map::from_iter([(
                "provided_token".to_owned(),
                Value::from(shown.hint()),
            )])),
        )),
    }
}
