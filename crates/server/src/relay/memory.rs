//! The memory that strangers take up in the relays of a process: their calls, the answers to them, and what is being sent of
//! both. Each mailbox has a share that nothing elsewhere touches; more comes out of a pool, of which one address gets a quarter.
//! The manager and the referees beside a relay are no strangers to it: their calls do not count.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// What strangers may take up in one mailbox, whatever they do elsewhere.
pub const SHARE_BYTES: usize = 64 << 10;
/// What they may take up beyond that in all mailboxes.
pub const POOL_BYTES: usize = 64 << 20;
/// What they may take up of it in those that were opened from one address.
pub const POOL_BYTES_PER_ADDRESS: usize = POOL_BYTES / 4;
/// A body is given to the connection in such pieces: what a connection has not sent yet can no longer be taken from it.
pub(super) const PIECE_BYTES: usize = 8 << 10;

/// What all mailboxes of a process have in common. Clones of the pointer share it.
#[derive(Debug, Default)]
pub struct MemoryPool(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_address: BTreeMap<IpAddr, usize>,
}

impl MemoryPool {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, from: IpAddr, bytes: usize) -> bool {
        let mut taken = self.taken();
        let of_address = taken
            .by_address
            .get(&from)
            .copied()
            .unwrap_or_default()
            .saturating_add(bytes);
        let all = taken.all.saturating_add(bytes);
        if all > POOL_BYTES || of_address > POOL_BYTES_PER_ADDRESS {
            return false;
        }
        taken.all = all;
        taken.by_address.insert(from, of_address);
        true
    }

    fn give_back(&self, from: IpAddr, bytes: usize) {
        let mut taken = self.taken();
        taken.all = taken.all.saturating_sub(bytes);
        let of_address = taken
            .by_address
            .get(&from)
            .copied()
            .unwrap_or_default()
            .saturating_sub(bytes);
        match of_address {
            0 => taken.by_address.remove(&from),
            left => taken.by_address.insert(from, left),
        };
    }
}

/// The memory of one mailbox.
#[derive(Debug)]
pub(super) struct MailboxMemory {
    /// The address that it was opened from, as limits count it.
    from: IpAddr,
    share: AtomicUsize,
    pool: Arc<MemoryPool>,
}

impl MailboxMemory {
    pub(super) fn new(from: IpAddr, pool: Arc<MemoryPool>) -> Arc<Self> {
        Arc::new(Self {
            from,
            share: AtomicUsize::new(0),
            pool,
        })
    }

    /// Room for so many bytes, if there is any.
    pub(super) fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reserved> {
        let with = |taken: usize| taken.checked_add(bytes).filter(|all| *all <= SHARE_BYTES);
        let of_share = self
            .share
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, with)
            .is_ok();
        let has_room = of_share || self.pool.take(self.from, bytes);
        has_room.then(|| Reserved {
            memory: Arc::clone(self),
            bytes,
            of_share,
        })
    }

    #[cfg(test)]
    pub(super) fn share_taken(&self) -> usize {
        self.share.load(Ordering::Acquire)
    }

    fn give_back(&self, bytes: usize, of_share: bool) {
        if of_share {
            self.share.fetch_sub(bytes, Ordering::AcqRel);
        } else {
            self.pool.give_back(self.from, bytes)
        }
    }
}

/// Room in the memory of a mailbox, until it is dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    memory: Arc<MailboxMemory>,
    bytes: usize,
    of_share: bool,
}

impl Reserved {
    /// Gives back what is not needed.
    fn shrink_to(&mut self, bytes: usize) {
        let unused = self.bytes.saturating_sub(bytes);
        self.bytes -= unused;
        self.memory.give_back(unused, self.of_share);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.memory.give_back(self.bytes, self.of_share);
    }
}

/// A call or an answer. If it is a stranger's, it counts for as long as it is held.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) bytes: Bytes,
    reserved: Option<Reserved>,
}

impl Message {
    /// One of the manager, or of a referee of its process.
    pub(super) fn own(bytes: Bytes) -> Self {
        Self {
            bytes,
            reserved: None,
        }
    }

    /// One that was read into the room that was reserved for it, if it is a stranger's.
    pub(super) fn read(bytes: &Bytes, reserved: Option<Reserved>) -> Self {
        // A copy: what was read may be a small part of a large buffer.
        let mut message = Self {
            bytes: Bytes::copy_from_slice(bytes),
            reserved,
        };
        if let Some(reserved) = &mut message.reserved {
            reserved.shrink_to(bytes.len());
        }
        message
    }

    pub(super) fn is_own(&self) -> bool {
        self.reserved.is_none()
    }
}

/// As the body of a response, it counts until it has been given to the connection.
impl Body for Message {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.bytes.is_empty() {
            return Poll::Ready(None);
        }
        let piece = self.bytes.len().min(PIECE_BYTES);
        // A copy: a slice would keep the whole message in memory.
        let piece = Bytes::copy_from_slice(&self.bytes.split_to(piece));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(pool: &Arc<MemoryPool>, from: &str) -> Arc<MailboxMemory> {
        MailboxMemory::new(from.parse().unwrap(), Arc::clone(pool))
    }

    /// As much as it gets, in pieces of 64 KiB.
    fn fill(memory: &Arc<MailboxMemory>) -> Vec<Reserved> {
        std::iter::from_fn(|| memory.reserve(SHARE_BYTES)).collect()
    }

    #[test]
    fn the_share_of_a_mailbox_is_left_alone_by_all_others() {
        let pool = Arc::<MemoryPool>::default();
        let strangers: Vec<_> = (1..=5)
            .map(|last| memory(&pool, &format!("2001:db8:0:{last}::")))
            .collect();
        let _taken: Vec<_> = strangers.iter().map(fill).collect();
        assert_eq!(pool.taken().all, POOL_BYTES, "the pool is empty");
        let beside = memory(&pool, "2001:db8:0:1::");
        for honest in [beside, memory(&pool, "10.0.0.1")] {
            let _share = honest.reserve(SHARE_BYTES).expect("its share");
            assert!(honest.reserve(1).is_none(), "and no more");
        }
    }

    #[test]
    fn one_address_gets_a_quarter_of_the_pool_whatever_mailboxes_it_has() {
        let pool = Arc::<MemoryPool>::default();
        let _taken: Vec<_> = (0..9).map(|_| fill(&memory(&pool, "10.0.0.1"))).collect();
        assert_eq!(pool.taken().all, POOL_BYTES / 4);
        assert!(memory(&pool, "10.0.0.2").reserve(SHARE_BYTES + 1).is_some());
    }

    #[test]
    fn what_is_dropped_or_not_needed_is_given_back() {
        let pool = Arc::<MemoryPool>::default();
        let mailbox = memory(&pool, "10.0.0.1");
        let large = mailbox.reserve(SHARE_BYTES + 1);
        let small = Message::read(&Bytes::from_static(b"four"), mailbox.reserve(SHARE_BYTES));
        assert_eq!(
            (mailbox.share_taken(), pool.taken().all),
            (4, SHARE_BYTES + 1)
        );
        drop((large, small));
        assert_eq!((mailbox.share_taken(), pool.taken().all), (0, 0));
        assert!(pool.taken().by_address.is_empty());
    }
}
