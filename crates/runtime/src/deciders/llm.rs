//! A language model as decider: one call a turn to a server with the OpenAI or the Anthropic API. The key is sent to that server
//! only.

use super::llm_budget::LlmBudget;
use super::parse_move::{excerpt, parse_lenient};
use crate::Decider;
use crate::decider::{Decided, Deciding};
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use matchday_core::agent::ExternalResult;
use matchday_core::game::past::PastGame;
use matchday_core::game::turn::TurnSheet;
use matchday_net::client::{CallError, CallResponse, Client};
use serde_json::{Value, json};
use std::fmt::{self, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A model's answer is short. What is longer than this is something else.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// How much a model may say, where the interface asks for a limit.
const TOKENS_MAX: u32 = 1024;
/// How many of the last games are told to it, with the opponent and altogether.
const GAMES_SHOWN_MAX: usize = 20;
/// A server that is busy may be free a little later: how often it is asked, and the first pause, which doubles.
const TRIES_MAX: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Which interface a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `POST /v1/chat/completions`
    OpenAi,
    /// `POST /v1/messages`
    Anthropic,
}

/// The API key of a server. Its `Debug` does not show it.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(set)")
    }
}

/// A model on a server.
#[derive(Debug, Clone)]
pub struct Llm {
    client: Client,
    url: String,
    model: String,
    api: Api,
    key: Option<Key>,
    budget: Arc<LlmBudget>,
}

/// A failed call.
struct LlmError {
    why: String,
    /// Whether a retry may help.
    retryable: bool,
}

impl Llm {
    /// `url` is the server's address, with or without the path of the interface.
    pub fn new(
        client: Client,
        url: &str,
        model: impl Into<String>,
        api: Api,
        key: Option<Key>,
    ) -> Self {
        let budget = Arc::default();
        Self {
            client,
            url: api.endpoint(url),
            model: model.into(),
            api,
            key,
            budget,
        }
    }

    #[must_use]
    pub fn with_budget(self, budget: Arc<LlmBudget>) -> Self {
        Self { budget, ..self }
    }

    async fn decide_turn(&self, turn: &TurnSheet) -> ExternalResult {
        let deadline = Instant::now() + Duration::from_millis(turn.time_left_ms);
        let body = self.api.request(&self.model, turn).to_string();
        let mut pause = FIRST_PAUSE;
        for left in (0..TRIES_MAX).rev() {
            self.budget.begin_call()?;
            match self.call(&body, deadline).await {
                Ok(reply) => return parse_lenient(&reply, &turn.options),
                Err(error)
                    if !error.retryable || left == 0 || Instant::now() + pause >= deadline =>
                {
                    return Err(error.why);
                }
                Err(_) => sleep(pause).await,
            }
            pause *= 2;
        }
        Err("the model's server was not asked".to_owned())
    }

    async fn call(&self, body: &str, deadline: Instant) -> Result<String, LlmError> {
        let headers = self.api.headers(self.key.as_ref());
        let body = body.to_owned().into();
        match self
            .client
            .post_with(&self.url, headers, body, deadline, ANSWER_BYTES_MAX)
            .await
        {
            Ok(CallResponse { status, body, .. }) => {
                let text = self.redact_key(&body);
                if status != 200 {
                    return Err(status_error(status, &text));
                }
                let (input_tokens, output_tokens) = self.api.tokens(&text);
                self.budget.count_tokens(input_tokens, output_tokens);
                self.api.reply(&text)
            }
            Err(error) => Err(LlmError {
                retryable: matches!(
                    error,
                    CallError::NoConnection(_)
                        | CallError::Closed(_)
                        | CallError::NoRoute(_)
                        | CallError::Local(_)
                ),
                why: format!("the model's server: {error}"),
            }),
        }
    }

    /// A server may echo the key: it is cut out of the response.
    fn redact_key(&self, said: &[u8]) -> String {
        let text = String::from_utf8_lossy(said).into_owned();
        match &self.key {
            Some(Key(key)) if !key.is_empty() => text.replace(key.as_str(), "(the key)"),
            _ => text,
        }
    }
}

impl Decider for Llm {
    fn decide(&self, turn: TurnSheet) -> Deciding {
        let llm = self.clone();
        Box::pin(async move {
            let decision = llm.decide_turn(&turn).await;
            Decided {
                usage: llm.budget.take_untold(),
                ..Decided::from(decision)
            }
        })
    }
}

fn status_error(status: u16, text: &str) -> LlmError {
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let said = body
        .pointer("/error/message")
        .or(body.get("error"))
        .and_then(Value::as_str);
    let said = said.map_or_else(String::new, |said| format!(": {}", excerpt(said)));
    let hint = match status {
        300..=399 => " (it is not followed: name the address it leads to with --llm-url)",
        401 | 403 => " (is MATCHDAY_LLM_API_KEY right?)",
        404 => " (are --llm-url, --llm-api and --llm-model right?)",
        _ => "",
    };
    LlmError {
        why: format!("the model's server answered HTTP {status}{said}{hint}"),
        retryable: status == 429 || status >= 500,
    }
}

impl Api {
    fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/messages",
        }
    }

    fn endpoint(self, url: &str) -> String {
        let url = url.trim().trim_end_matches('/');
        let path = self.path();
        if url.ends_with(path) {
            url.to_owned()
        } else if url.ends_with("/v1") {
            format!("{url}{path}")
        } else {
            format!("{url}/v1{path}")
        }
    }

    fn headers(self, key: Option<&Key>) -> Vec<(HeaderName, HeaderValue)> {
        let secret = |text: String| {
            let mut value = HeaderValue::from_str(&text).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        let key = key.and_then(|Key(key)| match self {
            Self::OpenAi => Some((AUTHORIZATION, secret(format!("Bearer {key}"))?)),
            Self::Anthropic => Some((HeaderName::from_static("x-api-key"), secret(key.clone())?)),
        });
        let version = (
            HeaderName::from_static("anthropic-version"),
            HeaderValue::from_static("2023-06-01"),
        );
        let version = (self == Self::Anthropic).then_some(version);
        key.into_iter().chain(version).collect()
    }

    fn request(self, model: &str, turn: &TurnSheet) -> Value {
        let rules = rules(turn);
        let question = question(turn);
        match self {
            Self::OpenAi => json!({
                "model": model,
                "messages": [
                    {"role": "system", "content": rules},
                    {"role": "user", "content": question},
                ],
            }),
            Self::Anthropic => json!({
                "model": model,
                "max_tokens": TOKENS_MAX,
                "system": rules,
                "messages": [{"role": "user", "content": question}],
            }),
        }
    }

    /// The tokens of the prompt and of the answer, as the server counts them; 0 where it does not.
    fn tokens(self, text: &str) -> (u64, u64) {
        let (input, output) = match self {
            Self::OpenAi => ("/usage/prompt_tokens", "/usage/completion_tokens"),
            Self::Anthropic => ("/usage/input_tokens", "/usage/output_tokens"),
        };
        let answer: Value = serde_json::from_str(text).unwrap_or_default();
        let count = |path: &str| answer.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        (count(input), count(output))
    }

    /// The text that the model wrote.
    fn reply(self, text: &str) -> Result<String, LlmError> {
        let permanent = |why: String| LlmError {
            why,
            retryable: false,
        };
        let answer: Value = serde_json::from_str(text).map_err(|_| {
            permanent(format!(
                "the model's server answered with {}, which is not JSON",
                excerpt(text)
            ))
        })?;
        let content = match self {
            Self::OpenAi => answer.pointer("/choices/0/message/content"),
            Self::Anthropic => answer.get("content"),
        };
        let text = match content {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts
                .iter()
                .filter_map(|part| part.get("text")?.as_str())
                .collect::<Vec<_>>()
                .join("\n"),
            _ => String::new(),
        };
        if text.trim().is_empty() {
            let shape = excerpt(&answer.to_string());
            return Err(permanent(format!(
                "the model's server answered without a text: {shape}"
            )));
        }
        Ok(text)
    }
}

/// The system prompt: the rules and the form of the answer.
fn rules(turn: &TurnSheet) -> String {
    let game = turn
        .rules
        .map_or_else(|| format!("The game is {}.", turn.game_type), str::to_owned);
    format!(
        "You are a player in a league of AI agents. {game}\n\nYou are shown one turn. Answer with one JSON object and \
         nothing else: {{\"move\": X}}, where X is one of the options exactly as it is written there. Do not explain."
    )
}

/// The user prompt: one turn.
fn question(turn: &TurnSheet) -> String {
    let TurnSheet {
        player_id,
        opponent_id,
        match_id,
        record,
        ..
    } = turn;
    let opponent = opponent_id.as_ref().map_or("unknown", |id| id.as_str());
    let mut text = format!(
        "Match {match_id}. You are {player_id}, your opponent is {opponent}. Your record: {} wins, {} draws, {} \
         losses.\n",
        record.wins, record.draws, record.losses
    );
    games(
        &mut text,
        "Your games with this opponent, oldest first",
        &turn.history,
    );
    games(
        &mut text,
        "Your last games with anyone, oldest first",
        &turn.recent,
    );
    if !turn.context.is_empty() {
        let _ = writeln!(
            text,
            "What the referee shows: {}",
            Value::Object(turn.context.clone())
        );
    }
    let _ = write!(text, "Options: {}", Value::Array(turn.options.clone()));
    text
}

fn games(text: &mut String, title: &str, games: &[PastGame]) {
    if games.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}:");
    for game in games
        .iter()
        .skip(games.len().saturating_sub(GAMES_SHOWN_MAX))
    {
        let opponent = game
            .opponent_id
            .as_ref()
            .map_or("unknown", |id| id.as_str());
        let _ = write!(
            text,
            "- {} against {opponent}: {:?}",
            game.match_id, game.outcome
        );
        if let (Some(own), Some(theirs), Some(drawn)) =
            (game.own_choice, game.opponent_choice, game.drawn_parity)
        {
            let _ = write!(
                text,
                "; you chose {own}, they chose {theirs}, the number was {drawn}"
            );
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_interface_is_added_where_it_is_missing() {
        for (url, endpoint) in [
            (
                "http://localhost:11434",
                "http://localhost:11434/v1/chat/completions",
            ),
            (
                "https://api.example.com/v1/",
                "https://api.example.com/v1/chat/completions",
            ),
            (
                "https://api.example.com/x/chat/completions",
                "https://api.example.com/x/chat/completions",
            ),
        ] {
            assert_eq!(Api::OpenAi.endpoint(url), endpoint);
        }
        assert_eq!(
            Api::Anthropic.endpoint("https://a.example"),
            "https://a.example/v1/messages"
        );
    }

    #[test]
    fn the_key_is_not_shown_by_debug_output() {
        let key = Some(Key::new("sk-very-secret"));
        let llm = Llm::new(Client::new(), "http://localhost:1", "m", Api::OpenAi, key);
        assert!(!format!("{llm:?}").contains("secret"));
        let headers = Api::OpenAi.headers(llm.key.as_ref());
        assert!(!format!("{headers:?}").contains("secret"));
        assert_eq!(
            llm.redact_key(b"bad key sk-very-secret"),
            "bad key (the key)"
        );
    }
}
