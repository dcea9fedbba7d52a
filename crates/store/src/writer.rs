//! The writer thread: the only one that has the SQLite connection. It takes a group of commands, stores it in one
//! transaction, fsyncs if the group demands it, and runs the completions in order. Touches the database and its log.
//!
//! SQLite is in WAL mode with `synchronous=normal`: a commit is in the operating system's hands, so it survives this process;
//! only an fsync of the write-ahead log makes it survive the machine.

use crate::commit::{EventLog, Rejected};
use crate::error::{StoreError, StoreFailed};
use crate::lock::Lock;
use crate::path::StorePath;
use crate::queue::{Command, CommandQueue, Group};
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// How long the disk may lag behind the last commit.
const FSYNC_LAG_MAX: Duration = Duration::from_millis(500);
/// The pages of the write-ahead log at which a checkpoint copies it into the file: 64 MB. Pages that change often are copied
/// less often so, and most leagues end before.
const WAL_PAGES_MAX: i32 = 16_000;
/// How many more may follow if a reader keeps the checkpoint from copying all of them.
const WAL_PAGES_MORE: i32 = 4_000;

#[derive(Debug)]
pub(super) struct Writer {
    log: EventLog,
    wal_pages: Arc<AtomicI32>,
    wal_pages_max: i32,
    path: StorePath,
    queue: Arc<CommandQueue>,
    /// Open from the first fsync on: SQLite keeps the same file for as long as the database is open.
    wal: Option<File>,
    /// When the first commit began that is not on disk.
    unsynced_since: Option<Instant>,
    /// Whether one of these must be on disk before the next batch that somebody waits for completes.
    fsync_owed: bool,
    /// Released last: the next writer must find the file closed.
    _lock: Lock,
}

impl Writer {
    pub(super) fn new(
        mut db: Connection,
        lock: Lock,
        path: StorePath,
        queue: Arc<CommandQueue>,
    ) -> Result<Self, StoreError> {
        let wal_pages = Arc::<AtomicI32>::default();
        let pages = Arc::clone(&wal_pages);
        db.wal_hook(Some(move |_: &mut Wal, now| {
            pages.store(now, Ordering::Relaxed);
            Ok(())
        }))
        .map_err(|error| path.sql(error))?;
        Ok(Self {
            log: EventLog::new(db),
            wal_pages,
            wal_pages_max: WAL_PAGES_MAX,
            path,
            queue,
            wal: None,
            unsynced_since: None,
            fsync_owed: false,
            _lock: lock,
        })
    }

    /// Until the queue is closed and everything in it is on disk.
    pub(super) fn run(mut self) {
        while let Some(group) = self.queue.next_group(self.fsync_due_at()) {
            self.write(group);
            self.checkpoint_if_long();
        }
        if self.unsynced_since.is_some() {
            self.fsync(None);
        }
    }

    fn fsync_due_at(&self) -> Option<Instant> {
        self.unsynced_since.map(|since| since + FSYNC_LAG_MAX)
    }

    fn write(&mut self, mut group: Group) {
        let began = Instant::now();
        // A panic must not leave everyone waiting for this thread.
        if catch_unwind(AssertUnwindSafe(|| self.commit(&group, began))).is_err() {
            self.queue.fail(None, StoreFailed::fault(&self.path.named));
        }
        self.remove_leagues(&mut group);
        let awaited = group.is_awaited();
        self.fsync_owed |= group.needs_fsync();
        let overdue = self.fsync_due_at().is_some_and(|at| at <= began);
        if self.unsynced_since.is_none() {
            self.fsync_owed = false;
        } else if overdue || awaited && self.fsync_owed {
            self.fsync(awaited.then_some(began));
        }
        self.queue.complete(group.commands, self.fsync_owed);
    }

    /// Stores the group, except for leagues that have failed. Where SQLite refuses the events of a league, the others are
    /// stored without it; an error of the file fails all.
    fn commit(&mut self, group: &Group, began: Instant) {
        let leagues: BTreeSet<u32> = group.commands.iter().map(|command| command.league()).collect();
        let sound: BTreeSet<u32> =
            leagues.into_iter().filter(|league| self.queue.failure(*league).is_none()).collect();
        match self.log.commit(&group.commands, &sound, &group.exchanges) {
            Err(Rejected::Events(_)) => {
                for league in sound {
                    let one = BTreeSet::from([league]);
                    let outcome = self.log.commit(&group.commands, &one, &[]);
                    self.committed(Some(league), outcome, began);
                }
                let outcome = self.log.commit(&[], &BTreeSet::new(), &group.exchanges);
                self.committed(None, outcome, began);
            }
            outcome => self.committed(None, outcome, began),
        }
    }

    /// Carries on with the removal of leagues. One that is not done goes to the end of the queue, so that the others go on.
    fn remove_leagues(&mut self, group: &mut Group) {
        for command in std::mem::take(&mut group.commands) {
            let Command::Remove { league, .. } = command else {
                group.commands.push(command);
                continue;
            };
            match self.log.remove(league) {
                Ok(false) => self.queue.again(command),
                Ok(true) => {
                    self.unsynced_since.get_or_insert_with(Instant::now);
                    group.commands.push(command);
                }
                Err(error) => {
                    self.queue.fail(None, StoreFailed::write(&self.path.named, &error));
                    group.commands.push(command);
                }
            }
        }
    }

    fn committed(&mut self, league: Option<u32>, outcome: Result<(usize, usize), Rejected>, began: Instant) {
        match outcome {
            Ok((0, 0)) => {}
            Ok((events, exchanges)) => {
                self.queue.note_commit(events, exchanges);
                self.unsynced_since.get_or_insert(began);
            }
            Err(Rejected::Events(error)) => {
                self.queue.fail(league, StoreFailed::write(&self.path.named, &error));
            }
            Err(Rejected::File(error)) => self.queue.fail(None, StoreFailed::write(&self.path.named, &error)),
        }
    }

    fn fsync(&mut self, began: Option<Instant>) {
        match self.sync_wal() {
            Ok(()) => {
                self.unsynced_since = None;
                self.fsync_owed = false;
                self.queue.note_fsync(began.map(|began| began.elapsed()));
            }
            // What a failed fsync has written is unknown, and another may succeed without having written it.
            Err(error) => self.queue.fail(None, StoreFailed::sync(&self.path.named, &error)),
        }
    }

    fn sync_wal(&mut self) -> io::Result<()> {
        if self.wal.is_none() {
            // Windows flushes only what is open for writing.
            self.wal = match File::options().write(true).open(self.path.beside("-wal")) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                wal => Some(wal?),
            };
        }
        self.wal.as_ref().map_or(Ok(()), File::sync_data)
    }

    /// Copies the write-ahead log into the file once it has become long, so that it begins anew. If a reader keeps some
    /// pages from being copied, the log grows before the next try: one after every commit would be too many.
    fn checkpoint_if_long(&mut self) {
        if self.wal_pages.load(Ordering::Relaxed) < self.wal_pages_max {
            return;
        }
        self.wal_pages_max = match self.log.checkpoint() {
            Ok(true) => {
                self.wal_pages.store(0, Ordering::Relaxed);
                WAL_PAGES_MAX
            }
            _ => self.wal_pages.load(Ordering::Relaxed).saturating_add(WAL_PAGES_MORE),
        };
    }
}
