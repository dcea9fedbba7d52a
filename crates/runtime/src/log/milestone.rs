//! The milestones of an agent that have a line in the log: suspensions, recoveries, results, renewed registrations.

use super::{Header, emit};
use crate::message_meta::MessageMeta;
use matchday_core::metrics::Milestone;
use matchday_core::protocol::{Sender, Timestamp};
use tracing::Level;

/// Emits the milestone if it has a line.
pub(crate) fn log_milestone(at: Timestamp, agent: &Sender, milestone: &Milestone<'_>) {
    let header = |event_type| Header::new(at, agent, event_type);
    match milestone {
        Milestone::AgentSuspended { agent: whom, cause } => {
            let why = cause.replace('_', " ");
            let header = header("agent_suspended");
            let id = whom.to_string();
            emit!(
                Level::WARN,
                header,
                agent = id,
                cause = *cause,
                "{whom} is suspended: {why}"
            );
        }
        Milestone::RoundAnnounced {
            round_id,
            starts_at,
        } => {
            let lead = starts_at.since(at);
            let begins = if lead.is_zero() {
                "its matches begin when their players have answered".to_owned()
            } else {
                format!("its first match begins at {starts_at}")
            };
            emit!(
                Level::INFO,
                header("round_announced"),
                round_id = round_id.0,
                "round {} is announced: {begins}",
                round_id.0
            );
        }
        Milestone::AgentRecovered { agent: whom } => {
            let header = header("agent_recovered");
            let id = whom.to_string();
            emit!(Level::INFO, header, agent = id, "{whom} answers again");
        }
        Milestone::MatchDecided {
            match_id,
            attempt,
            status,
            winner,
            by,
        } => {
            let meta = MessageMeta::of_match(match_id);
            let by = by.unwrap_or(agent.id());
            let status = serde_json::to_value(status).unwrap_or_default();
            let status = status.as_str().unwrap_or_default();
            let winner = winner.map(|winner| winner.as_str());
            let ending = winner.map_or_else(
                || "nobody wins".to_owned(),
                |winner| format!("{winner} wins"),
            );
            emit!(
                Level::INFO,
                header("match_decided").about(&meta),
                winner,
                status,
                by,
                attempt = attempt.0,
                "{match_id} is decided by {by}: {ending} ({status})"
            );
        }
        Milestone::Registered { id, name, client } => {
            let from = client.map_or_else(String::new, |client| format!(" from {client}"));
            let header = header("agent_registered");
            let client = client.map(|client| client.to_string());
            let client = client.as_deref();
            emit!(
                Level::INFO,
                header,
                agent = *id,
                name = *name,
                from = client,
                "{id} {name} registered{from}"
            );
        }
        Milestone::RegistrationRenewed { id, by, client } => {
            let from = client.map_or_else(String::new, |client| format!(" from {client}"));
            let header = header("registration_renewed");
            emit!(
                Level::WARN,
                header,
                "{id} registered again{from}, known by {by}"
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Entry, dispatch, with};
    use matchday_core::protocol::messages::GameStatus;
    use matchday_core::protocol::{Attempt, MatchId, PlayerId};
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};

    fn logged(agent: &Sender, milestone: &Milestone<'_>) -> Option<Entry> {
        let entries = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&entries);
        let log = dispatch(Level::INFO, move |entry| {
            sink.lock().unwrap().push(entry.clone())
        });
        with(&log, || log_milestone(Timestamp::EPOCH, agent, milestone));
        entries.lock().unwrap().pop()
    }

    #[test]
    fn suspension_recovery_and_result_are_entries_of_their_own_with_fields() {
        let whom = Sender::Player(PlayerId::new("P02"));
        let winner = PlayerId::new("P01");
        let match_id = MatchId::new("R1M1");
        let suspended = Milestone::AgentSuspended {
            agent: &whom,
            cause: "technical_losses",
        };
        let recovered = Milestone::AgentRecovered { agent: &whom };
        let registered = Milestone::Registered {
            id: "P02",
            name: "Ada",
            client: Some([10, 0, 0, 7].into()),
        };
        let decided = |winner, by| Milestone::MatchDecided {
            match_id: &match_id,
            attempt: Attempt(1),
            status: GameStatus::Win,
            winner,
            by,
        };
        for (milestone, event_type, level, details) in [
            (
                suspended,
                "agent_suspended",
                Level::WARN,
                json!({"agent": "player:P02", "cause": "technical_losses"}),
            ),
            (
                recovered,
                "agent_recovered",
                Level::INFO,
                json!({"agent": "player:P02"}),
            ),
            (
                registered,
                "agent_registered",
                Level::INFO,
                json!({"agent": "P02", "name": "Ada", "from": "10.0.0.7"}),
            ),
            (
                decided(Some(&winner), Some("REF01")),
                "match_decided",
                Level::INFO,
                json!({"winner": "P01", "status": "WIN", "by": "REF01", "attempt": 1}),
            ),
            (
                decided(None, None),
                "match_decided",
                Level::INFO,
                json!({"winner": null, "status": "WIN", "by": "league_manager", "attempt": 1}),
            ),
        ] {
            let entry = logged(&Sender::LeagueManager, &milestone).unwrap();
            assert_eq!(
                (entry.event_type.as_str(), entry.level),
                (event_type, level)
            );
            assert_eq!(Value::Object(entry.details), details);
        }
        assert!(logged(&whom, &Milestone::RoundCompleted).is_none());
    }
}
