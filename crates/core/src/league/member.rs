//! A player or a referee as the manager knows it. Changed only while an event is applied.

use crate::protocol::Timestamp;
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{Lifecycle, Record};
use crate::protocol::token::TokenHash;
use std::collections::BTreeMap;

/// A player or a referee, as the manager knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<M> {
    pub meta: M,
    pub token: TokenHash,
    /// When it was given that token.
    pub registered_at: Timestamp,
    pub dialect: Dialect,
    pub state: Lifecycle,
    /// Technical losses in a row.
    pub streak: u32,
    pub record: Record,
    /// Taken out of the league by the operator, for good.
    pub withdrawn: bool,
    pub deviations: BTreeMap<String, u32>,
}

impl<M> Member<M> {
    pub(super) fn new(meta: M, token: TokenHash, registered_at: Timestamp, dialect: Dialect) -> Self {
        Self {
            meta,
            token,
            registered_at,
            dialect,
            state: Lifecycle::Registered,
            streak: 0,
            record: Record::default(),
            withdrawn: false,
            deviations: BTreeMap::new(),
        }
    }

    /// Comes back in: known already, with what has changed about it.
    pub(super) fn rejoin(&mut self, meta: M, dialect: Dialect) {
        self.meta = meta;
        self.dialect = dialect;
        self.recover();
    }

    fn recover(&mut self) {
        self.streak = 0;
        if self.state == Lifecycle::Suspended {
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
