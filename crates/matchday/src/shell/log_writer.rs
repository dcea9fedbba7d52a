//! Writes log lines on a thread of its own, behind a bounded channel: a reader that stalls, such as the other end of a full
//! pipe, never blocks an agent. Lines that do not fit are dropped and counted, and the log says how many once it flows again.

use super::journal::{Entry, Format, Level};
use crate::observe::LOG_LINES_DROPPED;
use matchday_core::protocol::{Sender, Timestamp};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How many lines may wait to be written. They are some hundred bytes long.
const LINES_MAX: usize = 4096;
/// How long the end of the process waits for lines that are not written yet.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// Takes lines for as long as it is kept. Dropping it waits a moment for those that are not written yet.
#[derive(Debug)]
pub(super) struct LogWriter {
    format: Format,
    lines: Option<SyncSender<String>>,
    lost: Arc<Lost>,
    /// Closed when the thread has written everything.
    written: Mutex<Receiver<()>>,
}

impl LogWriter {
    pub(super) fn start(format: Format, write: impl FnMut(&str) + Send + 'static) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(LINES_MAX);
        let (writing, written) = channel::<()>();
        let lost = Arc::<Lost>::default();
        let of_thread = Arc::clone(&lost);
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            write_all(&waiting, &of_thread, format, write);
            drop(writing);
        })?;
        Ok(Self { format, lines: Some(lines), lost, written: Mutex::new(written) })
    }

    /// Never waits.
    pub(super) fn write(&self, entry: &Entry) {
        let Some(lines) = &self.lines else { return };
        let put = |line: String| lines.try_send(line).is_ok();
        if !(self.lost.tell(self.format, put) && put(self.format.line(entry))) {
            self.lost.one_more(entry);
        }
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.lines = None;
        let written = self.written.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = written.recv_timeout(FLUSH_MAX);
    }
}

/// The thread: ends when nobody can send any more lines.
fn write_all(waiting: &Receiver<String>, lost: &Lost, format: Format, mut write: impl FnMut(&str)) {
    loop {
        let line = match waiting.try_recv() {
            Ok(line) => line,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                lost.tell(format, |line| {
                    write(&line);
                    true
                });
                match waiting.recv() {
                    Ok(line) => line,
                    Err(_) => break,
                }
            }
        };
        write(&line);
    }
    lost.tell(format, |line| {
        write(&line);
        true
    });
}

/// The lines that were dropped and that the log does not tell of yet.
#[derive(Debug, Default)]
struct Lost(Mutex<Option<(u64, Timestamp, Sender)>>);

impl Lost {
    fn one_more(&self, entry: &Entry) {
        LOG_LINES_DROPPED.fetch_add(1, Ordering::Relaxed);
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, ..) = lost.get_or_insert_with(|| (0, entry.timestamp, entry.agent.clone()));
        *count += 1;
    }

    /// Whether there is nothing left to tell.
    fn tell(&self, format: Format, put: impl FnOnce(String) -> bool) -> bool {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((count, at, agent)) = &*lost else { return true };
        let message = format!("{count} log lines dropped: the log is not read as fast as it is written");
        let entry = Entry::new(*at, agent.clone(), "log_lines_dropped", message)
            .level(Level::Warning)
            .detail("count", *count);
        let told = put(format.line(&entry));
        if told {
            *lost = None;
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: usize) -> Entry {
        Entry::new(Timestamp::EPOCH, Sender::LeagueManager, "test", format!("line {number}"))
    }

    #[test]
    fn lines_that_a_stalled_reader_has_no_room_for_are_dropped_and_told_of_when_it_reads_again() {
        let (read, reading) = channel::<()>();
        let (tell, told) = channel();
        let writer = LogWriter::start(Format::People, move |line| {
            let _ = reading.recv();
            let _ = tell.send(line.to_owned());
        });
        let writer = writer.unwrap();
        let before = LOG_LINES_DROPPED.load(Ordering::Relaxed);
        let all = LINES_MAX + 100;
        (0..all).for_each(|number| writer.write(&entry(number)));
        let dropped = usize::try_from(LOG_LINES_DROPPED.load(Ordering::Relaxed) - before).unwrap();
        // One line is in the hands of the thread, or still in the channel.
        assert!((99..=100).contains(&dropped), "{dropped}");
        drop(read);
        drop(writer);
        let lines: Vec<String> = told.iter().collect();
        assert_eq!(lines.len(), all - dropped + 1);
        let expected = format!("warning: {dropped} log lines dropped");
        assert!(lines.last().unwrap().contains(&expected), "{:?}", lines.last());
    }

    #[test]
    fn what_was_logged_before_the_end_is_written() {
        let (tell, told) = channel();
        let writer = LogWriter::start(Format::Json, move |line| drop(tell.send(line.to_owned()))).unwrap();
        (0..100).for_each(|number| writer.write(&entry(number)));
        drop(writer);
        assert_eq!(told.iter().count(), 100);
    }
}
