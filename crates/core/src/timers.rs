//! Timers by key: the earliest is found at once, and each can be moved or cancelled without a search.

use crate::protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
pub(crate) struct Timers<K> {
    at: BTreeMap<K, Timestamp>,
    order: BTreeSet<(Timestamp, K)>,
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Self {
            at: BTreeMap::new(),
            order: BTreeSet::new(),
        }
    }
}

impl<K: Ord + Clone> Timers<K> {
    /// Sets or replaces the timer of `key`; `None` cancels it.
    pub(crate) fn set(&mut self, key: &K, at: Option<Timestamp>) {
        let before = self.at.get(key).copied();
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.order.remove(&(before, key.clone()));
        }
        match at {
            Some(at) => {
                self.at.insert(key.clone(), at);
                self.order.insert((at, key.clone()));
            }
            None => {
                self.at.remove(key);
            }
        }
    }

    /// The earliest timer.
    pub(crate) fn first(&self) -> Option<Timestamp> {
        self.order.first().map(|(at, _)| *at)
    }

    /// The keys whose timers are due, earliest first.
    pub(crate) fn due(&self, now: Timestamp) -> impl Iterator<Item = &K> {
        self.order
            .iter()
            .take_while(move |(at, _)| *at <= now)
            .map(|(_, key)| key)
    }

    pub(crate) fn clear(&mut self) {
        self.at.clear();
        self.order.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_can_be_moved_and_called_off() {
        let at = Timestamp::from_micros;
        let mut timers = Timers::default();
        for (key, micros) in [("a", 3), ("b", 1), ("c", 2)] {
            timers.set(&key, Some(at(micros)));
        }
        assert_eq!(timers.first(), Some(at(1)));
        assert_eq!(timers.due(at(2)).collect::<Vec<_>>(), [&"b", &"c"]);
        timers.set(&"b", Some(at(5)));
        timers.set(&"c", None);
        assert_eq!(timers.due(at(5)).collect::<Vec<_>>(), [&"a", &"b"]);
        timers.clear();
        assert_eq!((timers.first(), timers.due(at(9)).count()), (None, 0));
    }
}
