//! Log lines by a thread of its own, so that no agent ever waits for whoever reads the log. Lines that do not fit are dropped
//! and counted, and the log says how many once it flows again.

use super::journal::{Entry, Format, Level};
use crate::line_writer::LineWriter;
use crate::observe::LOG_LINES_DROPPED;
use matchday_core::protocol::{Sender, Timestamp};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes entries for as long as it is kept.
#[derive(Debug)]
pub(super) struct LogWriter {
    format: Format,
    lines: LineWriter,
    lost: Arc<Lost>,
}

impl LogWriter {
    pub(super) fn start(format: Format, write: impl FnMut(&str) + Send + 'static) -> io::Result<Self> {
        let lost = Arc::<Lost>::default();
        let of_thread = Arc::clone(&lost);
        let lines = LineWriter::start(write, move || {
            let mut told = None;
            of_thread.tell(format, |line| told.replace(line).is_none());
            told
        })?;
        Ok(Self { format, lines, lost })
    }

    /// Never waits.
    pub(super) fn write(&self, entry: &Entry) {
        let put = |line: String| self.lines.put(line);
        if !(self.lost.tell(self.format, put) && put(self.format.line(entry))) {
            self.lost.one_more(entry);
        }
    }
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
    use crate::line_writer::LINES_MAX;
    use std::sync::mpsc::channel;

    fn entry(number: usize) -> Entry {
        Entry::new(Timestamp::EPOCH, Sender::LeagueManager, "test", format!("line {number}"))
    }

    #[test]
    fn lines_that_a_stalled_reader_has_no_room_for_are_dropped_and_told_of_when_it_reads_again() {
        let (read, reading) = channel::<()>();
        let (begin, begun) = channel();
        let (tell, told) = channel();
        let writer = LogWriter::start(Format::People, move |line| {
            let _ = begin.send(());
            let _ = reading.recv();
            let _ = tell.send(line.to_owned());
        });
        let writer = writer.unwrap();
        let before = LOG_LINES_DROPPED.load(Ordering::Relaxed);
        writer.write(&entry(0));
        begun.recv().unwrap();
        let all = LINES_MAX + 100;
        (1..all).for_each(|number| writer.write(&entry(number)));
        let dropped = LOG_LINES_DROPPED.load(Ordering::Relaxed) - before;
        assert_eq!(dropped, 99, "one is being written, and the others wait");
        drop(read);
        drop(writer);
        let lines: Vec<String> = told.iter().collect();
        assert_eq!(lines.len(), all - 99 + 1);
        assert!(lines.last().unwrap().contains("warning: 99 log lines dropped"), "{:?}", lines.last());
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
