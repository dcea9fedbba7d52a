//! One exchange as it was: what we sent, what came back, how long it took; and how it is shown to people.

use crate::net::client::CallError;
use crate::shell::redacted;
use bytes::Bytes;
use matchday_core::protocol::untrusted::is_deceptive;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// How much of a message is shown, in characters.
const SHOWN_CHARS: usize = 700;

#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// What was asked or told, in a word.
    pub(crate) subject: String,
    pub(crate) request: Bytes,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
}

#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Answered(Answered),
    Failed(CallError),
    /// It was not tried, or not waited for to the end; and why.
    Unknown(String),
}

/// What came back over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    /// Where a redirect leads.
    pub(crate) location: Option<String>,
    pub(crate) body: Bytes,
}

impl Answered {
    /// The body, if it is JSON.
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

impl Exchange {
    /// For what no single exchange shows, and is a failure all the same.
    pub(crate) fn none(why: &str) -> Self {
        let outcome = Outcome::Unknown(why.to_owned());
        Self { subject: String::new(), request: Bytes::new(), outcome, took: Duration::ZERO }
    }

    pub(crate) fn answered(&self) -> Option<&Answered> {
        match &self.outcome {
            Outcome::Answered(answered) => Some(answered),
            Outcome::Failed(_) | Outcome::Unknown(_) => None,
        }
    }

    pub(crate) fn json(&self) -> Option<Value> {
        self.answered()?.json()
    }

    /// What became of it, in a few words.
    pub(crate) fn outcome_in_words(&self) -> String {
        match &self.outcome {
            Outcome::Answered(answered) => format!("HTTP {}", answered.status),
            Outcome::Failed(CallError::TimedOut) => {
                format!("no answer within {}", seconds(self.took))
            }
            Outcome::Failed(error) => error.to_string(),
            Outcome::Unknown(why) => why.clone(),
        }
    }

    pub(crate) fn shown(&self) -> Shown {
        let answer = match &self.outcome {
            Outcome::Answered(answered) if answered.body.is_empty() => {
                format!("HTTP {}, no body", answered.status)
            }
            Outcome::Answered(answered) => format!("HTTP {} {}", answered.status, shortened(&answered.body)),
            Outcome::Failed(_) | Outcome::Unknown(_) => self.outcome_in_words(),
        };
        Shown { request: shortened(&self.request), answer, ms: millis(self.took) }
    }
}

/// An exchange as people and programs are shown it: short, on one line each, without tokens.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Shown {
    pub(crate) request: String,
    pub(crate) answer: String,
    pub(crate) ms: f64,
}

fn millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 10_000.0).round() / 10.0
}

/// "0.4 s", "12 ms".
pub(crate) fn seconds(span: Duration) -> String {
    match span.as_millis() {
        0 => format!("{:.1} ms", span.as_secs_f64() * 1000.0),
        1..1000 => format!("{} ms", span.as_millis()),
        _ => format!("{:.1} s", span.as_secs_f64()),
    }
}

/// A body fit to be shown: one line, no tokens, not too long.
pub(crate) fn shortened(body: &[u8]) -> String {
    // Tokens are cut before the text is, so that half of one cannot be left at the end.
    let most = SHOWN_CHARS * 8;
    let text = redacted(body.get(..most).unwrap_or(body));
    let mut line: String =
        text.chars().map(|c| if is_deceptive(c) { ' ' } else { c }).take(SHOWN_CHARS).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() || body.len() > most {
        line.push_str(&format!("... ({} bytes)", body.len()));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_short_line_without_tokens() {
        let long =
            format!("{{\"auth_token\":\"tok_p01_{}\",\n\"x\":\"{}\"}}", "a".repeat(64), "y".repeat(5000));
        let shown = shortened(long.as_bytes());
        assert!(shown.starts_with("{\"auth_token\":\"tok_p01_...\", \"x\":\"yyy"), "{shown}");
        assert!(shown.ends_with(&format!("... ({} bytes)", long.len())), "{shown}");
        assert!(shown.chars().count() < SHOWN_CHARS + 30);
    }
}
