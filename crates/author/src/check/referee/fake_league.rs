//! The fake league for a referee: its matches, their scripted players, and the messages of the manager.

use super::registration::ReportPolicies;
use super::scripted_agents::{
    self, Log, ReceivedMessage, Recipient, Script, ScriptedReply, ScriptedServer, Side, kind_of,
};
use crate::check::probe::{Probe, Reply};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::{Conformance, Limits, Reading, decode};
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{Attempt, LeagueId, MatchId, Message, Token};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A referee that takes a match in some form invites its players within this time.
const BEGUN_WITHIN: Duration = Duration::from_secs(4);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
pub(super) const LEAGUE: &str = "league_check";
pub(super) const REFEREE: &str = "REF01";

/// Replaces the correct reply of a player, given the message type and the number of earlier messages of that type.
pub(super) type Behaviour = fn(&str, usize, Value) -> ScriptedReply;

/// How the manager answers a report, given the number of earlier reports of the match.
pub(super) type ReportPolicy = fn(usize) -> ReportReply;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportReply {
    Acknowledged,
    Failed,
    Refused,
}

#[derive(Debug)]
pub(super) struct FakeLeague {
    pub(super) probe: Probe,
    pub(super) log: Log,
    /// The token that the fake manager issued to the referee.
    pub(super) token: Token,
    report_policies: ReportPolicies,
    pub(super) endpoint: String,
    /// How the referee is given its matches.
    form: Mutex<Form>,
    rounds: AtomicU32,
    seed: Mutex<Entropy>,
}

/// The message by which a referee is given a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Announcement,
    Assignment,
    StartMatch,
}

#[derive(Debug)]
pub(super) struct FakeMatch {
    pub(super) round_id: u32,
    pub(super) match_id: String,
    pub(super) conversation_id: String,
    pub(super) choices: [&'static str; 2],
    tokens: [Token; 2],
    servers: [Option<ScriptedServer>; 2],
}

pub(super) const PLAYERS: [&str; 2] = ["P01", "P02"];

impl FakeLeague {
    pub(super) fn new(
        probe: Probe,
        log: Log,
        token: Token,
        report_policies: ReportPolicies,
        endpoint: String,
        entropy: Entropy,
    ) -> Self {
        Self {
            probe,
            log,
            token,
            report_policies,
            endpoint,
            form: Mutex::new(Form::Announcement),
            rounds: AtomicU32::new(0),
            seed: Mutex::new(entropy),
        }
    }

    pub(super) fn now(&self) -> Value {
        json!(self.probe.clock.now())
    }

    /// A match with players of these behaviours; `None` for a player that cannot be reached.
    pub(super) async fn game(
        &self,
        choices: [&'static str; 2],
        behaviours: [Option<Behaviour>; 2],
        report_policy: ReportPolicy,
    ) -> anyhow::Result<FakeMatch> {
        let round_id = self.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        let match_id = format!("R{round_id}M1");
        let conversation_id = format!("conv-r{round_id}m1-001");
        self.report_policies
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(match_id.clone(), report_policy);
        let tokens = {
            let mut seed = self.seed.lock().unwrap_or_else(PoisonError::into_inner);
            [
                Token::issue("P01", &mut seed),
                Token::issue("P02", &mut seed),
            ]
        };
        let mut servers = [None, None];
        for ((side, server), behaviour) in [(Side::A, 0), (Side::B, 1)].into_iter().zip(behaviours)
        {
            let (Some(behaviour), Some(token)) = (behaviour, tokens.get(server)) else {
                continue;
            };
            let script = player(side, choices, answer_token(token, &match_id), behaviour);
            let opened = scripted_agents::open(
                Recipient::Player(match_id.clone(), side),
                Arc::clone(&self.log),
                script,
            )
            .await?;
            if let Some(place) = servers.get_mut(server) {
                *place = Some(opened);
            }
        }
        Ok(FakeMatch {
            round_id,
            match_id,
            conversation_id,
            choices,
            tokens,
            servers,
        })
    }

    pub(super) fn announcement(&self, games: &[&FakeMatch]) -> Value {
        let notice = self.token.hash().notice_token(&LeagueId::new(LEAGUE));
        let round_id = games.first().map_or(1, |game| game.round_id);
        json!({
            "protocol": "league.v2", "message_type": "ROUND_ANNOUNCEMENT", "sender": "league_manager",
            "timestamp": self.now(), "conversation_id": format!("conv-round-{round_id}-announce"),
            "auth_token": notice.reveal(), "league_id": LEAGUE, "round_id": round_id,
            "matches": games.iter().map(|game| self.announced(game)).collect::<Vec<_>>(),
        })
    }

    fn announced(&self, game: &FakeMatch) -> Value {
        let mut one = json!({
            "match_id": game.match_id, "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P02",
            "referee_id": REFEREE, "referee_endpoint": self.endpoint, "conversation_id": game.conversation_id,
            "match_tokens": true,
        });
        let Some(one_map) = one.as_object_mut() else {
            return one;
        };
        for ((side, token), server) in ["A", "B"].into_iter().zip(&game.tokens).zip(&game.servers) {
            let endpoint = match server {
                Some(server) => server.endpoint.raw().to_owned(),
                // No server listens at port 1.
                None => "http://127.0.0.1:1/mcp".to_owned(),
            };
            let league = LeagueId::new(LEAGUE);
            let id = MatchId::new(&game.match_id);
            let to =
                token
                    .hash()
                    .match_token(&league, &id, Attempt::FIRST, Direction::RefereeToPlayer);
            let from = answer_token(token, &game.match_id);
            one_map.insert(format!("player_{side}_endpoint"), json!(endpoint));
            one_map.insert(
                format!("player_{side}_record"),
                json!({"wins": 0, "losses": 0, "draws": 0}),
            );
            one_map.insert(format!("player_{side}_dialect"), json!("standard"));
            one_map.insert(
                format!("player_{side}_tokens"),
                json!({"to_player": to.reveal(), "from_player": from.reveal()}),
            );
        }
        one
    }

    /// Gives the referee a match in the form that it is known to take.
    pub(super) async fn assign(&self, game: &FakeMatch) -> Option<Reply> {
        let form = *self.form.lock().unwrap_or_else(PoisonError::into_inner);
        self.assign_by(form, game).await
    }

    /// Gives the referee its first match: by ROUND_ANNOUNCEMENT, and if nothing comes of that, directly. Returns the reply
    /// to the announcement, and whether the match began.
    pub(super) async fn assign_first(&self, game: &FakeMatch) -> (Option<Reply>, bool) {
        let mut announced = None;
        for form in [Form::Announcement, Form::Assignment, Form::StartMatch] {
            let reply = self.assign_by(form, game).await;
            let begun = self
                .wait_until(&game.match_id, BEGUN_WITHIN, |received| {
                    !received.is_empty()
                })
                .await;
            if form == Form::Announcement {
                announced = reply;
            }
            if begun {
                *self.form.lock().unwrap_or_else(PoisonError::into_inner) = form;
                return (announced, true);
            }
        }
        (announced, false)
    }

    async fn assign_by(&self, form: Form, game: &FakeMatch) -> Option<Reply> {
        let announcement = self.announcement(&[game]);
        let kind = match form {
            Form::Announcement => return self.send_message(&announcement).await,
            Form::Assignment => "MATCH_ASSIGNMENT",
            Form::StartMatch => "START_MATCH",
        };
        let mut fields = announcement.as_object()?.clone();
        fields.remove("matches");
        fields.extend(self.announced(game).as_object()?.clone());
        for (side, others) in [
            ("A", ["player_a", "player1"]),
            ("B", ["player_b", "player2"]),
        ] {
            for (other, field) in others
                .into_iter()
                .flat_map(|other| [(other, "id"), (other, "endpoint")])
            {
                let value = fields
                    .get(&format!("player_{side}_{field}"))
                    .cloned()
                    .unwrap_or_default();
                fields.insert(format!("{other}_{field}"), value);
            }
        }
        fields.insert("message_type".to_owned(), json!(kind));
        let message = self.typed(&announcement)?;
        Some(
            self.probe
                .send_altered(&message, ANSWER_TIMEOUT, &|sent| *sent = fields.clone())
                .await,
        )
    }

    pub(super) fn round_completed(&self) -> Option<Message> {
        let notice = self.token.hash().notice_token(&LeagueId::new(LEAGUE));
        self.typed(&json!({
            "protocol": "league.v2", "message_type": "ROUND_COMPLETED", "sender": "league_manager",
            "timestamp": self.now(), "conversation_id": "conv-round-1-complete", "auth_token": notice.reveal(),
            "league_id": LEAGUE, "round_id": 1, "matches_completed": 1, "matches_played": 1, "next_round_id": 2,
            "summary": {"total_matches": 1, "wins": 1, "draws": 0, "technical_losses": 0},
        }))
    }

    fn typed(&self, request: &Value) -> Option<Message> {
        let now = self.probe.clock.now();
        let reading = Reading {
            conformance: Conformance::Lenient,
            now,
            limits: Limits::AGENT,
            exchange: None,
            about: None,
        };
        let incoming = decode(request, &reading).ok()?;
        Some(Message {
            envelope: incoming.envelope,
            body: incoming.body.ok()?,
        })
    }

    /// Sends a message in the dialect that the referee understands.
    pub(super) async fn send_message(&self, request: &Value) -> Option<Reply> {
        let message = self.typed(request)?;
        let whole = |fields: &mut Map<String, Value>| {
            if let Some(request) = request.as_object() {
                *fields = request.clone();
            }
        };
        Some(
            self.probe
                .send_altered(&message, ANSWER_TIMEOUT, &whole)
                .await,
        )
    }

    /// Everything received in a match, reports included.
    pub(super) fn received(&self, match_id: &str) -> Vec<ReceivedMessage> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter()
            .filter(|received| received.text("match_id") == Some(match_id))
            .cloned()
            .collect()
    }

    pub(super) async fn wait_until(
        &self,
        match_id: &str,
        within: Duration,
        enough: impl Fn(&[ReceivedMessage]) -> bool,
    ) -> bool {
        let deadline = Instant::now() + self.probe.timeout(within);
        loop {
            if enough(&self.received(match_id)) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    /// A choice of player A as a separate request, with this token.
    pub(super) fn separate_choice(&self, game: &FakeMatch, choice: &str, token: &str) -> Value {
        json!({
            "protocol": "league.v2", "message_type": "CHOOSE_PARITY_RESPONSE", "sender": "player:P01",
            "timestamp": self.now(), "conversation_id": game.conversation_id, "auth_token": token,
            "match_id": game.match_id, "player_id": "P01", "parity_choice": choice,
        })
    }
}

impl FakeMatch {
    pub(super) fn answer_token(&self) -> String {
        self.tokens
            .first()
            .map(|token| answer_token(token, &self.match_id).reveal().to_owned())
            .unwrap_or_default()
    }
}

fn answer_token(token: &Token, match_id: &str) -> Token {
    let direction = Direction::PlayerToReferee;
    token.hash().match_token(
        &LeagueId::new(LEAGUE),
        &MatchId::new(match_id),
        Attempt::FIRST,
        direction,
    )
}

/// A player that answers correctly, except for its behaviour.
fn player(
    side: Side,
    choices: [&'static str; 2],
    token: Token,
    behaviour: Behaviour,
) -> Arc<Script> {
    let ([a, b], [first, second]) = (PLAYERS, choices);
    let (id, choice) = if side == Side::A {
        (a, first)
    } else {
        (b, second)
    };
    Arc::new(move |message: &Value, before: usize| {
        let kind = kind_of(message);
        let kind = kind.as_str();
        let stamp = message
            .get("timestamp")
            .cloned()
            .unwrap_or(json!("2026-03-02T09:00:00Z"));
        let mut good = json!({
            "protocol": "league.v2", "sender": format!("player:{id}"), "timestamp": stamp,
            "conversation_id": message.get("conversation_id"), "auth_token": token.reveal(),
            "match_id": message.get("match_id"), "player_id": id,
        });
        let fields = match kind {
            "GAME_INVITATION" => {
                json!({"message_type": "GAME_JOIN_ACK", "arrival_timestamp": stamp, "accept": true})
            }
            "CHOOSE_PARITY_CALL" => {
                json!({"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": choice, "nonce": "check"})
            }
            "GAME_MOVE_CALL" => json!({
                "message_type": "GAME_MOVE_RESPONSE", "game_type": "even_odd", "nonce": "check",
                "move_data": {"move_type": "choose_parity", "choice": choice},
            }),
            _ => return ScriptedReply::Received,
        };
        if let (Some(good), Value::Object(fields)) = (good.as_object_mut(), fields) {
            good.extend(fields);
        }
        behaviour(kind, before, good)
    })
}
