//! Where every request reaches the agent, whichever way it was wrapped: it is read, put into the inbox, and told to the
//! journal and the record when it is over. What goes back, and in which form, is the part of whoever took it in.

use super::applicant;
use super::driver::Surroundings;
use super::journal::{Entry, Level, millis};
use super::record::kept;
use super::schemas;
use super::subject::{self, Subject};
use crate::net::server::Arrival;
use crate::observe::trace::Parent;
use crate::store::{Direction, Exchange};
use matchday_core::agent::{Content, Look};
use matchday_core::protocol::decode::{Limits, Reading};
use matchday_core::protocol::dialect::request::{Asked, Requests, read_requests};
use matchday_core::protocol::dialect::{Dialect, seam};
use matchday_core::protocol::json::Json;
use matchday_core::protocol::messages::LeagueError;
use matchday_core::protocol::{
    ConversationId, Envelope, ErrorCode, MatchId, Message, Sender, Timestamp, Token, UntrustedText,
};
use serde_json::{Value, json};
use smol_str::{SmolStr, format_smolstr};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};

#[derive(Debug)]
pub(crate) struct Reception {
    around: Arc<Surroundings>,
    /// Of the socket that requests come to.
    address: SocketAddr,
}

/// What was asked, on its way through the agent.
pub(super) struct Submitted {
    pub(super) subject: Subject,
    /// `None` if it is not for the agent at all.
    pub(super) reply: Option<oneshot::Receiver<Content>>,
}

/// Where a request comes from, and what the path that it came to says of that.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) peer: SocketAddr,
    pub(crate) join_code: Option<Token>,
}

impl From<SocketAddr> for Caller {
    fn from(peer: SocketAddr) -> Self {
        Self { peer, join_code: None }
    }
}

/// Why a request has no reply of the agent's.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// It cannot be put to the agent; the sentence says why.
    Unfit(String),
    /// The agent stopped before it replied.
    Gone,
}

impl Reception {
    pub(super) fn new(around: Arc<Surroundings>, address: SocketAddr) -> Self {
        Self { around, address }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.around.limits
    }

    pub(super) fn reserve(&self, count: usize) -> Option<Vec<OwnedSemaphorePermit>> {
        self.around.inbox.reserve(count)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.around.clock.now()
    }

    /// When a request had come whose last byte has just been read.
    pub(super) fn arrival(&self, arrival: Option<&Arrival>) -> Timestamp {
        let clock = &self.around.clock;
        arrival.and_then(Arrival::last).map_or_else(|| clock.now(), |last| clock.at(last))
    }

    /// How the agent signs at present.
    pub(crate) fn name(&self) -> Sender {
        self.around.name()
    }

    /// Changes whenever something that the agent must not forget has become durable.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.around.changes.subscribe()
    }

    pub(super) fn submit(
        &self,
        asked: Asked<'_>,
        dialect: Dialect,
        place: Option<OwnedSemaphorePermit>,
        at: Timestamp,
        caller: &Caller,
    ) -> Submitted {
        let around = &self.around;
        if asked == Asked::Discover {
            let reply = Some(schemas::discovery(&around.name()));
            return Submitted { subject: Subject::named("rpc.discover"), reply };
        }
        let (conformance, limits) = (around.conformance, around.limits);
        let foreign = match &asked {
            Asked::Foreign { method } => method.as_deref().map(UntrustedText::from),
            _ => None,
        };
        let about = around.named.borrow().about.clone();
        let reading = Reading { conformance, now: at, limits, exchange: None, about: about.as_ref() };
        let ask = seam::ask(asked, &reading);
        let (Some(ask), Some(place)) = (ask, place) else {
            let subject = Subject { message_type: foreign.unwrap_or_default(), ..Subject::default() };
            return Submitted { subject, reply: None };
        };
        let subject = Subject::of_ask(&ask);
        if around.watch.is_tracing() {
            around.watch.learn(subject::league_of(&ask));
        }
        let peer = caller.peer;
        let from = applicant::From {
            this_machine: self.address.ip().is_loopback() && peer.ip().is_loopback(),
            kin: around.kin.as_ref().is_some_and(|kin| kin.calls(self.address.port(), peer)),
            client: peer.ip().to_canonical(),
            join_code: caller.join_code.clone(),
        };
        let reply = Some(applicant::put(around, place, at, ask, dialect, from));
        Submitted { subject, reply }
    }

    /// Asks by the name of a method, as anyone would over HTTP, and tells of it.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Value,
        caller: impl Into<Caller>,
    ) -> Result<Content, NoReply> {
        let (at, caller) = (self.now(), caller.into());
        let is_message = params.get("message_type").is_some();
        let written = if is_message { params.to_string() } else { json!({ method: &params }).to_string() };
        let request = request(method, params);
        let (subject, content) = self.put(self.read(&request)?, at, &caller).await?;
        let outcome = subject::outcome(&content);
        let answer = match &content {
            Content::Message(message) => serde_json::to_vec(message).unwrap_or_default(),
            Content::Data(data) => data.to_string().into_bytes(),
            Content::Received => Vec::new(),
        };
        self.tell(at, caller.peer, &subject, &outcome, written.as_bytes(), &answer, None);
        Ok(content)
    }

    /// Asks on our own behalf: nobody is told of it.
    pub(crate) async fn look(&self, method: &str) -> Result<Content, NoReply> {
        let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
        let request = request(method, json!({}));
        self.put(self.read(&request)?, self.now(), &nobody.into()).await.map(|(_, content)| content)
    }

    /// The latest checkpoint, as anyone may see it where the league is open to readers.
    pub(super) async fn checkpoint(&self, peer: SocketAddr) -> Result<Content, NoReply> {
        self.put(Asked::Look(Look::Checkpoint), self.now(), &peer.into()).await.map(|(_, content)| content)
    }

    fn read<'a>(&self, request: &'a str) -> Result<Asked<'a>, NoReply> {
        match read_requests(request.as_bytes(), &self.around.limits) {
            Requests::One(request) => Ok(request.asked),
            Requests::Refused(reply) => {
                let reply: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
                let why = reply.pointer("/error/data").map(|data| match data {
                    Value::String(why) => why.clone(),
                    other => other.to_string(),
                });
                Err(NoReply::Unfit(why.unwrap_or_default()))
            }
            Requests::Batch(_) => Err(NoReply::Unfit("ask one thing at a time".to_owned())),
        }
    }

    async fn put(
        &self,
        asked: Asked<'_>,
        at: Timestamp,
        caller: &Caller,
    ) -> Result<(Subject, Content), NoReply> {
        let field = |name: &str| match &asked {
            Asked::Message { value, .. } => value.get(name).and_then(Json::as_str).map(SmolStr::from),
            _ => None,
        };
        let Some(place) = self.reserve(1).and_then(|mut places| places.pop()) else {
            let (subject, error) = self.busy(at, field);
            return Ok((subject, Content::Message(error)));
        };
        // An agent that is registered by way of a tool need not speak so itself.
        let Submitted { subject, reply } = self.submit(asked, Dialect::Standard, Some(place), at, caller);
        let reply = reply.ok_or_else(|| NoReply::Unfit("this is not for the league".to_owned()))?;
        let content = reply.await.map_err(|_| NoReply::Gone)?;
        Ok((subject, content))
    }

    /// E014, for a request of which `field` gives the fields.
    pub(super) fn busy(&self, at: Timestamp, field: impl Fn(&str) -> Option<SmolStr>) -> (Subject, Message) {
        let conversation = field("conversation_id").unwrap_or(SmolStr::new_static("conv-error"));
        let subject = Subject {
            message_type: field("message_type").unwrap_or_default().into(),
            conversation_id: Some(conversation.clone()),
            match_id: field("match_id"),
        };
        let envelope = Envelope::new(self.name(), at, ConversationId::new(conversation));
        let words = "too many messages are waiting here: send it again in a second";
        let error = LeagueError::new(
            ErrorCode::RateLimited,
            words,
            field("message_type").map(UntrustedText::from),
            None,
        );
        (subject, Message::new(envelope, error))
    }

    /// What became of one exchange; `parent` is what called, in its trace.
    #[allow(clippy::too_many_arguments, reason = "an exchange is all of these")]
    pub(super) fn tell(
        &self,
        at: Timestamp,
        peer: SocketAddr,
        subject: &Subject,
        outcome: &SmolStr,
        request: &[u8],
        answer: &[u8],
        parent: Option<Parent>,
    ) {
        let around = &self.around;
        let done_at = self.note(at, peer, subject, outcome);
        around.watch.traced(subject.answered(at, done_at), outcome, parent, || around.name());
        // A caller in this process has its own record of it.
        if !around.client.is_caller(peer, self.address.port()) {
            around.record(|| Exchange {
                at,
                connected_at: None,
                first_byte_at: None,
                deadline_at: None,
                done_at: Some(done_at),
                agent: around.name().id().into(),
                direction: Direction::In,
                peer: format_smolstr!("{peer}").into(),
                message_type: subject.message_type.clone(),
                conversation_id: ConversationId::new(subject.conversation_id.clone().unwrap_or_default()),
                match_id: subject.match_id.clone().map(MatchId::new),
                request: kept(request, subject.match_id.is_some()),
                answer: Some(kept(answer, subject.match_id.is_some())),
                outcome: outcome.clone().into(),
                error_code: subject::code(outcome),
            });
        }
    }

    /// For the journal and the figures alone. Gives back when the exchange was over.
    pub(super) fn note(
        &self,
        at: Timestamp,
        peer: SocketAddr,
        subject: &Subject,
        outcome: &SmolStr,
    ) -> Timestamp {
        let around = &self.around;
        let done_at = around.clock.now();
        around.watch.answered(subject.answered(at, done_at), outcome);
        around.journal.note(|| {
            let kind = match subject.message_type.escaped().to_string() {
                unnamed if unnamed.is_empty() => "a request".to_owned(),
                kind => kind,
            };
            let answer_ms = millis(at, done_at);
            let refused = outcome.starts_with('E') || outcome.starts_with("refused");
            let level = if refused { Level::Warning } else { Level::Info };
            let message = format!("{kind} from {peer}: {outcome} ({answer_ms:.1} ms)");
            Entry::new(done_at, around.name(), "message_received", message)
                .about(subject)
                .level(level)
                .detail("from", peer.to_string())
                .detail("outcome", outcome.as_str())
                .detail("answer_ms", answer_ms)
        });
        done_at
    }

    pub(super) fn refused_unread(&self, peer: SocketAddr, why: &str) {
        let around = &self.around;
        around.watch.turned_away();
        around.journal.note(|| {
            let message = format!("a request from {peer} was refused: {why}");
            Entry::new(around.clock.now(), around.name(), "message_refused", message)
                .level(Level::Warning)
                .detail("from", peer.to_string())
        });
    }
}

/// A request by the name of its method, as anyone would write it.
fn request(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": params}).to_string()
}
