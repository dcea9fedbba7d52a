//! Counts what went wrong, by kind: technical losses, unanswered messages, error codes, deviations. Reads recorded
//! exchanges.

use super::{Fault, Report};
use crate::log_set::LogSet;
use matchday_core::protocol::{ConversationId, Untrusted};
use matchday_store::Direction;
use matchday_store::error::StoreError;
use matchday_store::reader::FailedExchange;
use serde_json::Value;
use smol_str::SmolStr;
use std::collections::BTreeMap;

type Counts = BTreeMap<(&'static str, String), u32>;

pub(super) fn gather(logs: &LogSet, report: &Report) -> Result<Vec<Fault>, StoreError> {
    let mut counts = Counts::new();
    for player in &report.view.players {
        for lost in &player.technical {
            *counts
                .entry(("technical loss", lost.cause.to_owned()))
                .or_default() += 1;
        }
        for (kind, count) in &player.deviations {
            *counts.entry(("deviation", kind.clone())).or_default() += count;
        }
        if let Some(failed) = &player.fallbacks {
            let kind = format!("{} did not choose itself", player.who.id);
            *counts.entry(("strategy", kind)).or_default() += failed.count;
        }
    }
    for ((group, kind, ..), sides) in troubles(logs)? {
        // An exchange that both sides recorded counts once.
        *counts.entry((group, kind)).or_default() += sides.into_iter().max().unwrap_or(0);
    }
    // Codes and message types are untrusted text; a kind is one line.
    let of_kind = |((group, kind), count): ((&'static str, String), u32)| Fault {
        group,
        kind: Untrusted::new(&kind).escaped().to_string(),
        count,
    };
    let mut faults: Vec<Fault> = counts.into_iter().map(of_kind).collect();
    faults.sort_by(|one, other| {
        other
            .count
            .cmp(&one.count)
            .then_with(|| one.kind.cmp(&other.kind))
    });
    Ok(faults)
}

/// Group and kind of a fault, and the exchange: message type and conversation.
type Of = (&'static str, String, SmolStr, ConversationId);

/// For each fault, how often its sender and how often its receiver recorded it.
fn troubles(logs: &LogSet) -> Result<BTreeMap<Of, [u32; 2]>, StoreError> {
    let mut all: BTreeMap<Of, [u32; 2]> = BTreeMap::new();
    for reader in logs.readers() {
        for failed in reader.failed_exchanges()? {
            let Some((group, kind)) = kind(&failed) else {
                continue;
            };
            let of = (group, kind, failed.message_type, failed.conversation_id);
            let [sent, received] = all.entry(of).or_default();
            *(if failed.direction == Direction::Out {
                sent
            } else {
                received
            }) += 1;
        }
    }
    Ok(all)
}

fn kind(failed: &FailedExchange) -> Option<(&'static str, String)> {
    let error_code = failed.error.as_deref().and_then(code);
    match (error_code, failed.answered) {
        (Some(code), _) => Some(("error", code)),
        (None, false) => Some((
            "message",
            format!("{}: {}", failed.message_type, failed.outcome.kind()),
        )),
        (None, true) => None,
    }
}

/// The `error_code` in a message, in any wrapping.
fn code(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    found(&value, DEPTH_MAX)
}

const DEPTH_MAX: u32 = 12;

fn found(value: &Value, depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(fields) => {
            let error_code = fields
                .get("error_code")
                .and_then(Value::as_str)
                .map(str::to_owned);
            error_code.or_else(|| fields.values().find_map(|value| found(value, depth)))
        }
        Value::Array(values) => values.iter().find_map(|value| found(value, depth)),
        Value::String(text) if text.starts_with('{') => {
            found(&serde_json::from_str(text).ok()?, depth)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use matchday_core::protocol::Timestamp;
    use matchday_store::{Exchange, Store};
    use matchday_testkit::event_lines::append;

    fn exchange(
        direction: Direction,
        conversation: &str,
        answer: Option<&str>,
        outcome: &str,
    ) -> Exchange {
        Exchange {
            at: Timestamp::EPOCH,
            done_at: None,
            agent: "REF01".into(),
            direction,
            peer: "http://localhost:8101/mcp".into(),
            message_type: "GAME_INVITATION".into(),
            conversation_id: ConversationId::new(conversation),
            match_id: None,
            request: "{}".into(),
            answer: answer.map(str::to_owned),
            outcome: outcome.into(),
            connected_at: None,
            first_byte_at: None,
            deadline_at: None,
            error_code: None,
        }
    }

    #[test]
    fn what_both_sides_recorded_went_wrong_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("league.db");
        let store = Store::open(&path).unwrap();
        let refused = Some(r#"{"result":{"message_type":"GAME_ERROR","error_code":"E001"}}"#);
        let exchanges = [
            exchange(Direction::Out, "conv-1", refused, "E001: too late"),
            exchange(Direction::In, "conv-1", refused, "E001: too late"),
            exchange(
                Direction::Out,
                "conv-2",
                None,
                "no connection: refused by port 8101",
            ),
            exchange(
                Direction::Out,
                "conv-2",
                None,
                "no connection: refused by port 8102",
            ),
            exchange(Direction::Out, "conv-3", Some("{}"), "GAME_JOIN_ACK"),
        ];
        exchanges
            .into_iter()
            .for_each(|exchange| store.record(exchange));
        append(&store, "league", sample::lines(usize::MAX).collect()).unwrap();
        store.close().unwrap();
        let report = Report::gather(&[path.into()], None, &sample::SETTINGS).unwrap();
        let faults: Vec<_> = report
            .faults
            .iter()
            .map(|fault| (fault.group, fault.kind.as_str(), fault.count))
            .collect();
        let expected = [
            ("technical loss", "silent", 3),
            ("message", "GAME_INVITATION: no connection", 2),
            ("technical loss", "unreachable", 2),
            ("error", "E001", 1),
            ("technical loss", "suspended", 1),
        ];
        assert_eq!(faults, expected);
        assert_eq!(report.verification.files, ["league.db"]);
    }

    #[test]
    fn an_error_is_found_however_it_is_wrapped() {
        for (text, wanted) in [
            (r#"{"error_code":"E003"}"#, Some("E003")),
            (
                r#"{"jsonrpc":"2.0","result":{"message_type":"GAME_ERROR","error_code":"E001"}}"#,
                Some("E001"),
            ),
            (
                r#"{"result":{"content":[{"text":"{\"error_code\":\"E010\"}"}]}}"#,
                Some("E010"),
            ),
            (r#"{"error_code":null}"#, None),
            ("not JSON", None),
        ] {
            assert_eq!(code(text).as_deref(), wanted, "{text}");
        }
    }
}
