//! Answers that were made already, for all who ask the same before anything changes.

use super::viewer::Sees;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many are kept. Beyond, all are forgotten: whoever asks has them made again.
const KEPT_MAX: usize = 256;

/// Of which league, and with which statistics, an answer was made.
pub(super) type Stamp = (u64, u64);

#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<BTreeMap<(String, Sees), (Stamp, Bytes)>>);

impl Kept {
    pub(super) fn get(&self, address: &str, sees: Sees, stamp: Stamp) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&(address.to_owned(), sees)).filter(|(of, _)| *of == stamp).map(|(_, body)| body.clone())
    }

    pub(super) fn keep(&self, address: String, sees: Sees, stamp: Stamp, body: Bytes) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert((address, sees), (stamp, body));
    }
}
