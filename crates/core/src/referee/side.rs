//! One player's side of a match: where it is, what it owes, and by what it is known.
//!
//! # Who may answer for a player
//! - Where tokens can be checked, an answer shows the token made for this player in this match, or the player's own, from
//!   which that was made. Any other is E012, however the answer came.
//! - In the *same exchange*, that is in answer to our call to the player's own endpoint, an echo of the token that the
//!   question showed is a deviation, and the lenient reading also takes an answer without a token.
//! - A *separate* message could come from anyone. Where tokens cannot be checked, it must show the same token as the
//!   player showed in an exchange of this match before.
//! - The lenient reading also takes the word of a player that has so far said "received" to our calls and shown nothing,
//!   if its message shows no token, or none that could be checked: its first separate message settles by what it is
//!   known from then on. An opponent that is quick enough could forge that first message, which is the price of playing
//!   with agents that have no other way to answer.
//!
//! Of a player's own token only a hash is kept, for the length of the match.

use super::window::{Debt, Window};
use crate::fair::{Nonce, NonceCommitment};
use crate::protocol::decode::{Conformance, Deviation};
use crate::protocol::dialect::Dialect;
use crate::protocol::token::TokenHash;
use crate::protocol::{Body, Endpoint, ErrorCode, Timestamp, Token};
use crate::signature::Signature;
use smol_str::{SmolStr, format_smolstr};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Side {
    pub(super) endpoint: Endpoint,
    pub(super) dialect: Dialect,
    pub(super) debt: Debt,
    pub(super) nonce: Option<Nonce>,
    /// What it bound itself to when it joined.
    pub(super) nonce_commitment: Option<NonceCommitment>,
    /// Its last signature, over all of its moves.
    pub(super) signature: Option<Signature>,
    /// The last answer that counted, to know its copies by.
    pub(super) last: Option<(Timestamp, Body)>,
    /// Whether the player has answered a call with "received", so that its answers come by themselves.
    pub(super) answers_apart: bool,
    /// How its answers have departed from the rules.
    pub(super) deviations: Vec<SmolStr>,
    /// How many GAME_ERRORs are on their way to it.
    pub(super) complaints: u32,
    known_by: KnownBy,
    moves: u32,
    spent: Duration,
}

#[derive(Debug)]
enum KnownBy {
    Nothing,
    /// A token that proves it.
    Proof,
    /// A token of its own.
    OwnToken(TokenHash),
    /// No token at all, which only the lenient reading takes.
    NoToken,
}

/// The most departures from the rules that are told of one player in one match.
const DEVIATIONS_MAX: usize = 16;

/// How an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Via {
    Exchange,
    Separate,
}

impl Side {
    pub(super) fn new(endpoint: Endpoint, dialect: Dialect) -> Self {
        Self {
            endpoint,
            dialect,
            debt: Debt::Clear,
            nonce: None,
            nonce_commitment: None,
            signature: None,
            last: None,
            answers_apart: false,
            deviations: Vec::new(),
            complaints: 0,
            known_by: KnownBy::Nothing,
            moves: 0,
            spent: Duration::ZERO,
        }
    }

    pub(super) fn window(&self) -> Option<&Window> {
        match &self.debt {
            Debt::Owes(window) => Some(window),
            Debt::Clear | Debt::Forfeit(_) => None,
        }
    }

    pub(super) fn window_mut(&mut self) -> Option<&mut Window> {
        match &mut self.debt {
            Debt::Owes(window) => Some(window),
            Debt::Clear | Debt::Forfeit(_) => None,
        }
    }

    pub(super) fn moved(&mut self, took: Duration) {
        self.moves = self.moves.saturating_add(1);
        self.spent = self.spent.saturating_add(took);
    }

    /// Remembers what the lenient reading let pass, as far as a report has room for it.
    pub(super) fn note(&mut self, deviations: &[Deviation]) {
        let room = DEVIATIONS_MAX.saturating_sub(self.deviations.len());
        self.deviations.extend(deviations.iter().take(room).map(|deviation| format_smolstr!("{deviation}")));
    }

    /// How long a move took on average, in milliseconds.
    pub(super) fn answer_ms(&self) -> Option<u32> {
        let mean = self.spent.checked_div(self.moves)?;
        Some(u32::try_from(mean.as_millis()).unwrap_or(u32::MAX))
    }

    /// Whether a message with this token is this player's; if so, remembers what it is known by. `proven`: whether the
    /// token proves it, if that can be told.
    pub(super) fn admit(
        &mut self,
        token: Option<&Token>,
        proven: Option<bool>,
        via: Via,
        conformance: Conformance,
    ) -> Result<(), ErrorCode> {
        let lenient = conformance == Conformance::Lenient;
        match proven {
            Some(true) => {
                self.known_by = KnownBy::Proof;
                return Ok(());
            }
            Some(false) => return Err(ErrorCode::TokenInvalid),
            None => {}
        }
        if token.is_none() && !lenient {
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
            Via::Separate if same => {}
            Via::Separate if lenient && first && self.answers_apart => {
                self.known_by = shown;
            }
            Via::Separate => return Err(ErrorCode::TokenInvalid),
        }
        Ok(())
    }
}
