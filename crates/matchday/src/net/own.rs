//! Which connections this process has made itself, by the address they come from. Agents of one process share what they
//! record, so of an exchange between two of them one record is enough, and whoever is called must know it for one.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Default)]
pub(super) struct OwnLines(Arc<Mutex<HashSet<SocketAddr>>>);

/// A connection of our own, for as long as this is kept.
#[derive(Debug)]
pub(super) struct OwnLine {
    lines: OwnLines,
    from: SocketAddr,
}

impl OwnLines {
    /// Before anything is sent from there, so that nobody is ever called by a line that is not known yet.
    pub(super) fn open(&self, from: SocketAddr) -> OwnLine {
        self.lines().insert(from);
        OwnLine { lines: self.clone(), from }
    }

    pub(super) fn contains(&self, from: SocketAddr) -> bool {
        self.lines().contains(&from)
    }

    fn lines(&self) -> MutexGuard<'_, HashSet<SocketAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OwnLine {
    fn drop(&mut self) {
        self.lines.lines().remove(&self.from);
    }
}

#[cfg(test)]
mod tests {
    use super::OwnLines;
    use std::net::SocketAddr;

    #[test]
    fn a_line_is_ours_for_as_long_as_it_is_open() {
        let (lines, from) = (OwnLines::default(), SocketAddr::from(([127, 0, 0, 1], 40_000)));
        let line = lines.open(from);
        assert!(lines.clone().contains(from));
        drop(line);
        assert!(!lines.contains(from));
    }
}
