//! How many requests a second a league takes, of all callers together. Counted in whole seconds.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct RequestRate {
    /// 0 for any number.
    most: u32,
    second: Mutex<Second>,
}

#[derive(Debug)]
struct Second {
    began: Instant,
    requests: u32,
}

impl RequestRate {
    pub(super) fn new(most: u32) -> Self {
        Self { most, second: Mutex::new(Second { began: Instant::now(), requests: 0 }) }
    }

    /// Whether one more request is taken now.
    pub(super) fn admits(&self, now: Instant) -> bool {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(second.began) >= Duration::from_secs(1) {
            *second = Second { began: now, requests: 0 };
        }
        second.requests = second.requests.saturating_add(1);
        self.most == 0 || second.requests <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_in_a_second_and_no_more_until_the_next() {
        let (rate, now) = (RequestRate::new(2), Instant::now());
        assert_eq!([0, 1, 2].map(|_| rate.admits(now)), [true, true, false]);
        assert!(rate.admits(now + Duration::from_secs(2)));
        let any = RequestRate::new(0);
        assert!((0..10_000).all(|_| any.admits(now)));
    }
}
