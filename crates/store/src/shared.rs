//! Ownership of leagues together with the queue of this process: a league that is taken begins anew there, and of one that is
//! released nothing is answered any more.

use crate::command::{Command, Then};
use crate::error::{StoreError, StoreFailed};
use crate::leagues::NO_LEAGUE;
use crate::ownership::{Member, Owned, Owner, Ownership, Process};
use crate::queue::CommandQueue;
use matchday_core::protocol::Timestamp;
use std::sync::{Arc, mpsc};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) ownership: Box<dyn Ownership>,
    pub(super) queue: Arc<CommandQueue>,
}

impl Ownership for Guarded {
    fn process(&self) -> &Process {
        self.ownership.process()
    }

    fn take(&self) -> Result<Vec<Owned>, StoreError> {
        let leagues = self.ownership.take()?;
        if leagues.is_empty() {
            return Ok(leagues);
        }
        let (tell, told) = mpsc::channel();
        let then = Then(Box::new(move |outcome| {
            let _ = tell.send(outcome);
        }));
        self.queue.push(Command::Taken { leagues: leagues.clone(), then }, self.queue.term(NO_LEAGUE));
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
