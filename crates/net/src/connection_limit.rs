//! Connections per client address, so that one machine cannot use up the server's connections.

use crate::ref_counts::{RefCounts, RefGuard};
use std::net::{IpAddr, Ipv6Addr};

#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    per_address_max: usize,
    open: RefCounts<IpAddr>,
}

impl ConnectionLimit {
    pub(crate) fn new(per_address_max: usize) -> Self {
        Self {
            per_address_max,
            open: RefCounts::default(),
        }
    }

    /// `None` if the address has as many connections as it may.
    pub(crate) fn try_acquire(&self, peer: IpAddr) -> Option<RefGuard<IpAddr>> {
        self.open.try_acquire(limit_key(peer), self.per_address_max)
    }
}

/// What limits per address count by: the IPv4 address, or the /64 prefix of IPv6, of which one machine can use every address.
pub fn limit_key(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_does_not_take_all_places_and_gives_back_what_it_has() {
        let limit = ConnectionLimit::new(2);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let first = limit.try_acquire(ip("10.0.0.1")).unwrap();
        let _second = limit.try_acquire(ip("::ffff:10.0.0.1")).unwrap();
        assert!(limit.try_acquire(ip("10.0.0.1")).is_none());
        let other = limit.try_acquire(ip("2001:db8::1")).unwrap();
        let _another = limit.try_acquire(ip("2001:db8::2")).unwrap();
        assert!(
            limit.try_acquire(ip("2001:db8::3")).is_none(),
            "they are of one network"
        );
        drop(first);
        assert!(limit.try_acquire(ip("10.0.0.1")).is_some());
        drop(other);
        assert_eq!(limit.open.len(), 2);
    }
}
