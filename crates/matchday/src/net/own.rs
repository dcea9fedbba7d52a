//! Which connections this process has made itself, by the address they come from and the port they go to. Agents of one
//! process share what they record, so of an exchange between two of them one record is enough, and whoever is called must
//! know it for one.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where a connection comes from is not enough: the system gives the same port to several at once, as long as they lead
/// to different places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Ends {
    pub(super) from: SocketAddr,
    pub(super) to_port: u16,
}

#[derive(Debug, Clone, Default)]
pub(super) struct OwnLines(Arc<Mutex<HashMap<Ends, usize>>>);

/// A connection of our own, for as long as this is kept.
#[derive(Debug)]
pub(super) struct OwnLine {
    lines: OwnLines,
    ends: Ends,
}

impl OwnLines {
    /// Before anything is sent from there, so that nobody is ever called by a line that is not known yet.
    pub(super) fn open(&self, ends: Ends) -> OwnLine {
        *self.lines().entry(ends).or_default() += 1;
        OwnLine { lines: self.clone(), ends }
    }

    pub(super) fn contains(&self, ends: Ends) -> bool {
        self.lines().contains_key(&ends)
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<Ends, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OwnLine {
    fn drop(&mut self) {
        let mut lines = self.lines.lines();
        if let Some(open) = lines.get_mut(&self.ends) {
            *open -= 1;
            if *open == 0 {
                lines.remove(&self.ends);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ends, OwnLines};
    use std::net::SocketAddr;

    fn to(to_port: u16) -> Ends {
        Ends { from: SocketAddr::from(([127, 0, 0, 1], 40_000)), to_port }
    }

    #[test]
    fn a_line_is_ours_for_as_long_as_it_is_open() {
        let lines = OwnLines::default();
        let line = lines.open(to(8101));
        assert!(lines.clone().contains(to(8101)));
        drop(line);
        assert!(!lines.contains(to(8101)));
    }

    #[test]
    fn another_line_from_the_same_port_may_be_somebody_elses() {
        let lines = OwnLines::default();
        let _line = lines.open(to(8101));
        assert!(!lines.contains(to(8102)));
    }

    #[test]
    fn a_line_stays_ours_when_another_from_the_same_port_is_closed() {
        let lines = OwnLines::default();
        let (_line, other, same) = (lines.open(to(8101)), lines.open(to(8102)), lines.open(to(8101)));
        drop((other, same));
        assert!(lines.contains(to(8101)));
    }
}
