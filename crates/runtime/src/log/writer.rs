//! Log lines through a non-blocking writer, so that no agent waits for the reader of the log. Lines that do not fit are dropped
//! and counted, and the log says how many once it flows again.

use super::entry::{Entry, Format};
use crate::line_writer::LineWriter;
use crate::telemetry::LOG_LINES_DROPPED;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tracing::Level;
use tracing_appender::non_blocking::ErrorCounter;

/// Takes entries for as long as it is kept. Dropping it waits a moment for lines that are not written yet.
#[derive(Debug)]
pub struct LogWriter {
    format: Format,
    lines: LineWriter,
    dropped: Arc<Dropped>,
}

/// The lines that were dropped.
#[derive(Debug, Default)]
struct Dropped {
    counter: OnceLock<ErrorCounter>,
    /// An entry of the gap that the log does not report yet.
    first: Mutex<Option<Entry>>,
}

impl Dropped {
    fn count(&self) -> usize {
        self.counter.get().map_or(0, ErrorCounter::dropped_lines)
    }
}

impl LogWriter {
    /// `write` gets each line, without its end, on a thread of its own.
    pub fn start(format: Format, write: impl FnMut(&str) + Send + 'static) -> Self {
        let dropped = Arc::<Dropped>::default();
        let output = Output {
            format,
            write,
            dropped: Arc::clone(&dropped),
            reported: 0,
        };
        let lines = LineWriter::start(output);
        let _ = dropped.counter.set(lines.dropped());
        // A process has one log.
        let _ = LOG_LINES_DROPPED.set(lines.dropped());
        Self {
            format,
            lines,
            dropped,
        }
    }

    /// Never blocks.
    pub fn write(&self, entry: &Entry) {
        let before = self.dropped.count();
        self.lines.write(&self.format.line(entry));
        if self.dropped.count() > before {
            let mut first = self
                .dropped
                .first
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| entry.clone());
        }
    }
}

/// What the thread writes to.
struct Output<F> {
    format: Format,
    write: F,
    dropped: Arc<Dropped>,
    reported: usize,
}

impl<F: FnMut(&str)> Write for Output<F> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        (self.write)(&String::from_utf8_lossy(line));
        Ok(line.len())
    }

    /// Called whenever no line waits any more.
    fn flush(&mut self) -> io::Result<()> {
        let dropped = self.dropped.count();
        let first = self
            .dropped
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(first) = first {
            let count = dropped - self.reported;
            self.reported = dropped;
            let entry = Entry {
                level: Level::WARN,
                event_type: "log_lines_dropped".into(),
                message_type: None,
                conversation_id: None,
                match_id: None,
                message: format!(
                    "{count} log lines dropped: the log is not read as fast as it is written"
                ),
                details: [("count".to_owned(), count.into())].into_iter().collect(),
                ..first
            };
            (self.write)(&self.format.line(&entry));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_writer::LINES_MAX;
    use matchday_core::protocol::Timestamp;
    use std::sync::mpsc::channel;

    fn entry(number: usize) -> Entry {
        Entry {
            timestamp: Timestamp::EPOCH,
            level: Level::INFO,
            component: "league_manager".into(),
            agent_id: "league_manager".into(),
            event_type: "test".into(),
            message_type: None,
            conversation_id: None,
            match_id: None,
            message: format!("line {number}"),
            details: serde_json::Map::new(),
        }
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
        writer.write(&entry(0));
        begun.recv().unwrap();
        let all = LINES_MAX + 100;
        (1..all).for_each(|number| writer.write(&entry(number)));
        assert_eq!(
            writer.dropped.count(),
            99,
            "one is being written, and the others wait"
        );
        drop(read);
        drop(writer);
        let lines: Vec<String> = told.iter().collect();
        assert_eq!(lines.len(), all - 99 + 1);
        assert!(
            lines
                .last()
                .unwrap()
                .contains("warning: 99 log lines dropped"),
            "{:?}",
            lines.last()
        );
    }

    #[test]
    fn what_was_logged_before_the_end_is_written() {
        let (tell, told) = channel();
        let writer = LogWriter::start(Format::Json, move |line| drop(tell.send(line.to_owned())));
        (0..100).for_each(|number| writer.write(&entry(number)));
        drop(writer);
        assert_eq!(told.iter().count(), 100);
    }
}
