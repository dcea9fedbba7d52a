//! Answers that were made already, for all who ask the same before anything changes.

use super::viewer::Sees;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many bytes are kept. Beyond, all are forgotten: whoever asks has them made again.
const KEPT_BYTES_MAX: usize = 16 << 20;
/// A longer one is not kept: few ask for it.
const LONGEST: usize = 2 << 20;

/// Of which league, and with which statistics, an answer was made.
pub(super) type Stamp = (u64, u64);

#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    by_page: BTreeMap<(String, Sees), (Stamp, Bytes)>,
    bytes: usize,
}

impl Kept {
    pub(super) fn get(&self, page: &str, sees: Sees, stamp: Stamp) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.by_page.get(&(page.to_owned(), sees));
        found.filter(|(of, _)| *of == stamp).map(|(_, body)| body.clone())
    }

    pub(super) fn keep(&self, page: String, sees: Sees, stamp: Stamp, body: Bytes) {
        if body.len() > LONGEST {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What names a page takes room too.
        let named = page.len();
        let bytes = body.len() + named;
        if kept.bytes + bytes > KEPT_BYTES_MAX {
            *kept = Answers::default();
        }
        kept.bytes += bytes;
        if let Some((_, before)) = kept.by_page.insert((page, sees), (stamp, body)) {
            kept.bytes = kept.bytes.saturating_sub(before.len() + named);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_serves_until_something_changes_and_only_those_who_see_as_much() {
        let kept = Kept::default();
        kept.keep("standings".into(), Sees::PUBLIC, (7, 1), Bytes::from_static(b"table"));
        assert!(kept.get("standings", Sees::PUBLIC, (7, 1)).is_some());
        assert_eq!(kept.get("standings", Sees::PUBLIC, (8, 1)), None);
        assert_eq!(kept.get("standings", Sees::PUBLIC, (7, 2)), None);
        assert_eq!(kept.get("standings", Sees::OPERATOR, (7, 1)), None);
    }

    #[test]
    fn however_much_is_asked_for_only_so_much_is_kept() {
        let kept = Kept::default();
        for number in 0..64 {
            kept.keep(number.to_string(), Sees::PUBLIC, (1, 1), vec![0; 1 << 20].into());
            assert!(kept.0.lock().unwrap().bytes <= KEPT_BYTES_MAX);
        }
        kept.keep("long".into(), Sees::PUBLIC, (1, 1), vec![0; LONGEST + 1].into());
        assert_eq!(kept.get("long", Sees::PUBLIC, (1, 1)), None);
        let again = Kept::default();
        for _ in 0..100 {
            again.keep("one".into(), Sees::PUBLIC, (1, 1), vec![0; 100].into());
        }
        assert!(again.0.lock().unwrap().bytes < 1000, "the same page takes its room once");
    }
}
