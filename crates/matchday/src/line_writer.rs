//! Writes lines on a thread of its own, behind a bounded channel: a reader that stalls, such as the other end of a full pipe,
//! never blocks whoever has something to say. What does not fit is refused.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, TrySendError, channel, sync_channel};
use std::time::{Duration, Instant};
use std::{io, thread};

/// How many lines may wait to be written. They are some hundred bytes long.
pub(crate) const LINES_MAX: usize = 4096;
/// How long the end of the process waits for lines that are not written yet.
const FLUSH_MAX: Duration = Duration::from_secs(1);
const FLUSH_RETRY: Duration = Duration::from_millis(5);

/// Takes lines for as long as it is kept. Dropping it waits a moment for those that are not written yet.
#[derive(Debug)]
pub(crate) struct LineWriter(SyncSender<Line>);

#[derive(Debug)]
enum Line {
    Text(String),
    /// Everything before this has been written once its sender is gone.
    Flush {
        _written: Sender<()>,
    },
}

impl LineWriter {
    /// `idle` gives what there is to write once nothing waits any more.
    pub(crate) fn start(
        mut write: impl FnMut(&str) + Send + 'static,
        mut idle: impl FnMut() -> Option<String> + Send + 'static,
    ) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(LINES_MAX);
        let work = move || {
            while let Some(line) = next(&waiting, &mut write, &mut idle) {
                if let Line::Text(line) = line {
                    write(&line);
                }
            }
        };
        thread::Builder::new().name("lines".to_owned()).spawn(work)?;
        Ok(Self(lines))
    }

    /// Whether there is room for it. Never waits.
    pub(crate) fn put(&self, line: String) -> bool {
        self.0.try_send(Line::Text(line)).is_ok()
    }

    /// Waits until everything is written, but no longer than a moment.
    pub(crate) fn flush(&self) {
        let until = Instant::now() + FLUSH_MAX;
        let (_written, written) = channel::<()>();
        let mut line = Line::Flush { _written };
        loop {
            match self.0.try_send(line) {
                Ok(()) => break,
                Err(TrySendError::Full(again)) if Instant::now() < until => line = again,
                Err(_) => return,
            }
            thread::sleep(FLUSH_RETRY);
        }
        let _ = written.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

impl Drop for LineWriter {
    fn drop(&mut self) {
        self.flush();
    }
}

fn next(
    waiting: &Receiver<Line>,
    write: &mut impl FnMut(&str),
    idle: &mut impl FnMut() -> Option<String>,
) -> Option<Line> {
    match waiting.try_recv() {
        // What is told last, when nobody can send any more, is told before anyone stops waiting for it.
        Ok(line @ Line::Flush { .. }) => {
            idle().iter().for_each(|line| write(line));
            Some(line)
        }
        Ok(line) => Some(line),
        Err(TryRecvError::Disconnected) => None,
        Err(TryRecvError::Empty) => {
            idle().iter().for_each(|line| write(line));
            waiting.recv().ok()
        }
    }
}
