//! What has arrived for an agent, in the order of arrival. Requests are let in only while there is room; answers to our
//! own calls and inquiries always, since there can be no more of them than we asked.

use matchday_core::agent::{Answer, Ask, CallId, Content, Decision, InquiryId};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::{Endpoint, Timestamp, Token};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// One thing that has arrived.
#[derive(Debug)]
pub(super) enum Arrived {
    Request(ArrivedRequest),
    Answer {
        at: Timestamp,
        call: CallId,
        /// Until when it was waited for.
        deadline: Timestamp,
        /// Who understood a message of ours in this dialect, if it was one and was understood.
        understood_by: Option<Endpoint>,
        dialect: Dialect,
        answer: Answer,
    },
    /// The mind outside has answered an inquiry.
    Decision {
        at: Timestamp,
        inquiry: InquiryId,
        decision: Decision,
    },
    /// Nothing more can be stored; why.
    StoreFailed(String),
}

impl Arrived {
    /// When it came, if it is for the agent.
    pub(super) fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Request(request) => Some(request.at),
            Self::Answer { at, .. } | Self::Decision { at, .. } => Some(*at),
            Self::StoreFailed(_) => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct ArrivedRequest {
    pub(super) at: Timestamp,
    pub(super) ask: Ask,
    pub(super) dialect: Dialect,
    pub(super) local: bool,
    /// What there is against the endpoint that a registration names.
    pub(super) objection: Option<String>,
    pub(super) client: IpAddr,
    pub(super) join_code: Option<Token>,
    pub(super) reply: ReplySlot,
}

/// Where the reply to a request goes. It holds the request's place in the inbox until then.
#[derive(Debug)]
pub(super) struct ReplySlot {
    to: oneshot::Sender<Content>,
    place: OwnedSemaphorePermit,
    of_kin: bool,
}

impl ReplySlot {
    /// The reply comes out of the other half; an error there means that none will come.
    pub(super) fn new(place: OwnedSemaphorePermit, of_kin: bool) -> (Self, oneshot::Receiver<Content>) {
        let (to, reply) = oneshot::channel();
        (Self { to, place, of_kin }, reply)
    }

    /// Whether it was kin that asked.
    pub(super) fn is_of_kin(&self) -> bool {
        self.of_kin
    }

    pub(super) fn fill(self, content: Content) {
        drop(self.place);
        // Whoever asked may have gone.
        let _ = self.to.send(content);
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
        (Self { arrived, room: Arc::new(Semaphore::new(len)), len }, arrivals)
    }

    /// Places for `count` requests, all or none.
    pub(super) fn reserve(&self, count: usize) -> Option<Vec<OwnedSemaphorePermit>> {
        let many = u32::try_from(count).ok()?;
        let mut all = Arc::clone(&self.room).try_acquire_many_owned(many).ok()?;
        Some((0..count).filter_map(|_| all.split(1)).collect())
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
