//! The thread that brings to disk what has been committed, while the writer goes on with what came meanwhile. Touches the
//! log beside the database, and only to have it synced.
//!
//! A commit is in the system's hands, so that it outlives this process. Whoever needs it to outlive the machine is told
//! after the next sync; whoever does not is told at once, unless something before it must outlive the machine and does not
//! yet: what it hears may follow from that. What nobody waits for is synced some time later.

use super::Batch;
use super::error::StoreFailed;
use super::path::StorePath;
use super::queue::Queue;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the disk may lag behind the system when nothing urgent comes.
const LAG_MAX: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    line: Mutex<Line>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    /// Those who are to be told after the next sync.
    waiting: Vec<Batch>,
    /// When the first commit began that one of them waits for.
    awaited_since: Option<Instant>,
    /// How many have not been told, those included that are being synced.
    untold: usize,
    /// How much must be on disk that nobody waits for: with the next sync, and with the one under way.
    owes: usize,
    pays: usize,
    /// When the first commit began that the disk may not have.
    lags_since: Option<Instant>,
    closing: bool,
}

impl Syncer {
    pub(super) fn start(path: &StorePath, queue: Arc<Queue>) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let disk = Disk { store: path.clone(), log: None, queue, shared: Arc::clone(&shared) };
        let thread = thread::Builder::new().name("sync".into()).spawn(move || disk.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// A group is committed, which began then. Gives back those of it who can be told at once.
    pub(super) fn committed(&self, group: Vec<Batch>, began: Instant) -> Vec<Batch> {
        let mut line = self.shared.line();
        let mut at_once = Vec::new();
        for batch in group {
            line.owes += usize::from(batch.is_owed());
            let content = !batch.awaited || (batch.can_wait && line.owes + line.pays == 0);
            if content && line.untold == 0 {
                at_once.push(batch);
            } else {
                line.untold += 1;
                line.waiting.push(batch);
            }
        }
        if !line.waiting.is_empty() {
            line.awaited_since.get_or_insert(began);
        }
        let calls = !line.waiting.is_empty() || line.lags_since.is_none();
        line.lags_since.get_or_insert(began);
        drop(line);
        if calls {
            self.shared.changed.notify_one();
        }
        at_once
    }

    /// Comes back when all is on disk and everyone has been told.
    pub(super) fn finish(&mut self) {
        self.shared.line().closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As soon as a sync is due: who waits for it, and since when; `None` once there is nothing left to do.
    fn next(&self) -> Option<(Vec<Batch>, Option<Instant>)> {
        let mut line = self.line();
        loop {
            let Some(since) = line.lags_since else {
                if line.closing {
                    return None;
                }
                line = self.changed.wait(line).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = LAG_MAX.saturating_sub(since.elapsed());
            if line.closing || !line.waiting.is_empty() || left.is_zero() {
                line.lags_since = None;
                line.pays = std::mem::take(&mut line.owes);
                return Some((std::mem::take(&mut line.waiting), line.awaited_since.take()));
            }
            line = self.changed.wait_timeout(line, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A sync is over, and so many have been told. How much it has brought to disk that nobody waited for.
    fn told(&self, many: usize) -> usize {
        let mut line = self.line();
        line.untold -= many;
        std::mem::take(&mut line.pays)
    }
}

/// The thread's own side.
struct Disk {
    store: StorePath,
    /// Open from the first sync on: SQLite keeps the same log for as long as it has the database open.
    log: Option<File>,
    queue: Arc<Queue>,
    shared: Arc<Shared>,
}

impl Disk {
    fn run(mut self) {
        while let Some((group, since)) = self.shared.next() {
            let verdict = self.sync().map_err(|error| {
                let failed = StoreFailed::sync(&self.store.named, &error);
                // Before anyone hears of it, so that nothing appended from then on can succeed.
                self.queue.fail(failed.clone());
                failed
            });
            if verdict.is_ok() {
                self.queue.note_sync(since.map(|since| since.elapsed()));
            }
            let many = group.len();
            self.queue.settle(group, verdict);
            let paid = self.shared.told(many);
            self.queue.paid(paid);
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.log.is_none() {
            self.log = match File::open(self.store.beside("-wal")) {
                Ok(log) => Some(log),
                // Nothing has been written yet.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
        }
        self.log.as_ref().map_or(Ok(()), File::sync_data)
    }
}
