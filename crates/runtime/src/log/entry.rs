//! An event of the log as it is written: a line for people, or JSON with ten fields. Pure.

use matchday_core::protocol::{Timestamp, Untrusted, UntrustedText};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use smol_str::SmolStr;
use tracing::Level;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    #[serde(serialize_with = "timestamp")]
    pub timestamp: Timestamp,
    #[serde(serialize_with = "level")]
    pub level: Level,
    pub component: SmolStr,
    pub agent_id: SmolStr,
    pub event_type: SmolStr,
    pub message_type: Option<UntrustedText>,
    pub conversation_id: Option<SmolStr>,
    pub match_id: Option<SmolStr>,
    /// For people.
    pub message: String,
    pub details: Map<String, Value>,
}

/// To the millisecond: messages of one second are told apart, and put in order with the logs of other machines.
fn timestamp<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.with_millis())
}

fn level<S: Serializer>(level: &Level, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match *level {
        Level::WARN => "WARNING",
        level => level.as_str(),
    })
}

impl Entry {
    /// One line for people: `10:30:00.250 P01             message`, with the league before the agent where there are several.
    pub fn for_people(&self) -> String {
        let stamp = self.timestamp.with_millis();
        let time = stamp.get(11..23).unwrap_or_default();
        let mark = match self.level {
            Level::ERROR => "error: ",
            Level::WARN => "warning: ",
            _ => "",
        };
        let league = self
            .details
            .get("league")
            .and_then(Value::as_str)
            .map(|league| format!("{league}/"));
        let agent = format!("{}{}", league.unwrap_or_default(), self.agent_id);
        format!("{time} {agent:<15} {mark}{}", self.message)
    }

    /// One line of JSON.
    pub fn as_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    People,
    Json,
}

impl Format {
    /// One line, whatever text of others the entry holds.
    pub fn line(self, entry: &Entry) -> String {
        let line = match self {
            Self::People => entry.for_people(),
            Self::Json => entry.as_json(),
        };
        Untrusted::new(&line).escaped().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            timestamp: Timestamp::from_micros(1_736_937_000_250_999),
            level: Level::WARN,
            component: "player".into(),
            agent_id: "P01".into(),
            event_type: "message_received".into(),
            message_type: Some("GAME_INVITATION".into()),
            conversation_id: Some("conv-r1m1-001".into()),
            match_id: None,
            message: "GAME_INVITATION answered".to_owned(),
            details: Map::from_iter([("answer_ms".to_owned(), 2.into())]),
        }
    }

    #[test]
    fn an_entry_is_one_line_for_people() {
        assert_eq!(
            entry().for_people(),
            "10:30:00.250 P01             warning: GAME_INVITATION answered"
        );
    }

    #[test]
    fn an_entry_in_json_has_exactly_its_ten_fields() {
        let json = concat!(
            r#"{"timestamp":"2025-01-15T10:30:00.250Z","level":"WARNING","component":"player","agent_id":"P01","#,
            r#""event_type":"message_received","message_type":"GAME_INVITATION","conversation_id":"conv-r1m1-001","#,
            r#""match_id":null,"message":"GAME_INVITATION answered","details":{"answer_ms":2}}"#
        );
        assert_eq!(entry().as_json(), json);
    }
}
