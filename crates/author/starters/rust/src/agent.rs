//! What the player knows, and what it says. Touches no network: that is in `main.rs`. What you will want to change is in
//! `strategy.rs`.

use crate::strategy::{self, Past, Turn};
use crate::tokens::{self, Direction};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

pub const GAME: &str = "even_odd";
const PARITY: &str = "choose_parity";
/// A referee waits 30 s for a choice. What the network and a busy machine need comes off that.
pub const THINKING: Duration = Duration::from_secs(10);

const FROM_REFEREE: [&str; 5] =
    ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_MOVE_CALL", "GAME_OVER", "GAME_ERROR"];
const FROM_MANAGER: [&str; 5] =
    ["ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_ERROR"];

type Strategy = dyn Fn(&Turn) -> Value + Send + Sync;

/// What LEAGUE_REGISTER_RESPONSE says.
#[derive(Debug, Clone, Deserialize)]
pub struct Identity {
    pub player_id: String,
    pub auth_token: String,
    #[serde(default)]
    pub league_id: String,
    /// Whether manager and referees prove who they are.
    #[serde(default)]
    pub match_tokens: bool,
}

/// A league message that is not answered, with the league's code for the reason.
struct Refusal {
    code: &'static str,
    name: &'static str,
    words: String,
}

/// A request that JSON-RPC itself does not allow.
pub struct RpcError {
    pub code: i32,
    pub words: String,
}

/// What must not be forgotten about a match.
struct Match {
    opponent_id: Mutex<String>,
    /// The player's share in the draw: nobody knows the number before it is sent.
    nonce: String,
    /// By what was asked.
    choices: Mutex<HashMap<String, Arc<OnceCell<Value>>>>,
}

impl Default for Match {
    fn default() -> Self {
        Self {
            opponent_id: Mutex::default(),
            nonce: hex::encode(rand::random::<[u8; 16]>()),
            choices: Mutex::default(),
        }
    }
}

/// A match is known by its league, too: a season has a league each night, and the first match of each is R1M1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct MatchKey {
    league_id: String,
    match_id: String,
}

#[derive(Default)]
struct Memory {
    identity: Option<Identity>,
    /// Matches whose referee cannot prove who it is.
    without_token: HashSet<MatchKey>,
    matches: HashMap<MatchKey, Arc<Match>>,
    over: HashSet<MatchKey>,
    history: Vec<Past>,
}

pub struct Agent {
    strategy: Arc<Strategy>,
    memory: Mutex<Memory>,
}

impl Agent {
    pub fn new(strategy: impl Fn(&Turn) -> Value + Send + Sync + 'static) -> Self {
        Self { strategy: Arc::new(strategy), memory: Mutex::default() }
    }

    pub fn registered(&self, identity: Identity) {
        self.memory().identity = Some(identity);
    }

    /// Answers a request: with a result, or with why there is none.
    pub async fn call(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let Value::Object(message) = params else {
            return Err(RpcError { code: -32602, words: "Invalid params: expected an object".into() });
        };
        if message.contains_key("message_type") {
            Ok(self.receive(message).await)
        } else if method == "ping" {
            Ok(json!({"status": "ok"}))
        } else {
            let words = format!("Method not found: {method}, and no league message came with it");
            Err(RpcError { code: -32601, words })
        }
    }

    async fn receive(&self, message: &Map<String, Value>) -> Value {
        let refusal = match self.answer(message).await {
            Ok(answer) => return answer,
            Err(refusal) => refusal,
        };
        let asked = message["message_type"].as_str().unwrap_or("UNKNOWN");
        eprintln!("refused {asked}: {} {}", refusal.code, refusal.words);
        let player_id = self.identity().map_or("unregistered".into(), |me| me.player_id);
        let conversation_id = text(message, "conversation_id").unwrap_or("conv-unknown");
        let mut said = envelope("LEAGUE_ERROR", &player_id, conversation_id);
        said["error_code"] = refusal.code.into();
        said["error_name"] = refusal.name.into();
        said["error_description"] = refusal.name.into();
        said["error_message"] = refusal.words.into();
        said["original_message_type"] = asked.into();
        said["retryable"] = false.into();
        said
    }

    async fn answer(&self, message: &Map<String, Value>) -> Result<Value, Refusal> {
        if message.get("protocol").and_then(Value::as_str) != Some("league.v2") {
            return Err(refusal("E018", "PROTOCOL_VERSION_MISMATCH", "protocol: expected league.v2"));
        }
        let kind = text(message, "message_type")?;
        if FROM_REFEREE.contains(&kind) {
            let me = self.trust_referee(message)?;
            return self.play(kind, message, &me).await;
        }
        if FROM_MANAGER.contains(&kind) {
            self.trust_manager(message)?;
        }
        match kind {
            "ROUND_ANNOUNCEMENT" => self.prepare(message),
            "LEAGUE_ERROR" => complain(message),
            _ => {}
        }
        Ok(received())
    }

    async fn play(&self, kind: &str, message: &Map<String, Value>, me: &Identity) -> Result<Value, Refusal> {
        let key = self.key(message)?;
        match kind {
            "GAME_INVITATION" => {
                let opponent_id = message.get("opponent_id").and_then(Value::as_str).unwrap_or_default();
                *lock(&self.match_(&key).opponent_id) = opponent_id.into();
                let mut said = reply(me, message, &key, "GAME_JOIN_ACK")?;
                said["arrival_timestamp"] = now().into();
                said["accept"] = (message.get("game_type") == Some(&GAME.into())).into();
                Ok(said)
            }
            "CHOOSE_PARITY_CALL" => {
                let options = vec!["even".into(), "odd".into()];
                let asked = json!({"move_type": PARITY, "context": message.get("context")});
                let parity = self.choice(&key, message, &asked, options).await;
                let mut said = reply(me, message, &key, "CHOOSE_PARITY_RESPONSE")?;
                said["parity_choice"] = parity;
                said["nonce"] = self.match_(&key).nonce.clone().into();
                Ok(said)
            }
            // A turn of any game: one of the legal moves. A referee may ask for even or odd in this way, too.
            "GAME_MOVE_CALL" => {
                let asked = message.get("move_request").unwrap_or(&Value::Null);
                let options = asked["valid_options"].as_array().cloned();
                let Some(options) = options.filter(|options| !options.is_empty()) else {
                    let words = "move_request.valid_options: expected the legal moves";
                    return Err(refusal("E003", "MISSING_REQUIRED_FIELD", words));
                };
                let choice = self.choice(&key, message, asked, options).await;
                let mut said = reply(me, message, &key, "GAME_MOVE_RESPONSE")?;
                said["game_type"] = GAME.into();
                said["move_data"] = json!({"move_type": asked["move_type"], "choice": choice});
                said["nonce"] = self.match_(&key).nonce.clone().into();
                Ok(said)
            }
            "GAME_OVER" => {
                self.learn(key, message, &me.player_id);
                Ok(received())
            }
            _ => {
                complain(message);
                Ok(received())
            }
        }
    }

    fn learn(&self, key: MatchKey, over: &Map<String, Value>, me: &str) {
        let result = over.get("game_result").unwrap_or(&Value::Null);
        let choices = result["choices"].as_object();
        let mut others = choices.into_iter().flat_map(Map::keys).filter(|id| *id != me);
        let opponent_id =
            others.next().cloned().unwrap_or_else(|| lock(&self.match_(&key).opponent_id).clone());
        let chosen = |id: &str| Some(result["choices"].get(id)?.as_str()?.to_owned());
        let past = Past {
            match_id: key.match_id.clone(),
            mine: chosen(me),
            theirs: chosen(&opponent_id),
            number: result["drawn_number"].as_i64(),
            opponent_id,
        };
        let mut memory = self.memory();
        let why = over.get("reason").or(result.get("reason")).and_then(Value::as_str);
        eprintln!("{} is over: {}", key.match_id, why.unwrap_or("no reason"));
        if memory.over.insert(key) {
            memory.history.push(past);
        }
    }

    fn prepare(&self, announcement: &Map<String, Value>) {
        let matches = announcement.get("matches").and_then(Value::as_array).into_iter().flatten();
        let without = matches.filter(|one| one["match_tokens"] == false);
        let league_id = self.league(announcement);
        let ids = without.filter_map(|one| one["match_id"].as_str().map(str::to_owned));
        let keys = ids.map(|match_id| MatchKey { league_id: league_id.clone(), match_id });
        self.memory().without_token.extend(keys);
    }

    /// The same choice whenever the same is asked: the first answer may have been lost.
    async fn choice(
        &self,
        key: &MatchKey,
        message: &Map<String, Value>,
        asked: &Value,
        options: Vec<Value>,
    ) -> Value {
        let known = self.match_(key);
        let question = if asked["move_type"] == PARITY { PARITY.to_owned() } else { asked.to_string() };
        let cell = Arc::clone(lock(&known.choices).entry(question).or_default());
        let make = async {
            let context = asked["context"].as_object().cloned().unwrap_or_default();
            let opponent_id = context.get("opponent_id").and_then(Value::as_str);
            let round_id = context.get("round_id").or_else(|| message.get("round_id"));
            let turn = Turn {
                match_id: key.match_id.clone(),
                opponent_id: opponent_id.map_or_else(|| lock(&known.opponent_id).clone(), Into::into),
                round_id: round_id.and_then(Value::as_i64),
                history: self.memory().history.clone(),
                options,
                context,
            };
            self.decide(turn).await
        };
        cell.get_or_init(|| make).await.clone()
    }

    async fn decide(&self, turn: Turn) -> Value {
        let strategy = Arc::clone(&self.strategy);
        let asked = turn.clone();
        let thinking = tokio::task::spawn_blocking(move || strategy(&asked));
        let why = match tokio::time::timeout(THINKING, thinking).await {
            Ok(Ok(choice)) if turn.options.contains(&choice) => return choice,
            Ok(Ok(choice)) => format!("returned {choice}, which is no legal move"),
            Ok(Err(panic)) => format!("failed: {panic}"),
            Err(_) => format!("took longer than {THINKING:?}"),
        };
        eprintln!("{}: a random move instead of the strategy's, which {why}", turn.match_id);
        strategy::by_chance(&turn.options)
    }

    fn trust_referee(&self, message: &Map<String, Value>) -> Result<Identity, Refusal> {
        let key = self.key(message)?;
        let conversation_id = text(message, "conversation_id")?;
        let Some(me) = self.identity() else {
            return Err(refusal("E008", "INVALID_STATE", "this player is not registered yet"));
        };
        if !text(message, "sender")?.starts_with("referee:") {
            return Err(refusal("E012", "AUTH_TOKEN_INVALID", "only a referee may send this"));
        }
        if me.match_tokens && !self.memory().without_token.contains(&key) {
            expect(message, &token(&me, &key, conversation_id, Direction::RefereeToPlayer))?;
        }
        Ok(me)
    }

    fn trust_manager(&self, message: &Map<String, Value>) -> Result<(), Refusal> {
        let Some(mut me) = self.identity().filter(|me| me.match_tokens) else {
            return Ok(());
        };
        me.league_id = self.league(message);
        expect(message, &tokens::notice_token(&me.auth_token, &me.league_id))?;
        self.registered(me);
        Ok(())
    }

    /// The league that a message is about. Who does not say it means the one that spoke last.
    fn league(&self, message: &Map<String, Value>) -> String {
        let named = message.get("league_id").and_then(Value::as_str).map(str::to_owned);
        named.or_else(|| Some(self.identity()?.league_id)).unwrap_or_default()
    }

    fn key(&self, message: &Map<String, Value>) -> Result<MatchKey, Refusal> {
        let match_id = text(message, "match_id")?.to_owned();
        Ok(MatchKey { league_id: self.league(message), match_id })
    }

    fn identity(&self) -> Option<Identity> {
        self.memory().identity.clone()
    }

    fn match_(&self, key: &MatchKey) -> Arc<Match> {
        Arc::clone(self.memory().matches.entry(key.clone()).or_default())
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }
}

pub fn envelope(message_type: &str, player_id: &str, conversation_id: &str) -> Value {
    json!({
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": format!("player:{player_id}"),
        "timestamp": now(),
        "conversation_id": conversation_id,
    })
}

fn reply(
    me: &Identity,
    asked: &Map<String, Value>,
    key: &MatchKey,
    message_type: &str,
) -> Result<Value, Refusal> {
    let conversation_id = text(asked, "conversation_id")?;
    let mut said = envelope(message_type, &me.player_id, conversation_id);
    let of_match = || token(me, key, conversation_id, Direction::PlayerToReferee);
    said["auth_token"] = if me.match_tokens { of_match() } else { me.auth_token.clone() }.into();
    said["match_id"] = key.match_id.clone().into();
    said["player_id"] = me.player_id.clone().into();
    Ok(said)
}

fn received() -> Value {
    json!({"status": "received"})
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn token(me: &Identity, key: &MatchKey, conversation_id: &str, direction: Direction) -> String {
    tokens::match_token(&me.auth_token, &key.league_id, &key.match_id, conversation_id, direction)
}

fn text<'a>(message: &'a Map<String, Value>, field: &str) -> Result<&'a str, Refusal> {
    match message.get(field) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) => {
            let words = format!("{field}: expected a text, got nothing");
            Err(refusal("E003", "MISSING_REQUIRED_FIELD", words))
        }
        Some(_) => Err(refusal("E002", "INVALID_MESSAGE_FORMAT", format!("{field}: expected a text"))),
    }
}

fn expect(message: &Map<String, Value>, token: &str) -> Result<(), Refusal> {
    match message.get("auth_token").and_then(Value::as_str).unwrap_or_default() {
        "" => {
            let words = "auth_token: expected the token for this message, got none";
            Err(refusal("E011", "AUTH_TOKEN_MISSING", words))
        }
        shown if tokens::same(shown, token) => Ok(()),
        _ => {
            let words = "auth_token: wrong token for this message";
            Err(refusal("E012", "AUTH_TOKEN_INVALID", words))
        }
    }
}

fn complain(message: &Map<String, Value>) {
    let field = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    eprintln!("{} {}: {}", field("message_type"), field("error_code"), field("error_message"));
}

fn refusal(code: &'static str, name: &'static str, words: impl Into<String>) -> Refusal {
    Refusal { code, name, words: words.into() }
}

/// What was written stays whole even if a thread panicked while it held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
