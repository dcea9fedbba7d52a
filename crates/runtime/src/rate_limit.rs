//! How many requests a second one address may make. Counted in whole seconds, within a bounded memory.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many addresses are counted at once. Beyond, those of past seconds are forgotten first.
const ADDRESSES_MAX: usize = 4096;

/// What is asked of an address other than this machine's own, if nobody decides otherwise.
const REQUESTS_PER_ADDRESS: u32 = 5_000;

#[derive(Debug)]
pub(super) struct RateLimit {
    /// `None`: as many as may be told of others, and any number from this machine itself.
    most: Option<u32>,
    counts: Mutex<HashMap<IpAddr, Count>>,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    since: Instant,
    requests: u32,
}

impl RateLimit {
    pub(super) fn new(most: Option<u32>) -> Self {
        Self { most, counts: Mutex::new(HashMap::new()) }
    }

    /// Whether an address may make so many more requests now.
    pub(super) fn admits(&self, peer: IpAddr, requests: usize, now: Instant) -> bool {
        let most = match self.most {
            Some(0) => return true,
            None if peer.is_loopback() => return true,
            most => most.unwrap_or(REQUESTS_PER_ADDRESS),
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let past = |count: &Count| now.saturating_duration_since(count.since) >= Duration::from_secs(1);
        if counts.len() >= ADDRESSES_MAX && !counts.contains_key(&peer) {
            counts.retain(|_, count| !past(count));
            // All of them are busy in this very second: there is no room for another.
            if counts.len() >= ADDRESSES_MAX {
                return false;
            }
        }
        let count = counts.entry(peer).or_insert(Count { since: now, requests: 0 });
        if past(count) {
            *count = Count { since: now, requests: 0 };
        }
        count.requests = count.requests.saturating_add(u32::try_from(requests).unwrap_or(u32::MAX));
        count.requests <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRANGER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 7));
    const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn so_many_in_a_second_and_no_more_until_the_next() {
        let (rate_limit, now) = (RateLimit::new(Some(3)), Instant::now());
        assert!((0..3).all(|_| rate_limit.admits(STRANGER, 1, now)));
        assert!(!rate_limit.admits(STRANGER, 1, now));
        assert!(rate_limit.admits(LOOPBACK, 3, now), "others have a count of their own");
        assert!(rate_limit.admits(STRANGER, 1, now + Duration::from_secs(1)));
    }

    #[test]
    fn a_batch_counts_for_what_is_in_it() {
        assert!(!RateLimit::new(Some(3)).admits(STRANGER, 4, Instant::now()));
    }

    #[test]
    fn this_machine_is_not_counted_unless_told_so() {
        let (rate_limit, now) = (RateLimit::new(None), Instant::now());
        assert!(rate_limit.admits(LOOPBACK, 1_000_000, now));
        assert!(!rate_limit.admits(STRANGER, REQUESTS_PER_ADDRESS as usize + 1, now));
        assert!(RateLimit::new(Some(0)).admits(STRANGER, 1_000_000, now));
        assert!(!RateLimit::new(Some(1)).admits(LOOPBACK, 2, now));
    }

    #[test]
    fn no_number_of_addresses_takes_more_memory() {
        let (rate_limit, now) = (RateLimit::new(Some(1)), Instant::now());
        for number in 0..10_000_u32 {
            rate_limit.admits(IpAddr::V4(number.into()), 1, now);
        }
        assert_eq!(rate_limit.counts.lock().unwrap().len(), ADDRESSES_MAX);
        assert!(rate_limit.admits(STRANGER, 1, now + Duration::from_secs(1)));
    }
}
