//! What lasts: an append-only log of events for each agent, and the record of what was said, in one SQLite file.
//!
//! # Layout
//! - [`chain`]: each event carries the hash of all before it
//! - `path`, `lock`, `file`, `schema`: links are followed; the file is recognised, locked, made, brought up to date
//! - `queue`, `said`, `writer`, `syncer`: what is waiting is written in one commit, by whoever comes when nobody writes or
//!   else by a thread; another brings commits to disk; everyone is told, in order
//! - [`backup`]: a copy, also of a store in use
//! - [`checkpoint_keys`]: the keys that a manager signs the head of its chain with
//! - `memory`: events without a file
//! - [`reader`], [`history`], [`diary`], [`chronicle`]: reading it back, as rows, as the course of a league, as what one
//!   agent did, and all that several stores tell together
//! - [`messages`]: what was said, a page at a time
//! - [`leagues`]: the leagues that a store holds, one after the other
//! - [`verify`], [`export`], [`timeline`], [`rerun`]: what can be made of it; `words`, `own_words` and `gist` say it in brief;
//!   [`fallbacks`]: strategies that failed
//!
//! The contract is small, so that another store can take this one's place: append to a stream after its last event,
//! read a stream, one writer.

pub mod backup;
pub mod chain;
pub mod checkpoint_keys;
pub mod chronicle;
pub mod diary;
pub mod error;
pub mod export;
pub mod fallbacks;
mod file;
pub(crate) mod gist;
pub mod history;
pub mod leagues;
mod lock;
mod memory;
pub mod messages;
mod own_words;
mod path;
mod queue;
pub mod reader;
pub mod rerun;
mod said;
mod schema;
pub mod stats;
mod syncer;
pub mod timeline;
pub mod verify;
pub(crate) mod words;
mod writer;

pub use error::{StoreError, StoreFailed};
pub use reader::Reader;
pub use stats::StoreStats;

use chain::Hash;
use matchday_core::protocol::{ConversationId, MatchId, Timestamp, UntrustedText};
use memory::Memory;
use path::StorePath;
use queue::{Queue, Turn};
use serde::Serialize;
use smol_str::SmolStr;
use stats::CommitFigures;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use writer::{Desk, Writer};

/// One stream of events: `league`, `league/2`, `referee/8001`, `player/8101`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Stream(pub SmolStr);

impl Stream {
    /// Whose events these are: `league`, `referee`, `player`.
    pub(super) fn role(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An event as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its number in its stream, counted from 1.
    pub seq: u64,
    pub at: Timestamp,
    /// What `matchday_core::log::write` gave.
    pub line: String,
    pub hash: Hash,
}

/// What is to be stored together.
pub struct Batch {
    pub stream: Stream,
    /// Events, each written by `matchday_core::log::write`.
    pub lines: Vec<String>,
    /// Whether it is enough that this outlives the process at once, and a failure of the machine soon. An event that
    /// must be on disk takes those before it along. If there is none and it cannot wait, what was recorded is meant too.
    pub can_wait: bool,
    /// Whether someone waits to be told. What nobody waits for is written with whatever comes in the next moments, and is
    /// on disk before anyone is told of what was appended after it.
    pub awaited: bool,
    /// Runs once all this, and all that was appended before it, is durable or has failed; or if nobody waits, once it has
    /// been written. It must not block: everyone else waits meanwhile.
    pub then: Box<dyn FnOnce(Result<(), StoreFailed>) + Send>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({}, {} events)", self.stream, self.lines.len())
    }
}

/// What has become of a batch that was put in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InLine {
    /// It will be stored before all that is put in line from now on, or none of that will.
    InOrder,
    /// The same, but too much waits already, or nothing is stored any more: wait with whatever follows from it.
    Stuck,
}

/// A message and what came back, for replay and export. Whoever records it has taken the tokens out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    #[serde(with = "matchday_core::protocol::time::exact")]
    pub at: Timestamp,
    /// When the connection stood: at once, if one was at hand. Known to whoever called, as are the next two.
    #[serde(serialize_with = "micros")]
    pub connected_at: Option<Timestamp>,
    /// When the first byte of the answer was there.
    #[serde(serialize_with = "micros")]
    pub first_byte_at: Option<Timestamp>,
    /// Until when an answer was waited for.
    #[serde(serialize_with = "micros")]
    pub deadline_at: Option<Timestamp>,
    /// When the last byte of the answer was there, or the wait for it over.
    #[serde(serialize_with = "micros")]
    pub done_at: Option<Timestamp>,
    /// Who recorded it: `league_manager`, `REF01`, `P01`.
    pub agent: SmolStr,
    pub direction: Direction,
    /// The other side's endpoint, as far as it is known.
    pub peer: UntrustedText,
    pub message_type: UntrustedText,
    pub conversation_id: ConversationId,
    pub match_id: Option<MatchId>,
    pub request: String,
    pub answer: Option<String>,
    /// How it ended, in words: `answered`, `no answer in time`.
    pub outcome: UntrustedText,
    /// `E001`: what went wrong, if it has a code.
    pub error_code: Option<SmolStr>,
}

fn micros<S: serde::Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::as_micros).serialize(serializer)
}

/// Whether whoever recorded an exchange asked or was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    In,
    Out,
}

impl Direction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
        }
    }
}

/// A handle on a store. All handles write through one connection.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

/// Knows a store without keeping it open.
#[derive(Debug, Clone)]
pub(crate) struct WeakStore(Weak<Inner>);

impl WeakStore {
    pub(crate) fn upgrade(&self) -> Option<Store> {
        self.0.upgrade().map(Store)
    }
}

#[derive(Debug)]
enum Inner {
    File { path: StorePath, queue: Arc<Queue>, desk: Desk, thread: Mutex<Option<JoinHandle<()>>> },
    Memory { queue: Queue, memory: Memory },
}

impl Store {
    /// Opens a store to write to it; makes one if the file does not exist. Only one process can have it open so.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = StorePath::resolve(path)?;
        let (db, lock) = file::open_to_write(&path)?;
        let queue = Arc::new(Queue::default());
        let desk = Desk::new(Writer::new(db, lock, path.clone(), Arc::clone(&queue))?);
        let (its_desk, its_queue) = (desk.clone(), Arc::clone(&queue));
        let thread = thread::Builder::new()
            .name("store".into())
            .spawn(move || its_desk.work(&its_queue))
            .map_err(|error| path.io(error))?;
        let thread = Mutex::new(Some(thread));
        Ok(Self(Arc::new(Inner::File { path, queue, desk, thread })))
    }

    /// Opens a store to look at it, also while it is being written to. Changes nothing.
    pub fn open_read_only(path: &Path) -> Result<Reader, StoreError> {
        Reader::open(path)
    }

    /// A store without a file: what is appended counts as durable at once, and is kept until the last handle goes.
    /// Exchanges are not kept.
    pub fn in_memory() -> Self {
        Self(Arc::new(Inner::Memory { queue: Queue::default(), memory: Memory::default() }))
    }

    /// The file itself, whatever link was named, unless the store forgets.
    pub fn path(&self) -> Option<&Path> {
        match &*self.0 {
            Inner::File { path, .. } => Some(&path.real),
            Inner::Memory { .. } => None,
        }
    }

    /// The events of a stream that are durable, in order; an error if their chain is broken.
    pub fn load(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        match &*self.0 {
            Inner::File { path, .. } => Reader::of(path)?.load_checked(stream),
            Inner::Memory { memory, .. } => Ok(memory.load(stream)),
        }
    }

    /// How many durable events a stream has, and the hash of the last.
    pub(crate) fn head(&self, stream: &Stream) -> Result<(u64, Hash), StoreError> {
        let last = match &*self.0 {
            Inner::File { path, .. } => Reader::of(path)?.head(stream)?,
            Inner::Memory { memory, .. } => memory.load(stream).last().map(|last| (last.seq, last.hash)),
        };
        Ok(last.unwrap_or_else(|| (0, chain::genesis(stream))))
    }

    /// Puts events in line to be stored.
    pub fn append(&self, batch: Batch) -> InLine {
        match &*self.0 {
            Inner::File { queue, desk, .. } => {
                let (turn, in_line) = queue.push(batch);
                if turn == Turn::Yours {
                    desk.write(queue);
                }
                in_line
            }
            Inner::Memory { queue, memory } => {
                queue.pass(batch, |batch| memory.keep(batch));
                InLine::InOrder
            }
        }
    }

    /// Comes back when all that was put in line before is durable.
    pub(crate) async fn settled(&self) -> Result<(), StoreFailed> {
        let (tell, told) = oneshot::channel();
        self.append(Batch {
            stream: Stream::league(),
            lines: Vec::new(),
            can_wait: true,
            awaited: true,
            then: Box::new(move |outcome| {
                let _ = tell.send(outcome);
            }),
        });
        told.await.unwrap_or_else(|_| Err(StoreFailed::closed()))
    }

    /// Stores what was said, soon: nobody waits for it, so that it goes in when nothing else does. What was recorded in the
    /// last moments before a crash is lost.
    pub fn record(&self, exchange: Exchange) {
        if let Inner::File { queue, .. } = &*self.0 {
            queue.record(exchange);
        }
    }

    /// Whoever waits for something to be durable is a task of this runtime, and is told from there.
    pub(crate) fn tell_from(&self, runtime: &Handle) {
        if let Inner::File { queue, .. } = &*self.0 {
            queue.tell_from(runtime);
        }
    }

    /// Stores what is in line and stops writing. What other handles append afterwards fails.
    pub fn close(self) -> Result<(), StoreError> {
        self.0.close();
        match self.0.queue().failure() {
            Some(failed) => Err(failed.into()),
            None => Ok(()),
        }
    }

    /// How large the file is, what has not yet found its place in it included.
    pub fn bytes(&self) -> u64 {
        let Inner::File { path, .. } = &*self.0 else { return 0 };
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        size(&path.real) + size(&path.beside("-wal"))
    }

    pub fn stats(&self) -> StoreStats {
        self.0.queue().stats()
    }

    /// How long commits took, and what they carried.
    pub(crate) fn figures(&self) -> &CommitFigures {
        self.0.queue().figures()
    }

    /// Why nothing can be stored, in words for people; `None` if it can.
    pub(crate) fn trouble(&self) -> Option<String> {
        if let Some(why) = self.0.queue().trouble() {
            return Some(why);
        }
        let Inner::File { path, thread, .. } = &*self.0 else { return None };
        let thread = thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.as_ref().is_none_or(JoinHandle::is_finished) {
            return Some("nobody writes to the store any more".to_owned());
        }
        let gone = std::fs::metadata(&path.real).err();
        gone.map(|error| format!("the store {} cannot be found any more: {error}", path.named.display()))
    }

    /// Whether both are handles on one store.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn downgrade(&self) -> WeakStore {
        WeakStore(Arc::downgrade(&self.0))
    }
}

impl Inner {
    fn queue(&self) -> &Queue {
        match self {
            Self::File { queue, .. } => queue,
            Self::Memory { queue, .. } => queue,
        }
    }

    fn close(&self) {
        self.queue().close();
        if let Self::File { thread, .. } = self {
            let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            // A `then` may hold the last handle, and whoever runs it cannot wait for itself.
            if let Some(thread) = thread.filter(|_| !queue::is_telling()) {
                let _ = thread.join();
            }
        }
    }
}

/// What is in line is still stored when the last handle goes.
impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}
