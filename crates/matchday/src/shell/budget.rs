//! What is said is kept until the store has reached its size. Events are kept in any case. Touches the store.

use crate::store::{Exchange, Store, WeakStore};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much is kept between two looks at the file.
const LOOK_EVERY_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Budget {
    /// Whoever still has a call under way must not keep the store open.
    store: WeakStore,
    most: u64,
    since_look: AtomicU64,
    spent: AtomicBool,
}

/// Nothing more is kept from here on, since the store has so many bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full(pub(super) u64);

impl Budget {
    /// `most`: the size of the store; nothing is kept without one.
    pub(super) fn new(store: &Store, most: Option<u64>) -> Self {
        Self {
            store: store.downgrade(),
            most: most.unwrap_or_default(),
            // The first exchange looks, since the file may be full from earlier.
            since_look: AtomicU64::new(LOOK_EVERY_BYTES),
            spent: AtomicBool::new(most.is_none()),
        }
    }

    /// Puts an exchange into the store, unless that is full: said once.
    pub(super) fn keep(&self, exchange: impl FnOnce() -> Exchange) -> Result<(), Full> {
        if self.spent.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(store) = self.store.upgrade() else { return Ok(()) };
        let exchange = exchange();
        let bytes = exchange.request.len() + exchange.answer.as_ref().map_or(0, String::len);
        let since_look =
            self.since_look.fetch_add(bytes as u64, Ordering::Relaxed).saturating_add(bytes as u64);
        if since_look >= LOOK_EVERY_BYTES.min(self.most) {
            self.since_look.store(0, Ordering::Relaxed);
            if store.bytes() >= self.most {
                let already = self.spent.swap(true, Ordering::Relaxed);
                return if already { Ok(()) } else { Err(Full(self.most)) };
            }
        }
        store.record(exchange);
        Ok(())
    }
}
