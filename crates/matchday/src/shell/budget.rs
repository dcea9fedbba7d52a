//! How much of what is said is kept: until the store has reached its size. Events are kept in any case.

use crate::store::{Exchange, Store};

/// How much is kept between two looks at the file.
const LOOK_EVERY_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Budget {
    store: Store,
    most: u64,
    since_look: u64,
    spent: bool,
}

/// Whether an exchange is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Yes,
    /// From here on nothing more is kept.
    NoMore,
    No,
}

impl Budget {
    pub(super) fn new(store: Store, most: u64) -> Self {
        // The first exchange looks, since the file may be full from earlier.
        Self { store, most, since_look: LOOK_EVERY_BYTES, spent: false }
    }

    pub(super) fn admit(&mut self, exchange: &Exchange) -> Keep {
        if self.spent {
            return Keep::No;
        }
        let bytes = exchange.request.len() + exchange.answer.as_ref().map_or(0, String::len);
        self.since_look = self.since_look.saturating_add(bytes as u64);
        if self.since_look >= LOOK_EVERY_BYTES.min(self.most) {
            self.since_look = 0;
            self.spent = self.store.bytes() >= self.most;
        }
        if self.spent { Keep::NoMore } else { Keep::Yes }
    }
}
