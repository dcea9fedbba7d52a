//! What waits for the driver's signature: ends that are told with the checkpoint that covers them, and the rotation of the
//! checkpoint key.

use super::request::ReceivedMessage;
use crate::protocol::Timestamp;
use crate::protocol::messages::RoundCompleted;
use std::time::Duration;

/// How long a completion waits for its checkpoint. The driver signs at once, unless it has lost its keys.
const SIGNING_TIME: Duration = Duration::from_secs(1);

/// What is told to everyone together with the checkpoint that covers it.
#[derive(Debug)]
pub(super) enum Completion {
    Round(RoundCompleted),
    League,
}

/// What has ended and is not told yet, and the order to rotate the key.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    completions: Vec<Completion>,
    /// When they are told with an earlier checkpoint.
    until: Option<Timestamp>,
    /// Until the driver has created the new key.
    key_rotation: Option<ReceivedMessage>,
}

impl Signatures {
    pub(super) fn is_awaiting_checkpoint(&self) -> bool {
        !self.completions.is_empty()
    }

    pub(super) fn hold(&mut self, now: Timestamp, completion: Completion) {
        self.completions.push(completion);
        self.until = Some(now + SIGNING_TIME);
    }

    /// What waited for its checkpoint.
    pub(super) fn take_completions(&mut self) -> Vec<Completion> {
        self.until = None;
        std::mem::take(&mut self.completions)
    }

    pub(super) fn is_overdue(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    pub(super) fn is_rotating(&self) -> bool {
        self.key_rotation.is_some()
    }

    pub(super) fn begin_rotation(&mut self, order: ReceivedMessage) {
        self.key_rotation = Some(order);
    }

    /// The order that is to be answered now.
    pub(super) fn end_rotation(&mut self) -> Option<ReceivedMessage> {
        self.key_rotation.take()
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.until
    }
}
