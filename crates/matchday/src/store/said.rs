//! What was said and waits to be stored, until there is enough of it or it has waited long enough. Touches no file.
//!
//! Nobody waits for it, so that it goes in when nobody waits for events: to write it takes as long as to write them.

use super::Exchange;
use std::time::{Duration, Instant};

/// So much is worth a commit, and the most for one, or else whoever comes meanwhile has to wait long.
const TOGETHER: usize = 256;
/// It waits for others so long, or until there is so much of it that it must go in with whatever goes.
const WAIT: Duration = Duration::from_millis(250);
const MAX: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Said {
    exchanges: Vec<Exchange>,
    /// Since when the first of them waits.
    since: Option<Instant>,
}

impl Said {
    /// Whether whoever writes has to know: of how long it may sleep, or that there is enough.
    pub(super) fn push(&mut self, exchange: Exchange) -> bool {
        self.exchanges.push(exchange);
        self.since.get_or_insert_with(Instant::now);
        matches!(self.exchanges.len(), 1 | TOGETHER)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    pub(super) fn is_due(&self) -> bool {
        self.exchanges.len() >= TOGETHER || self.since.is_some_and(|since| since.elapsed() >= WAIT)
    }

    /// How long it can wait.
    pub(super) fn patience(&self) -> Duration {
        self.since.map_or(Duration::MAX, |since| WAIT.saturating_sub(since.elapsed()))
    }

    /// The same, while there is nobody to store it.
    pub(super) fn patience_meanwhile(&self) -> Duration {
        self.patience().max(WAIT)
    }

    pub(super) fn take_all(&mut self) -> Vec<Exchange> {
        self.since = None;
        std::mem::take(&mut self.exchanges)
    }

    /// For a commit that someone waits for, or nobody.
    pub(super) fn take_some(&mut self, in_haste: bool) -> Vec<Exchange> {
        if in_haste && self.exchanges.len() < MAX {
            Vec::new()
        } else if self.exchanges.len() <= TOGETHER {
            self.take_all()
        } else {
            self.exchanges.drain(..TOGETHER).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Direction;
    use super::*;
    use matchday_core::protocol::{ConversationId, Timestamp};

    fn exchange() -> Exchange {
        Exchange {
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
        }
    }

    fn said(count: usize) -> Said {
        let mut said = Said::default();
        for _ in 0..count {
            said.push(exchange());
        }
        said
    }

    #[test]
    fn whoever_writes_hears_of_the_first_and_when_there_is_enough() {
        let mut said = Said::default();
        let told: Vec<usize> = (1..=2 * TOGETHER).filter(|_| said.push(exchange())).collect();
        assert_eq!(told, [1, TOGETHER]);
    }

    #[test]
    fn it_is_due_when_there_is_enough_and_until_then_can_wait() {
        assert!(!said(0).is_due() && !said(TOGETHER - 1).is_due());
        assert!(said(TOGETHER).is_due());
        assert_eq!(said(0).patience(), Duration::MAX);
        assert!(said(1).patience() <= WAIT);
    }

    #[test]
    fn where_someone_waits_for_events_it_stays_out_of_the_way_until_there_is_too_much() {
        assert_eq!(said(MAX - 1).take_some(true), []);
        let mut crowded = said(MAX);
        assert_eq!(crowded.take_some(true).len(), TOGETHER);
        assert_eq!(crowded.take_all().len(), MAX - TOGETHER);
    }

    #[test]
    fn one_commit_takes_no_more_than_is_quickly_written() {
        let mut crowded = said(TOGETHER + 1);
        assert_eq!(crowded.take_some(false).len(), TOGETHER);
        assert_eq!(crowded.take_some(false).len(), 1);
        assert!(crowded.is_empty() && crowded.patience() == Duration::MAX);
    }
}
