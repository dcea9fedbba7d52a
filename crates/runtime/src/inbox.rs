//! What has arrived for an agent, in the order in which it was put in. Requests are let in only while there is room; answers
//! to our own calls and external requests always, since there can be no more of them than we asked for.

use matchday_core::agent::{Content, Input, Request};
use matchday_core::protocol::Timestamp;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::Instant;

#[derive(Debug)]
pub(super) enum Arrived {
    /// A request; the driver's task chooses its id.
    Request {
        at: Timestamp,
        request: Request,
        reply: ReplySlot,
    },
    /// The end of a call, or the result of an external request.
    Input(Timestamp, Input),
    /// Nothing more can be stored; why.
    StoreFailed(String),
}

/// A reply, and when it was released.
#[derive(Debug)]
pub(super) struct Replied {
    pub(super) content: Content,
    pub(super) at: Instant,
}

/// Where the reply to a request goes. It holds the request's place in the inbox until then.
#[derive(Debug)]
pub(super) struct ReplySlot {
    to: oneshot::Sender<Replied>,
    place: OwnedSemaphorePermit,
    colocated: bool,
}

impl ReplySlot {
    /// The reply comes out of the other half; an error there means that none will come.
    pub(super) fn new(
        place: OwnedSemaphorePermit,
        colocated: bool,
    ) -> (Self, oneshot::Receiver<Replied>) {
        let (to, reply) = oneshot::channel();
        (
            Self {
                to,
                place,
                colocated,
            },
            reply,
        )
    }

    /// Whether the request is of a colocated agent.
    pub(super) fn is_colocated(&self) -> bool {
        self.colocated
    }

    pub(super) fn fill(self, content: Content) {
        drop(self.place);
        // The peer may have gone.
        let _ = self.to.send(Replied {
            content,
            at: Instant::now(),
        });
    }
}

#[derive(Debug, Clone)]
pub(super) struct Inbox {
    arrived: mpsc::UnboundedSender<Arrived>,
    room: Arc<Semaphore>,
    len: usize,
}

impl Inbox {
    pub(super) fn new(len: usize) -> (Self, mpsc::UnboundedReceiver<Arrived>) {
        let (arrived, arrivals) = mpsc::unbounded_channel();
        (
            Self {
                arrived,
                room: Arc::new(Semaphore::new(len)),
                len,
            },
            arrivals,
        )
    }

    /// Places for `count` requests, all or none.
    pub(super) fn reserve(&self, count: usize) -> Option<Vec<OwnedSemaphorePermit>> {
        let many = u32::try_from(count).ok()?;
        let mut all = Arc::clone(&self.room).try_acquire_many_owned(many).ok()?;
        Some((0..count).filter_map(|_| all.split(1)).collect())
    }

    /// A place for one request, once there is one.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).acquire_owned().await.ok()
    }

    /// How many requests wait for the agent or for their reply.
    pub(super) fn waiting(&self) -> usize {
        self.len.saturating_sub(self.room.available_permits())
    }

    /// Puts in what needs no place. If the agent has stopped, it is lost, and nobody is left to miss it.
    pub(super) fn put(&self, arrived: Arrived) {
        let _ = self.arrived.send(arrived);
    }

    /// Comes back when the agent has stopped.
    pub(super) async fn closed(&self) {
        self.arrived.closed().await;
    }
}
