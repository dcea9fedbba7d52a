//! What a step lets out, held back until the step is durable, and every step before it.

use super::call;
use super::driver::Surroundings;
use super::inbox::{Arrived, ReplySlot};
use super::{mind, rules};
use matchday_core::agent::{Appeal, Content, Inquiry, Outgoing};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Debug, Default)]
pub(super) struct Release {
    /// Each with whether other dialects may be tried on its receiver.
    pub(super) calls: Vec<(Outgoing, bool)>,
    pub(super) replies: Vec<(ReplySlot, Content)>,
    pub(super) inquiries: Vec<Inquiry>,
    pub(super) appeals: Vec<Appeal>,
}

impl Release {
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

/// How far the store has come with the steps of one agent.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Steps that the store has been given and has not finished.
    under_way: AtomicUsize,
    failed: AtomicBool,
}

impl Progress {
    pub(super) fn begin(&self) {
        self.under_way.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether every step so far is durable: then one that has no events need not wait for anything.
    pub(super) fn is_settled(&self) -> bool {
        self.under_way.load(Ordering::Acquire) == 0
    }

    /// The store has finished one step. After a failure nothing more is let out, even if the store should recover:
    /// there would be a gap.
    pub(super) fn end(&self, outcome: Result<(), String>, release: Release, around: &Arc<Surroundings>) {
        match outcome {
            Ok(()) if !self.failed.load(Ordering::Acquire) => {
                release.now(around);
                around.changes.send_modify(|steps| *steps += 1);
                self.under_way.fetch_sub(1, Ordering::AcqRel);
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
