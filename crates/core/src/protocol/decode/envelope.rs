//! Decodes the envelope. The checks have a fixed order, and the first failure is the answer.

use super::DeviationKind;
use super::reader::{Read, Reader};
use super::rules::{self, Wrong};
use crate::protocol::envelope::{Envelope, PROTOCOL, Sender, id_fits};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{ConversationId, PlayerId, RefereeId};
use crate::protocol::json::Json;
use crate::protocol::message::MessageType;
use crate::protocol::token::Token;
use smol_str::SmolStr;

pub(super) fn read(r: &Reader<'_>) -> Read<(MessageType, Envelope)> {
    read_protocol(r)?;
    let message_type = read_message_type(r)?;
    let sender = r.filled("sender", rules::sender, || Some(sender_of(message_type, r)))?;
    // The source that defines START_LEAGUE gives it neither a conversation nor a timestamp.
    let is_short = message_type == MessageType::StartLeague;
    let conversation_id = if is_short && !r.has("conversation_id") {
        ConversationId::new("conv-start-league")
    } else {
        r.filled("conversation_id", rules::id(ConversationId::new), || {
            Some(conversation_of(message_type, r))
        })?
    };
    // An empty token counts as missing.
    let auth_token = r
        .optional("auth_token", rules::token)?
        .filter(|token| !token.reveal().is_empty());
    let timestamp = if is_short && !r.has("timestamp") {
        r.now()
    } else if r.is_lenient() && !r.has("timestamp") {
        r.note(DeviationKind::Missing, "timestamp");
        r.now()
    } else {
        r.timestamp("timestamp")?
    };
    let envelope = Envelope::new(sender, timestamp, conversation_id).with_token(auth_token);
    Ok((message_type, envelope))
}

fn read_protocol(r: &Reader<'_>) -> Read<()> {
    let spoken = |value| match rules::text(value)? {
        PROTOCOL => Ok(()),
        _ => Err(Wrong::new(ErrorCode::VersionMismatch, "\"league.v2\"")),
    };
    r.filled("protocol", spoken, || Some(()))
}

fn read_message_type(r: &Reader<'_>) -> Read<MessageType> {
    let text = r.required("message_type", rules::text)?;
    MessageType::parse(text).ok_or_else(|| {
        let mut rejection = r.wrong("message_type", Wrong::format(""));
        rejection.expected = match MessageType::parse(&text.to_ascii_uppercase()) {
            Some(meant) => format!("\"{meant}\", in capitals"),
            None => {
                let known: Vec<_> = MessageType::ALL.iter().map(|known| known.name()).collect();
                format!("one of {}", known.join(", "))
            }
        };
        rejection
    })
}

/// The likely sender of a message that names none. Its token is verified later.
fn sender_of(message_type: MessageType, r: &Reader<'_>) -> Sender {
    use MessageType as M;
    if let Some(exchange) = r.exchange() {
        return exchange.peer.clone();
    }
    match message_type {
        M::RefereeRegisterResponse
        | M::LeagueRegisterResponse
        | M::RoundAnnouncement
        | M::RoundCompleted
        | M::LeagueCompleted
        | M::MatchResultAck
        | M::LeagueStandingsUpdate
        | M::LeagueQueryResponse
        | M::LeagueError
        | M::LeagueStatus
        | M::MatchAssignment => Sender::LeagueManager,
        M::StartLeague | M::LeagueOrder => Sender::Launcher,
        M::RefereeRegisterRequest
        | M::GameInvitation
        | M::ChooseParityCall
        | M::GameMoveCall
        | M::GameOver
        | M::GameError
        | M::MatchResultReport => Sender::Referee(RefereeId::new(agent_of(r, "referee_id"))),
        M::LeagueRegisterRequest
        | M::GameJoinAck
        | M::ChooseParityResponse
        | M::GameMoveResponse => Sender::Player(PlayerId::new(agent_of(r, "player_id"))),
        M::LeagueQuery => asker_of(r),
    }
}

/// Players and referees may both query; only a referee names itself as one.
fn asker_of(r: &Reader<'_>) -> Sender {
    let id = if r.has("referee_id") {
        agent_of(r, "referee_id")
    } else {
        agent_of(r, "player_id")
    };
    if id.starts_with("REF") {
        Sender::Referee(RefereeId::new(id))
    } else {
        Sender::Player(PlayerId::new(id))
    }
}

/// The sender's id from this field, else from its token, `tok_{id}_...`.
fn agent_of(r: &Reader<'_>, key: &str) -> SmolStr {
    let text = |key| r.value(key).and_then(Json::as_str);
    let named = text(key).filter(|id| id_fits(id)).map(SmolStr::new);
    named
        .or_else(|| Token::owner(text("auth_token")?))
        .unwrap_or(SmolStr::new_static("unknown"))
}

/// Unlike any conversation of a match, so that it names no attempt.
fn conversation_of(message_type: MessageType, r: &Reader<'_>) -> ConversationId {
    match r.exchange() {
        Some(exchange) => exchange.conversation_id.clone(),
        None => ConversationId::new(smol_str::format_smolstr!(
            "conv-unnamed-{}-{}",
            message_type.name().to_ascii_lowercase(),
            r.now().as_micros()
        )),
    }
}
