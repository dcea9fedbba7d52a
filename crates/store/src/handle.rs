//! The handle on a store that agents append through, whatever is behind it.

use crate::append::Append;
use crate::batch::{Batch, Completion, Queued, Stored};
use crate::chain::{self, Hash};
use crate::command::{Command, OnComplete};
use crate::error::{StoreError, StoreFailed};
use crate::exchange::Exchange;
use crate::leagues::LeagueState;
use crate::open::{self, Target};
use crate::ownership::{Ownership, Process};
use crate::queue::CommandQueue;
use crate::reader::Reader;
use crate::shared::FencedOwnership;
use crate::stats::{CommitMetrics, StoreStats};
use crate::store_url::StoreUrl;
use crate::stream::Stream;
use crate::writer::Writer;
use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// A handle on a store, for the agents of one league. All handles write through one connection.
#[derive(Debug, Clone)]
pub struct Store {
    backend: Arc<Backend>,
    /// The number of the league whose events and exchanges it appends. Order, backlog and failure are per league.
    league: u32,
    /// When it was made, counted by how often this process took the league: one from before the last time appends nothing.
    term: u64,
    /// Whether its streams are those of secrets, which no reader lists.
    private: bool,
}

/// Knows a store without keeping it open.
#[derive(Debug, Clone)]
pub struct WeakStore {
    backend: Weak<Backend>,
    league: u32,
    term: u64,
    private: bool,
}

impl WeakStore {
    pub fn upgrade(&self) -> Option<Store> {
        let backend = self.backend.upgrade()?;
        let private = self.private;
        Some(Store {
            backend,
            league: self.league,
            term: self.term,
            private,
        })
    }
}

/// One thread writes what all handles append.
#[derive(Debug)]
struct Backend {
    target: Target,
    queue: Arc<CommandQueue>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens a store to write to it, and creates the file if it does not exist. Only one process can have it open so. The
    /// handle is for the latest league in it.
    pub fn open(url: impl Into<StoreUrl>) -> Result<Self, StoreError> {
        let target = Target::of(url)?;
        let log = target.append()?;
        Ok(Self::begin(target, log)?.0)
    }

    /// Opens a store that several processes share, each of which writes the leagues that it owns. It owns none at first.
    pub fn open_shared(
        url: impl Into<StoreUrl>,
        process: Process,
    ) -> Result<(Self, Arc<dyn Ownership>), StoreError> {
        let target = Target::of(url)?;
        let (log, ownership) = target.append_shared(process)?;
        let (store, queue) = Self::begin(target, log)?;
        Ok((store, Arc::new(FencedOwnership { ownership, queue })))
    }

    fn begin(
        target: Target,
        log: Box<dyn Append>,
    ) -> Result<(Self, Arc<CommandQueue>), StoreError> {
        let reader = target.reader()?;
        let queue = Arc::new(CommandQueue::of(&reader.league_states()?, log.lease()));
        let writer = Writer::new(log, target.name().clone(), Arc::clone(&queue));
        let thread = thread::Builder::new()
            .name("store".into())
            .spawn(move || writer.run())
            .map_err(|error| StoreError::io(target.name(), error))?;
        let backend = Arc::new(Backend {
            target,
            queue: Arc::clone(&queue),
            writer: Mutex::new(Some(thread)),
        });
        Ok((
            Self {
                backend,
                league: reader.league_number(),
                term: 0,
                private: false,
            },
            queue,
        ))
    }

    /// Opens a store to read it, also while it is being written to. Changes nothing.
    pub fn open_read_only(url: impl Into<StoreUrl>) -> Result<Reader, StoreError> {
        open::to_read(url)
    }

    /// A store without a file. What is appended is stored when the call returns, and is kept until the last handle is dropped.
    /// Exchanges are not kept: nobody could read them.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::open(StoreUrl::Memory)
    }

    fn is_in_memory(&self) -> bool {
        *self.url() == StoreUrl::Memory
    }

    /// The same store, for the agents of the league with this number.
    pub fn in_league(&self, league: u32) -> Self {
        let term = self.backend.queue.term(league);
        Self {
            backend: Arc::clone(&self.backend),
            league,
            term,
            private: false,
        }
    }

    /// The same league, for secrets that its next owner needs: streams that no export, archive, backup of leagues or audit reads.
    /// Exchanges are not kept.
    pub fn private(&self) -> Self {
        Self {
            private: true,
            ..self.clone()
        }
    }

    pub(super) fn is_private(&self) -> bool {
        self.private
    }

    /// A stream under the name that it is stored by.
    fn stored_stream(&self, stream: &Stream) -> Stream {
        if self.private {
            stream.private()
        } else {
            stream.clone()
        }
    }

    /// What it is called in messages: as it was named when it was opened.
    pub fn name(&self) -> &StoreUrl {
        self.backend.target.name()
    }

    /// Where it is: a file with symbolic links resolved.
    pub fn url(&self) -> &StoreUrl {
        self.backend.target.real()
    }

    /// The store as it is now, for the league of this handle.
    pub fn reader(&self) -> Result<Reader, StoreError> {
        Ok(self.backend.target.reader()?.in_league(self.league))
    }

    /// The committed events of a stream, in order; an error if their hash chain is broken.
    pub fn load(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        self.reader()?.load_checked(&self.stored_stream(stream))
    }

    /// How many committed events a stream has, and the hash of the last.
    pub fn head(&self, stream: &Stream) -> Result<(u64, Hash), StoreError> {
        let stream = self.stored_stream(stream);
        let last = self.reader()?.head(&stream)?;
        Ok(last.unwrap_or_else(|| (0, chain::genesis(&stream))))
    }

    /// The number and the manager's stream of every league in the store, the first one first.
    pub fn leagues(&self) -> Result<Vec<(u32, Stream)>, StoreError> {
        let leagues = self.reader()?.leagues()?;
        Ok(leagues
            .into_iter()
            .map(|league| (league.number, league.stream))
            .collect())
    }

    /// What the store keeps of every league beside its log, removed ones included.
    pub fn league_states(&self) -> Result<Vec<LeagueState>, StoreError> {
        self.reader()?.league_states()
    }

    /// The stream of the league's manager: `league`, unless the log of an earlier store calls it otherwise.
    pub fn manager_stream(&self) -> Result<Stream, StoreError> {
        Ok(self.reader()?.league())
    }

    pub fn league_number(&self) -> u32 {
        self.league
    }

    /// Notes when the league is to be loaded again, in order with its events.
    pub fn set_wake_at(&self, wake_at: Option<Timestamp>) {
        self.push(Command::SetWakeAt {
            league: self.league,
            wake_at,
        });
    }

    /// Removes the league's events and exchanges for good. Its number is not used again.
    pub async fn remove_league(&self) -> Result<(), StoreFailed> {
        self.completed(|then| {
            self.push(Command::Remove {
                league: self.league,
                then: OnComplete(then),
            });
        })
        .await
    }

    /// Queues events to be stored.
    pub fn append(&self, mut batch: Batch) -> Queued {
        if self.private {
            batch.stream = batch.stream.private();
        }
        let queued = self.push(Command::Append {
            league: self.league,
            batch,
        });
        // A simulated network, whose time is not that of the writer's thread, must find it stored.
        if self.is_in_memory() {
            let _ = self.flush_blocking();
        }
        queued
    }

    fn push(&self, command: Command) -> Queued {
        self.backend.queue.push(command, self.term)
    }

    /// Returns when everything that the league appended before is as durable as was asked for.
    pub async fn stored(&self) -> Result<(), StoreFailed> {
        self.completed(|then| {
            self.append(Batch {
                at: Timestamp::EPOCH,
                stream: Stream::league(),
                lines: Vec::new(),
                durability: Durability::Written,
                awaited: true,
                then,
            });
        })
        .await
    }

    /// Returns when everything that was appended or recorded before is on disk.
    pub async fn flush(&self) -> Result<(), StoreFailed> {
        self.completed(|then| self.flush_then(then)).await
    }

    /// [`Self::flush`], for threads that may block.
    pub fn flush_blocking(&self) -> Result<(), StoreFailed> {
        let (tell, told) = std::sync::mpsc::channel();
        self.flush_then(Box::new(move |outcome| {
            let _ = tell.send(outcome);
        }));
        told.recv().unwrap_or_else(|_| Err(StoreFailed::closed()))
    }

    fn flush_then(&self, then: Completion) {
        self.push(Command::Flush {
            league: self.league,
            then: OnComplete(then),
        });
    }

    async fn completed(&self, start: impl FnOnce(Completion)) -> Result<(), StoreFailed> {
        let (tell, told) = oneshot::channel();
        start(Box::new(move |outcome| {
            let _ = tell.send(outcome);
        }));
        told.await.unwrap_or_else(|_| Err(StoreFailed::closed()))
    }

    /// Records an exchange. Nobody waits for it: those of the last moments before a crash are lost.
    pub fn record(&self, exchange: Exchange) {
        if !self.private && !self.is_in_memory() {
            self.backend
                .queue
                .record((self.league, exchange), self.term);
        }
    }

    /// Stores what is queued and stops the writer. What other handles append afterwards fails.
    pub fn close(self) -> Result<(), StoreError> {
        self.backend.close();
        self.backend
            .queue
            .failure(self.league)
            .map_or(Ok(()), |failed| Err(failed.into()))
    }

    /// The size of the file and of its write-ahead log; 0 for a store that is no file.
    pub fn bytes(&self) -> u64 {
        self.backend.target.bytes()
    }

    /// How many bytes of requests and answers the league has recorded.
    pub fn exchange_bytes(&self) -> u64 {
        self.backend.queue.exchange_bytes(self.league)
    }

    pub fn stats(&self) -> StoreStats {
        self.backend.queue.stats()
    }

    pub fn commit_metrics(&self) -> Arc<CommitMetrics> {
        self.backend.queue.metrics()
    }

    /// Whether nothing of the league is stored any more, whatever becomes of the disk or the database.
    pub fn has_failed(&self) -> bool {
        self.backend.queue.failure(self.league).is_some()
    }

    /// Why nothing can be stored, in words for people; `None` if it can.
    pub fn failure(&self) -> Option<String> {
        let Backend {
            target,
            queue,
            writer,
        } = &*self.backend;
        if let Some(failed) = queue.failure(self.league) {
            return Some(failed.to_string());
        }
        if queue.is_closed() {
            return Some("the store is closed".to_owned());
        }
        let writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.as_ref().is_none_or(JoinHandle::is_finished) {
            return Some("nobody writes to the store any more".to_owned());
        }
        target.missing()
    }

    /// The same without where the store is, for an address that anyone may ask.
    pub fn failure_for_anyone(&self) -> Option<String> {
        Some(self.backend.target.hide(&self.failure()?))
    }

    /// Whether another process owns the league now, or may: nothing is broken, and this one may take it again.
    pub fn is_fenced(&self) -> bool {
        let queue = &self.backend.queue;
        let failure = queue.failure(self.league);
        queue.term(self.league) != self.term || failure.is_some_and(|failed| failed.is_fenced())
    }

    /// Why the store cannot be reached just now, and that its leagues stand still until it can; `None` if it can.
    pub fn unavailable(&self) -> Option<String> {
        self.backend.queue.unavailable()
    }

    /// Changes when the connection to the store is lost or is back.
    pub fn watch_lost(&self) -> watch::Receiver<bool> {
        self.backend.queue.watch_lost()
    }

    /// For how long it cannot become unavailable unless the connection is lost; `None` if it is.
    pub fn available_for(&self) -> Option<Duration> {
        self.backend.queue.available_for()
    }

    /// How long it could not be reached in all, now included: for so long its leagues stood still.
    pub fn downtime(&self) -> Duration {
        self.backend.queue.downtime()
    }

    /// Whether both are handles on one store, of whichever league.
    pub fn shares_file(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.backend, &other.backend)
    }

    /// Whether both are handles on one league of one store.
    pub fn is_same(&self, other: &Self) -> bool {
        self.shares_file(other) && self.league == other.league && self.private == other.private
    }

    pub fn downgrade(&self) -> WeakStore {
        let backend = Arc::downgrade(&self.backend);
        let private = self.private;
        WeakStore {
            backend,
            league: self.league,
            term: self.term,
            private,
        }
    }
}

impl Backend {
    fn close(&self) {
        self.queue.close();
        let writer = self
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // A completion may drop the last handle, and the writer thread cannot wait for itself.
        if let Some(writer) = writer.filter(|writer| writer.thread().id() != thread::current().id())
        {
            let _ = writer.join();
        }
    }
}

/// What is queued is still stored when the last handle is dropped.
impl Drop for Backend {
    fn drop(&mut self) {
        self.close();
    }
}
