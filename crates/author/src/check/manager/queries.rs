//! LEAGUE_QUERY of every type, and queries that must be refused.

use super::members::Member;
use super::rules;
use super::suite::{Suite, json_text};
use crate::check::exchange::Exchange;
use crate::check::probe::Reply;
use crate::check::rule::Rule;
use matchday_core::protocol::Query;
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::protocol::json::Json;
use matchday_core::protocol::messages::{LeagueQueryResponse, StandingRow};
use matchday_core::protocol::{Body, ErrorCode};
use serde_json::{Value, json};
use std::sync::Arc;

const NOT_REGISTERED: &str = "not every agent was accepted, so no query could be sent";

impl Suite {
    pub(super) fn query(&self, from: &Member, kind: &str, params: Value) -> Value {
        let fields =
            json!({"league_id": self.league_id, "query_type": kind, "query_params": params});
        self.signed(
            "LEAGUE_QUERY",
            from,
            &format!("conv-{}", kind.to_ascii_lowercase()),
            fields,
        )
    }

    /// Sends a query and decodes the answer.
    async fn answered(
        &mut self,
        rule: &'static Rule,
        request: &Value,
    ) -> Option<(LeagueQueryResponse, Exchange)> {
        let reply = self.ask(request).await;
        let body = self.answer(rule, request, reply.as_ref())?;
        let exchange = reply?.exchange;
        match body {
            Body::LeagueQueryResponse(came) if came.success => {
                Some((Arc::unwrap_or_clone(came), exchange))
            }
            // A manager may refuse GET_SCHEDULE before the league starts.
            Body::LeagueQueryResponse(came)
                if came.query_type == Query::Schedule
                    && came
                        .error
                        .as_ref()
                        .is_some_and(|error| error.error_code == ErrorCode::InvalidState) =>
            {
                self.findings.pass(rule, "");
                None
            }
            body => {
                let sender = request.get("sender").and_then(Value::as_str);
                let asked = format!("asked by {}", sender.unwrap_or("nobody"));
                let note = match body {
                    Body::LeagueQueryResponse(came) => match &came.error {
                        Some(error) => format!(
                            "{asked} it answered without success: {} {}",
                            error.error_code.code(),
                            error.error_description.escaped()
                        ),
                        None => {
                            format!("{asked} it answered without success, and without a reason")
                        }
                    },
                    _ => format!("{asked} it answered with another message"),
                };
                self.findings.violated(rule, note, &exchange);
                None
            }
        }
    }

    pub(super) async fn queries(&mut self) {
        let (Some(player), Some(referee)) = (self.players.first(), self.referees.first()) else {
            return;
        };
        if !player.is_accepted() || !referee.is_accepted() {
            for rule in QUERIES {
                self.findings.skip(rule, NOT_REGISTERED);
            }
            return;
        }
        let about = json!({"player_id": player.id});
        let kinds: [(&'static Rule, &str, Value, &str); 4] = [
            (
                &rules::GET_STANDINGS,
                "GET_STANDINGS",
                json!({}),
                "/standings",
            ),
            (&rules::GET_SCHEDULE, "GET_SCHEDULE", json!({}), "/rounds"),
            (
                &rules::GET_NEXT_MATCH,
                "GET_NEXT_MATCH",
                about.clone(),
                "/next_match",
            ),
            (
                &rules::GET_PLAYER_STATS,
                "GET_PLAYER_STATS",
                about,
                "/stats/played",
            ),
        ];
        let requests: Vec<_> = kinds
            .into_iter()
            .map(|(rule, kind, params, wanted)| (rule, self.query(player, kind, params), wanted))
            .collect();
        let seen_by_player = self.query(player, "GET_PLAYERS", json!({}));
        let seen_by_referee = self.query(referee, "GET_PLAYERS", json!({}));
        for (rule, request, wanted) in requests {
            let Some((came, exchange)) = self.answered(rule, &request).await else {
                continue;
            };
            let data = Value::Object(came.data.unwrap_or_default());
            match data.pointer(wanted) {
                Some(_) => self.findings.pass(rule, ""),
                None => {
                    let note = format!(
                        "data has no {}",
                        wanted.trim_start_matches('/').replace('/', ".")
                    );
                    self.findings.violated(rule, note, &exchange);
                }
            }
        }
        self.listing(&seen_by_player, false).await;
        self.listing(&seen_by_referee, true).await;
    }

    /// GET_PLAYERS must show endpoints to referees, and not to players.
    async fn listing(&mut self, request: &Value, with_endpoints: bool) {
        let rule = &rules::GET_PLAYERS;
        let Some((came, exchange)) = self.answered(rule, request).await else {
            return;
        };
        let data = Value::Object(came.data.unwrap_or_default());
        let listed = data
            .get("players")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let names = |entry: &Value| {
            entry
                .get("player_id")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let missing: Vec<_> = self
            .players
            .iter()
            .filter(|player| {
                !listed
                    .iter()
                    .any(|entry| names(entry).as_ref() == Some(&player.id))
            })
            .map(|player| player.id.clone())
            .collect();
        let shown_endpoints = listed
            .iter()
            .filter(|entry| entry.get("contact_endpoint").is_some_and(Value::is_string))
            .count();
        let note = match (missing.is_empty(), shown_endpoints) {
            (false, _) => format!("not listed: {}", missing.join(", ")),
            (true, shown_endpoints) if with_endpoints && shown_endpoints < listed.len() => {
                "a referee does not receive the endpoints of the players".to_owned()
            }
            (true, shown_endpoints) if !with_endpoints && shown_endpoints > 0 => {
                "a player receives the endpoints of the others".to_owned()
            }
            _ => return self.findings.pass(rule, ""),
        };
        self.findings.violated(rule, note, &exchange);
    }

    pub(super) async fn bad_queries(&mut self) {
        let (Some(player), Some(other)) = (self.players.first(), self.players.get(1)) else {
            return;
        };
        let about_nobody = self.query(player, "GET_PLAYER_STATS", json!({"player_id": "P98"}));
        let about_none = self.query(player, "GET_PLAYER_STATS", json!({"player_id": player.id}));
        let plain = self.query(player, "GET_STANDINGS", json!({}));
        let others = other.token_json();
        let reply = self.ask(&about_nobody).await;
        self.refused(
            &rules::QUERY_UNKNOWN_PLAYER,
            "a question about P98",
            "E005",
            reply.as_ref(),
        );
        let reply = self
            .ask_altered(&about_none, &|fields| {
                fields.insert("query_params".to_owned(), json!({}));
            })
            .await;
        if reply.as_ref().is_some_and(is_success) {
            self.findings.pass(&rules::QUERY_NO_PLAYER, "")
        } else {
            self.refused(
                &rules::QUERY_NO_PLAYER,
                "GET_PLAYER_STATS of nobody",
                "E003",
                reply.as_ref(),
            );
        }
        let cases = [
            (
                &rules::QUERY_TYPE,
                "query_type",
                json!("GET_WEATHER"),
                "E002",
            ),
            (&rules::QUERY_NO_TOKEN, "auth_token", Value::Null, "E011"),
            (&rules::QUERY_FALSE_TOKEN, "auth_token", others, "E012"),
            (
                &rules::QUERY_STRANGER,
                "sender",
                json!("player:P98"),
                "E005",
            ),
            (
                &rules::QUERY_STRANGER,
                "sender",
                json!("referee:REF98"),
                "E013",
            ),
        ];
        for (rule, name, value, code) in cases {
            let alter = |fields: &mut serde_json::Map<String, Value>| {
                fields.insert(name.to_owned(), value.clone());
            };
            let reply = self.ask_altered(&plain, &alter).await;
            let what = match name {
                "auth_token" if value.is_null() => "a query without a token".to_owned(),
                "auth_token" => "a query with another player's token".to_owned(),
                _ => format!("a query with {name} {}", json_text(Some(&value))),
            };
            self.refused(rule, &what, code, reply.as_ref());
        }
    }

    /// The standings, as a player queries them.
    pub(super) async fn query_standings(&mut self) -> Option<(Vec<StandingRow>, Exchange)> {
        let request = self.query(self.players.first()?, "GET_STANDINGS", json!({}));
        let (came, exchange) = self.answered(&rules::GET_STANDINGS, &request).await?;
        let rows = came
            .standings
            .map(|rows| rows.to_vec())
            .or_else(|| serde_json::from_value(came.data?.get("standings")?.clone()).ok());
        Some((rows?, exchange))
    }
}

static QUERIES: [&Rule; 11] = [
    &rules::GET_STANDINGS,
    &rules::GET_SCHEDULE,
    &rules::GET_NEXT_MATCH,
    &rules::GET_PLAYER_STATS,
    &rules::GET_PLAYERS,
    &rules::QUERY_UNKNOWN_PLAYER,
    &rules::QUERY_TYPE,
    &rules::QUERY_NO_PLAYER,
    &rules::QUERY_NO_TOKEN,
    &rules::QUERY_FALSE_TOKEN,
    &rules::QUERY_STRANGER,
];

fn is_success(reply: &Reply) -> bool {
    let Some(WireAnswer::Message(message)) = &reply.wire else {
        return false;
    };
    message.get("success").and_then(Json::as_bool) == Some(true)
}
