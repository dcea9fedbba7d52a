//! Writes lines on a thread of its own, behind a bounded queue: a reader that stalls, such as the other end of a full pipe,
//! never blocks the caller. Lines that do not fit are dropped and counted.

use std::io::Write;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};

/// How many lines may wait to be written. They are some hundred bytes long.
pub const LINES_MAX: usize = 4096;
/// How long dropping a writer waits for lines that are not written yet.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// Takes lines for as long as it is kept. Dropping it waits a moment for those that are not written yet.
#[derive(Debug)]
pub struct LineWriter {
    lines: NonBlocking,
    worker: Option<WorkerGuard>,
}

impl LineWriter {
    /// `output` gets each line in one call of `write`, and `flush` whenever no line waits any more.
    pub fn start(output: impl Write + Send + 'static) -> Self {
        let builder = NonBlockingBuilder::default()
            .buffered_lines_limit(LINES_MAX)
            .lossy(true);
        let (lines, worker) = builder.thread_name("lines").finish(output);
        Self {
            lines,
            worker: Some(worker),
        }
    }

    /// Never blocks.
    pub fn write(&self, line: &str) {
        let _ = self.lines.clone().write_all(line.as_bytes());
    }

    pub fn dropped(&self) -> ErrorCounter {
        self.lines.error_counter()
    }
}

impl Drop for LineWriter {
    /// The guard prints to the standard output if it waits in vain, which blocks if that is what has stalled: hence the thread.
    fn drop(&mut self) {
        let (ended, end) = channel::<()>();
        let worker = self.worker.take();
        let flush = move || {
            drop(worker);
            drop(ended);
        };
        if thread::Builder::new()
            .name("flush".to_owned())
            .spawn(flush)
            .is_ok()
        {
            let _ = end.recv_timeout(FLUSH_MAX);
        }
    }
}
