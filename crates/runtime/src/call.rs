//! One call of ours: sent, answered or given up by its deadline, and put into the inbox. Each is a task of its own, so
//! that a slow peer delays nobody but itself.

use crate::context::Context;
use crate::inbox::{Arrived, Replied};
use crate::intake::{CallingAgent, Intake, NoReply};
use crate::local_routes::{LocalAgent, Mailboxes, Route};
use crate::log::{Header, emit, millis};
use crate::message_meta::{self, MessageMeta};
use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use matchday_core::agent::{Answer, Content, Failure, Input, Outgoing, Payload};
use matchday_core::driver::{Call, CallAttempts, ExchangeOutcome, Understood};
use matchday_core::protocol::decode::Reading;
use matchday_core::protocol::dialect::answer::read_answer;
use matchday_core::protocol::dialect::call::{write_call, write_probe};
use matchday_core::protocol::dialect::printed::PrintedMessage;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::ReplyTo;
use matchday_core::protocol::dialect::{Dialect, decode_wire};
use matchday_core::protocol::jsonrpc::Id;
use matchday_core::protocol::{Body, ConversationId, MatchId, Message, Timestamp, UntrustedText};
use matchday_net::client::{CallError, CallRequest, CallResponse, CallTimings, CompletedCall};
use matchday_store::redact::{redact_body, redact_text};
use matchday_store::{Direction, Exchange};
use smol_str::{SmolStr, ToSmolStr};
use std::sync::Arc;
use tokio::sync::SetOnce;
use tokio::time::{Instant, timeout_at};
use tracing::Level;

/// Tells a relay how many milliseconds a call may wait for the agent.
pub const RELAY_TIMEOUT: HeaderName = HeaderName::from_static("matchday-timeout-ms");
/// In HTTP 503 of a relay: why its agent has not answered.
pub const RELAY_ABSENCE: HeaderName = HeaderName::from_static("matchday-agent");
/// The agent is not connected to its relay, or there is no room for the call.
pub const AGENT_ABSENT: &str = "absent";
/// The agent has not answered in time.
pub const AGENT_SILENT: &str = "silent";
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// How far a call may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// To an agent that shares the log, or nowhere: the call may follow from what is not durable yet.
    Colocated,
    Anywhere,
}

/// How a call ended, and when.
struct FinishedCall {
    at: Timestamp,
    dialect: Dialect,
    answer: Answer,
    /// What kept it from being answered, in more words than the agent needs.
    trouble: Option<String>,
    times: CallTimings,
    sent: Sent,
}

/// What went out, and what came back.
enum Sent {
    /// As bytes, the last time.
    Written {
        request: Bytes,
        response: Option<Bytes>,
    },
    /// As values, within the process.
    Typed(Option<Content>),
}

/// Makes the call, and puts its end into the inbox.
pub(super) async fn make(context: Arc<Context>, call: Call, reach: Reach) {
    let began = context.clock.now();
    let deadline = call.outgoing.deadline.resolve(began);
    let _in_flight = context.telemetry.call_started();
    let ended = tokio::select! {
        biased;
        () = context.inbox.closed() => return,
        ended = carry(&context, &call, deadline, reach) => ended,
    };
    let ended = FinishedCall {
        at: ended.at.max(began),
        ..ended
    };
    let outgoing = call.outgoing;
    let meta = match &outgoing.payload {
        Payload::Message(message) => MessageMeta::of_message(message),
        Payload::Probe => MessageMeta::named("ping"),
        Payload::Connect => MessageMeta::named("connection"),
    };
    log_call(&context, &outgoing, &meta, began, &ended);
    let done = meta.finished(began, ended.at);
    context.telemetry.call_finished(
        done,
        outgoing.call,
        deadline,
        &ExchangeOutcome::of_answer(&ended.answer),
        || context.sender(),
    );
    context.record(|| recorded(&context, &outgoing, deadline, &meta, began, &ended));
    let FinishedCall {
        at,
        dialect,
        answer,
        ..
    } = ended;
    context.inbox.put(Arrived::Input(
        at,
        Input::Answer {
            call: outgoing.call,
            dialect,
            answer,
        },
    ));
}

async fn carry(context: &Context, call: &Call, deadline: Timestamp, reach: Reach) -> FinishedCall {
    match (context.local_route(&call.outgoing.to), reach) {
        (Some(Route::Agent(agent)), _) => {
            to_agent(context, &call.outgoing, deadline, Some(&agent)).await
        }
        (_, Reach::Colocated) => to_agent(context, &call.outgoing, deadline, None).await,
        (Some(Route::Mailbox(mailboxes)), _) => {
            attempt_all(context, call, deadline, Some(&*mailboxes)).await
        }
        (None, Reach::Anywhere) => attempt_all(context, call, deadline, None).await,
    }
}

/// Calls an agent of this process. One that has gone is like one that cannot be reached.
async fn to_agent(
    context: &Context,
    outgoing: &Outgoing,
    deadline: Timestamp,
    agent: Option<&SetOnce<LocalAgent<Intake>>>,
) -> FinishedCall {
    let began = Instant::now();
    let asking = async {
        let agent = agent.ok_or(NoReply::Gone)?.wait().await;
        let intake = agent.intake().ok_or(NoReply::Gone)?;
        let shares_store = agent.shares(&context.clock.store);
        let caller = CallingAgent {
            name: context.sender(),
            shares_store,
        };
        let parent = context
            .telemetry
            .span_of(outgoing.call, message_meta::match_of(&outgoing.payload));
        intake
            .call(outgoing.payload.clone(), outgoing.dialect, caller, parent)
            .await
    };
    let replied = timeout_at(context.clock.instant(deadline), asking).await;
    let mut times = CallTimings {
        began,
        connected: Some(began),
        first_byte: None,
        last_byte: None,
    };
    let (at, answer, content) = match replied {
        Ok(Ok(Replied { content, at })) => {
            (times.first_byte, times.last_byte) = (Some(at), Some(at));
            let answer = match content.clone() {
                Content::Message(message) => Answer::Message(Ok(message.into())),
                Content::Data(_) | Content::Received => Answer::Received,
            };
            (context.clock.at(at), answer, Some(content))
        }
        Ok(Err(_)) => (
            context.clock.now(),
            Answer::Undelivered(Failure::NoConnection),
            None,
        ),
        Err(_) => (
            context.clock.now(),
            Answer::Undelivered(Failure::TimedOut),
            None,
        ),
    };
    FinishedCall {
        at,
        dialect: outgoing.dialect,
        answer,
        trouble: None,
        times,
        sent: Sent::Typed(content),
    }
}

async fn attempt_all(
    context: &Context,
    call: &Call,
    deadline: Timestamp,
    mailboxes: Option<&dyn Mailboxes>,
) -> FinishedCall {
    let mut attempts = CallAttempts::new(call.outgoing.dialect, call.try_dialects);
    loop {
        let attempting = attempt(
            context,
            &call.outgoing,
            deadline,
            attempts.dialect(),
            mailboxes,
        );
        let (ended, understood) = attempting.await;
        if let Some(ended) = attempts.ended(understood, ended) {
            return ended;
        }
    }
}

/// One attempt in a dialect, and another one at once with the documents' keys alone if the peer forbids others.
async fn attempt(
    context: &Context,
    outgoing: &Outgoing,
    deadline: Timestamp,
    dialect: Dialect,
    mailboxes: Option<&dyn Mailboxes>,
) -> (FinishedCall, Understood) {
    let printed = || match &outgoing.payload {
        Payload::Message(message) => PrintedMessage::of(message),
        Payload::Probe | Payload::Connect => None,
    };
    let written_printed =
        |printed: PrintedMessage| Bytes::from(printed.written(dialect, id_of(outgoing)));
    let is_literal = context.literal_peers.has(&outgoing.to);
    let request = printed().filter(|_| is_literal).map(written_printed);
    let request = request.unwrap_or_else(|| Bytes::from(written(outgoing, dialect)));
    let (ended, understood) =
        exchange(context, outgoing, deadline, dialect, mailboxes, request).await;
    let refusal = match &ended.sent {
        Sent::Written {
            response: Some(body),
            ..
        } if understood == Understood::No && !is_literal => body,
        _ => return (ended, understood),
    };
    let Some(printed) = printed().filter(|printed| printed.is_asked_for_by(refusal)) else {
        return (ended, understood);
    };
    let request = written_printed(printed);
    let again = exchange(context, outgoing, deadline, dialect, mailboxes, request).await;
    if again.1 != Understood::Yes {
        return (ended, understood);
    }
    context.literal_peers.insert(outgoing.to.clone());
    again
}

async fn exchange(
    context: &Context,
    outgoing: &Outgoing,
    deadline: Timestamp,
    dialect: Dialect,
    mailboxes: Option<&dyn Mailboxes>,
    request: Bytes,
) -> (FinishedCall, Understood) {
    let question = match &outgoing.payload {
        Payload::Message(message) => message_meta::exchange(message),
        Payload::Probe | Payload::Connect => None,
    };
    let deadline = context.clock.instant(deadline);
    let most = context.limits.message_bytes_max;
    let CompletedCall {
        timings: times,
        result: outcome,
    } = match mailboxes {
        _ if outgoing.payload == Payload::Connect => {
            let to = outgoing.to.raw();
            let is_connected = mailboxes.map(|mailboxes| mailboxes.is_connected(to));
            context.client.reach(to, deadline, is_connected).await
        }
        Some(mailboxes) => {
            mailboxes
                .call(outgoing.to.raw(), request.clone(), deadline, most)
                .await
        }
        None => {
            let sending = CallRequest {
                headers: headers(context, outgoing, deadline),
                ..CallRequest::from(request.clone())
            };
            context
                .client
                .call(outgoing.to.raw(), sending, deadline, most)
                .await
        }
    };
    let at = arrival(context, &times, &outcome);
    let mut trouble = None;
    let (answer, response) = match outcome {
        Ok(received) if absence(&received).is_some() => {
            let failure = absence(&received).unwrap_or(Failure::NoConnection);
            trouble = Some("the agent is not connected to its relay".to_owned())
                .filter(|_| failure != Failure::TimedOut);
            (Answer::Undelivered(failure), Some(received.body))
        }
        Ok(received) => {
            let wire = read_answer(received.status, &received.body, &context.limits);
            let conformance = context.conformance;
            let limits = context.limits;
            let reading = Reading {
                conformance,
                now: at,
                limits,
                exchange: question.as_ref(),
                about: None,
            };
            (decode_wire::answer(wire, &reading), Some(received.body))
        }
        Err(error) => {
            let answer = failed(&error);
            if matches!(&answer, Answer::Undelivered(failure) if *failure != Failure::TimedOut) {
                trouble = Some(error.to_string());
            }
            (answer, None)
        }
    };
    let understood = Understood::of(&answer);
    (
        FinishedCall {
            at,
            dialect,
            answer,
            trouble,
            times,
            sent: Sent::Written { request, response },
        },
        understood,
    )
}

fn id_of(outgoing: &Outgoing) -> i64 {
    i64::try_from(outgoing.call.0).unwrap_or(i64::MAX)
}

/// What is called, as HTTP carries it.
fn written(outgoing: &Outgoing, dialect: Dialect) -> Vec<u8> {
    match &outgoing.payload {
        Payload::Message(message) => write_call(dialect, id_of(outgoing), message),
        Payload::Probe => write_probe(id_of(outgoing)),
        Payload::Connect => Vec::new(),
    }
}

fn headers(
    context: &Context,
    outgoing: &Outgoing,
    deadline: Instant,
) -> Vec<(HeaderName, HeaderValue)> {
    let span = context
        .telemetry
        .span_of(outgoing.call, message_meta::match_of(&outgoing.payload));
    let span = span.and_then(|span| HeaderValue::try_from(span.header()).ok());
    let mut headers: Vec<_> = span.into_iter().map(|span| (TRACEPARENT, span)).collect();
    if outgoing.to.raw().contains("/relay/") {
        let left = deadline.saturating_duration_since(Instant::now());
        let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        headers.push((RELAY_TIMEOUT, HeaderValue::from(left_ms)));
    }
    headers
}

fn failed(error: &CallError) -> Answer {
    Answer::Undelivered(match error {
        CallError::TimedOut => Failure::TimedOut,
        CallError::NoConnection(_) => Failure::NoConnection,
        CallError::Closed(_) => Failure::Closed,
        CallError::NoRoute(_) => Failure::NoRoute,
        CallError::Local(_) => Failure::Ours,
        CallError::Forbidden(_) => Failure::Forbidden,
        CallError::TooLarge(_) | CallError::Unusable(_) => {
            return Answer::Garbled(error.to_string());
        }
    })
}

/// Why an agent that dials out has not answered, if its relay says so.
fn absence(received: &CallResponse) -> Option<Failure> {
    let said = received.headers.get(&RELAY_ABSENCE)?;
    (received.status == 503).then(|| match said.as_bytes() {
        said if said == AGENT_SILENT.as_bytes() => Failure::TimedOut,
        _ => Failure::NoConnection,
    })
}

/// When the answer was there, or it was clear that there is none.
fn arrival(
    context: &Context,
    times: &CallTimings,
    outcome: &Result<CallResponse, CallError>,
) -> Timestamp {
    let came = matches!(
        outcome,
        Ok(_) | Err(CallError::TooLarge(_) | CallError::Unusable(_))
    );
    match times.last_byte {
        Some(last) if came => context.clock.at(last),
        _ => context.clock.now(),
    }
}

/// How a call ended, without secrets: the error text of a foreign manager may hold a token.
fn outcome(answer: &Answer) -> ExchangeOutcome {
    match ExchangeOutcome::of_answer(answer) {
        ExchangeOutcome::Error { code, text } => {
            let text = text.map(|text| redact_body(text.as_bytes(), true).into());
            ExchangeOutcome::Error { code, text }
        }
        outcome => outcome,
    }
}

fn log_call(
    context: &Context,
    outgoing: &Outgoing,
    meta: &MessageMeta,
    began: Timestamp,
    ended: &FinishedCall,
) {
    context.log(|| {
        let sender = context.sender();
        // A GAME_ERROR says here what the player did wrong, which stands nowhere else in the log.
        let kind = match &outgoing.payload {
            Payload::Message(Message {
                body: Body::GameError(error),
                ..
            }) => {
                let why = error
                    .error_message
                    .as_ref()
                    .map(|why| redact_text(why.raw()));
                let why = UntrustedText::from(why.unwrap_or_default());
                format!("GAME_ERROR {} ({})", error.error_code, why.escaped())
            }
            _ => meta.message_type.escaped().to_string(),
        };
        let outcome = outcome(&ended.answer);
        let level = if outcome.is_ok() {
            Level::DEBUG
        } else {
            Level::WARN
        };
        let outcome = ended
            .trouble
            .as_ref()
            .map_or_else(|| outcome.to_smolstr(), SmolStr::from);
        let answer_ms = millis(began, ended.at);
        emit!(
            level,
            Header::new(ended.at, &sender, "message_sent").about(meta),
            to = outgoing.to.raw(),
            outcome = outcome.as_str(),
            answer_ms,
            "{kind} to {}: {outcome} ({answer_ms:.1} ms)",
            outgoing.to.escaped()
        );
    });
}

/// The steps of a call from its beginning to its end, none before the one before it. They may seem to be: a receive timestamp is too
/// early by as long as the thread was preempted while computing it, and the agent's clock may have stood still meanwhile.
fn in_order(
    began: Timestamp,
    steps: [Option<Timestamp>; 2],
    ended: Timestamp,
) -> [Option<Timestamp>; 2] {
    let mut earliest = began;
    steps.map(|step| {
        let at = step?.max(earliest).min(ended);
        earliest = at;
        Some(at)
    })
}

fn recorded(
    context: &Context,
    outgoing: &Outgoing,
    deadline: Timestamp,
    meta: &MessageMeta,
    began: Timestamp,
    ended: &FinishedCall,
) -> Exchange {
    let times = &ended.times;
    let clock = &context.clock;
    let connected = |at| {
        if at == times.began {
            began
        } else {
            clock.at(at)
        }
    };
    let steps = [
        times.connected.map(connected),
        times.first_byte.map(|at| clock.at(at)),
    ];
    let [connected_at, first_byte_at] = in_order(began, steps, ended.at);
    let outcome = outcome(&ended.answer);
    let (request, answer) = match &ended.sent {
        Sent::Written { request, response } => (request.clone(), response.clone()),
        Sent::Typed(content) => {
            let to = ReplyTo::Id(Id::from(id_of(outgoing)));
            let reply = |content| HttpReply::one(write_reply(&to, ended.dialect, content)).body;
            (
                written(outgoing, ended.dialect).into(),
                content.as_ref().map(|content| reply(content).into()),
            )
        }
    };
    Exchange {
        at: began,
        connected_at,
        first_byte_at,
        deadline_at: Some(deadline),
        done_at: Some(ended.at),
        agent: context.sender().id().into(),
        direction: Direction::Out,
        peer: redact_text(outgoing.to.raw()).into(),
        message_type: meta.message_type.clone(),
        conversation_id: ConversationId::new(meta.conversation_id.clone().unwrap_or_default()),
        match_id: meta.match_id.clone().map(MatchId::new),
        request: redact_body(&request, meta.match_id.is_some()),
        answer: answer.map(|body| redact_body(&body, meta.match_id.is_some())),
        outcome: outcome.to_smolstr().into(),
        error_code: outcome.error_code().map(|code| code.code().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_step_of_a_call_comes_before_the_one_before_it_or_after_the_end() {
        let at = Timestamp::from_micros;
        let steps =
            |connected, first| in_order(at(10), [connected, first].map(|us| Some(at(us))), at(20));
        assert_eq!(steps(12, 15), [12, 15].map(|us| Some(at(us))));
        assert_eq!(
            steps(12, 11),
            [12, 12].map(|us| Some(at(us))),
            "the first byte seems to be early"
        );
        assert_eq!(
            steps(9, 8),
            [10, 10].map(|us| Some(at(us))),
            "the clock has stood still"
        );
        assert_eq!(steps(12, 21), [12, 20].map(|us| Some(at(us))));
        assert_eq!(
            in_order(at(10), [None, Some(at(9))], at(20)),
            [None, Some(at(10))]
        );
    }
}
