//! Pending calls by id.
//!
//! Call ids grow, and most calls are answered in about that order, so a deque with a binary search is faster than a
//! map.

use crate::agent::CallId;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
pub(crate) struct PendingCalls<T>(VecDeque<(CallId, T)>);

impl<T> Default for PendingCalls<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> PendingCalls<T> {
    /// Adds a call; its id must be the greatest.
    pub(crate) fn insert(&mut self, call: CallId, known: T) {
        debug_assert!(
            self.0.back().is_none_or(|(last, _)| *last < call),
            "{call:?} is not the latest"
        );
        self.0.push_back((call, known));
    }

    pub(crate) fn remove(&mut self, call: CallId) -> Option<T> {
        let place = match self.0.front() {
            Some((first, _)) if *first == call => 0,
            _ => self.0.binary_search_by_key(&call, |(call, _)| *call).ok()?,
        };
        self.0.remove(place).map(|(_, known)| known)
    }

    pub(crate) fn retain(&mut self, mut stays: impl FnMut(&T) -> bool) {
        self.0.retain(|(_, known)| stays(known));
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, known)| known)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, known)| known)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_found_once_in_whatever_order_answers_come() {
        let mut calls = PendingCalls::default();
        for number in [1, 2, 5, 7, 9] {
            calls.insert(CallId(number), number);
        }
        for number in [5, 1, 4, 9, 2, 10, 0] {
            let known = [1, 2, 5, 9].contains(&number).then_some(number);
            assert_eq!(calls.remove(CallId(number)), known, "{number}");
            assert_eq!(calls.remove(CallId(number)), None, "{number}");
        }
        assert_eq!(calls.values().collect::<Vec<_>>(), [&7]);
        calls.retain(|known| *known != 7);
        assert_eq!(calls.values().count(), 0);
    }
}
