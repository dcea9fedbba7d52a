//! A cache of responses to the readers of all leagues of a process, each valid while its league and statistics do not change.

use super::access::Access;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many bytes are cached. When it is full, all entries are dropped.
const BYTES_MAX: usize = 64 << 20;
/// How many of them are of one league. When these are full, the entries of the league are dropped, and no other's.
const LEAGUE_BYTES_MAX: usize = 16 << 20;
/// A longer response is not cached.
const ENTRY_BYTES_MAX: usize = 8 << 20;

/// The versions of the league and of its statistics that a response was rendered from.
pub(super) type Version = (u64, u64);

/// A response as its readers share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CachedPage {
    pub(super) name: String,
    pub(super) access: Access,
    pub(super) version: Version,
}

#[derive(Debug, Default)]
pub(super) struct ResponseCache(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    by_league: BTreeMap<u64, LeagueEntries>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct LeagueEntries {
    by_page: BTreeMap<(String, Access), (Version, Bytes)>,
    bytes: usize,
}

impl ResponseCache {
    pub(super) fn get(&self, league: u64, page: &CachedPage) -> Option<Bytes> {
        let entries = self.lock();
        let found = entries
            .by_league
            .get(&league)?
            .by_page
            .get(&(page.name.clone(), page.access));
        found
            .filter(|(of, _)| *of == page.version)
            .map(|(_, body)| body.clone())
    }

    pub(super) fn insert(&self, league: u64, page: CachedPage, body: Bytes) {
        if body.len() > ENTRY_BYTES_MAX {
            return;
        }
        let mut entries = self.lock();
        // The key counts too.
        let key_bytes = page.name.len();
        let bytes = body.len() + key_bytes;
        if entries
            .by_league
            .get(&league)
            .is_some_and(|of_league| of_league.bytes + bytes > LEAGUE_BYTES_MAX)
        {
            entries.forget(league);
        }
        if entries.bytes + bytes > BYTES_MAX {
            *entries = Entries::default();
        }
        let of_league = entries.by_league.entry(league).or_default();
        let before = of_league
            .by_page
            .insert((page.name, page.access), (page.version, body));
        let freed = before.map_or(0, |(_, before)| before.len() + key_bytes);
        of_league.bytes = (of_league.bytes + bytes).saturating_sub(freed);
        entries.bytes = (entries.bytes + bytes).saturating_sub(freed);
    }

    pub(super) fn forget(&self, league: u64) {
        self.lock().forget(league);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn forget(&mut self, league: u64) {
        let freed = self
            .by_league
            .remove(&league)
            .map_or(0, |of_league| of_league.bytes);
        self.bytes = self.bytes.saturating_sub(freed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str, access: Access, version: Version) -> CachedPage {
        CachedPage {
            name: name.to_owned(),
            access,
            version,
        }
    }

    fn body(bytes: usize) -> Bytes {
        vec![0; bytes].into()
    }

    #[test]
    fn an_answer_serves_until_something_changes_and_only_those_who_see_as_much() {
        let cache = ResponseCache::default();
        cache.insert(
            1,
            page("standings", Access::PUBLIC, (7, 1)),
            Bytes::from_static(b"table"),
        );
        assert!(
            cache
                .get(1, &page("standings", Access::PUBLIC, (7, 1)))
                .is_some()
        );
        assert_eq!(
            cache.get(1, &page("standings", Access::PUBLIC, (8, 1))),
            None
        );
        assert_eq!(
            cache.get(1, &page("standings", Access::PUBLIC, (7, 2))),
            None
        );
        assert_eq!(
            cache.get(1, &page("standings", Access::OPERATOR, (7, 1))),
            None
        );
        assert_eq!(
            cache.get(2, &page("standings", Access::PUBLIC, (7, 1))),
            None
        );
    }

    #[test]
    fn however_much_is_asked_for_only_so_much_is_kept() {
        let cache = ResponseCache::default();
        for number in 0..256_u64 {
            cache.insert(
                number % 16,
                page(&number.to_string(), Access::PUBLIC, (1, 1)),
                body(1 << 20),
            );
            assert!(cache.lock().bytes <= BYTES_MAX);
        }
        cache.insert(
            1,
            page("long", Access::PUBLIC, (1, 1)),
            body(ENTRY_BYTES_MAX + 1),
        );
        assert_eq!(cache.get(1, &page("long", Access::PUBLIC, (1, 1))), None);
        let again = ResponseCache::default();
        for _ in 0..100 {
            again.insert(1, page("one", Access::PUBLIC, (1, 1)), body(100));
        }
        assert!(
            again.lock().bytes < 1000,
            "the same page takes its room once"
        );
        again.forget(1);
        assert_eq!(again.lock().bytes, 0);
    }

    #[test]
    fn a_league_that_is_asked_much_pushes_out_its_own_answers() {
        let cache = ResponseCache::default();
        cache.insert(1, page("table", Access::PUBLIC, (1, 1)), body(100));
        for number in 0..64_u64 {
            cache.insert(
                2,
                page(&number.to_string(), Access::PUBLIC, (1, 1)),
                body(1 << 20),
            );
        }
        assert!(
            cache
                .get(1, &page("table", Access::PUBLIC, (1, 1)))
                .is_some()
        );
        assert!(cache.lock().bytes <= LEAGUE_BYTES_MAX + 1000);
    }
}
