//! The quota of recorded exchanges: a league's are stored until they have reached so many bytes. Events are stored in any case.

use matchday_store::{Exchange, Store, WeakStore};
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub(super) struct ExchangeQuota {
    /// Weak: a call that is still in flight must not keep the store open.
    store: WeakStore,
    bytes_max: u64,
    spent: AtomicBool,
}

/// Nothing more is kept from here on, since so many bytes are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full(pub(super) u64);

impl ExchangeQuota {
    /// Nothing is kept without `bytes_max`.
    pub(super) fn new(store: &Store, bytes_max: Option<u64>) -> Self {
        Self {
            store: store.downgrade(),
            bytes_max: bytes_max.unwrap_or_default(),
            spent: AtomicBool::new(bytes_max.is_none()),
        }
    }

    /// Puts an exchange into the store, unless the quota is spent: said once.
    pub(super) fn record(&self, exchange: impl FnOnce() -> Exchange) -> Result<(), Full> {
        if self.spent.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(store) = self.store.upgrade() else {
            return Ok(());
        };
        let exchange = exchange();
        if store.exchange_bytes().saturating_add(exchange.bytes()) > self.bytes_max {
            let already = self.spent.swap(true, Ordering::Relaxed);
            return if already {
                Ok(())
            } else {
                Err(Full(self.bytes_max))
            };
        }
        store.record(exchange);
        Ok(())
    }
}
