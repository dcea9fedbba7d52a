//! Request intake: decodes a request, checks the endpoint that a registration names against the egress policy, and puts the
//! request into the inbox. When it is over, it is logged, counted and recorded. The HTTP response is the caller's part.

use crate::context::Context;
use crate::inbox::{Arrived, Replied, ReplySlot};
use crate::log::{Header, emit, millis};
use crate::message_meta::{self, MessageMeta};
use crate::schemas;
use crate::telemetry::trace::Parent;
use matchday_core::agent::{Ask, Content, Payload, Request, RequestId};
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::Query;
use matchday_core::protocol::decode::{Limits, Reading};
use matchday_core::protocol::dialect::request::{RequestContent, read_method};
use matchday_core::protocol::dialect::{Dialect, decode_wire};
use matchday_core::protocol::json::Json;
use matchday_core::protocol::jsonrpc::ErrorObject;
use matchday_core::protocol::messages::LeagueError;
use matchday_core::protocol::{
    Body, ConversationId, Endpoint, Envelope, ErrorCode, MatchId, Message, Sender, Timestamp,
    Token, UntrustedText,
};
use matchday_net::rx_time::RxTimes;
use matchday_store::redact::{redact_body, redact_text};
use matchday_store::{Direction, Exchange};
use serde_json::{Value, json};
use smol_str::{SmolStr, ToSmolStr, format_smolstr};
use std::fmt;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};
use tokio::time::{sleep, timeout};
use tracing::Level;

/// Said of a request for which there is no room.
pub(super) const TOO_MANY: &str = "too many messages are waiting here: send it again in a second";

#[derive(Debug)]
pub struct Intake {
    context: Arc<Context>,
    /// Of the socket that requests come to.
    address: SocketAddr,
    /// See [`crate::Options::trusts_loopback`].
    trusts_loopback: bool,
    /// See [`crate::Options::pace`].
    pace: Duration,
}

/// What was asked, on its way through the agent.
pub(super) struct Submitted {
    pub(super) meta: MessageMeta,
    /// `None` if it is not for the agent at all.
    pub(super) reply: Option<oneshot::Receiver<Replied>>,
}

/// What was asked within the process, and what was replied.
struct LocalCall {
    at: Timestamp,
    meta: MessageMeta,
    replied: Replied,
}

/// Where a request comes from, and what the path that it came to says of that.
#[derive(Debug, Clone)]
pub struct Caller {
    pub peer: SocketAddr,
    pub join_code: Option<Token>,
    /// Whether it is the process itself that runs the agent.
    is_ourselves: bool,
    /// If it is another agent of this process, which keeps a record of its call itself.
    agent: Option<CallingAgent>,
}

/// An agent that calls another one of its process.
#[derive(Debug, Clone)]
pub(super) struct CallingAgent {
    pub(super) name: Sender,
    pub(super) shares_store: bool,
}

impl Caller {
    pub fn with_join_code(self, join_code: Option<Token>) -> Self {
        Self { join_code, ..self }
    }
}

impl From<SocketAddr> for Caller {
    fn from(peer: SocketAddr) -> Self {
        Self {
            peer,
            join_code: None,
            is_ourselves: false,
            agent: None,
        }
    }
}

/// As it is named in a log.
impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.agent {
            Some(agent) => agent.name.fmt(f),
            None => self.peer.fmt(f),
        }
    }
}

/// Why a request has no reply of the agent's.
#[derive(Debug)]
pub enum NoReply {
    /// It cannot be put to the agent; the sentence says why.
    Unfit(String),
    /// The agent stopped before it replied.
    Gone,
}

impl Intake {
    pub(super) fn new(
        context: Arc<Context>,
        address: SocketAddr,
        trusts_loopback: bool,
        pace: Duration,
    ) -> Self {
        Self {
            context,
            address,
            trusts_loopback,
            pace,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.context.limits
    }

    pub(super) fn reserve(&self, count: usize) -> Option<Vec<OwnedSemaphorePermit>> {
        self.context.inbox.reserve(count)
    }

    pub fn now(&self) -> Timestamp {
        self.context.clock.now()
    }

    /// When a request had come whose last byte has just been read.
    pub(super) fn arrival(&self, rx_times: Option<&Arc<RxTimes>>) -> Timestamp {
        let clock = &self.context.clock;
        rx_times
            .and_then(|times| times.last())
            .map_or_else(|| clock.now(), |last| clock.at(last))
    }

    /// Returns when nothing could be stored for a while.
    pub(super) async fn store_unavailable(&self) {
        let store = || self.context.clock.store.upgrade();
        let Some(mut lost) = store().map(|store| store.watch_lost()) else {
            return pending().await;
        };
        while let Some(left) = store().map_or(Some(Duration::MAX), |store| store.available_for()) {
            if let Ok(Err(_)) = timeout(left, lost.changed()).await {
                // A store that is closed says so to each request itself.
                return pending().await;
            }
        }
    }

    /// How the agent signs at present.
    pub fn name(&self) -> Sender {
        self.context.sender()
    }

    /// Changes whenever something that the agent must not forget has become durable.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.context.changes.subscribe()
    }

    pub(super) fn submit(
        &self,
        asked: RequestContent,
        dialect: Dialect,
        place: Option<OwnedSemaphorePermit>,
        at: Timestamp,
        caller: &Caller,
    ) -> Submitted {
        let context = &self.context;
        if matches!(&asked, RequestContent::Query(request) if request.query == Query::Discover) {
            let reply = Some(schemas::discovery(&context.sender()));
            return Submitted {
                meta: MessageMeta::named(Query::Discover.name()),
                reply,
            };
        }
        let conformance = context.conformance;
        let limits = context.limits;
        let foreign = match &asked {
            RequestContent::Foreign { method } => method.as_deref().map(UntrustedText::from),
            _ => None,
        };
        let about = context.info.borrow().about.clone();
        let reading = Reading {
            conformance,
            now: at,
            limits,
            exchange: None,
            about: about.as_ref(),
        };
        let ask = decode_wire::ask(asked, &reading);
        let (Some(ask), Some(place)) = (ask, place) else {
            let meta =
                MessageMeta::new(foreign.as_ref().map_or("", UntrustedText::raw), None, None);
            return Submitted { meta, reply: None };
        };
        self.submit_decoded(ask, dialect, place, at, caller)
    }

    fn submit_decoded(
        &self,
        ask: Ask,
        dialect: Dialect,
        place: OwnedSemaphorePermit,
        at: Timestamp,
        caller: &Caller,
    ) -> Submitted {
        let telemetry = &self.context.telemetry;
        let meta = MessageMeta::of_ask(&ask);
        if telemetry.is_tracing() {
            telemetry.set_league(message_meta::league_of(&ask));
        }
        let peer = Some(caller.peer.ip()).filter(|_| caller.agent.is_none());
        let is_operator = self.trusts_loopback
            && self.address.ip().is_loopback()
            && peer.is_some_and(|peer| peer.is_loopback());
        let colocated = caller
            .agent
            .as_ref()
            .is_some_and(|agent| agent.shares_store);
        let (slot, reply) = ReplySlot::new(place, colocated);
        let request = Request {
            id: RequestId(0),
            ask,
            dialect,
            local: caller.is_ourselves || is_operator,
            objection: None,
            client: peer.map(|peer| peer.to_canonical()),
            join_code: caller.join_code.clone(),
        };
        self.put_into_inbox(at, request, slot);
        Submitted {
            meta,
            reply: Some(reply),
        }
    }

    /// A registration whose endpoint has a name that must be resolved first waits for that, and no other request does.
    fn put_into_inbox(&self, at: Timestamp, mut request: Request, reply: ReplySlot) {
        let context = &self.context;
        if let (Some(named), Some(egress)) = (endpoint(&request.ask), context.client.egress())
            && context.local_route(named).is_none()
        {
            let Some(verdict) = egress.check_cached(named.raw()) else {
                let named = named.clone();
                let context = Arc::clone(context);
                let egress = egress.clone();
                tokio::spawn(async move {
                    request.objection = egress
                        .check(named.raw())
                        .await
                        .err()
                        .map(|why| why.to_string());
                    context.inbox.put(Arrived::Request { at, request, reply });
                });
                return;
            };
            request.objection = verdict.err().map(|why| why.to_string());
        }
        if !self.pace.is_zero() && asks_for_a_move(&request.ask) {
            let context = Arc::clone(context);
            let pace = self.pace;
            tokio::spawn(async move {
                sleep(pace).await;
                context.inbox.put(Arrived::Request {
                    at: context.clock.now(),
                    request,
                    reply,
                });
            });
            return;
        }
        context.inbox.put(Arrived::Request { at, request, reply });
    }

    /// Asks by the name of a method, as a client of the Model Context Protocol does; the exchange is logged and recorded.
    pub async fn ask_method(
        &self,
        method: &str,
        params: Value,
        caller: impl Into<Caller>,
    ) -> Result<Content, NoReply> {
        let at = self.now();
        let caller = caller.into();
        let is_message = params.get("message_type").is_some();
        let written = if is_message {
            params.to_string()
        } else {
            json!({ method: &params }).to_string()
        };
        let asked = read_method(method, params).map_err(|error| NoReply::Unfit(reason(error)))?;
        let (meta, content) = match self.reserve(1).and_then(|mut places| places.pop()) {
            // An agent that is registered by way of a tool need not speak so itself.
            Some(place) => {
                let submitted = self.submit(asked, Dialect::Standard, Some(place), at, &caller);
                (submitted.meta, received(submitted.reply).await?.content)
            }
            None => {
                let (meta, error) = self.busy(at, TOO_MANY, |name| field_of(&asked, name));
                (meta, Content::Message(error))
            }
        };
        self.finish_asked(at, &caller, &meta, written.as_bytes(), &content);
        Ok(content)
    }

    /// Sends a message, as a peer would; the exchange is logged and recorded.
    pub async fn send(
        &self,
        message: Message,
        caller: impl Into<Caller>,
    ) -> Result<Content, NoReply> {
        let caller = caller.into();
        let written = serde_json::to_vec(&message).unwrap_or_default();
        let ask = Ask::Message(Ok(message.into()));
        let LocalCall { at, meta, replied } = self.ask(ask, Dialect::Standard, &caller).await?;
        self.finish_asked(at, &caller, &meta, &written, &replied.content);
        Ok(replied.content)
    }

    /// Gives an order of the process that runs the agent: it needs no token.
    pub async fn order(&self, message: Message) -> Result<Content, NoReply> {
        self.send(
            message,
            Caller {
                is_ourselves: true,
                ..Caller::from(self.address)
            },
        )
        .await
    }

    fn finish_asked(
        &self,
        at: Timestamp,
        caller: &Caller,
        meta: &MessageMeta,
        request: &[u8],
        content: &Content,
    ) {
        let answer = match content {
            Content::Message(message) => serde_json::to_vec(message).unwrap_or_default(),
            Content::Data(data) => data.to_string().into_bytes(),
            Content::Received => Vec::new(),
        };
        let outcome = ExchangeOutcome::of_reply(content);
        self.finish_exchange(at, caller, meta, &outcome, request, &answer, None);
    }

    /// Asks on our own behalf, as anyone may: the exchange is neither logged nor recorded.
    pub async fn look(&self, ask: Ask) -> Result<Content, NoReply> {
        let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
        Ok(self
            .ask(ask, Dialect::Standard, &nobody.into())
            .await?
            .replied
            .content)
    }

    /// The latest checkpoint, as anyone may see it where the league is open to readers, and the operator anywhere.
    pub(super) async fn checkpoint(
        &self,
        peer: SocketAddr,
        operator_token: Option<Token>,
    ) -> Result<Content, NoReply> {
        let ask = Ask::Checkpoint { operator_token };
        Ok(self
            .ask(ask, Dialect::Standard, &peer.into())
            .await?
            .replied
            .content)
    }

    /// A call of another agent of this process, which records it.
    pub(super) async fn call(
        &self,
        payload: Payload,
        dialect: Dialect,
        agent: CallingAgent,
        parent: Option<Parent>,
    ) -> Result<Replied, NoReply> {
        let caller = Caller {
            agent: Some(agent),
            ..Caller::from(self.address)
        };
        let ask = match payload {
            Payload::Message(message) => Ask::Message(Ok(message.into())),
            Payload::Probe | Payload::Connect => Ask::Query(Query::Ping.into()),
        };
        let LocalCall { at, meta, replied } = self.ask(ask, dialect, &caller).await?;
        let outcome = ExchangeOutcome::of_reply(&replied.content);
        self.finish_exchange(at, &caller, &meta, &outcome, &[], &[], parent);
        Ok(replied)
    }

    /// Puts to the agent what needs no decoding, as soon as there is room for it.
    async fn ask(&self, ask: Ask, dialect: Dialect, caller: &Caller) -> Result<LocalCall, NoReply> {
        let place = self.context.inbox.place().await.ok_or(NoReply::Gone)?;
        let at = self.now();
        let Submitted { meta, reply } = self.submit_decoded(ask, dialect, place, at, caller);
        Ok(LocalCall {
            at,
            meta,
            replied: received(reply).await?,
        })
    }

    /// E014 in these words, for a request of which `field` gives the fields.
    pub(super) fn busy(
        &self,
        at: Timestamp,
        words: &str,
        field: impl Fn(&str) -> Option<SmolStr>,
    ) -> (MessageMeta, Message) {
        let conversation = field("conversation_id").unwrap_or(SmolStr::new_static("conv-error"));
        let meta = MessageMeta::new(
            &field("message_type").unwrap_or_default(),
            Some(&conversation),
            field("match_id").as_deref(),
        );
        let envelope = Envelope::new(self.name(), at, ConversationId::new(conversation));
        let error = LeagueError::new(
            ErrorCode::RateLimited,
            words,
            field("message_type").map(UntrustedText::from),
            None,
        );
        (meta, Message::new(envelope, error))
    }

    /// Logs, counts, traces and records one exchange; `parent` is the caller's span.
    #[allow(clippy::too_many_arguments, reason = "an exchange is all of these")]
    pub(super) fn finish_exchange(
        &self,
        at: Timestamp,
        caller: &Caller,
        meta: &MessageMeta,
        outcome: &ExchangeOutcome,
        request: &[u8],
        answer: &[u8],
        parent: Option<Parent>,
    ) {
        let context = &self.context;
        let done_at = self.log_exchange(at, caller, meta, outcome);
        context
            .telemetry
            .trace_request(meta.finished(at, done_at), outcome, parent, || {
                context.sender()
            });
        if caller.agent.is_none() {
            context.record(|| Exchange {
                at,
                connected_at: None,
                first_byte_at: None,
                deadline_at: None,
                done_at: Some(done_at),
                agent: context.sender().id().into(),
                direction: Direction::In,
                peer: format_smolstr!("{}", caller.peer).into(),
                message_type: meta.message_type.clone(),
                conversation_id: ConversationId::new(
                    meta.conversation_id.clone().unwrap_or_default(),
                ),
                match_id: meta.match_id.clone().map(MatchId::new),
                request: redact_body(request, meta.match_id.is_some()),
                answer: Some(redact_body(answer, meta.match_id.is_some())),
                outcome: redact_text(&outcome.to_smolstr()).into(),
                error_code: outcome.error_code().map(|code| code.code().into()),
            });
        }
    }

    /// Logs and counts an exchange. Returns when it was over.
    pub(super) fn log_exchange(
        &self,
        at: Timestamp,
        caller: &Caller,
        meta: &MessageMeta,
        outcome: &ExchangeOutcome,
    ) -> Timestamp {
        let context = &self.context;
        let done_at = context.clock.now();
        context
            .telemetry
            .request_finished(meta.finished(at, done_at), outcome);
        context.log(|| {
            let kind = match meta.message_type.escaped().to_string() {
                unnamed if unnamed.is_empty() => "a request".to_owned(),
                kind => kind,
            };
            let answer_ms = millis(at, done_at);
            let level = match outcome {
                ExchangeOutcome::MethodNotFound | ExchangeOutcome::Stopping => Level::DEBUG,
                outcome if outcome.is_ok() => Level::DEBUG,
                _ => Level::WARN,
            };
            let sender = context.sender();
            emit!(
                level,
                Header::new(done_at, &sender, "message_received").about(meta),
                from = %caller,
                %outcome,
                answer_ms,
                "{kind} from {caller}: {outcome} ({answer_ms:.1} ms)"
            );
        });
        done_at
    }

    /// Logs and counts a request that is refused before it is read.
    pub fn refused_unread(&self, peer: SocketAddr, why: &str) {
        let context = &self.context;
        context.telemetry.request_rejected();
        context.log(|| {
            let sender = context.sender();
            let header = Header::new(context.clock.now(), &sender, "message_refused");
            emit!(Level::WARN, header, from = %peer, "a request from {peer} was refused: {why}");
        });
    }
}

async fn received(reply: Option<oneshot::Receiver<Replied>>) -> Result<Replied, NoReply> {
    let reply = reply.ok_or_else(|| NoReply::Unfit("this is not for the league".to_owned()))?;
    reply.await.map_err(|_| NoReply::Gone)
}

/// A field of the message in a request, as it came.
pub(super) fn field_of(asked: &RequestContent, name: &str) -> Option<SmolStr> {
    match asked {
        RequestContent::Message { value, .. } => value.get(name).and_then(Json::as_text).cloned(),
        _ => None,
    }
}

fn reason(error: ErrorObject) -> String {
    match error.data {
        Value::String(why) => why,
        data => data.to_string(),
    }
}

fn asks_for_a_move(ask: &Ask) -> bool {
    let Ask::Message(Ok(incoming)) = ask else {
        return false;
    };
    matches!(
        &incoming.body,
        Ok(Body::ChooseParityCall(_) | Body::GameMoveCall(_))
    )
}

/// The endpoint that a registration names.
fn endpoint(ask: &Ask) -> Option<&Endpoint> {
    let Ask::Message(Ok(incoming)) = ask else {
        return None;
    };
    match &incoming.body {
        Ok(Body::LeagueRegisterRequest(request)) => Some(&request.player_meta.contact_endpoint),
        Ok(Body::RefereeRegisterRequest(request)) => Some(&request.referee_meta.contact_endpoint),
        _ => None,
    }
}
