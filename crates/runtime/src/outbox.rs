//! Commit, then send: a batch is appended to the store, and its effects are released when it is durable, those on colocated
//! agents when it is in the order of the log.

use crate::call::Reach;
use crate::context::Context;
use crate::inbox::{Arrived, ReplySlot};
use crate::{call, external_calls};
use matchday_core::agent::{Content, DecisionRequest, RequestId, RulesRequest};
use matchday_core::driver::{Call, Durability, Effects};
use matchday_core::protocol::Timestamp;
use matchday_store::{Queued, Store, Stream};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Effects, with where each reply goes.
#[derive(Debug)]
pub(super) struct Release {
    calls: Vec<Call>,
    /// Of the calls.
    reach: Reach,
    replies: Vec<(ReplySlot, Content)>,
    decision_requests: Vec<DecisionRequest>,
    rules_requests: Vec<RulesRequest>,
}

impl Release {
    pub(super) fn new(
        effects: Effects,
        reach: Reach,
        slots: &mut HashMap<RequestId, ReplySlot>,
    ) -> Self {
        let Effects {
            calls,
            replies,
            decision_requests,
            rules_requests,
        } = effects;
        let replies = replies
            .into_iter()
            .filter_map(|reply| Some((slots.remove(&reply.to)?, reply.content)))
            .collect();
        Self {
            calls,
            reach,
            replies,
            decision_requests,
            rules_requests,
        }
    }

    fn is_empty(&self) -> bool {
        let Self {
            calls,
            replies,
            decision_requests,
            rules_requests,
            reach: _,
        } = self;
        calls.is_empty()
            && replies.is_empty()
            && decision_requests.is_empty()
            && rules_requests.is_empty()
    }

    /// Carries the effects out. May be called from any thread.
    fn now(self, context: &Arc<Context>) {
        for call in self.calls {
            context
                .runtime
                .spawn(call::make(Arc::clone(context), call, self.reach));
        }
        for (slot, content) in self.replies {
            slot.fill(content);
        }
        for request in self.decision_requests {
            context.runtime.spawn(external_calls::request_decision(
                Arc::clone(context),
                request,
            ));
        }
        for request in self.rules_requests {
            context.runtime.spawn(external_calls::request_position(
                Arc::clone(context),
                request,
            ));
        }
    }
}

/// The way of one agent's batches into its store, and of their effects to others.
pub(super) struct Outbox {
    store: Store,
    stream: Stream,
    context: Arc<Context>,
    /// Whether the store has failed. Then nothing more is released, even if it should recover: there would be a gap.
    closed: Arc<AtomicBool>,
}

impl Outbox {
    pub(super) fn new(store: Store, stream: Stream, context: Arc<Context>) -> Self {
        Self {
            store,
            stream,
            context,
            closed: Arc::default(),
        }
    }

    pub(super) fn append(
        &self,
        at: Timestamp,
        lines: Vec<String>,
        durability: Durability,
        when_ordered: Release,
        when_durable: Release,
    ) {
        if lines.is_empty() && when_durable.is_empty() {
            return self.release_ordered(at, Queued::InOrder, when_ordered);
        }
        // Without events, too: what is released may follow from a batch that is not durable yet.
        let queued = self
            .store
            .append(self.batch(at, lines, durability, when_durable));
        self.release_ordered(at, queued, when_ordered);
    }

    /// Backpressure: when too many batches wait for the disk, colocated agents wait as well.
    fn release_ordered(&self, at: Timestamp, queued: Queued, release: Release) {
        match queued {
            _ if release.is_empty() || self.closed.load(Ordering::Acquire) => {}
            Queued::InOrder => release.now(&self.context),
            Queued::Backlogged => {
                self.store
                    .append(self.batch(at, Vec::new(), Durability::Written, release));
            }
        }
    }

    fn batch(
        &self,
        at: Timestamp,
        lines: Vec<String>,
        durability: Durability,
        release: Release,
    ) -> matchday_store::Batch {
        let closed = Arc::clone(&self.closed);
        let context = Arc::clone(&self.context);
        matchday_store::Batch {
            at,
            stream: self.stream.clone(),
            lines,
            durability,
            awaited: !release.is_empty(),
            then: Box::new(move |outcome| match outcome {
                Ok(()) if closed.load(Ordering::Acquire) => {}
                Ok(()) => {
                    release.now(&context);
                    if context.changes.receiver_count() > 0 {
                        context.changes.send_modify(|batches| *batches += 1);
                    }
                }
                Err(error) => {
                    // The driver hears of it once.
                    if !closed.swap(true, Ordering::AcqRel) {
                        context.inbox.put(Arrived::StoreFailed(error.to_string()));
                    }
                }
            }),
        }
    }

    /// Whether another process owns the league now.
    pub(super) fn is_fenced(&self) -> bool {
        self.store.is_fenced()
    }

    /// Waits until everything that was given to the store is durable, recorded exchanges included.
    pub(super) async fn flush(&self) -> Result<(), String> {
        self.store.flush().await.map_err(|error| error.to_string())
    }
}
