//! Classifies the reply to a message, as a league would read it.

use super::exchange::{CallOutcome, Exchange};
use super::probe::Reply;
use super::report::Findings;
use super::rule::Rule;
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_net::client::CallError;
use serde_json::Value;

/// In the place of the code of a refusal that has none.
pub(crate) const NO_CODE: &str = "no code";

#[derive(Debug)]
pub(crate) enum ReplyKind {
    Message(Value),
    /// A LEAGUE_ERROR, or a JSON-RPC error that carries its fields.
    Refused {
        code: String,
        text: String,
    },
    /// Acknowledged, without a message.
    Received,
    /// Not readable as a reply; with the reason.
    Malformed(String),
    NoAnswer,
    /// The message was not sent, or the check ran out of time; with the reason.
    Unknown(String),
}

impl ReplyKind {
    pub(crate) fn of(reply: &Reply) -> Self {
        match &reply.wire {
            Some(WireAnswer::Message(message) | WireAnswer::Refused(message)) => {
                let message = Value::from(message);
                match refusal(&message) {
                    Some((code, text)) => ReplyKind::Refused { code, text },
                    None => ReplyKind::Message(message),
                }
            }
            Some(WireAnswer::Received) => ReplyKind::Received,
            Some(WireAnswer::MethodNotFound) => {
                ReplyKind::Malformed("it does not know the method".to_owned())
            }
            Some(WireAnswer::Error { code, message }) => {
                ReplyKind::Malformed(format!("it answered with JSON-RPC error {code}: {message}"))
            }
            Some(WireAnswer::Failed(why) | WireAnswer::Garbled(why)) => {
                ReplyKind::Malformed(why.clone())
            }
            None => match &reply.exchange.outcome {
                CallOutcome::Unknown(why) => ReplyKind::Unknown(why.clone()),
                _ => ReplyKind::NoAnswer,
            },
        }
    }
}

impl ReplyKind {
    /// What came, for the note of a finding.
    pub(crate) fn describe(&self, exchange: &Exchange) -> String {
        match self {
            Self::Message(message) => {
                let message_type = message
                    .get("message_type")
                    .map_or("nothing".to_owned(), Value::to_string);
                format!("it answered with {message_type}")
            }
            Self::Refused { code, text } => format!("it refused with {code}: {text}"),
            Self::Received => "it only acknowledged the message".to_owned(),
            Self::Malformed(why) | Self::Unknown(why) => why.clone(),
            Self::NoAnswer => exchange.outcome_text(),
        }
    }
}

const NO_METHOD: &str = "It knows none of the methods of leagues, in any dialect: read the message from params, whatever the method is called.";
const EXCEPTION: &str = "Its handler failed with this message: look for the exception in the agent's own log, and catch it.";

/// How to fix what came, where the cause is another than a rule's own.
pub(crate) fn fix(reply: &Reply) -> Option<&'static str> {
    match (&reply.wire, &reply.exchange.outcome) {
        (Some(WireAnswer::MethodNotFound), _) if reply.knows_others => None,
        (Some(WireAnswer::MethodNotFound), _) => Some(NO_METHOD),
        (Some(WireAnswer::Error { code: -32603, .. }), _) => Some(EXCEPTION),
        (_, CallOutcome::Answered(answered)) if answered.status >= 500 => Some(EXCEPTION),
        (_, CallOutcome::Failed(CallError::Closed(_))) => Some(EXCEPTION),
        _ => None,
    }
}

/// Whether the agent failed with a message, rather than did not know or want it.
pub(crate) fn is_failure(reply: &Reply) -> bool {
    fix(reply) == Some(EXCEPTION) || reply.exchange.answered().is_none()
}

/// Records that a message got no right answer.
pub(crate) fn violated(
    findings: &mut Findings,
    rule: &'static Rule,
    note: impl Into<String>,
    reply: &Reply,
) {
    findings.violated_because(rule, note, fix(reply), &reply.exchange);
}

/// Checks that a message was acknowledged, by any kind of acknowledgement.
pub(crate) fn check_acknowledged(findings: &mut Findings, rule: &'static Rule, reply: &Reply) {
    match ReplyKind::of(reply) {
        ReplyKind::Message(_) | ReplyKind::Received => findings.pass(rule, ""),
        ReplyKind::Unknown(why) => findings.skip(rule, why),
        other => violated(findings, rule, other.describe(&reply.exchange), reply),
    }
}

/// Code and text of a LEAGUE_ERROR, of an `ERROR` as others call it, or of a JSON-RPC error that carries its fields.
fn refusal(message: &Value) -> Option<(String, String)> {
    let field = |keys: &[&str]| {
        let mut texts = keys.iter().filter_map(|key| message.get(*key)?.as_str());
        texts.find(|text| !text.is_empty()).map(str::to_owned)
    };
    let kind = field(&["message_type"])?;
    matches!(kind.as_str(), "LEAGUE_ERROR" | "ERROR").then_some(())?;
    let text = field(&[
        "error_message",
        "error_description",
        "message",
        "reason",
        "error",
    ]);
    let code = field(&["error_code", "code"]).unwrap_or_else(|| NO_CODE.to_owned());
    Some((code, text.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_is_one_by_whatever_name_it_goes() {
        let of = |message: Value| refusal(&message);
        let wanted = Some(("E003".to_owned(), "no timestamp".to_owned()));
        for message in [
            json!({"message_type": "LEAGUE_ERROR", "error_code": "E003", "error_message": "no timestamp"}),
            json!({"message_type": "LEAGUE_ERROR", "error_code": "E003", "error_description": "no timestamp"}),
            json!({"message_type": "ERROR", "code": "E003", "message": "no timestamp"}),
        ] {
            assert_eq!(of(message), wanted);
        }
        let bare = of(json!({"message_type": "ERROR"}));
        assert_eq!(bare, Some(("no code".to_owned(), String::new())));
        assert_eq!(of(json!({"message_type": "GAME_JOIN_ACK"})), None);
    }
}
