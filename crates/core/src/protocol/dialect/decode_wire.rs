//! Decodes the message inside a request or response.

use super::answer::WireAnswer;
use super::request::RequestContent;
use crate::protocol::decode::{
    Conformance, Deviation, DeviationKind, Incoming, Reading, Rejection, decode,
};
use crate::protocol::json::Json;
use crate::protocol::methods::{Query, QueryRequest};
use crate::protocol::operation::{Answer, Ask};
use crate::protocol::{MessageType, Sender};

/// The decoded request; `None` if it is not for the agent.
pub fn ask(asked: RequestContent, reading: &Reading<'_>) -> Option<Ask> {
    Some(match asked {
        RequestContent::Message {
            value,
            type_implied,
        } => {
            let lenient = lenient(reading);
            let reading = if is_from_manager(&value) {
                &lenient
            } else {
                reading
            };
            Ask::Message(if type_implied {
                decode_implied(value, reading)
            } else {
                decode(value, reading)
            })
        }
        RequestContent::Query(QueryRequest {
            query: Query::Discover,
            ..
        })
        | RequestContent::Foreign { .. } => {
            return None;
        }
        RequestContent::Query(request) => Ask::Query(request),
        RequestContent::Checkpoint { operator_token } => Ask::Checkpoint { operator_token },
    })
}

/// A manager's messages are always decoded leniently, because a foreign manager may leave fields out.
fn is_from_manager(message: &Json) -> bool {
    use MessageType as M;
    let named = message
        .get("message_type")
        .and_then(Json::as_str)
        .and_then(MessageType::parse);
    matches!(
        named,
        Some(
            M::RoundAnnouncement
                | M::RoundCompleted
                | M::LeagueCompleted
                | M::LeagueStandingsUpdate
                | M::MatchAssignment
        )
    )
}

fn lenient<'a>(reading: &Reading<'a>) -> Reading<'a> {
    Reading {
        conformance: Conformance::Lenient,
        ..reading.clone()
    }
}

/// A type that only the method implies is a missing field: lenient decoding fills it in and records that.
fn decode_implied(mut value: Json, reading: &Reading<'_>) -> Result<Incoming, Rejection> {
    const FIELD: &str = "message_type";
    match reading.conformance {
        Conformance::Strict => {
            value
                .as_object_mut()
                .and_then(|fields| fields.remove(FIELD));
            decode(value, reading)
        }
        Conformance::Lenient => {
            let mut incoming = decode(value.clone(), reading)?;
            incoming.deviations.push(Deviation {
                kind: DeviationKind::Missing,
                path: FIELD.to_owned(),
            });
            Ok(incoming.with_strict_reading(reading, |strict| decode_implied(value, strict)))
        }
    }
}

/// A rejection has no envelope, which is no deviation.
pub fn refused(value: Json, reading: &Reading<'_>) -> Result<Incoming, Rejection> {
    let incoming = decode(value, &lenient(reading))?;
    Ok(Incoming {
        deviations: Vec::new(),
        ..incoming
    })
}

/// The decoded answer.
pub fn answer(wire: WireAnswer, reading: &Reading<'_>) -> Answer {
    match wire {
        WireAnswer::Message(value) => {
            let of_manager = reading
                .exchange
                .is_some_and(|asked| asked.peer == Sender::LeagueManager);
            let lenient = lenient(reading);
            Answer::Message(decode(value, if of_manager { &lenient } else { reading }))
        }
        WireAnswer::Refused(value) => Answer::Message(refused(value, reading)),
        WireAnswer::Received => Answer::Received,
        WireAnswer::MethodNotFound => {
            Answer::NotUnderstood("the agent does not know the method".to_owned())
        }
        WireAnswer::Error { code, message } => Answer::NotUnderstood(format!(
            "the agent answered with JSON-RPC error {code}: {message}"
        )),
        WireAnswer::Failed(why) => Answer::NotUnderstood(why),
        WireAnswer::Garbled(why) => Answer::Garbled(why),
    }
}
