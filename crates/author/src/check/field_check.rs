//! Validates single fields with the decoder that leagues use, so that a finding is what a league would decide.
//!
//! The decoder stops at the first error. To report every error, each received field is inserted by itself into a
//! message that is otherwise valid, and that message is decoded.

use super::exchange::Exchange;
use super::report::Findings;
use super::rule::Rule;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::decode::{
    self, Conformance, Incoming, Limits, Reading, Rejection, decode,
};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FieldVerdict {
    Valid,
    /// A lenient league accepts it and counts this deviation; a strict one refuses it.
    Tolerated {
        deviation: String,
        strict: Rejection,
    },
    Invalid(Rejection),
}

/// Records what leagues decide about a field. Returns whether a lenient one accepts it.
pub(crate) fn record(
    findings: &mut Findings,
    rule: &'static Rule,
    verdict: FieldVerdict,
    exchange: &Exchange,
) -> bool {
    match verdict {
        FieldVerdict::Valid => {
            findings.pass(rule, "");
            true
        }
        FieldVerdict::Tolerated { deviation, strict } => {
            let note = format!(
                "{}. A strict league refuses that with {}; a lenient one accepts it as \"{deviation}\"",
                strict.sentence(),
                strict.code
            );
            findings.deviation(rule, note, exchange);
            true
        }
        FieldVerdict::Invalid(rejection) => {
            findings.violated(
                rule,
                format!("{} ({})", rejection.sentence(), rejection.code),
                exchange,
            );
            false
        }
    }
}

/// A valid message, into which received fields are inserted.
#[derive(Debug)]
pub(crate) struct Template {
    good: Value,
    exchange: Option<decode::Exchange>,
    limits: Limits,
    now: Timestamp,
}

impl Template {
    /// `exchange`: the request, if the message is an answer.
    pub(crate) fn new(
        good: Value,
        exchange: Option<decode::Exchange>,
        limits: Limits,
        now: Timestamp,
    ) -> Self {
        Self {
            good,
            exchange,
            limits,
            now,
        }
    }

    /// Decodes the field at `path` (`player_meta.version`), or one of its aliases in the same object.
    pub(crate) fn field(&self, came: &Value, path: &str, aliases: &[&str]) -> FieldVerdict {
        let mut message = self.good.clone();
        let (parents, name) = path
            .rsplit_once('.')
            .map_or(("", path), |(parents, name)| (parents, name));
        let pointer = if parents.is_empty() {
            String::new()
        } else {
            format!("/{}", parents.replace('.', "/"))
        };
        match came.pointer(&pointer) {
            Some(Value::Object(received_fields)) => {
                if let Some(fields) = message.pointer_mut(&pointer).and_then(Value::as_object_mut) {
                    replace(fields, received_fields, name);
                    aliases
                        .iter()
                        .for_each(|alias| replace(fields, received_fields, alias));
                }
            }
            // The object that should hold the field is missing or is not an object: that is the error to report.
            other => {
                let (top, _) = path.split_once('.').unwrap_or((path, ""));
                if let Some(fields) = message.as_object_mut() {
                    match other.and(came.get(top)) {
                        Some(value) => fields.insert(top.to_owned(), value.clone()),
                        None => fields.remove(top),
                    };
                }
            }
        }
        self.verdict(&message)
    }

    fn verdict(&self, message: &Value) -> FieldVerdict {
        let strict = match self.read(message, Conformance::Strict) {
            Ok(_) => return FieldVerdict::Valid,
            Err(rejection) => rejection,
        };
        match self.read(message, Conformance::Lenient) {
            Ok(incoming) => {
                let names: Vec<_> = incoming
                    .deviations
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                FieldVerdict::Tolerated {
                    deviation: names.join(", "),
                    strict,
                }
            }
            Err(rejection) => FieldVerdict::Invalid(rejection),
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

fn replace(fields: &mut Map<String, Value>, received_fields: &Map<String, Value>, name: &str) {
    match received_fields.get(name) {
        Some(value) => fields.insert(name.to_owned(), value.clone()),
        None => fields.remove(name),
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
        Template::new(good(), None, Limits::AGENT, now).field(&came, path, aliases)
    }

    #[test]
    fn each_field_is_judged_by_itself() {
        let came = json!({"parity_choice": "Even", "match_id": "R1M1"});
        assert_eq!(verdict(came.clone(), "match_id", &[]), FieldVerdict::Valid);
        let FieldVerdict::Invalid(wrong) = verdict(came, "parity_choice", &["choice"]) else {
            panic!("it is wrong in every league")
        };
        assert_eq!(
            (wrong.code.code(), wrong.path.as_str()),
            ("E004", "parity_choice")
        );
    }

    #[test]
    fn what_only_a_lenient_league_takes_is_named() {
        let came = json!({"choice": "odd"});
        let FieldVerdict::Tolerated { deviation, strict } =
            verdict(came, "parity_choice", &["choice"])
        else {
            panic!("a lenient league takes it")
        };
        assert_eq!(
            (deviation.as_str(), strict.code.code()),
            ("alias choice", "E003")
        );
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
        let template = Template::new(good, None, Limits::MANAGER, Timestamp::EPOCH);
        let wrong = |came: Value| match template.field(&came, "player_meta.version", &[]) {
            FieldVerdict::Invalid(rejection) => (rejection.code.code().to_owned(), rejection.path),
            other => panic!("{other:?}"),
        };
        assert_eq!(wrong(json!({})), ("E003".into(), "player_meta".into()));
        assert_eq!(
            wrong(json!({"player_meta": 1})),
            ("E002".into(), "player_meta".into())
        );
        let one = json!({"player_meta": {"version": 1}});
        assert_eq!(wrong(one), ("E002".into(), "player_meta.version".into()));
    }
}
