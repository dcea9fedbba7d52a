//! Calls a tool: turns its arguments into a request as any agent would send it, and the reply into a result.

use super::tool::{Input, ToolEntry};
use matchday_core::agent::Content;
use matchday_core::protocol::envelope::id_fits;
use matchday_core::protocol::messages::{LeagueError, RegisterStatus};
use matchday_core::protocol::{
    Body, ConversationId, Envelope, ErrorCode, Message, MessageType, PROTOCOL, Timestamp, Token,
    UntrustedText,
};
use matchday_runtime::{Caller, Intake, NoReply};
use rmcp::ErrorData;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};

type Arguments = Map<String, Value>;

pub(super) async fn call(
    intake: &Intake,
    entry: &ToolEntry,
    arguments: Arguments,
    caller: Caller,
) -> Result<CallToolResult, ErrorData> {
    let (params, kind) = match entry.input {
        // Unknown arguments are dropped: they could turn the query into another request.
        Input::Query(query) => {
            let params = query.spec().params;
            let is_known =
                |name: &str| name == "league_id" || params.iter().any(|param| param.name() == name);
            (
                arguments
                    .into_iter()
                    .filter(|(name, _)| is_known(name))
                    .collect(),
                None,
            )
        }
        Input::Message(kind) => match fill_envelope(arguments, kind, intake.now()) {
            Ok(message) => (message, Some(kind)),
            Err(why) => return Ok(refused(intake, Some(kind), why)),
        },
    };
    match intake
        .ask_method(entry.name, Value::Object(params), caller)
        .await
    {
        Ok(content) => Ok(result(content)),
        Err(NoReply::Unfit(why)) => Ok(refused(intake, kind, why)),
        Err(NoReply::Gone) => Err(stopping()),
    }
}

pub(super) fn stopping() -> ErrorData {
    ErrorData::internal_error("the agent is stopping and accepts no more messages", None)
}

/// An error of this module, in the form that the agent uses.
fn refused(intake: &Intake, kind: Option<MessageType>, why: String) -> CallToolResult {
    let original = kind.map(|kind| UntrustedText::new_static(kind.name()));
    let error = LeagueError::new(ErrorCode::InvalidFormat, why, original, None);
    let envelope = Envelope::new(
        intake.name(),
        intake.now(),
        ConversationId::new("conv-error"),
    );
    result(Content::Message(Message::new(envelope, error)))
}

fn result(content: Content) -> CallToolResult {
    let (value, failed) = match content {
        Content::Message(message) => {
            let failed = is_failure(&message.body);
            let value = match message.refusal_of_agent() {
                Some(error) => serde_json::to_value(error),
                None => serde_json::to_value(&message),
            };
            (value.unwrap_or_default(), failed)
        }
        Content::Data(data) => (data, false),
        Content::Received => (json!({"status": "received"}), false),
    };
    if failed {
        CallToolResult::structured_error(value)
    } else {
        CallToolResult::structured(value)
    }
}

/// Whether a reply says that the request failed.
fn is_failure(body: &Body) -> bool {
    match body {
        Body::LeagueError(_) => true,
        Body::LeagueQueryResponse(response) => !response.success,
        Body::LeagueRegisterResponse(response) => {
            response.answer.status == RegisterStatus::Rejected
        }
        Body::RefereeRegisterResponse(response) => {
            response.answer.status == RegisterStatus::Rejected
        }
        _ => false,
    }
}

/// Fills in the envelope fields that an MCP client may leave out.
fn fill_envelope(
    mut message: Arguments,
    kind: MessageType,
    now: Timestamp,
) -> Result<Arguments, String> {
    message.retain(|_, value| !value.is_null());
    match message.get("message_type") {
        Some(named) if named.as_str().and_then(MessageType::parse) != Some(kind) => {
            return Err(format!(
                "message_type: expected \"{kind}\" or nothing, got {named}"
            ));
        }
        _ => {}
    }
    let conversation = format!("conv-mcp-{}-{}", kind.method(), now.as_micros());
    let sender = message
        .get("sender")
        .is_none()
        .then(|| sender(kind, &message))
        .flatten();
    for (name, value) in [
        ("protocol", Some(PROTOCOL.to_owned())),
        ("message_type", Some(kind.name().to_owned())),
        ("timestamp", Some(now.to_string())),
        ("conversation_id", Some(conversation)),
        ("sender", sender),
    ] {
        if let Some(value) = value {
            message.entry(name).or_insert(value.into());
        }
    }
    Ok(message)
}

/// The sender, as far as the message or its token names it. The agent still authenticates the token.
fn sender(kind: MessageType, message: &Arguments) -> Option<String> {
    use MessageType as M;
    let owner = || Token::owner(message.get("auth_token")?.as_str()?).map(String::from);
    let named = |field: &str| {
        Some(
            message
                .get(field)?
                .as_str()
                .filter(|id| id_fits(id))?
                .to_owned(),
        )
    };
    Some(match kind {
        M::StartLeague | M::LeagueOrder => "launcher".to_owned(),
        M::LeagueRegisterRequest => format!("player:{}", name_slug(message, "player_meta")),
        M::RefereeRegisterRequest => format!("referee:{}", name_slug(message, "referee_meta")),
        M::LeagueQuery => match owner()? {
            referee if referee.starts_with("REF") => format!("referee:{referee}"),
            player => format!("player:{player}"),
        },
        M::MatchResultReport
        | M::GameInvitation
        | M::ChooseParityCall
        | M::GameMoveCall
        | M::GameOver
        | M::GameError => format!("referee:{}", named("referee_id").or_else(owner)?),
        M::GameJoinAck | M::ChooseParityResponse | M::GameMoveResponse => {
            format!("player:{}", named("player_id").or_else(owner)?)
        }
        _ => "league_manager".to_owned(),
    })
}

/// The sender id of an agent that is not registered: its display name as a slug.
fn name_slug(message: &Arguments, meta: &str) -> String {
    let name = message
        .get(meta)
        .and_then(|meta| meta.get("display_name"))
        .and_then(Value::as_str);

    let parts = name
        .unwrap_or_default()
        .split(|c: char| !c.is_ascii_alphanumeric());

    let parts: Vec<_> = parts
        .filter(|part| !part.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();

    if parts.is_empty() {
        "newcomer".to_owned()
    } else {
        parts.join("-").chars().take(64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(kind: MessageType, arguments: Value) -> Result<Arguments, String> {
        let Value::Object(arguments) = arguments else {
            panic!("not an object")
        };

        fill_envelope(arguments, kind, Timestamp::from_micros(1_000_000))
    }

    #[test]
    fn only_what_is_missing_is_filled_in() {
        let message = filled(
            MessageType::LeagueQuery,
            json!({"auth_token": "tok_p01_abc", "conversation_id": "mine", "sender": null}),
        );
        let message = message.unwrap();
        let text = |name: &str| message.get(name).and_then(Value::as_str).unwrap();
        assert_eq!(
            (
                text("protocol"),
                text("message_type"),
                text("sender"),
                text("conversation_id")
            ),
            ("league.v2", "LEAGUE_QUERY", "player:P01", "mine")
        );
    }

    #[test]
    fn who_speaks_follows_from_what_is_said() {
        use MessageType as M;
        for (kind, arguments, sender) in [
            (M::StartLeague, json!({}), Some("launcher")),
            (
                M::LeagueRegisterRequest,
                json!({"player_meta": {"display_name": "Ann & Bo"}}),
                Some("player:ann-bo"),
            ),
            (
                M::RefereeRegisterRequest,
                json!({}),
                Some("referee:newcomer"),
            ),
            (
                M::LeagueQuery,
                json!({"auth_token": "tok_ref01_abc"}),
                Some("referee:REF01"),
            ),
            (M::LeagueQuery, json!({}), None),
            (
                M::MatchResultReport,
                json!({"auth_token": "tok_ref01_abc"}),
                Some("referee:REF01"),
            ),
            (
                M::GameJoinAck,
                json!({"player_id": "P07"}),
                Some("player:P07"),
            ),
            (M::RoundAnnouncement, json!({}), Some("league_manager")),
        ] {
            let message = filled(kind, arguments).unwrap();
            assert_eq!(
                message.get("sender").and_then(Value::as_str),
                sender,
                "{kind}"
            );
        }
    }

    #[test]
    fn a_tool_takes_no_message_of_another_kind() {
        assert!(
            filled(
                MessageType::LeagueQuery,
                json!({"message_type": "START_LEAGUE"})
            )
            .is_err()
        );
    }
}
