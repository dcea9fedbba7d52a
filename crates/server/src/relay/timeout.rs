//! How long a call to a mailbox may wait. Our own callers say so in a header; of others it follows from the message.

use hyper::HeaderMap;
use matchday_core::protocol::Timestamp;
use serde_json::Value;
use std::time::Duration;

pub(crate) use matchday_runtime::RELAY_TIMEOUT;

/// For messages without a deadline.
const DEFAULT: Duration = Duration::from_secs(30);
const MAX: Duration = Duration::from_secs(600);

pub(super) fn of_call(headers: &HeaderMap, body: &[u8]) -> Duration {
    let said = headers
        .get(&RELAY_TIMEOUT)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let said = said.map(Duration::from_millis);
    said.or_else(|| of_message(&serde_json::from_slice(body).ok()?))
        .unwrap_or(DEFAULT)
        .min(MAX)
}

/// `deadline - timestamp` of a question, both by its sender's clock.
fn of_message(json: &Value) -> Option<Duration> {
    let time = |key: &str| Some(Timestamp::parse(json.get(key)?.as_str()?)?.0);
    match (time("timestamp"), time("deadline")) {
        (Some(sent), Some(deadline)) => Some(deadline.since(sent)),
        _ => ["params", "message", "arguments"]
            .iter()
            .find_map(|key| of_message(json.get(key)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_of_a_question_is_its_timeout() {
        let question = br#"{"jsonrpc":"2.0","params":{"timestamp":"2025-01-15T10:30:00Z","deadline":"2025-01-15T10:30:12Z"}}"#;
        assert_eq!(
            of_call(&HeaderMap::new(), question),
            Duration::from_secs(12)
        );
        assert_eq!(of_call(&HeaderMap::new(), b"{}"), DEFAULT);
        let mut headers = HeaderMap::new();
        headers.insert(RELAY_TIMEOUT, "1500".parse().unwrap());
        assert_eq!(of_call(&headers, question), Duration::from_millis(1500));
        headers.insert(RELAY_TIMEOUT, "999999999".parse().unwrap());
        assert_eq!(of_call(&headers, question), MAX);
    }
}
