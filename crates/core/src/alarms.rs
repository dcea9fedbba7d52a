//! When something is due, for many things at once: the earliest is always at hand, and each can be moved or called off
//! without a search. Pure.

use crate::protocol::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
pub(crate) struct Alarms<K> {
    at: BTreeMap<K, Timestamp>,
    order: BTreeSet<(Timestamp, K)>,
}

impl<K> Default for Alarms<K> {
    fn default() -> Self {
        Self { at: BTreeMap::new(), order: BTreeSet::new() }
    }
}

impl<K: Ord + Clone> Alarms<K> {
    /// Sets the one alarm of `key`, in place of any that it had; `None` calls it off.
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

    /// When the first is due.
    pub(crate) fn first(&self) -> Option<Timestamp> {
        self.order.first().map(|(at, _)| *at)
    }

    /// What is due by now, the earliest first.
    pub(crate) fn due(&self, now: Timestamp) -> impl Iterator<Item = &K> {
        self.order.iter().take_while(move |(at, _)| *at <= now).map(|(_, key)| key)
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
        let mut alarms = Alarms::default();
        for (key, micros) in [("a", 3), ("b", 1), ("c", 2)] {
            alarms.set(&key, Some(at(micros)));
        }
        assert_eq!(alarms.first(), Some(at(1)));
        assert_eq!(alarms.due(at(2)).collect::<Vec<_>>(), [&"b", &"c"]);
        alarms.set(&"b", Some(at(5)));
        alarms.set(&"c", None);
        assert_eq!(alarms.due(at(5)).collect::<Vec<_>>(), [&"a", &"b"]);
        alarms.clear();
        assert_eq!((alarms.first(), alarms.due(at(9)).count()), (None, 0));
    }
}
