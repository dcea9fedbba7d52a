//! How many requests a second are taken: of all callers together ([`TokenBucket`]), or from each address ([`RateLimiter`]) within
//! a bounded memory. Both are token buckets: so many at once, and then so many in each second.

use crate::connection_limit::limit_key;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many addresses are counted at once. Beyond, the one whose bucket is nearest to full is forgotten: that gives away the least.
const ADDRESSES_MAX: usize = 4096;

/// How fast buckets fill, and how much they hold.
#[derive(Debug, Clone, Copy)]
struct Rate {
    /// In which one token comes back. Zero: there is no limit.
    interval: Duration,
    /// In which an empty bucket is full again.
    capacity: Duration,
}

impl Rate {
    fn new(per_second: u32, burst: u32) -> Self {
        let interval = Duration::from_secs(1)
            .checked_div(per_second)
            .unwrap_or_default();
        Self {
            interval,
            capacity: interval.saturating_mul(burst),
        }
    }

    fn is_unlimited(&self) -> bool {
        self.interval.is_zero()
    }

    /// When a bucket would be full again without these tokens; `None` if it does not have as many.
    fn without(&self, full_at: Instant, tokens: usize, now: Instant) -> Option<Instant> {
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        let then = full_at
            .max(now)
            .checked_add(self.interval.saturating_mul(tokens));
        then.filter(|then| then.duration_since(now) <= self.capacity)
    }

    /// Takes tokens out of a bucket; false, and nothing is taken, if it does not have as many.
    fn take(&self, full_at: &mut Instant, tokens: usize, now: Instant) -> bool {
        match self.without(*full_at, tokens, now) {
            Some(then) => {
                *full_at = then;
                true
            }
            None => false,
        }
    }
}

/// One bucket for all callers.
#[derive(Debug)]
pub struct TokenBucket {
    rate: Rate,
    /// When it would be full if nobody asked any more.
    full_at: Mutex<Instant>,
}

impl TokenBucket {
    /// `per_second` 0: any number.
    pub fn new(per_second: u32, burst: u32) -> Self {
        Self {
            rate: Rate::new(per_second, burst),
            full_at: Mutex::new(Instant::now()),
        }
    }

    /// Whether a request of this cost is taken now.
    pub fn admits(&self, cost: usize, now: Instant) -> bool {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        self.rate.is_unlimited() || self.rate.take(&mut full_at, cost, now)
    }
}

/// A bucket for each address, by [`limit_key`].
#[derive(Debug)]
pub struct RateLimiter {
    rate: Rate,
    limits_loopback: bool,
    /// When the bucket of each would be full.
    full_at: Mutex<HashMap<IpAddr, Instant>>,
}

impl RateLimiter {
    /// `per_second` 0: any number.
    pub fn new(per_second: u32, burst: u32) -> Self {
        Self {
            rate: Rate::new(per_second, burst),
            limits_loopback: true,
            full_at: Mutex::default(),
        }
    }

    /// The same, with any number from this machine itself.
    #[must_use]
    pub fn without_loopback(self) -> Self {
        Self {
            limits_loopback: false,
            ..self
        }
    }

    /// Whether one more request would be taken from an address now. Takes nothing.
    pub fn has_room(&self, peer: IpAddr, now: Instant) -> bool {
        let full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = full_at.get(&limit_key(peer)).copied();
        self.rate.is_unlimited()
            || bucket.is_none_or(|full_at| self.rate.without(full_at, 1, now).is_some())
    }

    /// Whether a request of this cost is taken from an address now. One that is refused costs nothing.
    pub fn admits(&self, peer: IpAddr, cost: usize, now: Instant) -> bool {
        if self.rate.is_unlimited() || !self.limits_loopback && peer.to_canonical().is_loopback() {
            return true;
        }
        let key = limit_key(peer);
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        if full_at.len() >= ADDRESSES_MAX && !full_at.contains_key(&key) {
            let fullest = full_at
                .iter()
                .min_by_key(|(_, full_at)| **full_at)
                .map(|(key, _)| *key);
            fullest.and_then(|key| full_at.remove(&key));
        }
        self.rate.take(full_at.entry(key).or_insert(now), cost, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_ask_for_room_takes_none() {
        let limiter = RateLimiter::new(1, 2);
        let now = Instant::now();
        assert!((0..10).all(|_| limiter.has_room(ip("10.0.0.7"), now)));
        assert!(limiter.admits(ip("10.0.0.7"), 2, now));
        assert!(!limiter.has_room(ip("10.0.0.7"), now));
        assert!(limiter.has_room(ip("10.0.0.8"), now));
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn so_many_at_once_and_then_one_after_another_as_they_come_back() {
        let limiter = RateLimiter::new(2, 3);
        let now = Instant::now();
        let caller = ip("10.0.0.7");
        assert_eq!(
            [0; 4].map(|_| limiter.admits(caller, 1, now)),
            [true, true, true, false]
        );
        assert!(
            limiter.admits(ip("10.0.0.8"), 3, now),
            "others have a bucket of their own"
        );
        let later = now + Duration::from_millis(500);
        assert_eq!(
            [0; 2].map(|_| limiter.admits(caller, 1, later)),
            [true, false]
        );
        let much_later = now + Duration::from_secs(60);
        assert_eq!(
            [0; 4].map(|_| limiter.admits(caller, 1, much_later)),
            [true, true, true, false]
        );
    }

    #[test]
    fn the_turn_of_a_second_lets_no_second_burst_through() {
        let limiter = RateLimiter::new(100, 100);
        let now = Instant::now();
        let caller = ip("10.0.0.7");
        assert!(limiter.admits(caller, 100, now + Duration::from_millis(999)));
        assert!(!limiter.admits(caller, 2, now + Duration::from_millis(1_001)));
    }

    #[test]
    fn a_batch_costs_what_is_in_it_and_nothing_if_it_is_refused() {
        let limiter = RateLimiter::new(3, 3);
        let now = Instant::now();
        assert!(!limiter.admits(ip("10.0.0.7"), 4, now));
        assert!(!limiter.admits(ip("10.0.0.7"), usize::MAX, now));
        assert!(limiter.admits(ip("10.0.0.7"), 3, now));
    }

    #[test]
    fn all_addresses_of_one_machine_share_a_bucket() {
        let limiter = RateLimiter::new(1, 1);
        let now = Instant::now();
        assert!(limiter.admits(ip("2001:db8::1"), 1, now));
        assert!(
            !limiter.admits(ip("2001:db8::ffff"), 1, now),
            "they are of one /64"
        );
        assert!(limiter.admits(ip("2001:db8:0:1::1"), 1, now));
        assert!(limiter.admits(ip("10.0.0.7"), 1, now));
        assert!(!limiter.admits(ip("::ffff:10.0.0.7"), 1, now));
    }

    #[test]
    fn however_many_ask_another_is_taken_and_the_one_that_asks_most_is_not_forgotten() {
        let limiter = RateLimiter::new(10, 10);
        let now = Instant::now();
        let greedy = ip("192.0.2.1");
        assert!(limiter.admits(greedy, 10, now));
        for number in 0..10_000_u32 {
            assert!(
                limiter.admits(IpAddr::V4(number.into()), 1, now),
                "{number}"
            );
        }
        assert_eq!(limiter.full_at.lock().unwrap().len(), ADDRESSES_MAX);
        assert!(!limiter.admits(greedy, 1, now));
    }

    #[test]
    fn this_machine_is_limited_unless_it_is_left_out() {
        let now = Instant::now();
        for loopback in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(
                RateLimiter::new(1, 1)
                    .without_loopback()
                    .admits(ip(loopback), 1_000_000, now)
            );
            assert!(
                !RateLimiter::new(1, 1).admits(ip(loopback), 2, now),
                "{loopback}"
            );
        }
        assert!(
            !RateLimiter::new(1, 1)
                .without_loopback()
                .admits(ip("10.0.0.7"), 2, now)
        );
        assert!(RateLimiter::new(0, 0).admits(ip("10.0.0.7"), 1_000_000, now));
    }

    #[test]
    fn one_bucket_counts_all_callers_together() {
        let bucket = TokenBucket::new(2, 2);
        let now = Instant::now();
        assert_eq!([0; 3].map(|_| bucket.admits(1, now)), [true, true, false]);
        assert!(bucket.admits(2, now + Duration::from_secs(1)));
        let any = TokenBucket::new(0, 0);
        assert!((0..10_000).all(|_| any.admits(1, now)));
    }
}
