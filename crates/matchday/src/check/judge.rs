//! Is this field right? The reader that a league reads with decides, so that the verdict is the one a league would give.
//!
//! A league's reader stops at the first fault. To be told of every fault at once, each field of what the agent sent is
//! put by itself into a message that is otherwise right, and that is read.

use super::exchange::Exchange;
use super::report::Sheet;
use super::rule::Rule;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::decode::{self, Conformance, Incoming, Limits, Reading, Rejection, decode};
use serde_json::{Map, Value};

/// What a league makes of one field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FieldVerdict {
    Right,
    /// A lenient league lets it pass and counts it under this name; a strict one refuses.
    Forgiven {
        deviation: String,
        strict: Rejection,
    },
    Wrong(Rejection),
}

/// Writes down what a league makes of a field; whether the league that is checked for takes it.
pub(crate) fn record(
    sheet: &mut Sheet,
    rule: &'static Rule,
    verdict: FieldVerdict,
    conformance: Conformance,
    exchange: &Exchange,
) -> bool {
    match verdict {
        FieldVerdict::Right => {
            sheet.pass(rule, "");
            true
        }
        FieldVerdict::Forgiven { deviation, strict } => {
            let note = format!(
                "{}. A strict league refuses that with {}; a lenient one lets it pass as \"{deviation}\"",
                strict.sentence(),
                strict.code
            );
            let lenient = conformance == Conformance::Lenient;
            match lenient {
                true => sheet.warn(rule, note, exchange),
                false => sheet.broken(rule, note, exchange),
            }
            lenient
        }
        FieldVerdict::Wrong(rejection) => {
            sheet.broken(rule, format!("{} ({})", rejection.sentence(), rejection.code), exchange);
            false
        }
    }
}

/// A message as it should have been, to put the agent's fields into.
#[derive(Debug)]
pub(crate) struct Pattern {
    good: Value,
    exchange: Option<decode::Exchange>,
    limits: Limits,
    now: Timestamp,
}

impl Pattern {
    /// `exchange`: what was asked, if this is an answer.
    pub(crate) fn new(
        good: Value,
        exchange: Option<decode::Exchange>,
        limits: Limits,
        now: Timestamp,
    ) -> Self {
        Self { good, exchange, limits, now }
    }

    /// What a league makes of the field at `path` (`player_meta.version`), or of what stands in its place under
    /// another name beside it.
    pub(crate) fn field(&self, came: &Value, path: &str, aliases: &[&str]) -> FieldVerdict {
        let mut message = self.good.clone();
        let (parents, name) = path.rsplit_once('.').map_or(("", path), |(parents, name)| (parents, name));
        let pointer =
            if parents.is_empty() { String::new() } else { format!("/{}", parents.replace('.', "/")) };
        match came.pointer(&pointer) {
            Some(Value::Object(theirs)) => {
                if let Some(ours) = message.pointer_mut(&pointer).and_then(Value::as_object_mut) {
                    replace(ours, theirs, name);
                    aliases.iter().for_each(|alias| replace(ours, theirs, alias));
                }
            }
            // The object that should hold the field is not there, or is none: that is what is wrong with it.
            other => {
                let (top, _) = path.split_once('.').unwrap_or((path, ""));
                if let Some(ours) = message.as_object_mut() {
                    match other.and(came.get(top)) {
                        Some(value) => ours.insert(top.to_owned(), value.clone()),
                        None => ours.remove(top),
                    };
                }
            }
        }
        self.verdict(&message)
    }

    fn verdict(&self, message: &Value) -> FieldVerdict {
        let strict = match self.read(message, Conformance::Strict) {
            Ok(_) => return FieldVerdict::Right,
            Err(rejection) => rejection,
        };
        match self.read(message, Conformance::Lenient) {
            Ok(incoming) => {
                let names: Vec<_> = incoming.deviations.iter().map(ToString::to_string).collect();
                FieldVerdict::Forgiven { deviation: names.join(", "), strict }
            }
            Err(rejection) => FieldVerdict::Wrong(rejection),
        }
    }

    fn read(&self, message: &Value, conformance: Conformance) -> Result<Incoming, Rejection> {
        let reading = Reading {
            conformance,
            now: self.now,
            limits: self.limits,
            exchange: self.exchange.as_ref(),
            about: None,
        };
        let incoming = decode(message, &reading)?;
        match &incoming.body {
            Ok(_) => Ok(incoming),
            Err(rejection) => Err(rejection.clone()),
        }
    }
}

fn replace(ours: &mut Map<String, Value>, theirs: &Map<String, Value>, name: &str) {
    match theirs.get(name) {
        Some(value) => ours.insert(name.to_owned(), value.clone()),
        None => ours.remove(name),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good() -> Value {
        json!({
            "protocol": "league.v2", "message_type": "CHOOSE_PARITY_RESPONSE", "sender": "player:P01",
            "timestamp": "2026-03-02T09:01:04Z", "conversation_id": "conv-r1m1-001", "auth_token": "tok_p01_x",
            "match_id": "R1M1", "player_id": "P01", "parity_choice": "even",
        })
    }

    fn verdict(came: Value, path: &str, aliases: &[&str]) -> FieldVerdict {
        let now = Timestamp::EPOCH;
        Pattern::new(good(), None, Limits::AGENT, now).field(&came, path, aliases)
    }

    #[test]
    fn each_field_is_judged_by_itself() {
        let came = json!({"parity_choice": "Even", "match_id": "R1M1"});
        assert_eq!(verdict(came.clone(), "match_id", &[]), FieldVerdict::Right);
        let FieldVerdict::Wrong(wrong) = verdict(came, "parity_choice", &["choice"]) else {
            panic!("it is wrong in every league")
        };
        assert_eq!((wrong.code.code(), wrong.path.as_str()), ("E004", "parity_choice"));
    }

    #[test]
    fn what_only_a_lenient_league_takes_is_named() {
        let came = json!({"choice": "odd"});
        let FieldVerdict::Forgiven { deviation, strict } = verdict(came, "parity_choice", &["choice"]) else {
            panic!("a lenient league takes it")
        };
        assert_eq!((deviation.as_str(), strict.code.code()), ("alias choice", "E003"));
    }

    #[test]
    fn an_object_that_is_missing_is_what_is_wrong_with_its_fields() {
        let good = json!({
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:ada",
            "timestamp": "2026-03-02T09:01:04Z", "conversation_id": "conv-1",
            "player_meta": {
                "display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": "http://localhost:8101/mcp",
            },
        });
        let pattern = Pattern::new(good, None, Limits::MANAGER, Timestamp::EPOCH);
        let wrong = |came: Value| match pattern.field(&came, "player_meta.version", &[]) {
            FieldVerdict::Wrong(rejection) => (rejection.code.code().to_owned(), rejection.path),
            other => panic!("{other:?}"),
        };
        assert_eq!(wrong(json!({})), ("E003".into(), "player_meta".into()));
        assert_eq!(wrong(json!({"player_meta": 1})), ("E002".into(), "player_meta".into()));
        let one = json!({"player_meta": {"version": 1}});
        assert_eq!(wrong(one), ("E002".into(), "player_meta.version".into()));
    }
}
