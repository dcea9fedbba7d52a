//! Every exchange of that league, as JSON.

use matchday_benchmark_league::{self as benchmark_league, BenchmarkLeague};
use matchday_core::agent::Content;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use serde_json::{Value, json};

pub(crate) const PLAYERS: [&str; 4] = ["P01", "P02", "P03", "P04"];
pub(crate) const REFEREES: [&str; 2] = ["REF01", "REF02"];

/// The schedule that the flow prints for four players: match, player A, player B.
pub(crate) const SCHEDULE: [[(&str, &str, &str); 2]; 3] = [
    [("R1M1", "P01", "P02"), ("R1M2", "P03", "P04")],
    [("R2M1", "P03", "P01"), ("R2M2", "P04", "P02")],
    [("R3M1", "P04", "P01"), ("R3M2", "P03", "P02")],
];

/// One HTTP exchange.
pub(crate) struct Exchange {
    /// Who is asked: an id, or `league_manager`.
    pub(crate) to: String,
    pub(crate) method: String,
    pub(crate) question: Value,
    /// The message that answers, or null if the question was only received.
    pub(crate) answer: Value,
}

impl Exchange {
    fn of(said: &benchmark_league::Exchange<'_>) -> Self {
        let call: Value =
            serde_json::from_slice(&write_call(Dialect::Standard, 7, said.message)).unwrap();
        assert_eq!((&call["jsonrpc"], &call["id"]), (&json!("2.0"), &json!(7)));
        let answer = match said.answer {
            Content::Message(message) => serde_json::to_value(message).unwrap(),
            _ => Value::Null,
        };
        let to = match said.to {
            0 => "league_manager".to_owned(),
            place => REFEREES
                .iter()
                .chain(&PLAYERS)
                .nth(place - 1)
                .unwrap()
                .to_string(),
        };
        let method = call["method"].as_str().unwrap().to_owned();
        Self {
            to,
            method,
            question: call["params"].clone(),
            answer,
        }
    }

    fn is(&self, message_type: &str) -> bool {
        self.question["message_type"] == message_type
    }
}

/// Every exchange of the league, from the first registration to the end.
pub(crate) fn exchanges() -> Vec<Exchange> {
    let mut all = Vec::new();
    let mut league = BenchmarkLeague::gather_showing(4, 2, |said| all.push(Exchange::of(said)))
        .expect("the names are right");
    league.play_showing(|said| all.push(Exchange::of(said)));
    all
}

pub(crate) fn of_type<'a>(all: &'a [Exchange], message_type: &str) -> Vec<&'a Exchange> {
    all.iter()
        .filter(|exchange| exchange.is(message_type))
        .collect()
}

/// Every message, questions and answers alike, with the kind of agent that it goes to.
pub(crate) fn messages(all: &[Exchange]) -> Vec<(String, &Value)> {
    let kind = |name: &str| match name {
        name if name.starts_with("REF") => "referee".to_owned(),
        name if name.starts_with('P') => "player".to_owned(),
        name => name.split(':').next().unwrap().to_owned(),
    };
    let both = all.iter().flat_map(|exchange| {
        let asker = exchange.question["sender"].as_str().unwrap();
        [
            (kind(&exchange.to), &exchange.question),
            (kind(asker), &exchange.answer),
        ]
    });
    both.filter(|(_, message)| !message.is_null()).collect()
}

pub(crate) fn text<'a>(message: &'a Value, field: &str) -> &'a str {
    message[field]
        .as_str()
        .unwrap_or_else(|| panic!("{field} in {message:#}"))
}

pub(crate) fn round_of(match_id: &str) -> u64 {
    match_id.as_bytes()[1].wrapping_sub(b'0').into()
}
