//! What a message is about, for the log, for the record, and for reading its answer.

use crate::telemetry::{CHECKPOINT, FinishedExchange};
use matchday_core::agent::{Ask, Content, Payload};
use matchday_core::protocol::decode::Exchange;
use matchday_core::protocol::{
    Body, ConversationId, Envelope, ErrorCode, LeagueId, MatchId, Message, PlayerId, Sender,
    Timestamp, UntrustedText,
};
use matchday_store::redact::redact_text;
use smol_str::SmolStr;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MessageMeta {
    pub(super) message_type: UntrustedText,
    pub(super) conversation_id: Option<SmolStr>,
    pub(super) match_id: Option<SmolStr>,
}

impl MessageMeta {
    /// Texts of a peer go into the log and the record as they are here: without tokens.
    pub(super) fn new(
        message_type: &str,
        conversation_id: Option<&str>,
        match_id: Option<&str>,
    ) -> Self {
        Self {
            message_type: redact_text(message_type).into(),
            conversation_id: conversation_id.map(redact_text),
            match_id: match_id.map(redact_text),
        }
    }

    /// About a match of ours.
    pub(super) fn of_match(match_id: &MatchId) -> Self {
        Self {
            match_id: Some(match_id.as_str().into()),
            ..Self::default()
        }
    }

    pub(super) fn named(message_type: &'static str) -> Self {
        Self {
            message_type: UntrustedText::new_static(message_type),
            ..Self::default()
        }
    }

    pub(super) fn of_message(message: &Message) -> Self {
        let kind = message.message_type().name();
        Self::of_parts(kind, &message.envelope, Some(&message.body))
    }

    pub(super) fn of_ask(ask: &Ask) -> Self {
        match ask {
            Ask::Message(Ok(incoming)) => {
                let kind = incoming.message_type.name();
                Self::of_parts(kind, &incoming.envelope, incoming.body.as_ref().ok())
            }
            Ask::Message(Err(rejection)) => Self::new(
                rejection
                    .message_type
                    .as_ref()
                    .map_or("", UntrustedText::raw),
                rejection
                    .conversation_id
                    .as_ref()
                    .map(ConversationId::as_str),
                None,
            ),
            Ask::Query(request) => Self::new(
                request.query.name(),
                None,
                request.params.match_id.as_ref().map(MatchId::as_str),
            ),
            Ask::Checkpoint { .. } => Self::named(CHECKPOINT),
        }
    }

    /// A finished exchange about this, for the metrics.
    pub(super) fn finished(&self, began: Timestamp, ended: Timestamp) -> FinishedExchange<'_> {
        FinishedExchange {
            message_type: self.message_type.raw(),
            conversation_id: self.conversation_id.as_deref(),
            match_id: self.match_id.as_deref(),
            began,
            ended,
        }
    }

    fn of_parts(kind: &'static str, envelope: &Envelope, body: Option<&Body>) -> Self {
        let match_id = body
            .and_then(|body| parts(body).match_id)
            .map(MatchId::as_str);
        Self::new(kind, Some(envelope.conversation_id.as_str()), match_id)
    }
}

/// After how many seconds the same request may fare better, if it came too soon.
pub(super) fn later(content: &Content) -> Option<u64> {
    match content {
        Content::Message(Message {
            body: Body::LeagueError(error),
            ..
        }) if error.error_code == ErrorCode::RateLimited => {
            let told = error
                .context
                .as_ref()
                .and_then(|context| context.get("retry_after_sec")?.as_u64());
            Some(told.unwrap_or(1))
        }
        _ => None,
    }
}

/// The match that a payload of ours is about.
pub(super) fn match_of(payload: &Payload) -> Option<&str> {
    let Payload::Message(message) = payload else {
        return None;
    };
    parts(&message.body).match_id.map(MatchId::as_str)
}

/// The league that a peer says its message is about.
pub(super) fn league_of(ask: &Ask) -> Option<&str> {
    let Ask::Message(Ok(incoming)) = ask else {
        return None;
    };
    incoming
        .body
        .as_ref()
        .ok()
        .and_then(|body| parts(body).league_id)
        .map(LeagueId::as_str)
}

/// What we asked, as far as it helps to read an answer that leaves things out. `None` where the message does not tell
/// whom it is for.
pub(super) fn exchange(message: &Message) -> Option<Exchange> {
    let Parts {
        peer,
        league_id,
        match_id,
        player_id,
    } = parts(&message.body);
    Some(Exchange {
        peer: peer?,
        conversation_id: message.envelope.conversation_id.clone(),
        league_id: league_id.cloned(),
        match_id: match_id.cloned(),
        player_id: player_id.cloned(),
    })
}

#[derive(Default)]
struct Parts<'a> {
    peer: Option<Sender>,
    league_id: Option<&'a LeagueId>,
    match_id: Option<&'a MatchId>,
    player_id: Option<&'a PlayerId>,
}

fn parts(body: &Body) -> Parts<'_> {
    match body {
        Body::GameInvitation(m) => {
            asked(Some(&m.league_id), Some(&m.match_id), m.player_id.as_ref())
        }
        Body::ChooseParityCall(m) => {
            asked(m.league_id.as_ref(), Some(&m.match_id), Some(&m.player_id))
        }
        Body::GameMoveCall(m) => asked(m.league_id.as_ref(), Some(&m.match_id), Some(&m.player_id)),
        Body::GameError(m) => asked(
            m.league_id.as_ref(),
            m.match_id.as_ref(),
            m.player_id.as_ref(),
        ),
        Body::GameOver(m) => asked(m.league_id.as_ref(), Some(&m.match_id), None),
        Body::GameJoinAck(m) => about(&m.match_id),
        Body::ChooseParityResponse(m) => about(&m.match_id),
        Body::GameMoveResponse(m) => about(&m.match_id),
        Body::MatchResultAck(m) => about(&m.match_id),
        Body::MatchAssignment(m) => about(&m.match_id),
        Body::MatchResultReport(m) => Parts {
            match_id: Some(&m.match_id),
            ..to_manager(Some(&m.league_id))
        },
        Body::LeagueQuery(m) => to_manager(Some(&m.league_id)),
        Body::StartLeague(m) => to_manager(Some(&m.league_id)),
        Body::LeagueRegisterRequest(_) | Body::RefereeRegisterRequest(_) => to_manager(None),
        _ => Parts::default(),
    }
}

/// A player is asked or told something of its match.
fn asked<'a>(
    league_id: Option<&'a LeagueId>,
    match_id: Option<&'a MatchId>,
    player_id: Option<&'a PlayerId>,
) -> Parts<'a> {
    Parts {
        peer: player_id.cloned().map(Sender::Player),
        league_id,
        match_id,
        player_id,
    }
}

fn about(match_id: &MatchId) -> Parts<'_> {
    Parts {
        match_id: Some(match_id),
        ..Parts::default()
    }
}

fn to_manager(league_id: Option<&LeagueId>) -> Parts<'_> {
    Parts {
        peer: Some(Sender::LeagueManager),
        league_id,
        ..Parts::default()
    }
}
