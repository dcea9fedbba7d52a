//! How many of something that lasts (a seat, a mailbox, a live view) may be open in all, and how many of them may be opened from
//! one address.

use crate::connection_limit::limit_key;
use crate::ref_counts::{RefCounts, RefGuard};
use std::net::IpAddr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressQuota {
    pub all_max: usize,
    /// Any number from this machine itself.
    pub per_address_max: usize,
}

/// Which limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaReached {
    /// So many are open from the address.
    Address(usize),
    /// So many are open in all.
    All(usize),
}

impl AddressQuota {
    /// Whether one more may be opened from `peer`. `open`: from where each that is open was opened, by [`limit_key`].
    pub fn check(
        &self,
        peer: IpAddr,
        open: impl IntoIterator<Item = Option<IpAddr>>,
    ) -> Result<(), QuotaReached> {
        let from = limit_key(peer);
        let mut all = 0;
        let mut of_address = 0;
        for opened_from in open {
            all += 1;
            of_address += usize::from(opened_from == Some(from));
        }
        self.check_counts(peer, of_address, all)
    }

    fn check_counts(
        &self,
        peer: IpAddr,
        of_address: usize,
        all: usize,
    ) -> Result<(), QuotaReached> {
        let is_limited = !peer.to_canonical().is_loopback();
        match () {
            () if is_limited && of_address >= self.per_address_max => {
                Err(QuotaReached::Address(of_address))
            }
            () if all >= self.all_max => Err(QuotaReached::All(all)),
            () => Ok(()),
        }
    }
}

/// Places within a quota, each held by a guard.
#[derive(Debug)]
pub struct AddressPlaces {
    quota: AddressQuota,
    taken: RefCounts<IpAddr>,
}

/// One place, until it is dropped.
#[derive(Debug)]
pub struct AddressPlace {
    _taken: RefGuard<IpAddr>,
}

impl AddressPlaces {
    pub fn new(quota: AddressQuota) -> Self {
        Self {
            quota,
            taken: RefCounts::default(),
        }
    }

    pub fn try_acquire(&self, peer: IpAddr) -> Result<AddressPlace, QuotaReached> {
        let check = |of_address, all| self.quota.check_counts(peer, of_address, all);
        Ok(AddressPlace {
            _taken: self.taken.try_acquire_if(limit_key(peer), check)?,
        })
    }

    /// How many are taken.
    pub fn taken(&self) -> usize {
        self.taken.total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_within_the_quota_and_given_back() {
        let quota = AddressQuota {
            all_max: 3,
            per_address_max: 1,
        };
        let places = AddressPlaces::new(quota);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let first = places.try_acquire(ip("2001:db8::1")).unwrap();
        assert_eq!(
            places.try_acquire(ip("2001:db8::2")).unwrap_err(),
            QuotaReached::Address(1)
        );
        let _local = [(); 2].map(|()| places.try_acquire(ip("127.0.0.1")).unwrap());
        assert_eq!(
            places.try_acquire(ip("10.0.0.1")).unwrap_err(),
            QuotaReached::All(3)
        );
        drop(first);
        assert_eq!(places.taken(), 2);
        assert!(places.try_acquire(ip("2001:db8::2")).is_ok());
    }

    #[test]
    fn one_address_does_not_take_all_and_this_machine_may() {
        let mut quota = AddressQuota {
            all_max: 3,
            per_address_max: 1,
        };
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let open = |from: &str| [Some(limit_key(ip(from))), None];
        assert_eq!(quota.check(ip("10.0.0.1"), open("10.0.0.2")), Ok(()));
        assert_eq!(
            quota.check(ip("10.0.0.1"), open("10.0.0.1")),
            Err(QuotaReached::Address(1))
        );
        for loopback in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(
                quota.check(ip(loopback), open(loopback)),
                Ok(()),
                "{loopback}"
            );
        }
        quota.all_max = 2;
        assert_eq!(
            quota.check(ip("10.0.0.1"), open("10.0.0.2")),
            Err(QuotaReached::All(2))
        );
    }
}
