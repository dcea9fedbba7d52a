//! The handle on a store that agents append through, whether its events are in a file or in memory.

use crate::batch::{Batch, Completion, Queued, Stored};
use crate::chain::{self, Hash};
use crate::error::{StoreError, StoreFailed};
use crate::exchange::Exchange;
use crate::leagues::LeagueState;
use crate::memory::Memory;
use crate::path::StorePath;
use crate::queue::{Command, CommandQueue, Then};
use crate::reader::Reader;
use crate::stats::{CommitMetrics, StoreStats};
use crate::stream::Stream;
use crate::writer::Writer;
use crate::{event_time, file, league_number, leagues};
use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

/// A handle on a store, for the agents of one league. All handles write through one connection.
#[derive(Debug, Clone)]
pub struct Store {
    backend: Arc<Backend>,
    /// The number of the league whose events and exchanges it appends. Order, backlog and failure are per league.
    league: u32,
}

/// Knows a store without keeping it open.
#[derive(Debug, Clone)]
pub struct WeakStore {
    backend: Weak<Backend>,
    league: u32,
}

impl WeakStore {
    pub fn upgrade(&self) -> Option<Store> {
        Some(Store { backend: self.backend.upgrade()?, league: self.league })
    }
}

#[derive(Debug)]
enum Backend {
    File { path: StorePath, queue: Arc<CommandQueue>, writer: Mutex<Option<JoinHandle<()>>> },
    Memory(Memory),
}

impl Store {
    /// Opens a store to write to it, and creates the file if it does not exist. Only one process can have it open so. The
    /// handle is for the latest league in it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = StorePath::resolve(path)?;
        let (db, lock) = file::open_to_write(&path)?;
        let known = || Ok((league_number::latest(&db)?, leagues::states(&db)?));
        let (league, states) = known().map_err(|error: rusqlite::Error| path.sql(error))?;
        let queue = Arc::new(CommandQueue::of(&states));
        let writer = Writer::new(db, lock, path.clone(), Arc::clone(&queue))?;
        let thread = thread::Builder::new()
            .name("store".into())
            .spawn(move || writer.run())
            .map_err(|error| path.io(error))?;
        let backend = Backend::File { path, queue, writer: Mutex::new(Some(thread)) };
        Ok(Self { backend: Arc::new(backend), league })
    }

    /// Opens a store to read it, also while it is being written to. Changes nothing.
    pub fn open_read_only(path: &Path) -> Result<Reader, StoreError> {
        Reader::open(path)
    }

    /// A store without a file. What is appended counts as durable at once, and is kept until the last handle is dropped.
    /// Exchanges are not kept.
    pub fn in_memory() -> Self {
        Self { backend: Arc::new(Backend::Memory(Memory::default())), league: 1 }
    }

    /// The same store, for the agents of the league with this number.
    pub fn in_league(&self, league: u32) -> Self {
        Self { backend: Arc::clone(&self.backend), league }
    }

    /// The file, with symbolic links resolved; `None` for a store in memory.
    pub fn path(&self) -> Option<&Path> {
        match &*self.backend {
            Backend::File { path, .. } => Some(&path.real),
            Backend::Memory(_) => None,
        }
    }

    /// The committed events of a stream, in order; an error if their hash chain is broken.
    pub fn load(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        match &*self.backend {
            Backend::File { path, .. } => self.reader(path)?.load_checked(stream),
            Backend::Memory(memory) => Ok(memory.load(self.league, stream)),
        }
    }

    /// How many committed events a stream has, and the hash of the last.
    pub fn head(&self, stream: &Stream) -> Result<(u64, Hash), StoreError> {
        let last = match &*self.backend {
            Backend::File { path, .. } => self.reader(path)?.head(stream)?,
            Backend::Memory(memory) => {
                memory.load(self.league, stream).last().map(|last| (last.seq, last.hash))
            }
        };
        Ok(last.unwrap_or_else(|| (0, chain::genesis(stream))))
    }

    fn reader(&self, path: &StorePath) -> Result<Reader, StoreError> {
        Ok(Reader::of(path)?.in_league(self.league))
    }

    /// The number and the manager's stream of every league in the store, the first one first.
    pub fn leagues(&self) -> Result<Vec<(u32, Stream)>, StoreError> {
        match &*self.backend {
            Backend::File { path, .. } => {
                let leagues = self.reader(path)?.leagues()?;
                Ok(leagues.into_iter().map(|league| (league.number, league.stream)).collect())
            }
            Backend::Memory(memory) => Ok(memory.leagues()),
        }
    }

    /// What the store keeps of every league beside its log, removed ones included.
    pub fn league_states(&self) -> Result<Vec<LeagueState>, StoreError> {
        match &*self.backend {
            Backend::File { path, .. } => {
                leagues::states(&self.reader(path)?.db).map_err(|error| path.sql(error))
            }
            Backend::Memory(_) => Ok(Vec::new()),
        }
    }

    /// The stream of the league's manager: `league`, unless the log of an earlier store calls it otherwise.
    pub fn manager_stream(&self) -> Result<Stream, StoreError> {
        match &*self.backend {
            Backend::File { path, .. } => Ok(self.reader(path)?.league()),
            Backend::Memory(_) => Ok(Stream::league()),
        }
    }

    pub fn league_number(&self) -> u32 {
        self.league
    }

    /// Notes when the league is to be loaded again, in order with its events.
    pub fn set_wake_at(&self, wake_at: Option<Timestamp>) {
        if let Backend::File { queue, .. } = &*self.backend {
            queue.push(Command::SetWakeAt { league: self.league, wake_at });
        }
    }

    /// Removes the league's events and exchanges for good. Its number is not used again.
    pub async fn remove_league(&self) -> Result<(), StoreFailed> {
        self.completed(|then| match &*self.backend {
            Backend::File { queue, .. } => {
                queue.push(Command::Remove { league: self.league, then: Then(then) });
            }
            Backend::Memory(memory) => {
                memory.remove(self.league);
                then(Ok(()));
            }
        })
        .await
    }

    /// Queues events to be stored.
    pub fn append(&self, batch: Batch) -> Queued {
        match &*self.backend {
            Backend::File { queue, .. } => {
                let times = event_time::of_batch(&batch.stream, &batch.lines).unwrap_or_else(|failed| {
                    queue.fail(Some(self.league), failed);
                    Vec::new()
                });
                queue.push(Command::Append { league: self.league, batch, times })
            }
            Backend::Memory(memory) => {
                memory.append(self.league, batch);
                Queued::InOrder
            }
        }
    }

    /// Returns when everything that the league appended before is as durable as was asked for.
    pub async fn stored(&self) -> Result<(), StoreFailed> {
        self.completed(|then| {
            let (stream, lines, durability) = (Stream::league(), Vec::new(), Durability::Written);
            self.append(Batch { stream, lines, durability, awaited: true, then });
        })
        .await
    }

    /// Returns when everything that was appended or recorded before is on disk.
    pub async fn flush(&self) -> Result<(), StoreFailed> {
        self.completed(|then| self.flush_then(then)).await
    }

    /// [`Self::flush`], for threads that may block.
    pub(super) fn flush_blocking(&self) -> Result<(), StoreFailed> {
        let (tell, told) = oneshot::channel();
        self.flush_then(Box::new(move |outcome| {
            let _ = tell.send(outcome);
        }));
        told.blocking_recv().unwrap_or_else(|_| Err(StoreFailed::closed()))
    }

    fn flush_then(&self, then: Completion) {
        match &*self.backend {
            Backend::File { queue, .. } => {
                queue.push(Command::Flush { league: self.league, then: Then(then) });
            }
            Backend::Memory(memory) if memory.is_closed() => then(Err(StoreFailed::closed())),
            Backend::Memory(_) => then(Ok(())),
        }
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
        if let Backend::File { queue, .. } = &*self.backend {
            queue.record((self.league, exchange));
        }
    }

    /// Stores what is queued and stops the writer. What other handles append afterwards fails.
    pub fn close(self) -> Result<(), StoreError> {
        self.backend.close();
        match &*self.backend {
            Backend::File { queue, .. } => {
                queue.failure(self.league).map_or(Ok(()), |failed| Err(failed.into()))
            }
            Backend::Memory(_) => Ok(()),
        }
    }

    /// The size of the file and of its write-ahead log.
    pub fn bytes(&self) -> u64 {
        let Backend::File { path, .. } = &*self.backend else { return 0 };
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        size(&path.real) + size(&path.beside("-wal"))
    }

    /// How many bytes of requests and answers the league has recorded.
    pub fn exchange_bytes(&self) -> u64 {
        match &*self.backend {
            Backend::File { queue, .. } => queue.exchange_bytes(self.league),
            Backend::Memory(_) => 0,
        }
    }

    pub fn stats(&self) -> StoreStats {
        match &*self.backend {
            Backend::File { queue, .. } => queue.stats(),
            Backend::Memory(memory) => memory.stats(),
        }
    }

    pub fn commit_metrics(&self) -> CommitMetrics {
        match &*self.backend {
            Backend::File { queue, .. } => queue.metrics(),
            Backend::Memory(_) => CommitMetrics::default(),
        }
    }

    /// Why nothing can be stored, in words for people; `None` if it can.
    pub fn failure(&self) -> Option<String> {
        let closed = || Some("the store is closed".to_owned());
        match &*self.backend {
            Backend::Memory(memory) => closed().filter(|_| memory.is_closed()),
            Backend::File { path, queue, writer } => {
                if let Some(failed) = queue.failure(self.league) {
                    return Some(failed.to_string());
                }
                if queue.is_closed() {
                    return closed();
                }
                let writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                if writer.as_ref().is_none_or(JoinHandle::is_finished) {
                    return Some("nobody writes to the store any more".to_owned());
                }
                let gone = std::fs::metadata(&path.real).err();
                gone.map(|error| {
                    format!("the store {} cannot be found any more: {error}", path.named.display())
                })
            }
        }
    }

    /// Whether both are handles on one store, of whichever league.
    pub fn shares_file(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.backend, &other.backend)
    }

    /// Whether both are handles on one league of one store.
    pub fn is_same(&self, other: &Self) -> bool {
        self.shares_file(other) && self.league == other.league
    }

    pub fn downgrade(&self) -> WeakStore {
        WeakStore { backend: Arc::downgrade(&self.backend), league: self.league }
    }
}

impl Backend {
    fn close(&self) {
        match self {
            Self::Memory(memory) => memory.close(),
            Self::File { queue, writer, .. } => {
                queue.close();
                let writer = writer.lock().unwrap_or_else(PoisonError::into_inner).take();
                // A completion may drop the last handle, and the writer thread cannot wait for itself.
                if let Some(writer) = writer.filter(|writer| writer.thread().id() != thread::current().id()) {
                    let _ = writer.join();
                }
            }
        }
    }
}

/// What is queued is still stored when the last handle is dropped.
impl Drop for Backend {
    fn drop(&mut self) {
        self.close();
    }
}
