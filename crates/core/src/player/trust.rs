//! Whom the player believes, and what it shows to be believed.
//!
//! With a manager that derives tokens, every message must show the one made for it. With any other, nothing can be
//! proven, and the player answers only about matches it has heard of.

use super::Player;
use crate::enrol::Identity;
use crate::protocol::keyring::Keyring;
use crate::protocol::messages::LeagueError;
use crate::protocol::token::same_token;
use crate::protocol::{Attempt, Envelope, ErrorCode, MatchId, PlayerId, Sender, Token, UntrustedText};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Why a message is not heard.
pub(super) type Refusal = LeagueError;

pub(super) fn refusal(code: ErrorCode, message: impl Into<UntrustedText>) -> Refusal {
    LeagueError::new(code, message, None, None)
}

impl Player {
    /// What tokens follow from, with a manager that derives any.
    pub(super) fn keyring_of(identity: &Identity<PlayerId>) -> Option<Keyring> {
        let own = identity.auth_token.as_ref().filter(|_| identity.match_tokens)?;
        Some(Keyring::new(own.hash(), identity.league_id.as_ref()?))
    }

    /// Our id in the league, without which nothing that is said to us has a meaning.
    pub(super) fn own_id(&self) -> Result<&PlayerId, Refusal> {
        let not_yet = "this player is not registered yet; send this again once the manager has accepted it";
        match self.identity() {
            Some(identity) => Ok(&identity.id),
            None => Err(refusal(ErrorCode::InvalidState, not_yet)),
        }
    }

    /// Whether the manager itself says this.
    pub(super) fn believe_manager(&self, envelope: &Envelope) -> Result<(), Refusal> {
        self.own_id()?;
        if envelope.sender != Sender::LeagueManager {
            return Err(wrong_sender(&envelope.sender, "the league manager"));
        }
        match &self.keyring {
            Some(keys) => demand(envelope, keys.notice_token()),
            None => Ok(()),
        }
    }

    /// Whether the referee of this match says this; and which attempt at the match it is.
    pub(super) fn believe_referee(
        &mut self,
        envelope: &Envelope,
        match_id: &MatchId,
    ) -> Result<Attempt, Refusal> {
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
            // Nobody has proven anything, so nobody may name another attempt and be shown the token for that one.
            return Ok(notice.attempt);
        }
        let Some(attempt) = named else {
            let message = format!(
                "conversation_id: {} is not the conversation of match {match_id}, for which its token is made",
                envelope.conversation_id
            );
            return Err(refusal(ErrorCode::TokenInvalid, message));
        };
        let tokens = keys.match_tokens(match_id, attempt);
        demand(envelope, &tokens.to_player)?;
        if let Cow::Owned(made) = tokens {
            keys.keep(match_id, attempt, made);
        }
        Ok(attempt)
    }

    /// Whether we have heard of this match, where no token proves that it exists.
    pub(super) fn believe_match(&self, match_id: &MatchId) -> Result<(), Refusal> {
        if self.keyring.is_some() || self.durable.find(match_id).is_some() {
            return Ok(());
        }
        let message = format!(
            "match {match_id} was neither announced to this player nor was it invited to it; send GAME_INVITATION first"
        );
        Err(refusal(ErrorCode::MatchNotFound, message))
    }

    /// Whether a match can still be played. What was chosen in it is forgotten when its round is closed, and to choose anew for
    /// a question that comes late would be to say something else. A foreign league may use the same names again.
    pub(super) fn believe_not_over(&self, match_id: &MatchId) -> Result<(), Refusal> {
        let is_forgotten = self.durable.find(match_id).is_none() && self.history().has_finished(match_id);
        if is_forgotten && self.keyring.is_some() {
            let message = format!("match {match_id} is over, as this player has been told");
            return Err(refusal(ErrorCode::InvalidState, message));
        }
        Ok(())
    }

    /// Whether a message is meant for us.
    pub(super) fn believe_addressee(&self, named: Option<&PlayerId>) -> Result<(), Refusal> {
        let own = self.own_id()?;
        match named {
            Some(other) if other != own => Err(refusal(
                ErrorCode::PlayerNotRegistered,
                format!("player_id: the player here is {own}, not {other}"),
            )),
            _ => Ok(()),
        }
    }

    /// What we show a referee. Our own token goes out only where the manager makes no others.
    pub(super) fn answer_token(&self, match_id: &MatchId, attempt: Attempt) -> Option<Token> {
        match &self.keyring {
            Some(keys) => Some(keys.match_tokens(match_id, attempt).from_player.clone()),
            None => self.identity()?.auth_token.clone(),
        }
    }
}

fn wrong_sender(sender: &Sender, rightful: &str) -> Refusal {
    let message = format!("sender: only {rightful} may send this, and it came from {sender}");
    refusal(ErrorCode::TokenInvalid, message)
}

fn demand(envelope: &Envelope, wanted: &Token) -> Result<(), Refusal> {
    match &envelope.auth_token {
        None => Err(refusal(
            ErrorCode::TokenMissing,
            "auth_token: expected the token made for this message, got none",
        )),
        Some(shown) if same_token(shown, wanted) => Ok(()),
        Some(shown) => Err(LeagueError::new(
            ErrorCode::TokenInvalid,
            "auth_token: this is not the token made for this message; nothing was changed",
            None,
            Some(Map::from_iter([("provided_token".to_owned(), Value::from(shown.hint()))])),
        )),
    }
}
