//! Places for connections: so many altogether, and so many from one address, so that no single machine takes them all.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many connections each address has at present.
#[derive(Debug, Clone)]
pub(super) struct Places {
    most: usize,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One place, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    of: IpAddr,
    places: Places,
}

impl Places {
    pub(super) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, if this address does not have too many.
    pub(super) fn take(&self, peer: IpAddr) -> Option<Place> {
        let of = group(peer);
        let mut taken = self.taken();
        let count = taken.entry(of).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Place { of, places: self.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        if let Some(count) = taken.get_mut(&self.of) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.remove(&self.of);
            }
        }
    }
}

/// One machine has a whole network of IPv6 addresses, of which it can use any.
pub(crate) fn group(peer: IpAddr) -> IpAddr {
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
        let places = Places::new(2);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let first = places.take(ip("10.0.0.1")).unwrap();
        let _second = places.take(ip("::ffff:10.0.0.1")).unwrap();
        assert!(places.take(ip("10.0.0.1")).is_none());
        let other = places.take(ip("2001:db8::1")).unwrap();
        let _another = places.take(ip("2001:db8::2")).unwrap();
        assert!(places.take(ip("2001:db8::3")).is_none(), "they are of one network");
        drop(first);
        assert!(places.take(ip("10.0.0.1")).is_some());
        drop(other);
        assert_eq!(places.taken().len(), 2);
    }
}
