//! One HTTP exchange with the agent under check: request, response or error, duration; and its redacted excerpt.

use bytes::Bytes;
use matchday_core::protocol::dialect::reply::HttpReply;
use matchday_core::protocol::untrusted::is_deceptive;
use matchday_net::client::CallError;
use matchday_store::redact::redact_tokens;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// How much of a body an excerpt shows, in characters.
const EXCERPT_CHARS: usize = 700;

#[derive(Debug, Clone)]
pub struct Exchange {
    /// The message type, or a short name of the request.
    pub subject: String,
    pub request: Bytes,
    pub outcome: CallOutcome,
    pub took: Duration,
}

#[derive(Debug, Clone)]
pub enum CallOutcome {
    Answered(HttpAnswer),
    Failed(CallError),
    /// The request was not sent, or not waited for to its deadline; with the reason.
    Unknown(String),
}

#[derive(Debug, Clone)]
pub struct HttpAnswer {
    pub status: u16,
    pub content_type: Option<String>,
    /// The `Location` header of a redirect.
    pub location: Option<String>,
    pub body: Bytes,
}

impl HttpAnswer {
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

impl Exchange {
    /// A placeholder for findings that rest on several exchanges, or on a message that never came.
    pub fn none(why: &str) -> Self {
        let outcome = CallOutcome::Unknown(why.to_owned());
        Self {
            subject: String::new(),
            request: Bytes::new(),
            outcome,
            took: Duration::ZERO,
        }
    }

    pub fn answered(&self) -> Option<&HttpAnswer> {
        match &self.outcome {
            CallOutcome::Answered(answered) => Some(answered),
            CallOutcome::Failed(_) | CallOutcome::Unknown(_) => None,
        }
    }

    pub fn json(&self) -> Option<Value> {
        self.answered()?.json()
    }

    /// The same request, with another answer of ours.
    pub fn answered_instead(&self, reply: &HttpReply) -> Self {
        let body = Bytes::from(reply.body.clone());
        let answered = HttpAnswer {
            status: reply.status,
            content_type: None,
            location: None,
            body,
        };
        Self {
            outcome: CallOutcome::Answered(answered),
            ..self.clone()
        }
    }

    pub fn outcome_text(&self) -> String {
        match &self.outcome {
            CallOutcome::Answered(answered) => format!("HTTP {}", answered.status),
            CallOutcome::Failed(CallError::TimedOut) => {
                format!("no answer within {}", format_duration(self.took))
            }
            CallOutcome::Failed(error) => error.to_string(),
            CallOutcome::Unknown(why) => why.clone(),
        }
    }

    pub fn excerpt(&self) -> ExchangeExcerpt {
        let answer = match &self.outcome {
            CallOutcome::Answered(answered) if answered.body.is_empty() => {
                format!("HTTP {}, no body", answered.status)
            }
            CallOutcome::Answered(answered) => {
                format!("HTTP {} {}", answered.status, excerpt_of(&answered.body))
            }
            CallOutcome::Failed(_) | CallOutcome::Unknown(_) => self.outcome_text(),
        };
        ExchangeExcerpt {
            request: excerpt_of(&self.request),
            answer,
            ms: millis(self.took),
        }
    }
}

/// An exchange in a report: one line each way, truncated, tokens redacted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExchangeExcerpt {
    pub request: String,
    pub answer: String,
    pub ms: f64,
}

fn millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 10_000.0).round() / 10.0
}

/// `0.4 s`, `12 ms`.
pub fn format_duration(span: Duration) -> String {
    match span.as_millis() {
        0 => format!("{:.1} ms", span.as_secs_f64() * 1000.0),
        1..1000 => format!("{} ms", span.as_millis()),
        _ => format!("{:.1} s", span.as_secs_f64()),
    }
}

/// A body on one line, truncated, with tokens redacted.
pub fn excerpt_of(body: &[u8]) -> String {
    // Redacted before it is truncated, so that no part of a token is left at the end.
    let most = EXCERPT_CHARS * 8;
    let text = redact_tokens(body.get(..most).unwrap_or(body));
    let mut line: String = text
        .chars()
        .map(|c| if is_deceptive(c) { ' ' } else { c })
        .take(EXCERPT_CHARS)
        .collect();
    if text.chars().nth(EXCERPT_CHARS).is_some() || body.len() > most {
        line.push_str(&format!("... ({} bytes)", body.len()));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_short_line_without_tokens() {
        let long = format!(
            "{{\"auth_token\":\"tok_p01_{}\",\n\"x\":\"{}\"}}",
            "a".repeat(64),
            "y".repeat(5000)
        );
        let shown = excerpt_of(long.as_bytes());
        assert!(
            shown.starts_with("{\"auth_token\":\"tok_p01_...\", \"x\":\"yyy"),
            "{shown}"
        );
        assert!(
            shown.ends_with(&format!("... ({} bytes)", long.len())),
            "{shown}"
        );
        assert!(shown.chars().count() < EXCERPT_CHARS + 30);
    }
}
