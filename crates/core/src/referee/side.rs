//! One player's side of a match: its endpoint, its awaited answer, and its authentication.
//!
//! # Who may answer for a player
//! - Where tokens can be verified, an answer shows the player's match token, or the player's own token, from which that
//!   is derived. That proves it, however the answer came.
//! - In the *same exchange*, that is in the response to our call to the player's endpoint, the connection proves as much:
//!   lenient conformance takes an answer without a token, with an echo of the question's token, or with one that is
//!   nobody's, and records the deviation. It forgives nothing to a player that has registered a key.
//! - A *separate* message could come from anyone. Where tokens cannot be verified, it must show the same token as the
//!   player showed in an earlier exchange of this match, or come from the address of the endpoint of a player that has
//!   acknowledged the question.
//! - Lenient conformance also trusts the first separate message of a player that has only acknowledged our calls so
//!   far, if its token is absent or cannot be verified; later messages must show the same. A fast opponent could forge
//!   that first message: the price of playing with agents that cannot answer otherwise.
//! - A manager that gives out no tokens leaves none to be shown.
//!
//! Only a hash of a player's own token is kept, for the length of the match.

use super::window::{AnswerState, Window};
use crate::protocol::decode::{Conformance, Deviation};
use crate::protocol::dialect::Dialect;
use crate::protocol::nonce::{Nonce, NonceCommitment};
use crate::protocol::token::TokenHash;
use crate::protocol::{Body, Endpoint, ErrorCode, Timestamp, Token};
use crate::signature::Signature;
use smol_str::{SmolStr, format_smolstr};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Side {
    pub(super) endpoint: Endpoint,
    pub(super) dialect: Dialect,
    pub(super) answer_state: AnswerState,
    pub(super) nonce: Option<Nonce>,
    /// Its commitment from GAME_JOIN_ACK.
    pub(super) nonce_commitment: Option<NonceCommitment>,
    /// Its last signature, which covers all its moves.
    pub(super) signature: Option<Signature>,
    /// The last accepted answer, to recognise duplicates.
    pub(super) last: Option<(Timestamp, Body)>,
    /// Whether the player has only acknowledged a call, so that its answers come as separate messages.
    pub(super) answers_separately: bool,
    /// Deviations of its answers.
    pub(super) deviations: Vec<SmolStr>,
    /// How many GAME_ERRORs are in flight to it.
    pub(super) errors_in_flight: u32,
    known_by: KnownBy,
    moves: u32,
    spent: Duration,
}

#[derive(Debug)]
enum KnownBy {
    Nothing,
    /// A verified token.
    Proof,
    /// A token of its own.
    OwnToken(TokenHash),
    /// No token, which only lenient conformance accepts.
    NoToken,
}

/// The most deviations that are reported of one player in one match.
const DEVIATIONS_MAX: usize = 16;

/// How an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    Exchange,
    /// As a message of its own, from the address of the player's endpoint.
    FromEndpoint,
    /// As a message of its own, from anywhere.
    Separate,
}

impl Side {
    pub(super) fn new(endpoint: Endpoint, dialect: Dialect) -> Self {
        Self {
            endpoint,
            dialect,
            answer_state: AnswerState::NotAwaited,
            nonce: None,
            nonce_commitment: None,
            signature: None,
            last: None,
            answers_separately: false,
            deviations: Vec::new(),
            errors_in_flight: 0,
            known_by: KnownBy::Nothing,
            moves: 0,
            spent: Duration::ZERO,
        }
    }

    pub(super) fn window(&self) -> Option<&Window> {
        match &self.answer_state {
            AnswerState::Awaited(window) => Some(window),
            AnswerState::NotAwaited | AnswerState::Forfeit(_) => None,
        }
    }

    pub(super) fn window_mut(&mut self) -> Option<&mut Window> {
        match &mut self.answer_state {
            AnswerState::Awaited(window) => Some(window),
            AnswerState::NotAwaited | AnswerState::Forfeit(_) => None,
        }
    }

    pub(super) fn moved(&mut self, took: Duration) {
        self.moves = self.moves.saturating_add(1);
        self.spent = self.spent.saturating_add(took);
    }

    /// Records deviations, up to the limit of a report.
    pub(super) fn note(&mut self, deviations: &[Deviation]) {
        let room = DEVIATIONS_MAX.saturating_sub(self.deviations.len());
        self.deviations.extend(
            deviations
                .iter()
                .take(room)
                .map(|deviation| format_smolstr!("{deviation}")),
        );
    }

    /// The mean time of a move, in milliseconds.
    pub(super) fn answer_ms(&self) -> Option<u32> {
        let mean = self.spent.checked_div(self.moves)?;
        Some(u32::try_from(mean.as_millis()).unwrap_or(u32::MAX))
    }

    /// Authenticates a message by its token, and records how.
    pub(super) fn admit(
        &mut self,
        credentials: &Credentials<'_>,
        via: Via,
        conformance: Conformance,
    ) -> Result<(), ErrorCode> {
        let &Credentials {
            token,
            proven,
            is_keyed,
            has_tokens,
        } = credentials;
        let lenient = conformance == Conformance::Lenient && !is_keyed;
        match proven {
            Some(true) => {
                self.known_by = KnownBy::Proof;
                return Ok(());
            }
            Some(false) if lenient && via == Via::Exchange => return Ok(()),
            Some(false) => return Err(ErrorCode::TokenInvalid),
            None => {}
        }
        if token.is_none() && !lenient && has_tokens {
            return Err(ErrorCode::TokenMissing);
        }
        let shown = match token {
            Some(token) => KnownBy::OwnToken(token.hash()),
            None => KnownBy::NoToken,
        };
        let same = match (&self.known_by, token) {
            (KnownBy::OwnToken(hash), Some(token)) => hash.admits(token),
            (KnownBy::NoToken, None) => true,
            _ => false,
        };
        let first = matches!(self.known_by, KnownBy::Nothing);
        match via {
            Via::Exchange if first => self.known_by = shown,
            Via::Exchange => {}
            Via::FromEndpoint | Via::Separate if same => {}
            Via::FromEndpoint if self.answers_separately => {}
            Via::Separate if lenient && first && self.answers_separately => {
                self.known_by = shown;
            }
            Via::FromEndpoint | Via::Separate => return Err(ErrorCode::TokenInvalid),
        }
        Ok(())
    }
}

/// What an answer shows of its sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Credentials<'a> {
    pub(super) token: Option<&'a Token>,
    /// Whether the token is the player's, if that can be verified.
    pub(super) proven: Option<bool>,
    /// Whether the player has registered a key.
    pub(super) is_keyed: bool,
    /// Whether the manager gives out tokens at all.
    pub(super) has_tokens: bool,
}
