//! The log that colocated agents share.

use super::agent_id::AgentId;
use matchday_core::protocol::messages::MatchResult;
use matchday_core::protocol::{Message, Timestamp};
use std::collections::VecDeque;

/// The batches of all agents of the process that wait for its disk, in order.
#[derive(Debug, Default)]
pub(super) struct SharedLog {
    pub(super) waiting: VecDeque<WaitingBatch>,
    /// When the disk is done with them.
    pub(super) disk_until: Option<Timestamp>,
}

/// A batch, with the messages that follow from it.
#[derive(Debug)]
pub(super) struct WaitingBatch {
    pub(super) who: AgentId,
    pub(super) sent: Vec<SentMessage>,
}

/// A message from one agent to another.
#[derive(Debug)]
pub(super) struct SentMessage {
    pub(super) from: AgentId,
    pub(super) to: AgentId,
    pub(super) message: Message,
    /// The result that it is a receipt for, if it is an answer to a report.
    pub(super) reported: Option<MatchResult>,
}

impl SharedLog {
    /// Whose batch is the oldest.
    pub(super) fn oldest(&self) -> Option<AgentId> {
        self.waiting.front().map(|batch| batch.who)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn push(&mut self, who: AgentId) {
        self.waiting.push_back(WaitingBatch {
            who,
            sent: Vec::new(),
        });
    }

    pub(super) fn skip(&mut self) {
        self.waiting.pop_front();
    }
}
