//! How large the messages are that carry a whole table or a whole round: our own additions never make them too large.

use crate::desk::*;
use matchday_core::agent::{Answer, Ask, Content, Payload};
use matchday_core::league::LeagueSettings;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::dialect::reply::{HttpReply, write_reply};
use matchday_core::protocol::dialect::request::ReplyTo;
use matchday_core::protocol::jsonrpc::Id;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{DisplayName, Message, QueryRequest};
use proptest::prelude::*;
use serde_json::Value;

const MESSAGE_BYTES_MAX: usize = 10_240;

/// The keys of a table and of a round that no source knows.
const ADDITIONS: [&str; 7] = [
    "rank_reason",
    "technical_losses",
    "conversation_id",
    "match_tokens",
    "referee_public_key",
    "replay",
    "starts_at",
];

/// A league of that many players after its first result, and every body that it sent on the way.
fn bodies(players: u32, name: &str) -> Vec<Value> {
    let mut desk = Desk::new(LeagueSettings {
        players_max: 99,
        ..quick()
    });
    for number in 1..=players {
        let display_name = DisplayName::parse(name).unwrap();
        let player_meta = PlayerMeta {
            display_name,
            ..player_meta(number)
        };
        desk.ask_as(
            &player(number),
            LeagueRegisterRequest {
                join_code: None,
                player_meta,
            },
        );
    }
    for number in 1..=5 {
        desk.register_referee(number, 10);
    }
    let mut bodies = Vec::new();
    let mut keep = |message: &Message| {
        let longest = Dialect::ALL
            .into_iter()
            .map(|dialect| write_call(dialect, i64::MAX, message));
        bodies.push(longest.max_by_key(Vec::len).unwrap());
    };
    desk.start();
    for report in [false, true] {
        if report {
            desk.report("R1M1", (3, 0));
            desk.pass(quick().standings_pause);
        }
        desk.answer_calls(|call| {
            if let Payload::Message(message) = &call.payload
                && matches!(
                    message.message_type().name(),
                    "ROUND_ANNOUNCEMENT" | "LEAGUE_STANDINGS_UPDATE"
                )
                && call.to.raw().contains(":81")
            {
                keep(message);
            }
            Answer::Received
        });
    }
    let asked = Ask::Query(Query::Standings.into());
    let to = ReplyTo::Id(Id::from(i64::MAX));
    for content in desk.ask_any(asked, true) {
        let HttpReply { body, .. } = HttpReply::one(write_reply(&to, Dialect::Standard, &content));
        bodies.push(body);
        assert!(matches!(content, Content::Message(_)));
    }
    bodies.sort();
    bodies.dedup();
    bodies
        .iter()
        .map(|body| serde_json::from_slice(body).unwrap())
        .collect()
}

/// Whether there is one of our own keys in a list below.
fn has_additions(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| match item {
            Value::Object(fields) => {
                ADDITIONS.iter().any(|key| fields.contains_key(*key)) || has_additions(item)
            }
            other => has_additions(other),
        }),
        Value::Object(fields) => {
            fields.contains_key("starts_at") || fields.values().any(has_additions)
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn our_additions_never_make_a_message_larger_than_10_kilobytes(
        players in 2_u32..=99,
        name in prop_oneof![Just("n".repeat(50)), Just("🏆".repeat(50)), Just("\"".repeat(50)), Just("Ada".to_owned())],
    ) {
        let bodies = bodies(players, &name);
        prop_assert!(bodies.len() >= 3, "an announcement, a table, an answer");
        for body in bodies {
            let bytes = body.to_string().len();
            prop_assert!(bytes <= MESSAGE_BYTES_MAX || !has_additions(&body), "{} bytes: {}", bytes, body);
        }
    }
}

#[test]
fn a_small_league_is_told_everything() {
    for body in bodies(4, "Ada") {
        assert!(has_additions(&body), "{body}");
    }
}

#[test]
fn a_league_of_sixty_is_told_the_fields_of_the_sources_alone_and_within_the_limit() {
    let bodies = bodies(60, "Player Number 01");
    for body in &bodies {
        assert!(
            body.to_string().len() <= MESSAGE_BYTES_MAX,
            "{} bytes",
            body.to_string().len()
        );
    }
    let answer = bodies
        .iter()
        .find(|body| body.pointer("/result/data").is_some())
        .unwrap();
    let row = &answer["result"]["standings"][0];
    for key in [
        "rank",
        "player_id",
        "display_name",
        "played",
        "wins",
        "draws",
        "losses",
        "points",
    ] {
        assert!(row.get(key).is_some(), "{key} in {row}");
    }
    let short = answer["result"]["data"]["standings"][59]
        .as_object()
        .unwrap();
    assert_eq!(
        short.keys().collect::<Vec<_>>(),
        ["player_id", "points", "rank"]
    );
}

#[test]
fn who_asks_for_detail_is_told_the_additions_however_large_the_table() {
    let mut desk = Desk::with(quick(), 60, 1);
    let query_params = QueryParams {
        detail: Some(true),
        ..QueryParams::default()
    };
    let by_method = Ask::Query(QueryRequest::new(Query::Standings, query_params.clone()));
    let query = LeagueQuery {
        league_id: league_id(),
        query_type: Query::Standings,
        query_params,
    };
    let query = Ask::Message(Ok(incoming(desk.message(&referee(1), query))));
    for asked in [query, by_method] {
        let Some(Content::Message(answer)) = desk.ask_any(asked, true).pop() else {
            panic!("no answer")
        };
        let answer = serde_json::to_value(answer).unwrap();
        assert!(
            answer["data"]["standings"][0]["rank_reason"].is_string(),
            "{answer}"
        );
        assert!(
            answer["standings"][0]["rank_reason"].is_string(),
            "{answer}"
        );
    }
}
