//! The league that a referee believes to be in: its manager, the matches it is given, and their players.

use super::cast::{self, Deed, Door, Log, Part, Script, Seen, Side};
use crate::check::probe::{Probe, Reply};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::{Conformance, Limits, Reading, decode};
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{Attempt, LeagueId, MatchId, Message, Token};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const LOOK_EVERY: Duration = Duration::from_millis(20);
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
pub(super) const LEAGUE: &str = "league_check";
pub(super) const REFEREE: &str = "REF01";

/// How a player's part departs from the right answer: the kind of message, how many came before, the right answer.
pub(super) type Twist = fn(&str, usize, Value) -> Deed;

/// How the manager takes the so-many-th report of a match, from 0.
pub(super) type Desk = fn(usize) -> Taken;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Acknowledged,
    Failed,
    Refused,
}

#[derive(Debug)]
pub(super) struct Stage {
    pub(super) probe: Probe,
    pub(super) log: Log,
    /// The referee's own token, which the manager gave it.
    pub(super) token: Token,
    pub(super) desks: Arc<Mutex<BTreeMap<String, Desk>>>,
    pub(super) endpoint: String,
    rounds: AtomicU32,
    seed: Mutex<Entropy>,
}

/// One match that the referee is given.
#[derive(Debug)]
pub(super) struct Game {
    pub(super) round_id: u32,
    pub(super) match_id: String,
    pub(super) conversation_id: String,
    pub(super) choices: [&'static str; 2],
    tokens: [Token; 2],
    doors: [Option<Door>; 2],
}

pub(super) const PLAYERS: [&str; 2] = ["P01", "P02"];

impl Stage {
    pub(super) fn new(probe: Probe, log: Log, token: Token, endpoint: String, entropy: Entropy) -> Self {
        let desks = Arc::default();
        Self { probe, log, token, desks, endpoint, rounds: AtomicU32::new(0), seed: Mutex::new(entropy) }
    }

    pub(super) fn now(&self) -> Value {
        json!(self.probe.clock.now())
    }

    /// A match with players that answer in these ways; None for one that nobody can reach.
    pub(super) async fn game(
        &self,
        choices: [&'static str; 2],
        twists: [Option<Twist>; 2],
        desk: Desk,
    ) -> anyhow::Result<Game> {
        let round_id = self.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        let match_id = format!("R{round_id}M1");
        let conversation_id = format!("conv-r{round_id}m1-001");
        self.desks.lock().unwrap_or_else(PoisonError::into_inner).insert(match_id.clone(), desk);
        let tokens = {
            let mut seed = self.seed.lock().unwrap_or_else(PoisonError::into_inner);
            [Token::issue("P01", &mut seed), Token::issue("P02", &mut seed)]
        };
        let mut doors = [None, None];
        for ((side, door), twist) in [(Side::A, 0), (Side::B, 1)].into_iter().zip(twists) {
            let (Some(twist), Some(token)) = (twist, tokens.get(door)) else { continue };
            let script = player(side, choices, answer_token(token, &match_id), twist);
            let opened =
                cast::open(Part::Player(match_id.clone(), side), Arc::clone(&self.log), script).await?;
            if let Some(place) = doors.get_mut(door) {
                *place = Some(opened);
            }
        }
        Ok(Game { round_id, match_id, conversation_id, choices, tokens, doors })
    }

    pub(super) fn announcement(&self, games: &[&Game]) -> Value {
        let notice = self.token.hash().notice_token(&LeagueId::new(LEAGUE));
        let round_id = games.first().map_or(1, |game| game.round_id);
        json!({
            "protocol": "league.v2", "message_type": "ROUND_ANNOUNCEMENT", "sender": "league_manager",
            "timestamp": self.now(), "conversation_id": format!("conv-round-{round_id}-announce"),
            "auth_token": notice.reveal(), "league_id": LEAGUE, "round_id": round_id,
            "matches": games.iter().map(|game| self.announced(game)).collect::<Vec<_>>(),
        })
    }

    fn announced(&self, game: &Game) -> Value {
        let mut one = json!({
            "match_id": game.match_id, "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P02",
            "referee_id": REFEREE, "referee_endpoint": self.endpoint, "conversation_id": game.conversation_id,
            "match_tokens": true,
        });
        let Some(one_map) = one.as_object_mut() else { return one };
        for ((side, token), door) in ["A", "B"].into_iter().zip(&game.tokens).zip(&game.doors) {
            let endpoint = match door {
                Some(door) => door.endpoint.raw().to_owned(),
                // Nobody listens at the first port of a machine.
                None => "http://127.0.0.1:1/mcp".to_owned(),
            };
            let league = LeagueId::new(LEAGUE);
            let id = MatchId::new(&game.match_id);
            let to = token.hash().match_token(&league, &id, Attempt::FIRST, Direction::RefereeToPlayer);
            let from = answer_token(token, &game.match_id);
            one_map.insert(format!("player_{side}_endpoint"), json!(endpoint));
            one_map.insert(format!("player_{side}_record"), json!({"wins": 0, "losses": 0, "draws": 0}));
            one_map.insert(format!("player_{side}_dialect"), json!("standard"));
            one_map.insert(
                format!("player_{side}_tokens"),
                json!({"to_player": to.reveal(), "from_player": from.reveal()}),
            );
        }
        one
    }

    /// The news that the first round is over.
    pub(super) fn round_completed(&self) -> Option<Message> {
        let notice = self.token.hash().notice_token(&LeagueId::new(LEAGUE));
        self.typed(&json!({
            "protocol": "league.v2", "message_type": "ROUND_COMPLETED", "sender": "league_manager",
            "timestamp": self.now(), "conversation_id": "conv-round-1-complete", "auth_token": notice.reveal(),
            "league_id": LEAGUE, "round_id": 1, "matches_completed": 1, "matches_played": 1, "next_round_id": 2,
            "summary": {"total_matches": 1, "wins": 1, "draws": 0, "technical_losses": 0},
        }))
    }

    fn typed(&self, letter: &Value) -> Option<Message> {
        let now = self.probe.clock.now();
        let reading = Reading {
            conformance: Conformance::Lenient,
            now,
            limits: Limits::AGENT,
            exchange: None,
            about: None,
        };
        let incoming = decode(letter, &reading).ok()?;
        Some(Message { envelope: incoming.envelope, body: incoming.body.ok()? })
    }

    /// Sends a message in the dialect that the referee understands.
    pub(super) async fn tell(&self, letter: &Value) -> Option<Reply> {
        let message = self.typed(letter)?;
        let whole = |fields: &mut Map<String, Value>| {
            if let Some(letter) = letter.as_object() {
                *fields = letter.clone();
            }
        };
        Some(self.probe.tell_altered(&message, ANSWERS_WITHIN, &whole).await)
    }

    /// All that was said in a match, and reported of it.
    pub(super) fn seen(&self, match_id: &str) -> Vec<Seen> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter().filter(|seen| seen.text("match_id") == Some(match_id)).cloned().collect()
    }

    pub(super) async fn until(
        &self,
        match_id: &str,
        within: Duration,
        enough: impl Fn(&[Seen]) -> bool,
    ) -> bool {
        let deadline = Instant::now() + self.probe.longest(within);
        loop {
            if enough(&self.seen(match_id)) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// A choice as a message of its own, in the name of player A, with this token.
    pub(super) fn separate_choice(&self, game: &Game, choice: &str, token: &str) -> Value {
        json!({
            "protocol": "league.v2", "message_type": "CHOOSE_PARITY_RESPONSE", "sender": "player:P01",
            "timestamp": self.now(), "conversation_id": game.conversation_id, "auth_token": token,
            "match_id": game.match_id, "player_id": "P01", "parity_choice": choice,
        })
    }
}

impl Game {
    pub(super) fn answer_token(&self) -> String {
        self.tokens
            .first()
            .map(|token| answer_token(token, &self.match_id).reveal().to_owned())
            .unwrap_or_default()
    }
}

fn answer_token(token: &Token, match_id: &str) -> Token {
    let direction = Direction::PlayerToReferee;
    token.hash().match_token(&LeagueId::new(LEAGUE), &MatchId::new(match_id), Attempt::FIRST, direction)
}

/// A player that does everything right, but for its twist.
fn player(side: Side, choices: [&'static str; 2], token: Token, twist: Twist) -> Arc<Script> {
    let ([a, b], [first, second]) = (PLAYERS, choices);
    let (id, choice) = if side == Side::A { (a, first) } else { (b, second) };
    Arc::new(move |message: &Value, before: usize| {
        let kind = message.get("message_type").and_then(Value::as_str).unwrap_or_default();
        let stamp = message.get("timestamp").cloned().unwrap_or(json!("2026-03-02T09:00:00Z"));
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
            _ => return Deed::Received,
        };
        if let (Some(good), Value::Object(fields)) = (good.as_object_mut(), fields) {
            good.extend(fields);
        }
        twist(kind, before, good)
    })
}
