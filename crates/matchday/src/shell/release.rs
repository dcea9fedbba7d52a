//! What a step lets out: to kin as soon as the step is in line to be stored, to everyone else once it is durable, and every
//! step before it.

use super::call;
use super::driver::Surroundings;
use super::inbox::{Arrived, ReplySlot};
use super::kin::Kin;
use super::{mind, rules};
use crate::store::{Batch, InLine, Store, Stream};
use matchday_core::agent::{Appeal, Content, Inquiry, Outgoing};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

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

/// The way of one agent's steps into its store, and from there to others.
pub(super) struct WayOut {
    store: Store,
    stream: Stream,
    around: Arc<Surroundings>,
    /// Whether the store has failed. Then nothing more is let out, even if it should recover: there would be a gap.
    closed: Arc<AtomicBool>,
}

impl WayOut {
    pub(super) fn new(store: Store, stream: Stream, around: Arc<Surroundings>) -> Self {
        Self { store, stream, around, closed: Arc::default() }
    }

    /// Stores a step, and lets out what comes of it: to kin when it is in line, to everyone else when it is durable.
    pub(super) fn take(&self, lines: Vec<String>, can_wait: bool, mut release: Release) {
        let for_kin = self.around.kin.as_ref().map(|kin| release.take_for(kin)).unwrap_or_default();
        if lines.is_empty() && release.is_empty() {
            return self.tell_kin(InLine::InOrder, for_kin);
        }
        // Without events, too: what is let out may follow from a step that is not durable yet.
        let in_line = self.store.append(self.batch(lines, can_wait, release));
        self.tell_kin(in_line, for_kin);
    }

    fn tell_kin(&self, in_line: InLine, release: Release) {
        match in_line {
            _ if release.is_empty() || self.closed.load(Ordering::Acquire) => {}
            InLine::InOrder => release.now(&self.around),
            InLine::Stuck => {
                self.store.append(self.batch(Vec::new(), true, release));
            }
        }
    }

    fn batch(&self, lines: Vec<String>, can_wait: bool, release: Release) -> Batch {
        let (closed, around) = (Arc::clone(&self.closed), Arc::clone(&self.around));
        Batch {
            stream: self.stream.clone(),
            lines,
            can_wait,
            awaited: !release.is_empty(),
            then: Box::new(move |outcome| match outcome {
                Ok(()) if closed.load(Ordering::Acquire) => {}
                Ok(()) => {
                    release.now(&around);
                    if around.changes.receiver_count() > 0 {
                        around.changes.send_modify(|steps| *steps += 1);
                    }
                }
                Err(error) => close(&closed, &around, error.to_string()),
            }),
        }
    }

    /// Nothing more gets out, for this reason.
    pub(super) fn close(&self, why: String) {
        close(&self.closed, &self.around, why);
    }

    /// Waits until everything that was given to the store is durable, what was said included.
    pub(super) async fn drained(&self) -> Result<(), String> {
        let (tell, told) = oneshot::channel();
        self.store.append(Batch {
            stream: self.stream.clone(),
            lines: Vec::new(),
            can_wait: false,
            awaited: true,
            then: Box::new(move |outcome| {
                let _ = tell.send(outcome.map_err(|error| error.to_string()));
            }),
        });
        told.await.unwrap_or_else(|_| Err("it ended before it had stored all".to_owned()))
    }
}

/// The agent hears of it once.
fn close(closed: &AtomicBool, around: &Surroundings, why: String) {
    if !closed.swap(true, Ordering::AcqRel) {
        around.inbox.put(Arrived::StoreFailed(why));
    }
}
