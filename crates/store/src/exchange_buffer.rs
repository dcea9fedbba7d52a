//! Buffers recorded exchanges until there are enough for a commit or they have waited long enough. Does no I/O.
//!
//! Nobody waits for them, so they are written in groups that nobody waits for: inserting one takes as long as inserting an
//! event.

use crate::exchange::Exchange;
use std::time::{Duration, Instant};

/// The most for one commit, so that batches that arrive meanwhile do not wait long.
const GROUP_MAX: usize = 256;
/// How long an exchange may wait, and how many may, before they go into any group.
const DELAY_MAX: Duration = Duration::from_millis(250);
const BACKLOG_MAX: usize = 1024;

/// An exchange and the number of its league.
pub(super) type TaggedExchange = (u32, Exchange);

#[derive(Debug, Default)]
pub(super) struct ExchangeBuffer {
    exchanges: Vec<TaggedExchange>,
    /// When the first of them came.
    since: Option<Instant>,
}

impl ExchangeBuffer {
    /// Whether the writer has to look: it knows of no exchange yet, or there are enough for a commit.
    pub(super) fn push(&mut self, exchange: TaggedExchange) -> bool {
        self.exchanges.push(exchange);
        self.since.get_or_insert_with(Instant::now);
        matches!(self.exchanges.len(), 1 | GROUP_MAX)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// When they are to be written at the latest.
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.since.map(|since| {
            if self.exchanges.len() >= GROUP_MAX {
                since
            } else {
                since + DELAY_MAX
            }
        })
    }

    pub(super) fn take_all(&mut self) -> Vec<TaggedExchange> {
        self.since = None;
        std::mem::take(&mut self.exchanges)
    }

    /// Those that go into the next group, which somebody waits for or nobody does.
    pub(super) fn take_group(&mut self, awaited: bool) -> Vec<TaggedExchange> {
        if awaited && self.exchanges.len() < BACKLOG_MAX {
            Vec::new()
        } else if self.exchanges.len() <= GROUP_MAX {
            self.take_all()
        } else {
            self.exchanges.drain(..GROUP_MAX).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;
    use matchday_core::protocol::{ConversationId, Timestamp};

    fn exchange() -> TaggedExchange {
        let exchange = Exchange {
            at: Timestamp::EPOCH,
            connected_at: None,
            first_byte_at: None,
            deadline_at: None,
            done_at: None,
            agent: "P01".into(),
            direction: Direction::Out,
            peer: "http://127.0.0.1:8000/mcp".into(),
            message_type: "ping".into(),
            conversation_id: ConversationId::new("conv-1"),
            match_id: None,
            request: String::new(),
            answer: None,
            outcome: "received".into(),
            error_code: None,
        };
        (1, exchange)
    }

    fn buffer(count: usize) -> ExchangeBuffer {
        let mut buffer = ExchangeBuffer::default();
        for _ in 0..count {
            buffer.push(exchange());
        }
        buffer
    }

    #[test]
    fn the_writer_looks_at_the_first_and_when_there_are_enough() {
        let mut buffer = ExchangeBuffer::default();
        let looks: Vec<usize> = (1..=2 * GROUP_MAX)
            .filter(|_| buffer.push(exchange()))
            .collect();
        assert_eq!(looks, [1, GROUP_MAX]);
    }

    #[test]
    fn it_is_due_when_there_is_enough_and_until_then_can_wait() {
        assert_eq!(buffer(0).due_at(), None);
        assert!(buffer(GROUP_MAX - 1).due_at() > Some(Instant::now()));
        assert!(buffer(GROUP_MAX).due_at() <= Some(Instant::now()));
    }

    #[test]
    fn where_someone_waits_for_events_it_stays_out_of_the_way_until_there_is_too_much() {
        assert_eq!(buffer(BACKLOG_MAX - 1).take_group(true), []);
        let mut crowded = buffer(BACKLOG_MAX);
        assert_eq!(crowded.take_group(true).len(), GROUP_MAX);
        assert_eq!(crowded.take_all().len(), BACKLOG_MAX - GROUP_MAX);
    }

    #[test]
    fn one_commit_takes_no_more_than_is_quickly_written() {
        let mut crowded = buffer(GROUP_MAX + 1);
        assert_eq!(crowded.take_group(false).len(), GROUP_MAX);
        assert_eq!(crowded.take_group(false).len(), 1);
        assert!(crowded.is_empty() && crowded.due_at().is_none());
    }
}
