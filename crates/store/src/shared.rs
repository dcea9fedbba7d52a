//! Ownership of leagues together with the queue of this process: a league that is taken begins anew there, and of one that is
//! released nothing is answered any more.

use crate::command::{Command, OnComplete};
use crate::error::{StoreError, StoreFailed};
use crate::leagues::NO_LEAGUE;
use crate::ownership::{Member, Owned, Owner, Ownership, Process};
use crate::queue::CommandQueue;
use matchday_core::protocol::Timestamp;
use std::sync::{Arc, mpsc};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct FencedOwnership {
    pub(super) ownership: Box<dyn Ownership>,
    pub(super) queue: Arc<CommandQueue>,
}

impl Ownership for FencedOwnership {
    fn process(&self) -> &Process {
        self.ownership.process()
    }

    fn take(&self) -> Result<Vec<Owned>, StoreError> {
        let leagues = self.ownership.take()?;
        if leagues.is_empty() {
            return Ok(leagues);
        }
        let (tell, told) = mpsc::channel();
        let then = OnComplete(Box::new(move |outcome| {
            let _ = tell.send(outcome);
        }));
        self.queue.push(
            Command::Taken {
                leagues: leagues.clone(),
                then,
            },
            self.queue.term(NO_LEAGUE),
        );
        told.recv().unwrap_or_else(|_| Err(StoreFailed::closed()))?;
        Ok(leagues)
    }

    fn surplus(&self) -> Result<Vec<u32>, StoreError> {
        self.ownership.surplus()
    }

    fn lost(&self) -> Vec<u32> {
        self.ownership.lost()
    }

    fn release(&self, leagues: &[u32]) -> Result<(), StoreError> {
        for league in leagues {
            self.queue.fail(Some(*league), StoreFailed::released());
        }
        self.ownership.release(leagues)
    }

    fn owner(&self, league: u32) -> Result<Owner, StoreError> {
        self.ownership.owner(league)
    }

    fn members(&self) -> Result<Vec<Member>, StoreError> {
        self.ownership.members()
    }

    fn lease_left(&self) -> Duration {
        self.ownership.lease_left()
    }

    fn now(&self) -> Timestamp {
        self.ownership.now()
    }

    fn clock_offset_us(&self) -> i64 {
        self.ownership.clock_offset_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append::{Append, AppendError, Head, Transaction};
    use crate::batch::Batch;
    use crate::lease::Lease;
    use crate::open::Target;
    use crate::store_url::StoreUrl;
    use crate::stream::Stream;
    use crate::writer::Writer;
    use matchday_core::driver::Durability;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::thread;
    use std::time::Instant;

    /// A store in memory with a lease that the test decides about, and leagues that others own.
    #[derive(Debug, Clone)]
    struct LeasedLog {
        memory: Arc<Mutex<Box<dyn Append>>>,
        lease: Arc<Lease>,
        others: Arc<Mutex<BTreeSet<u32>>>,
    }

    impl Append for LeasedLog {
        fn head(&mut self, league: u32, stream: &Stream) -> Result<Option<Head>, AppendError> {
            self.memory.lock().unwrap().head(league, stream)
        }

        fn commit(&mut self, group: &Transaction, durable: bool) -> Result<bool, AppendError> {
            let fenced: BTreeSet<u32> = &group.leagues() & &self.others.lock().unwrap();
            if !fenced.is_empty() {
                return Err(AppendError::Fenced(fenced));
            }
            self.memory.lock().unwrap().commit(group, durable)
        }

        fn sync(&mut self) -> Result<(), AppendError> {
            self.memory.lock().unwrap().sync()
        }

        fn remove(&mut self, league: u32) -> Result<bool, AppendError> {
            self.memory.lock().unwrap().remove(league)
        }

        fn lease(&self) -> Option<Arc<Lease>> {
            Some(Arc::clone(&self.lease))
        }
    }

    type Verdict = mpsc::Receiver<Result<(), StoreFailed>>;

    fn push(queue: &CommandQueue, league: u32, lines: usize, term: u64) -> Verdict {
        let (tell, told) = mpsc::channel();
        let batch = Batch {
            at: Timestamp::EPOCH,
            stream: Stream::league(),
            lines: vec!["{}".to_owned(); lines],
            durability: Durability::Written,
            awaited: true,
            then: Box::new(move |verdict| tell.send(verdict).unwrap()),
        };
        queue.push(Command::Append { league, batch }, term);
        told
    }

    fn start(log: &LeasedLog) -> Arc<CommandQueue> {
        Arc::new(CommandQueue::of(&[], log.lease()))
    }

    fn write(log: &LeasedLog, queue: &Arc<CommandQueue>) {
        let writer = Writer::new(Box::new(log.clone()), StoreUrl::Memory, Arc::clone(queue));
        thread::spawn(move || writer.run());
    }

    fn leased(until: Instant) -> LeasedLog {
        let memory = Arc::new(Mutex::new(
            Target::of(StoreUrl::Memory).unwrap().append().unwrap(),
        ));
        let others = Arc::default();
        LeasedLog {
            memory,
            lease: Arc::new(Lease::until(until)),
            others,
        }
    }

    #[test]
    fn without_a_lease_a_query_waits_and_of_a_lost_league_it_fails() {
        let log = leased(Instant::now());
        let queue = start(&log);
        write(&log, &queue);
        let kept = push(&queue, 1, 0, 0);
        let lost = push(&queue, 2, 0, 0);
        while queue.stats().outages == 0 {
            thread::yield_now();
        }
        assert!(
            kept.try_recv().is_err() && lost.try_recv().is_err(),
            "answered without a lease"
        );
        assert!(queue.unavailable().is_some());
        log.lease.lose([2]);
        log.lease.renew(Instant::now() + Duration::from_secs(600));
        assert_eq!(kept.recv().unwrap(), Ok(()));
        assert!(lost.recv().unwrap().unwrap_err().is_fenced());
        // The writer counts what it has completed a moment after it was told.
        while queue.stats().queue_depth > 0 {
            thread::yield_now();
        }
        assert_eq!(
            push(&queue, 1, 0, 0).try_recv().unwrap(),
            Ok(()),
            "with a lease it is answered at once"
        );
        queue.close();
    }

    #[test]
    fn a_fenced_league_fails_alone_until_it_is_taken_and_old_handles_stay_fenced() {
        let log = leased(Instant::now() + Duration::from_secs(600));
        log.others.lock().unwrap().insert(1);
        let queue = start(&log);
        let fenced = push(&queue, 1, 1, 0);
        let stored = push(&queue, 2, 1, 0);
        write(&log, &queue);
        assert!(fenced.recv().unwrap().unwrap_err().is_fenced());
        assert_eq!(stored.recv().unwrap(), Ok(()));
        assert!(
            push(&queue, 1, 0, 0)
                .recv()
                .unwrap()
                .unwrap_err()
                .is_fenced(),
            "queries too"
        );
        log.others.lock().unwrap().clear();
        let (tell, told) = mpsc::channel();
        let league = Owned {
            number: 1,
            epoch: 2,
            wake_at: None,
            taken_over: false,
            exchange_bytes: 5,
        };
        let then = OnComplete(Box::new(move |verdict| tell.send(verdict).unwrap()));
        queue.push(
            Command::Taken {
                leagues: vec![league],
                then,
            },
            0,
        );
        told.recv().unwrap().unwrap();
        assert!(
            push(&queue, 1, 1, 0)
                .recv()
                .unwrap()
                .unwrap_err()
                .is_fenced()
        );
        assert_eq!(push(&queue, 1, 1, queue.term(1)).recv().unwrap(), Ok(()));
        assert_eq!(queue.exchange_bytes(1), 5);
        queue.close();
    }
}
