//! The writer thread: the only one that appends to a store. It takes a group of commands, stores it in one transaction, brings
//! it to disk if the group demands it, and runs the completions in order. Knows no particular store.
//!
//! A verdict is given by league: *stored*; *refused*, if its events do not continue their streams; *fenced*, if another process owns
//! it; *failed*, if nothing can be stored any more. *Unknown* is never one: the writer waits until the store can be reached, and looks what it holds.

mod plan;
mod recovery;

use crate::append::{Append, AppendError, EventRow, Transaction};
use crate::command::{Command, Group};
use crate::error::StoreFailed;
use crate::ownership::Owned;
use crate::queue::CommandQueue;
use crate::store_url::StoreUrl;
use plan::{Heads, Plan, of_league};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the disk may lag behind the last commit.
const FSYNC_LAG_MAX: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Writer {
    log: Box<dyn Append>,
    store: StoreUrl,
    queue: Arc<CommandQueue>,
    heads: Heads,
    /// When the first commit began that is not on disk.
    unsynced_since: Option<Instant>,
    /// The events of these commits, where the store may lose them while this process lives on.
    unsynced: Vec<EventRow>,
    /// Whether one of these must be on disk before the next batch that somebody waits for completes.
    fsync_owed: bool,
    maintained_at: Instant,
}

impl Writer {
    pub(super) fn new(log: Box<dyn Append>, store: StoreUrl, queue: Arc<CommandQueue>) -> Self {
        Self {
            log,
            store,
            queue,
            heads: Heads::new(),
            unsynced_since: None,
            unsynced: Vec::new(),
            fsync_owed: false,
            maintained_at: Instant::now(),
        }
    }

    /// Until the queue is closed and everything in it is on disk.
    pub(super) fn run(mut self) {
        while let Some(group) = self.queue.next_group(self.wake_at()) {
            self.queue.set_working(true);
            self.write(group);
            self.maintain();
            self.queue.set_working(false);
        }
        if self.unsynced_since.is_some() {
            self.sync(None);
        }
    }

    fn fsync_due_at(&self) -> Option<Instant> {
        self.unsynced_since.map(|since| since + FSYNC_LAG_MAX)
    }

    fn wake_at(&self) -> Option<Instant> {
        let maintenance = self
            .log
            .maintenance_interval()
            .map(|every| self.maintained_at + every);
        [self.fsync_due_at(), maintenance]
            .into_iter()
            .flatten()
            .min()
    }

    fn write(&mut self, mut group: Group) {
        let began = Instant::now();
        let awaited = group.is_awaited();
        self.fsync_owed |= group.needs_fsync();
        let overdue = self.fsync_due_at().is_some_and(|at| at <= began);
        let durable = overdue || awaited && self.fsync_owed;
        // A panic must not leave everyone waiting for this thread.
        if catch_unwind(AssertUnwindSafe(|| self.commit(&mut group, durable, began))).is_err() {
            self.queue.fail(None, StoreFailed::fault(&self.store));
        }
        self.remove_leagues(&mut group);
        self.take_leagues(&group);
        if self.unsynced_since.is_none() {
            self.fsync_owed = false;
        } else if durable {
            self.sync(awaited.then_some(began));
        }
        if !group.commands.is_empty() {
            recovery::confirm_lease(self);
        }
        self.queue.complete(group.commands, self.fsync_owed);
    }

    /// Stores the group, except for leagues that have failed. Where the store refuses the events of a league, the others are
    /// stored without it.
    fn commit(&mut self, group: &mut Group, durable: bool, began: Instant) {
        self.fence_lost();
        let leagues: BTreeSet<u32> = group.commands.iter().map(Command::league).collect();
        let sound: BTreeSet<u32> = leagues
            .into_iter()
            .filter(|league| self.queue.failure(*league).is_none())
            .collect();
        let planned = self.with_reconnect(|writer| {
            let mut planned = Plan::default();
            let commands = group
                .commands
                .iter()
                .filter(|command| command.changes_rows());
            for command in commands.filter(|command| sound.contains(&command.league())) {
                planned.add(&mut *writer.log, &writer.heads, command)?;
            }
            Ok(planned)
        });
        let mut transaction = match planned {
            Ok(planned) => planned.transaction,
            Err(error) => return self.give_up(None, error),
        };
        transaction.exchanges = std::mem::take(&mut group.exchanges);
        transaction
            .exchanges
            .retain(|(league, _)| self.queue.failure(*league).is_none());
        match self.store(&transaction, durable, began) {
            Ok(()) => {}
            Err(AppendError::Refused(_)) => {
                for league in sound {
                    if let Err(error) = self.store(&of_league(&transaction, league), durable, began)
                    {
                        self.give_up(Some(league), error);
                    }
                }
                let exchanges = Transaction {
                    exchanges: transaction.exchanges,
                    ..Transaction::default()
                };
                if let Err(error) = self.store(&exchanges, durable, began) {
                    self.give_up(None, error);
                }
            }
            Err(error) => self.give_up(None, error),
        }
    }

    /// Stores a transaction, without leagues that other processes own. If its outcome is unknown, what the store holds is found
    /// out, and the rest is stored again.
    fn store(
        &mut self,
        transaction: &Transaction,
        durable: bool,
        began: Instant,
    ) -> Result<(), AppendError> {
        if transaction.is_empty() {
            return Ok(());
        }
        let on_disk = match self.log.commit(transaction, durable) {
            Err(AppendError::Unknown(why)) => {
                recovery::recover(self, transaction.clone(), &why)?;
                true
            }
            Err(AppendError::Fenced(leagues)) => {
                self.fence(&leagues);
                return self.store(&transaction.clone().without(&leagues), durable, began);
            }
            outcome => outcome?,
        };
        self.queue
            .note_commit(transaction.events.len(), transaction.exchanges.len());
        let sound = |row: &&EventRow| self.queue.failure(row.league).is_none();
        for row in transaction.events.iter().filter(sound) {
            self.heads
                .insert((row.league, row.stream.clone()), row.head());
        }
        if on_disk {
            self.on_disk(durable.then_some(began));
        } else {
            self.unsynced_since.get_or_insert(began);
            if self.log.may_lose_commits() {
                self.unsynced.extend_from_slice(&transaction.events);
            }
        }
        Ok(())
    }

    /// Does something that can be repeated, as often as the store is lost sight of meanwhile.
    fn with_reconnect<T>(
        &mut self,
        mut action: impl FnMut(&mut Self) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        loop {
            match action(self) {
                Err(AppendError::Unknown(why)) => {
                    recovery::recover(self, Transaction::default(), &why)?
                }
                outcome => return outcome,
            }
        }
    }

    /// Other processes own these leagues now. What is known of them does not hold any more.
    fn fence(&mut self, leagues: &BTreeSet<u32>) {
        for league in leagues {
            self.queue
                .fail(Some(*league), StoreFailed::fenced(&self.store));
        }
        self.forget(leagues);
    }

    fn forget(&mut self, leagues: &BTreeSet<u32>) {
        self.heads
            .retain(|(league, _), _| !leagues.contains(league));
        self.unsynced.retain(|row| !leagues.contains(&row.league));
        self.log.forget(leagues);
    }

    /// Leagues that were lost with the lease, and are not known to be.
    fn lost(&self) -> BTreeSet<u32> {
        let lost = self.queue.lease().map(|lease| lease.lost());
        lost.into_iter()
            .flatten()
            .filter(|league| self.queue.failure(*league).is_none())
            .collect()
    }

    fn fence_lost(&mut self) {
        let lost = self.lost();
        if !lost.is_empty() {
            self.fence(&lost);
        }
        if self.queue.lease().is_some_and(|lease| lease.has_ended()) {
            self.queue.fail(None, StoreFailed::fenced(&self.store));
        }
    }

    /// Begins anew with leagues that this process has taken.
    fn take_leagues(&mut self, group: &Group) {
        for command in &group.commands {
            let Command::Taken { leagues, .. } = command else {
                continue;
            };
            self.forget(&leagues.iter().map(|league| league.number).collect());
            for Owned {
                number,
                exchange_bytes,
                ..
            } in leagues
            {
                self.queue.revive(*number, *exchange_bytes);
            }
            if let Some(lease) = self.queue.lease() {
                lease.regain(leagues.iter().map(|league| league.number));
            }
        }
    }

    /// Carries on with the removal of leagues. One that is not done goes to the end of the queue, so that the others go on.
    fn remove_leagues(&mut self, group: &mut Group) {
        for command in std::mem::take(&mut group.commands) {
            let Command::Remove { league, .. } = command else {
                group.commands.push(command);
                continue;
            };
            match self.with_reconnect(|writer| writer.log.remove(league)) {
                Ok(false) => {
                    self.queue.again(command);
                    continue;
                }
                Ok(true) => {
                    self.heads.retain(|(number, _), _| *number != league);
                    self.unsynced_since.get_or_insert_with(Instant::now);
                }
                Err(AppendError::Fenced(_)) => {
                    self.queue.refuse(command, StoreFailed::fenced(&self.store));
                    continue;
                }
                Err(error) => self.give_up(None, error),
            }
            group.commands.push(command);
        }
    }

    fn sync(&mut self, began: Option<Instant>) {
        match self.with_reconnect(|writer| writer.log.sync()) {
            Ok(()) => self.on_disk(began),
            Err(error) => self.give_up(None, error),
        }
    }

    /// Everything that was committed is on disk; `began`: since when somebody has been waiting for it.
    fn on_disk(&mut self, began: Option<Instant>) {
        self.unsynced_since = None;
        self.unsynced.clear();
        self.fsync_owed = false;
        self.queue.note_fsync(began.map(|began| began.elapsed()));
    }

    fn maintain(&mut self) {
        self.fence_lost();
        let due = self
            .log
            .maintenance_interval()
            .is_none_or(|every| self.maintained_at.elapsed() >= every);
        if due {
            if let Err(error) = self.with_reconnect(|writer| writer.log.maintain()) {
                self.give_up(None, error);
            }
            self.maintained_at = Instant::now();
        }
    }

    /// What is refused fails its league, if it is known; anything else fails all.
    fn give_up(&self, league: Option<u32>, error: AppendError) {
        match error {
            AppendError::Refused(failed) => self.queue.fail(league, failed),
            AppendError::Fenced(leagues) => {
                for league in leagues {
                    self.queue
                        .fail(Some(league), StoreFailed::fenced(&self.store));
                }
            }
            AppendError::Failed(failed) => self.queue.fail(None, failed),
            AppendError::Unknown(why) => {
                self.queue.fail(None, StoreFailed::away(&self.store, &why))
            }
        }
    }
}
