//! One call of ours: sent, answered or given up by its deadline, and put into the inbox. Each is a task of its own, so
//! that a slow peer delays nobody but itself.

use super::driver::Surroundings;
use super::inbox::Arrived;
use super::journal::{Entry, Level, millis};
use super::record::kept;
use super::subject::{self, Subject};
use crate::net::client::{CallError, Called, Received, Sending, Times};
use crate::store::{Direction, Exchange};
use bytes::Bytes;
use matchday_core::agent::{Answer, Failure, Outgoing, Parcel};
use matchday_core::protocol::decode::Reading;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_core::protocol::dialect::call::{write_call, write_probe};
use matchday_core::protocol::dialect::{Dialect, seam};
use matchday_core::protocol::{Body, ConversationId, ErrorCode, MatchId, MessageType, Timestamp};
use smol_str::{SmolStr, ToSmolStr};
use std::sync::Arc;

/// How a call ended, and when.
struct Ended {
    at: Timestamp,
    dialect: Dialect,
    answer: Answer,
    /// What kept it from being answered, in more words than the agent needs.
    trouble: Option<String>,
    times: Times,
    /// The last that went out and came back.
    request: Bytes,
    response: Option<Bytes>,
}

/// Makes the call. `may_correct`: if the peer does not know the method, another dialect may be what it knows.
pub(super) async fn make(around: Arc<Surroundings>, outgoing: Outgoing, may_correct: bool) {
    let _lane = around.client.lane().await;
    let began = around.clock.now();
    let _under_way = around.watch.call_began();
    let ended = tokio::select! {
        biased;
        () = around.inbox.closed() => return,
        ended = converse(&around, &outgoing, may_correct) => ended,
    };
    let subject = match &outgoing.parcel {
        Parcel::Message(message) => Subject::of_message(message),
        Parcel::Probe => Subject::named("ping"),
    };
    note(&around, &outgoing, &subject, began, &ended);
    let done = subject.answered(began, ended.at);
    around.watch.called(done, outgoing.call, outgoing.deadline, &ended.answer, || around.name());
    around.record(|| recorded(&around, &outgoing, &subject, began, &ended));
    let Ended { at, dialect, answer, .. } = ended;
    let Outgoing { call, to, parcel, deadline, .. } = outgoing;
    // Of a probe any answer shows that someone is there, and none that it was understood.
    let understood =
        matches!(parcel, Parcel::Message(_)) && matches!(answer, Answer::Message(_) | Answer::Received);
    let understood_by = understood.then_some(to);
    around.inbox.put(Arrived::Answer { at, call, deadline, understood_by, dialect, answer });
}

/// Calls in the dialect that was asked for; if the peer does not know that one, in each other until one is understood
/// or time is up. If none is, the first answer stands.
async fn converse(around: &Surroundings, outgoing: &Outgoing, may_correct: bool) -> Ended {
    let (first, understood) = attempt(around, outgoing, outgoing.dialect).await;
    if understood != Understood::No || !may_correct {
        return first;
    }
    Box::pin(correct(around, outgoing, first)).await
}

async fn correct(around: &Surroundings, outgoing: &Outgoing, first: Ended) -> Ended {
    let others = std::iter::successors(Some(outgoing.dialect.next()), |dialect| Some(dialect.next()));
    for dialect in others.take_while(|dialect| *dialect != outgoing.dialect) {
        match attempt(around, outgoing, dialect).await {
            (ended, Understood::Yes) => return ended,
            (_, Understood::Unheard) => break,
            (_, Understood::No | Understood::Unclear) => {}
        }
    }
    first
}

/// Whether the peer understood a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Understood {
    Yes,
    /// It does not know the method.
    No,
    /// It failed in some other way.
    Unclear,
    /// Nothing came back.
    Unheard,
}

async fn attempt(around: &Surroundings, outgoing: &Outgoing, dialect: Dialect) -> (Ended, Understood) {
    let id = i64::try_from(outgoing.call.0).unwrap_or(i64::MAX);
    let (request, context) = match &outgoing.parcel {
        Parcel::Message(message) => (write_call(dialect, id, message), subject::exchange(message)),
        Parcel::Probe => (write_probe(id), None),
    };
    let request = Bytes::from(request);
    let deadline = around.clock.instant(outgoing.deadline);
    let most = around.limits.message_bytes_max;
    let headers = around.watch.headers(outgoing.call, subject::match_of(&outgoing.parcel));
    let sending = Sending { headers, ..Sending::from(request.clone()) };
    let Called { times, outcome } = around.client.call(outgoing.to.raw(), sending, deadline, most).await;
    let at = arrival(around, &times, &outcome);
    let mut trouble = None;
    let (answer, understood, response) = match outcome {
        Ok(received) => {
            let wire = read_answer(received.status, &received.body, &around.limits);
            let understood = match (&wire, &outgoing.parcel) {
                (WireAnswer::Message(_) | WireAnswer::Refused(_) | WireAnswer::Received, _)
                | (_, Parcel::Probe) => Understood::Yes,
                (WireAnswer::MethodNotFound, _) => Understood::No,
                (WireAnswer::Error { .. } | WireAnswer::Garbled(_), _) => Understood::Unclear,
            };
            let (conformance, limits) = (around.conformance, around.limits);
            let reading = Reading { conformance, now: at, limits, exchange: context.as_ref(), about: None };
            (seam::answer(wire, &reading), understood, Some(received.body))
        }
        Err(CallError::TimedOut) => (Answer::Undelivered(Failure::TimedOut), Understood::Unheard, None),
        Err(error @ CallError::NoConnection(_)) => {
            trouble = Some(error.to_string());
            (Answer::Undelivered(Failure::NoConnection), Understood::Unheard, None)
        }
        Err(error @ CallError::Closed(_)) => {
            trouble = Some(error.to_string());
            (Answer::Undelivered(Failure::Closed), Understood::Unheard, None)
        }
        Err(error @ CallError::NoRoute(_)) => {
            trouble = Some(error.to_string());
            (Answer::Undelivered(Failure::NoRoute), Understood::Unheard, None)
        }
        Err(error @ CallError::Ours(_)) => {
            trouble = Some(error.to_string());
            (Answer::Undelivered(Failure::Ours), Understood::Unheard, None)
        }
        Err(error @ CallError::Forbidden(_)) => {
            trouble = Some(error.to_string());
            (Answer::Undelivered(Failure::Forbidden), Understood::Unheard, None)
        }
        Err(error @ (CallError::TooLarge(_) | CallError::Unusable(_))) => {
            (Answer::Garbled(error.to_string()), Understood::Unclear, None)
        }
    };
    (Ended { at, dialect, answer, trouble, times, request, response }, understood)
}

/// When the answer was there, or it was clear that there is none.
fn arrival(around: &Surroundings, times: &Times, outcome: &Result<Received, CallError>) -> Timestamp {
    let came = matches!(outcome, Ok(_) | Err(CallError::TooLarge(_) | CallError::Unusable(_)));
    match times.last_byte {
        Some(last) if came => around.clock.at(last),
        _ => around.clock.now(),
    }
}

/// How a call ended, in a few words without secrets.
fn outcome(answer: &Answer) -> SmolStr {
    match answer {
        Answer::Message(Ok(incoming)) => match &incoming.body {
            Ok(Body::LeagueError(error)) => {
                // A foreign manager's words may hold a token.
                let why = error.error_message.clone().unwrap_or_default();
                kept(format!("{}: {}", error.error_code, why.escaped()).as_bytes(), true).into()
            }
            Ok(_) => SmolStr::new_static(incoming.message_type.name()),
            Err(rejection) => rejection.to_smolstr(),
        },
        Answer::Message(Err(rejection)) => rejection.to_smolstr(),
        Answer::Received => SmolStr::new_static("received"),
        Answer::Garbled(what) => what.into(),
        Answer::Undelivered(failure) => failure.to_smolstr(),
    }
}

fn note(around: &Surroundings, outgoing: &Outgoing, subject: &Subject, began: Timestamp, ended: &Ended) {
    around.journal.note(|| {
        let (to, kind) = (outgoing.to.escaped(), subject.message_type.escaped());
        let outcome = ended.trouble.as_ref().map_or_else(|| outcome(&ended.answer), SmolStr::from);
        let answer_ms = millis(began, ended.at);
        let level = match &ended.answer {
            Answer::Message(Ok(incoming)) if incoming.message_type != MessageType::LeagueError => Level::Info,
            Answer::Received => Level::Info,
            _ => Level::Warning,
        };
        Entry::new(
            ended.at,
            around.name(),
            "message_sent",
            format!("{kind} to {to}: {outcome} ({answer_ms:.1} ms)"),
        )
        .about(subject)
        .level(level)
        .detail("to", outgoing.to.raw())
        .detail("outcome", outcome.as_str())
        .detail("answer_ms", answer_ms)
    });
}

fn recorded(
    around: &Surroundings,
    outgoing: &Outgoing,
    subject: &Subject,
    began: Timestamp,
    ended: &Ended,
) -> Exchange {
    let (times, clock) = (&ended.times, &around.clock);
    let connected = |at| if at == times.began { began } else { clock.at(at) };
    Exchange {
        at: began,
        connected_at: times.connected.map(connected),
        first_byte_at: times.first_byte.map(|at| clock.at(at)),
        deadline_at: Some(outgoing.deadline),
        done_at: Some(ended.at),
        agent: around.name().id().into(),
        direction: Direction::Out,
        peer: SmolStr::from(outgoing.to.clone()).into(),
        message_type: subject.message_type.clone(),
        conversation_id: ConversationId::new(subject.conversation_id.clone().unwrap_or_default()),
        match_id: subject.match_id.clone().map(MatchId::new),
        request: kept(&ended.request, subject.match_id.is_some()),
        answer: ended.response.as_deref().map(|body| kept(body, subject.match_id.is_some())),
        outcome: outcome(&ended.answer).into(),
        error_code: error_code(&ended.answer),
    }
}

/// What went wrong, by its code.
fn error_code(answer: &Answer) -> Option<SmolStr> {
    let code = match answer {
        Answer::Message(Ok(incoming)) => match &incoming.body {
            Ok(Body::LeagueError(error)) => &error.error_code,
            Ok(Body::GameError(error)) => &error.error_code,
            Ok(_) => return None,
            Err(rejection) => &rejection.code,
        },
        Answer::Message(Err(rejection)) => &rejection.code,
        Answer::Received => return None,
        Answer::Garbled(_) => &ErrorCode::InvalidFormat,
        Answer::Undelivered(failure) => match failure {
            Failure::TimedOut => &ErrorCode::Timeout,
            Failure::Ours => &ErrorCode::Internal,
            Failure::NoConnection | Failure::Closed | Failure::NoRoute | Failure::Forbidden => {
                &ErrorCode::Connection
            }
        },
    };
    Some(code.code().into())
}
