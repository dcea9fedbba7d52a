//! What an agent says about what it does: one entry for each thing that happens, as a line for people or as JSON.
//! Entries never hold a token: they are made of types, ids, times and outcomes, not of messages.

use super::log_writer::LogWriter;
use super::subject::Subject;
use matchday_core::census::Milestone;
use matchday_core::protocol::{Sender, Timestamp, Untrusted, UntrustedText};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::sync::Arc;
use std::{fmt, io};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    pub timestamp: Timestamp,
    pub level: Level,
    #[serde(rename = "component", serialize_with = "component")]
    pub agent: Sender,
    pub agent_id: SmolStr,
    pub event_type: &'static str,
    pub message_type: Option<UntrustedText>,
    pub conversation_id: Option<SmolStr>,
    pub match_id: Option<SmolStr>,
    /// For people.
    pub message: String,
    pub details: Map<String, Value>,
}

fn component<S: Serializer>(agent: &Sender, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match agent {
        Sender::LeagueManager => "league_manager",
        Sender::Launcher => "launcher",
        Sender::Referee(_) => "referee",
        Sender::Player(_) => "player",
    })
}

impl Entry {
    pub(super) fn new(at: Timestamp, agent: Sender, event_type: &'static str, message: String) -> Self {
        Self {
            timestamp: at,
            level: Level::Info,
            agent_id: agent.id().into(),
            agent,
            event_type,
            message_type: None,
            conversation_id: None,
            match_id: None,
            message,
            details: Map::new(),
        }
    }

    /// What an event of the agent's counts as, where a line of its own is due: suspensions, recoveries, results.
    pub(super) fn of_milestone(at: Timestamp, agent: Sender, milestone: &Milestone<'_>) -> Option<Self> {
        match milestone {
            Milestone::AgentSuspended { agent: whom, cause } => {
                let message = format!("{whom} is suspended: {}", cause.replace('_', " "));
                let entry = Self::new(at, agent, "agent_suspended", message).level(Level::Warning);
                Some(entry.detail("agent", whom.to_string()).detail("cause", *cause))
            }
            Milestone::AgentRecovered { agent: whom } => {
                let message = format!("{whom} answers again");
                Some(Self::new(at, agent, "agent_recovered", message).detail("agent", whom.to_string()))
            }
            Milestone::MatchDecided { match_id, attempt, status, winner, by } => {
                let by = by.map_or_else(|| SmolStr::new(agent.id()), SmolStr::new);
                let status = serde_json::to_value(status).unwrap_or_default();
                let ending = match winner {
                    Some(winner) => format!("{winner} wins"),
                    None => "nobody wins".to_owned(),
                };
                let kind = status.as_str().unwrap_or_default();
                let message = format!("{match_id} is decided by {by}: {ending} ({kind})");
                let mut entry = Self::new(at, agent, "match_decided", message);
                entry.match_id = Some(match_id.as_str().into());
                let winner = winner.map(|winner| winner.as_str());
                let entry = entry.detail("winner", winner).detail("status", status).detail("by", by.as_str());
                Some(entry.detail("attempt", attempt.0))
            }
            _ => None,
        }
    }

    pub(super) fn about(mut self, subject: &Subject) -> Self {
        self.message_type = Some(subject.message_type.clone()).filter(|kind| !kind.is_empty());
        self.conversation_id = subject.conversation_id.clone();
        self.match_id = subject.match_id.clone();
        self
    }

    pub(super) fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    pub(super) fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// One line for people: `10:30:00 P01             message`.
    pub fn for_people(&self) -> String {
        let stamp = self.timestamp.to_string();
        let time = stamp.get(11..19).unwrap_or_default();
        let mark = match self.level {
            Level::Info => "",
            Level::Warning => "warning: ",
            Level::Error => "error: ",
        };
        format!("{time} {:<15} {mark}{}", self.agent_id, self.message)
    }

    /// One line of JSON.
    pub fn as_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// How long something took, in milliseconds with one decimal.
pub(super) fn millis(from: Timestamp, to: Timestamp) -> f64 {
    (to.since(from).as_secs_f64() * 10_000.0).round() / 10.0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    People,
    Json,
}

impl Format {
    /// One line, whatever others wrote into the entry.
    pub(crate) fn line(self, entry: &Entry) -> String {
        let line = match self {
            Self::People => entry.for_people(),
            Self::Json => entry.as_json(),
        };
        Untrusted::new(&line).escaped().to_string()
    }
}

/// Where entries go. Copies share it.
#[derive(Clone, Default)]
pub struct Journal(Option<Arc<Sink>>);

type Sink = dyn Fn(&Entry) + Send + Sync;

impl Journal {
    pub fn silent() -> Self {
        Self(None)
    }

    pub fn to(sink: impl Fn(&Entry) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// Lines that `write` gets on a thread of its own. What it cannot take in time is dropped, so that no agent waits for it.
    pub(crate) fn to_lines(format: Format, write: impl FnMut(&str) + Send + 'static) -> io::Result<Self> {
        let writer = LogWriter::start(format, write)?;
        Ok(Self::to(move |entry| writer.write(entry)))
    }

    /// Only what `keep` gives back is logged.
    pub(crate) fn filtered(
        self,
        keep: impl Fn(&Entry) -> Option<Cow<'_, Entry>> + Send + Sync + 'static,
    ) -> Self {
        Self::to(move |entry| {
            if let (Some(entry), Some(sink)) = (keep(entry), &self.0) {
                sink(&entry);
            }
        })
    }

    /// The entry is made only if someone will read it.
    pub(super) fn note(&self, entry: impl FnOnce() -> Entry) {
        self.note_if(|| Some(entry()));
    }

    /// As `note`, where there need not be anything to say.
    pub(super) fn note_if(&self, entry: impl FnOnce() -> Option<Entry>) {
        if let Some(sink) = &self.0
            && let Some(entry) = entry()
        {
            sink(&entry);
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Journal" } else { "Journal(silent)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::protocol::PlayerId;

    fn entry() -> Entry {
        let at = Timestamp::from_micros(1_736_937_000_000_000);
        let agent = Sender::Player(PlayerId::new("P01"));
        let subject = Subject {
            message_type: "GAME_INVITATION".into(),
            conversation_id: Some("conv-r1m1-001".into()),
            match_id: None,
        };
        Entry::new(at, agent, "message_received", "GAME_INVITATION answered".into())
            .about(&subject)
            .level(Level::Warning)
            .detail("answer_ms", 2)
    }

    #[test]
    fn suspension_recovery_and_result_are_entries_of_their_own_with_fields() {
        use matchday_core::protocol::messages::GameStatus;
        use matchday_core::protocol::{Attempt, MatchId};
        use serde_json::json;
        let (whom, winner) = (Sender::Player(PlayerId::new("P02")), PlayerId::new("P01"));
        let match_id = MatchId::new("R1M1");
        let suspended = Milestone::AgentSuspended { agent: &whom, cause: "technical_losses" };
        let recovered = Milestone::AgentRecovered { agent: &whom };
        let decided = Milestone::MatchDecided {
            match_id: &match_id,
            attempt: Attempt(1),
            status: GameStatus::Win,
            winner: Some(&winner),
            by: Some("REF01"),
        };
        let decided_details = json!({"winner": "P01", "status": "WIN", "by": "REF01", "attempt": 1});
        for (milestone, event_type, level, details) in [
            (
                suspended,
                "agent_suspended",
                Level::Warning,
                json!({"agent": "player:P02", "cause": "technical_losses"}),
            ),
            (recovered, "agent_recovered", Level::Info, json!({"agent": "player:P02"})),
            (decided, "match_decided", Level::Info, decided_details),
        ] {
            let entry = Entry::of_milestone(Timestamp::EPOCH, Sender::LeagueManager, &milestone).unwrap();
            assert_eq!((entry.event_type, entry.level), (event_type, level));
            assert_eq!(Value::Object(entry.details), details);
        }
        assert!(Entry::of_milestone(Timestamp::EPOCH, whom, &Milestone::RoundAnnounced).is_none());
    }

    #[test]
    fn an_entry_is_one_line_for_people() {
        assert_eq!(entry().for_people(), "10:30:00 P01             warning: GAME_INVITATION answered");
    }

    #[test]
    fn an_entry_in_json_has_exactly_its_ten_fields() {
        let json = concat!(
            r#"{"timestamp":"2025-01-15T10:30:00Z","level":"WARNING","component":"player","agent_id":"P01","#,
            r#""event_type":"message_received","message_type":"GAME_INVITATION","conversation_id":"conv-r1m1-001","#,
            r#""match_id":null,"message":"GAME_INVITATION answered","details":{"answer_ms":2}}"#
        );
        assert_eq!(entry().as_json(), json);
    }
}
