//! Where the wrapping ends and the message begins: what was read off the wire becomes what an agent is handed.

use super::answer::WireAnswer;
use super::request::Asked;
use crate::agent::{Answer, Ask};
use crate::protocol::decode::{Conformance, Deviation, DeviationKind, Incoming, Reading, Rejection, decode};
use crate::protocol::json::Json;
use crate::protocol::{MessageType, Sender};

/// What is asked of the agent; `None` where it is not for the league at all, or not for the agent to answer.
pub fn ask(asked: Asked<'_>, reading: &Reading<'_>) -> Option<Ask> {
    Some(match asked {
        Asked::Message { value, type_implied } => {
            let lenient = lenient(reading);
            let reading = if is_from_manager(&value) { &lenient } else { reading };
            Ask::Message(match type_implied {
                false => decode(value, reading),
                true => decode_implied(value, reading),
            })
        }
        Asked::Look(look) => Ask::Look(look),
        Asked::MatchState(match_id) => Ask::MatchState(match_id),
        Asked::PlayerState => Ask::PlayerState,
        Asked::Ping => Ask::Ping,
        Asked::Discover | Asked::Foreign { .. } => return None,
    })
}

/// What a manager says is read leniently whatever the setting: one of another make may leave out what ours does not.
fn is_from_manager(message: &Json<'_>) -> bool {
    use MessageType as M;
    let named = message.get("message_type").and_then(Json::as_str).and_then(MessageType::parse);
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
    Reading { conformance: Conformance::Lenient, ..reading.clone() }
}

/// A type that only the method named is a missing field: one that the lenient reading fills in and records.
fn decode_implied(mut value: Json<'_>, reading: &Reading<'_>) -> Result<Incoming, Rejection> {
    const FIELD: &str = "message_type";
    match reading.conformance {
        Conformance::Strict => {
            value.as_object_mut().and_then(|fields| fields.remove(FIELD));
            decode(value, reading)
        }
        Conformance::Lenient => {
            let mut incoming = decode(value, reading)?;
            incoming.deviations.push(Deviation { kind: DeviationKind::Missing, path: FIELD.to_owned() });
            Ok(incoming)
        }
    }
}

/// A refusal has no envelope: it stands in the exchange that it answers, and that it lacks one is no deviation.
pub fn refused(value: Json<'_>, reading: &Reading<'_>) -> Result<Incoming, Rejection> {
    let incoming = decode(value, &lenient(reading))?;
    Ok(Incoming { deviations: Vec::new(), ..incoming })
}

/// How the call ended. A peer that knew none of the dialects it was tried in has not answered.
pub fn answer(wire: WireAnswer<'_>, reading: &Reading<'_>) -> Answer {
    match wire {
        WireAnswer::Message(value) => {
            let of_manager = reading.exchange.is_some_and(|asked| asked.peer == Sender::LeagueManager);
            let lenient = lenient(reading);
            Answer::Message(decode(value, if of_manager { &lenient } else { reading }))
        }
        WireAnswer::Refused(value) => Answer::Message(refused(value, reading)),
        WireAnswer::Received => Answer::Received,
        WireAnswer::MethodNotFound => Answer::Garbled("the agent does not know the method".to_owned()),
        WireAnswer::Error { code, message } => {
            Answer::Garbled(format!("the agent answered with JSON-RPC error {code}: {message}"))
        }
        WireAnswer::Garbled(why) => Answer::Garbled(why),
    }
}
