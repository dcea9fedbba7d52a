//! A player or a referee as the manager knows it. Changed only while an event is applied.

use super::event::{Proof, Requested};
use crate::protocol::Timestamp;
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{Lifecycle, Record};
use crate::protocol::token::{Token, TokenHash};
use core::net::IpAddr;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long after a registration its repetition is answered by no more than its conversation: enough for an agent that
/// tries again, too little for anyone who would collect another's token later.
const REPEAT_WITHIN: Duration = Duration::from_secs(30);

/// A player or a referee, as the manager knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<M> {
    pub meta: M,
    pub token: TokenHash,
    /// When it registered.
    pub registered_at: Timestamp,
    /// The registration that its token was given for. Those of old logs have none.
    pub request: Option<Requested>,
    /// Whether it is known to have its token.
    pub token_shown: bool,
    pub dialect: Dialect,
    pub state: Lifecycle,
    /// Technical losses in a row.
    pub streak: u32,
    pub record: Record,
    /// Of a referee: how many matches it has been given that are not decided yet.
    pub in_hand: u32,
    /// Of a referee: how many attempts it has been given, and how many of them came to nothing after it had begun.
    pub given: u32,
    pub lost: u32,
    /// Of a referee: suspended for the share of those. No sign of life lifts that.
    pub barred: bool,
    /// Taken out of the league by the operator, for good.
    pub withdrawn: bool,
    /// Whether it was suspended when the league ended: it never came back.
    pub left: bool,
    /// Its token was taken away by the operator, and it has no other yet.
    pub revoked: bool,
    /// Its token is one that the operator gave out: it is known by that alone.
    pub pinned: bool,
    /// The tokens that were replaced: they open nothing, but its old records are known by them.
    pub replaced: Vec<TokenHash>,
    pub deviations: BTreeMap<String, u32>,
    /// How often it has registered again.
    pub renewals: u32,
}

impl<M> Member<M> {
    pub(super) fn new(
        meta: M,
        token: TokenHash,
        registered_at: Timestamp,
        dialect: Dialect,
        request: Option<Requested>,
    ) -> Self {
        Self {
            meta,
            token,
            registered_at,
            request,
            token_shown: false,
            dialect,
            state: Lifecycle::Registered,
            streak: 0,
            record: Record::default(),
            in_hand: 0,
            given: 0,
            lost: 0,
            barred: false,
            withdrawn: false,
            left: false,
            revoked: false,
            pinned: false,
            replaced: Vec::new(),
            deviations: BTreeMap::new(),
            renewals: 0,
        }
    }

    /// Is given another token. All else that is known of it stays, since it is the same agent; and if it asks in the same
    /// way as before, the time in which it may do so does not begin anew.
    pub(super) fn register_again(&mut self, again: Self) {
        let same = |request: Requested| self.was_asked_by(&request.proof);
        if !again.request.is_some_and(same) {
            self.registered_at = again.registered_at;
        }
        let old = std::mem::replace(&mut self.token, again.token);
        if !old.is(&self.token) {
            self.replaced.push(old);
        }
        self.rejoin(again.meta, again.dialect, again.request);
        self.token_shown = false;
        self.pinned = false;
    }

    /// Is given another token by the operator.
    pub(super) fn rotate(&mut self, token: TokenHash) {
        self.replaced.push(std::mem::replace(&mut self.token, token));
        self.request = None;
        self.revoked = false;
        self.barred = false;
        self.pinned = true;
    }

    /// Whether this is its token, or was one before.
    pub fn has_had(&self, token: &Token) -> bool {
        let hash = token.hash();
        self.token.is(&hash) || self.replaced.iter().any(|old| old.is(&hash))
    }

    /// Whether it may take part: neither withdrawn, nor without a token.
    pub fn is_in(&self) -> bool {
        !self.withdrawn && !self.revoked
    }

    /// Comes back in: known already, with what has changed about it.
    pub(super) fn rejoin(&mut self, meta: M, dialect: Dialect, request: Option<Requested>) {
        self.meta = meta;
        self.dialect = dialect;
        self.request = request.or(self.request);
        self.token_shown = true;
        self.renewals = self.renewals.saturating_add(1);
        self.recover();
    }

    /// Whether this is what it registered with.
    pub fn was_asked_by(&self, proof: &Proof) -> bool {
        self.request.is_some_and(|known| known.proof == *proof)
    }

    /// Whether it registered with a key, so that nothing less will do.
    pub fn is_keyed(&self) -> bool {
        self.request.is_some_and(|known| matches!(known.proof, Proof::Key(_)))
    }

    /// Whether it is news that it has its token: with a key, or a token of the operator's, that makes no difference.
    pub(super) fn could_show_token(&self) -> bool {
        !self.token_shown && self.request.is_some() && !self.is_keyed()
    }

    /// Whether a registration without proof may be its own: it has no key, its token was never shown, and it registered
    /// from this very address.
    pub fn may_renew_from(&self, client: Option<IpAddr>) -> bool {
        let registered_from = self.request.and_then(|known| known.client);
        !self.is_keyed() && !self.token_shown && client.is_some() && client == registered_from
    }

    /// Whether it may be given a token again though all it can show is its conversation, and the league may have started:
    /// only soon, and only if it is not known to have one.
    pub fn may_ask_again(&self, now: Timestamp) -> bool {
        !self.token_shown && now.since(self.registered_at) <= REPEAT_WITHIN
    }

    /// The league is over.
    pub(super) fn shut_down(&mut self) {
        self.left = self.is_suspended();
        self.state = Lifecycle::Shutdown;
    }

    /// The league goes on after all.
    pub(super) fn reopen(&mut self) {
        self.left = false;
        self.state = Lifecycle::Active;
    }

    fn recover(&mut self) {
        self.streak = 0;
        if self.state == Lifecycle::Suspended && !self.barred {
            self.state = Lifecycle::Active;
        }
    }

    pub(super) fn note<'a>(&mut self, deviations: impl Iterator<Item = &'a str>) {
        for deviation in deviations {
            let count = self.deviations.entry(deviation.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
    }

    pub fn is_suspended(&self) -> bool {
        self.state == Lifecycle::Suspended
    }
}
