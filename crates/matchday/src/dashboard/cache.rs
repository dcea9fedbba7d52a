//! A cache of rendered responses, valid while the league and its statistics do not change.

use super::access::Access;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many bytes are cached. When it is full, all entries are dropped.
const BYTES_MAX: usize = 16 << 20;
/// A longer response is not cached.
const ENTRY_BYTES_MAX: usize = 2 << 20;

/// The versions of the league and of its statistics that a response was rendered from.
pub(super) type Version = (u64, u64);

#[derive(Debug, Default)]
pub(super) struct ResponseCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_page: BTreeMap<(String, Access), (Version, Bytes)>,
    bytes: usize,
}

impl ResponseCache {
    pub(super) fn get(&self, page: &str, access: Access, version: Version) -> Option<Bytes> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries.by_page.get(&(page.to_owned(), access));
        found.filter(|(of, _)| *of == version).map(|(_, body)| body.clone())
    }

    pub(super) fn insert(&self, page: String, access: Access, version: Version, body: Bytes) {
        if body.len() > ENTRY_BYTES_MAX {
            return;
        }
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The key counts too.
        let key_bytes = page.len();
        let bytes = body.len() + key_bytes;
        if entries.bytes + bytes > BYTES_MAX {
            *entries = Entries::default();
        }
        entries.bytes += bytes;
        if let Some((_, before)) = entries.by_page.insert((page, access), (version, body)) {
            entries.bytes = entries.bytes.saturating_sub(before.len() + key_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_serves_until_something_changes_and_only_those_who_see_as_much() {
        let cache = ResponseCache::default();
        cache.insert("standings".into(), Access::PUBLIC, (7, 1), Bytes::from_static(b"table"));
        assert!(cache.get("standings", Access::PUBLIC, (7, 1)).is_some());
        assert_eq!(cache.get("standings", Access::PUBLIC, (8, 1)), None);
        assert_eq!(cache.get("standings", Access::PUBLIC, (7, 2)), None);
        assert_eq!(cache.get("standings", Access::OPERATOR, (7, 1)), None);
    }

    #[test]
    fn however_much_is_asked_for_only_so_much_is_kept() {
        let cache = ResponseCache::default();
        for number in 0..64 {
            cache.insert(number.to_string(), Access::PUBLIC, (1, 1), vec![0; 1 << 20].into());
            assert!(cache.0.lock().unwrap().bytes <= BYTES_MAX);
        }
        cache.insert("long".into(), Access::PUBLIC, (1, 1), vec![0; ENTRY_BYTES_MAX + 1].into());
        assert_eq!(cache.get("long", Access::PUBLIC, (1, 1)), None);
        let again = ResponseCache::default();
        for _ in 0..100 {
            again.insert("one".into(), Access::PUBLIC, (1, 1), vec![0; 100].into());
        }
        assert!(again.0.lock().unwrap().bytes < 1000, "the same page takes its room once");
    }
}
