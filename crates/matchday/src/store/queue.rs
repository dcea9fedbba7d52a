//! The line in front of the writer, and the way back from it: everyone is told, in order, how it went. Touches no file.
//!
//! Whoever comes while nobody writes does it at once and in its own place, since to have it done by a thread takes longer
//! than to do it. Where many come, the thread writes, and lets whoever else wants the processor go first: they may be on
//! their way here, and a commit costs about the same for one as for ten.
//!
//! What nobody waits for is left for a moment, and written with what comes meanwhile.
//!
//! It does not bound itself: whoever appends waits for the `then`s before taking more work on, or at least once it is told
//! that too much waits.

use super::error::StoreFailed;
use super::said::Said;
use super::stats::{CommitFigures, StoreStats};
use super::{Batch, Exchange, InLine};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// How much one commit carries at most: enough to share it among many, little enough that nobody waits long.
const BATCHES_MAX: usize = 1024;
const BYTES_MAX: usize = 4 << 20;
/// So many at once are a crowd, and more will come in a moment. The thread lets others go first so often then, or until so
/// many wait.
const CROWD: usize = 2;
const AFTER_YOU: usize = 16;
const COMPANY: usize = 32;
/// What nobody waits for is left for so long, or until there is so much of it.
const LEISURE: Duration = Duration::from_millis(5);
const LEISURELY_MAX: usize = 256;
/// While so many wait, nothing must follow from what is not written yet.
const AHEAD_MAX: usize = BATCHES_MAX;

#[derive(Debug, Default)]
pub(super) struct Queue {
    line: Mutex<Line>,
    changed: Condvar,
    figures: CommitFigures,
}

#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<Batch>,
    /// How many of them someone waits for.
    awaited: usize,
    /// Since when the first of them waits.
    since: Option<Instant>,
    said: Said,
    /// Whether someone writes, or is about to.
    writing: bool,
    /// How many were written together the last time.
    together: usize,
    /// Whether the thread sleeps until it is called.
    asleep: bool,
    /// Whether the log is to be copied into the file, which the thread does.
    log_is_long: bool,
    /// Taken to be written, and not acknowledged yet.
    in_hand: usize,
    /// Taken to be written, acknowledged perhaps since nobody waited for it, and not on disk though it must be.
    owed: usize,
    /// Who acknowledges, if it is not the writer itself.
    teller: Option<UnboundedSender<Settled>>,
    closed: bool,
    /// Why nothing is stored any more.
    failure: Option<StoreFailed>,
    stats: StoreStats,
}

/// Who has to write what was put in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Whoever has put it there.
    Yours,
    /// Someone else, who knows of it.
    Others,
}

/// What goes into one commit.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) batches: Vec<Batch>,
    pub(super) said: Vec<Exchange>,
}

/// A group that is durable, or has failed.
type Settled = (Vec<Batch>, Result<(), StoreFailed>);

impl Queue {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, batch: Batch) -> (Turn, InLine) {
        let mut line = self.line();
        let idle = line.waiting.is_empty() && line.in_hand == 0 && line.owed == 0;
        if line.closed {
            let verdict = Err(line.failure.clone().unwrap_or_else(StoreFailed::closed));
            drop(line);
            acknowledge(batch, verdict);
            return (Turn::Others, InLine::Stuck);
        }
        let nothing_said = line.said.is_empty() && !line.writing;
        if idle && batch.lines.is_empty() && (nothing_said || !batch.is_end()) {
            let verdict = line.failure.clone().map_or(Ok(()), Err);
            line.stats.batches += 1;
            drop(line);
            acknowledge(batch, verdict);
            return (Turn::Others, InLine::InOrder);
        }
        let awaited = batch.awaited;
        line.waiting.push_back(batch);
        line.awaited += usize::from(awaited);
        let first = line.since.is_none();
        if first {
            line.since = Some(Instant::now());
        }
        let in_line = line.in_line();
        if line.writing {
            return (Turn::Others, in_line);
        }
        if awaited && line.together < CROWD {
            line.writing = true;
            return (Turn::Yours, in_line);
        }
        // What can be left must be known of, so that it is not left too long.
        let calls = awaited || first || line.waiting.len() == LEISURELY_MAX;
        if calls && line.asleep {
            line.asleep = false;
            self.changed.notify_one();
        }
        (Turn::Others, in_line)
    }

    /// Acknowledges a batch at once, if `keep` takes it.
    pub(super) fn pass(&self, batch: Batch, keep: impl FnOnce(&Batch) -> Result<(), StoreFailed>) {
        let mut line = self.line();
        let verdict = if line.closed { Err(StoreFailed::closed()) } else { keep(&batch) };
        if verdict.is_ok() {
            line.stats.batches += 1;
            line.stats.committed(1, batch.lines.len() as u64, 0, Duration::ZERO);
        }
        drop(line);
        acknowledge(batch, verdict);
    }

    /// Puts in line what was said, for whenever there is time.
    pub(super) fn record(&self, exchange: Exchange) {
        let mut line = self.line();
        if line.closed {
            return;
        }
        let calls = line.said.push(exchange);
        if calls && line.asleep {
            line.asleep = false;
            self.changed.notify_one();
        }
    }

    /// For the thread: what is to be committed next, as soon as there is something, or nothing if it is only to look after
    /// the log; `None` once the queue is closed and empty.
    pub(super) fn wait(&self) -> Option<Load> {
        let mut line = self.line();
        while line.writing || !line.is_due() {
            if line.closed && !line.writing {
                return None;
            }
            line.asleep = true;
            let left = line.patience();
            line = self.changed.wait_timeout(line, left).unwrap_or_else(PoisonError::into_inner).0;
            line.asleep = false;
        }
        line.writing = true;
        if line.together >= CROWD && line.awaited > 0 {
            for _ in 0..AFTER_YOU {
                if line.waiting.len() >= COMPANY || line.closed {
                    break;
                }
                drop(line);
                thread::yield_now();
                line = self.line();
            }
        }
        Some(line.take())
    }

    /// For whoever has the turn: what is to be committed next.
    pub(super) fn take(&self) -> Load {
        self.line().take()
    }

    /// Whoever wrote has done so.
    pub(super) fn written(&self, log_is_long: bool) {
        let mut line = self.line();
        line.writing = false;
        line.log_is_long = log_is_long;
        // What was left meanwhile must be known of, too, so that it is not left too long.
        if line.closed || line.is_due() || line.since.is_some() {
            self.changed.notify_one();
        }
    }

    /// What was committed is on disk, for which someone has waited so long.
    pub(super) fn note_sync(&self, waited: Option<Duration>) {
        self.line().stats.syncs += 1;
        if let Some(waited) = waited {
            self.figures.seconds.observe(u64::try_from(waited.as_micros()).unwrap_or(u64::MAX));
        }
    }

    /// So much of what nobody waited for is on disk.
    pub(super) fn paid(&self, many: usize) {
        if many > 0 {
            self.line().owed -= many;
        }
    }

    pub(super) fn note_commit(&self, batches: usize, events: usize, exchanges: usize, took: Duration) {
        if batches > 0 {
            self.figures.events.observe(events as u64);
        }
        self.line().stats.committed(batches as u64, events as u64, exchanges as u64, took);
    }

    /// From now on nothing is acknowledged any more.
    pub(super) fn fail(&self, failed: StoreFailed) {
        self.line().failure.get_or_insert(failed);
    }

    pub(super) fn failure(&self) -> Option<StoreFailed> {
        self.line().failure.clone()
    }

    /// From now on a task of this runtime tells everyone how it went: to wake its other tasks costs a task much less than it
    /// costs a thread of ours, and commits go on meanwhile.
    pub(super) fn tell_from(self: &Arc<Self>, runtime: &Handle) {
        let mut line = self.line();
        if line.teller.as_ref().is_some_and(|teller| !teller.is_closed()) || line.closed {
            return;
        }
        let (teller, mut settled) = unbounded_channel::<Settled>();
        line.teller = Some(teller);
        let queue = Arc::clone(self);
        runtime.spawn(async move {
            while let Some((group, verdict)) = settled.recv().await {
                queue.acknowledge_all(group, &verdict);
            }
        });
    }

    /// Has everyone of a group told, in order, how it went for them.
    pub(super) fn settle(&self, group: Vec<Batch>, verdict: Result<(), StoreFailed>) {
        if group.is_empty() {
            return;
        }
        let teller = self.line().teller.clone();
        let settled = (group, verdict);
        let untold = match teller {
            Some(teller) => teller.send(settled).err().map(|unsent| unsent.0),
            None => Some(settled),
        };
        if let Some((group, verdict)) = untold {
            self.acknowledge_all(group, &verdict);
        }
    }

    /// The last group has been settled.
    pub(super) fn dismiss_teller(&self) {
        self.line().teller = None;
    }

    fn acknowledge_all(&self, group: Vec<Batch>, verdict: &Result<(), StoreFailed>) {
        let many = group.len();
        for batch in group {
            acknowledge(batch, verdict.clone());
        }
        let mut line = self.line();
        line.in_hand = line.in_hand.saturating_sub(many);
        line.stats.batches += many as u64;
    }

    pub(super) fn close(&self) {
        self.line().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn figures(&self) -> &CommitFigures {
        &self.figures
    }

    /// Why nothing is taken any more, in words for people.
    pub(super) fn trouble(&self) -> Option<String> {
        let line = self.line();
        let closed = line.closed.then(|| "the store is closed".to_owned());
        line.failure.as_ref().map(ToString::to_string).or(closed)
    }

    pub(super) fn stats(&self) -> StoreStats {
        let line = self.line();
        StoreStats { queue_depth: (line.waiting.len() + line.in_hand) as u64, ..line.stats }
    }
}

impl Line {
    /// How long the thread may sleep if nobody calls it.
    fn patience(&self) -> Duration {
        if self.writing {
            return self.said.patience_meanwhile();
        }
        let left = self.since.map_or(Duration::MAX, |since| LEISURE.saturating_sub(since.elapsed()));
        left.min(self.said.patience())
    }

    fn in_line(&self) -> InLine {
        let stuck = self.waiting.len() + self.in_hand >= AHEAD_MAX || self.failure.is_some();
        if stuck { InLine::Stuck } else { InLine::InOrder }
    }

    /// Whether events must not be left any longer.
    fn is_pressed(&self) -> bool {
        let many = self.waiting.len() >= LEISURELY_MAX || (self.closed && !self.waiting.is_empty());
        self.awaited > 0 || many || self.since.is_some_and(|since| since.elapsed() >= LEISURE)
    }

    /// Whether there is something for the thread to do.
    fn is_due(&self) -> bool {
        let said_is_due = self.said.is_due() || (self.closed && !self.said.is_empty());
        self.is_pressed() || self.log_is_long || said_is_due
    }

    fn take(&mut self) -> Load {
        let mut bytes = 0_usize;
        let mut batches = Vec::new();
        while batches.len() < BATCHES_MAX && bytes < BYTES_MAX {
            let Some(batch) = self.waiting.pop_front() else { break };
            bytes = bytes.saturating_add(batch.bytes());
            batches.push(batch);
        }
        self.in_hand += batches.len();
        self.owed += batches.iter().filter(|batch| batch.is_owed()).count();
        let awaited = batches.iter().filter(|batch| batch.awaited).count();
        self.awaited -= awaited;
        if awaited > 0 {
            self.together = awaited;
        }
        if self.waiting.is_empty() {
            self.since = None;
        }
        let all = self.closed || batches.iter().any(Batch::is_end);
        let said = match self.waiting.is_empty() {
            true if all => self.said.take_all(),
            true => self.said.take_some(awaited > 0),
            // What was said comes after what it was said about.
            false => Vec::new(),
        };
        Load { batches, said }
    }
}

thread_local! {
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is about to tell someone how it went, so that whoever waits for that must not wait here.
pub(super) fn is_telling() -> bool {
    TELLING.get()
}

/// What a `then` does wrong is its own affair: the panic has been reported, and the others must have their answer.
fn acknowledge(batch: Batch, verdict: Result<(), StoreFailed>) {
    let already = TELLING.replace(true);
    let _ = catch_unwind(AssertUnwindSafe(|| (batch.then)(verdict)));
    TELLING.set(already);
}

impl Batch {
    /// Whether it is there to learn that all before it is on disk, what was said included.
    fn is_end(&self) -> bool {
        self.lines.is_empty() && !self.can_wait
    }

    /// Whether it must be on disk though nobody waits for it, so that others will have to.
    pub(super) fn is_owed(&self) -> bool {
        !self.can_wait && !self.awaited
    }

    fn bytes(&self) -> usize {
        self.lines.iter().map(String::len).sum()
    }
}
