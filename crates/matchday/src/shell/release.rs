//! What a step lets out: to kin as soon as the step is in line to be stored, to everyone else once it is durable, and every
//! step before it.

use super::call;
use super::driver::Surroundings;
use super::inbox::{Arrived, ReplySlot};
use super::kin::Kin;
use super::{mind, rules};
use matchday_core::agent::{Appeal, Content, Inquiry, Outgoing};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, Default)]
pub(super) struct Release {
    /// Each with whether other dialects may be tried on its receiver.
    pub(super) calls: Vec<(Outgoing, bool)>,
    pub(super) replies: Vec<(ReplySlot, Content)>,
    pub(super) inquiries: Vec<Inquiry>,
    pub(super) appeals: Vec<Appeal>,
}

impl Release {
    /// Takes out what goes to kin. What a mind or a program is asked goes outside.
    pub(super) fn take_for(&mut self, kin: &Kin) -> Self {
        let calls = self.calls.extract_if(.., |(outgoing, _)| kin.lives_at(&outgoing.to)).collect();
        let replies = self.replies.extract_if(.., |(slot, _)| slot.is_of_kin()).collect();
        Self { calls, replies, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { calls, replies, inquiries, appeals } = self;
        calls.is_empty() && replies.is_empty() && inquiries.is_empty() && appeals.is_empty()
    }

    /// Sends, answers and inquires. May be called from any thread.
    pub(super) fn now(self, around: &Arc<Surroundings>) {
        for (outgoing, may_correct) in self.calls {
            around.runtime.spawn(call::make(Arc::clone(around), outgoing, may_correct));
        }
        for (slot, content) in self.replies {
            slot.fill(content);
        }
        for inquiry in self.inquiries {
            around.runtime.spawn(mind::ask(Arc::clone(around), inquiry));
        }
        for appeal in self.appeals {
            around.runtime.spawn(rules::ask(Arc::clone(around), appeal));
        }
    }
}

/// Whether the store still takes the steps of one agent.
#[derive(Debug, Default)]
pub(super) struct Progress {
    failed: AtomicBool,
}

impl Progress {
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// The store has finished one step. After a failure nothing more is let out, even if the store should recover:
    /// there would be a gap.
    pub(super) fn end(&self, outcome: Result<(), String>, release: Release, around: &Arc<Surroundings>) {
        match outcome {
            Ok(()) if !self.has_failed() => {
                release.now(around);
                if around.changes.receiver_count() > 0 {
                    around.changes.send_modify(|steps| *steps += 1);
                }
            }
            Ok(()) => {}
            Err(why) => {
                if !self.failed.swap(true, Ordering::AcqRel) {
                    around.inbox.put(Arrived::StoreFailed(why));
                }
            }
        }
    }
}
