//! A stand-in for the durable store: one writer thread, memory for a disk.

use matchday_core::protocol::Timestamp;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

/// Whose events: `league`, `referee/8001`, `player/8101`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream(pub SmolStr);

#[derive(Debug, Clone)]
pub struct Stored {
    pub seq: u64,
    pub at: Timestamp,
    pub line: String,
}

#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);

#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct StoreFailed(pub String);

/// What is to be stored together, and what may happen once it is.
pub struct Batch {
    pub stream: Stream,
    pub lines: Vec<String>,
    pub exchanges: Vec<Exchange>,
    pub then: Box<dyn FnOnce(Result<(), StoreFailed>) + Send>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("stream", &self.stream).field("lines", &self.lines).finish()
    }
}

/// A request and its answer, as they went over the wire, without secrets.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub at: Timestamp,
    pub done_at: Option<Timestamp>,
    pub agent: String,
    pub direction: String,
    pub peer: String,
    pub message_type: String,
    pub conversation_id: String,
    pub match_id: Option<String>,
    pub request: String,
    pub answer: Option<String>,
    pub outcome: String,
}

#[derive(Debug, Clone)]
pub struct Store {
    kept: Arc<Mutex<Kept>>,
    queue: mpsc::Sender<Batch>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: BTreeMap<Stream, Vec<String>>,
    exchanges: Vec<Exchange>,
    broken: bool,
}

impl Store {
    pub fn in_memory() -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let (queue, batches) = mpsc::channel::<Batch>();
        let shelf = Arc::clone(&kept);
        std::thread::spawn(move || {
            for batch in batches {
                let broken = {
                    let mut kept = shelf.lock().unwrap_or_else(PoisonError::into_inner);
                    if !kept.broken {
                        kept.lines.entry(batch.stream).or_default().extend(batch.lines);
                        kept.exchanges.extend(batch.exchanges);
                    }
                    kept.broken
                };
                (batch.then)(if broken { Err(StoreFailed("the disk is full".into())) } else { Ok(()) });
            }
        });
        Self { kept, queue }
    }

    pub fn load(&self, stream: &Stream) -> Result<Vec<Stored>, StoreError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = kept.lines.get(stream).cloned().unwrap_or_default();
        let at = Timestamp::EPOCH;
        Ok((1..).zip(lines).map(|(seq, line)| Stored { seq, at, line }).collect())
    }

    pub fn append(&self, batch: Batch) {
        if let Err(mpsc::SendError(batch)) = self.queue.send(batch) {
            (batch.then)(Err(StoreFailed("the writer is gone".into())));
        }
    }

    /// Of the stand-in alone: what was recorded, and how to break it.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).exchanges.clone()
    }

    pub fn break_down(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).broken = true;
    }
}
