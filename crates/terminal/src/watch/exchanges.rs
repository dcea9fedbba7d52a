//! A row of the message pane, from the dashboard's JSON. Missing fields are blank: other managers may tell less.
//! Pure.

use matchday_core::protocol::Timestamp;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct ExchangeRow {
    from: String,
    to: String,
    #[serde(rename = "type")]
    kind: String,
    match_id: Option<String>,
    sent_at: String,
    answered_at: Option<String>,
    outcome: String,
    error_code: Option<String>,
    answer_type: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ExchangePage {
    pub messages: Vec<ExchangeRow>,
}

pub(super) const HEADERS: [&str; 7] = ["time", "from", "to", "message", "match", "ms", "outcome"];

impl ExchangeRow {
    pub(super) fn cells(&self) -> Vec<String> {
        // `2026-03-02T09:00:00.123Z`: the day is the same for all that fit on a screen.
        let time = self.sent_at.get(11..).unwrap_or(&self.sent_at).trim_end_matches('Z');
        let outcome = match (&self.error_code, &self.answer_type) {
            (Some(code), _) if !self.outcome.contains(code.as_str()) => format!("{code}: {}", self.outcome),
            (None, Some(answer)) if self.outcome == "ok" => answer.clone(),
            _ => self.outcome.clone(),
        };
        let words = [time, &self.from, &self.to, &self.kind, self.match_id.as_deref().unwrap_or_default()];
        let mut cells: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        cells.push(self.took_ms().map(|ms| format!("{ms:.1}")).unwrap_or_default());
        cells.push(outcome);
        cells
    }

    fn took_ms(&self) -> Option<f64> {
        let (sent, _) = Timestamp::parse(&self.sent_at)?;
        let (answered, _) = Timestamp::parse(self.answered_at.as_deref()?)?;
        Some((answered.as_micros() - sent.as_micros()) as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_shown_and_what_is_not_is_blank() {
        for (json, shown) in [
            (
                r#"{"from":"REF01","to":"P01","type":"GAME_INVITATION","match_id":"R1M1","sent_at":"2026-03-02T09:00:00.100Z",
                    "answered_at":"2026-03-02T09:00:00.104Z","outcome":"ok","answer_type":"GAME_JOIN_ACK"}"#,
                ["09:00:00.100", "REF01", "P01", "GAME_INVITATION", "R1M1", "4.0", "GAME_JOIN_ACK"],
            ),
            (
                r#"{"from":"REF01","type":"GAME_INVITATION","sent_at":"soon","outcome":"no answer in time","error_code":"E001"}"#,
                ["soon", "REF01", "", "GAME_INVITATION", "", "", "E001: no answer in time"],
            ),
            ("{}", [""; 7]),
        ] {
            let row: ExchangeRow = serde_json::from_str(json).unwrap();
            assert_eq!(row.cells(), shown);
        }
    }
}
