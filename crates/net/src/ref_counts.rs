//! Reference counts by key. Each reference is a guard, so that none is forgotten when a task is aborted.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Clones share the counts.
#[derive(Debug, Clone)]
pub(crate) struct RefCounts<K>(Arc<Mutex<HashMap<K, usize>>>);

/// One reference, until it is dropped.
#[derive(Debug)]
pub(crate) struct RefGuard<K: Copy + Eq + Hash> {
    key: K,
    counts: RefCounts<K>,
}

impl<K> Default for RefCounts<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Copy + Eq + Hash> RefCounts<K> {
    fn counts(&self) -> MutexGuard<'_, HashMap<K, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if there are `max` references to the key already.
    pub(crate) fn try_acquire(&self, key: K, max: usize) -> Option<RefGuard<K>> {
        let mut counts = self.counts();
        let count = counts.entry(key).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(RefGuard {
            key,
            counts: self.clone(),
        })
    }

    /// As [`RefCounts::try_acquire`], if `check` allows it by the references to the key and by those in all.
    pub(crate) fn try_acquire_if<E>(
        &self,
        key: K,
        check: impl FnOnce(usize, usize) -> Result<(), E>,
    ) -> Result<RefGuard<K>, E> {
        let mut counts = self.counts();
        check(
            counts.get(&key).copied().unwrap_or_default(),
            counts.values().sum(),
        )?;
        *counts.entry(key).or_default() += 1;
        Ok(RefGuard {
            key,
            counts: self.clone(),
        })
    }

    /// How many references there are in all.
    pub(crate) fn total(&self) -> usize {
        self.counts().values().sum()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.counts().len()
    }
}

impl<K: Copy + Eq + Hash> Drop for RefGuard<K> {
    fn drop(&mut self) {
        let mut counts = self.counts.counts();
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}
