//! A language model as decider: one call a turn to a server with the OpenAI or the Anthropic API. The key is sent to that server
//! only.

use super::llm_budget::LlmBudget;
use super::parse_move::{excerpt, parse_model_reply};
use crate::Decider;
use crate::decider::{Decided, Deciding};
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue, RETRY_AFTER};
use matchday_core::agent::ExternalResult;
use matchday_core::game::observation::{Observation, ObservationForm};
use matchday_core::game::turn::TurnSheet;
use matchday_net::client::{CallError, CallResponse, Client};
use serde_json::{Value, json};
use std::fmt;
use std::iter;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A model's answer is short. What is longer than this is something else.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// How much a model may say, where the interface asks for a limit.
const TOKENS_MAX: u32 = 1024;
/// The first pause for a server that is busy or broken and does not say when to come again. It doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// How often a model is asked again after an answer that is no move, unless it is said otherwise.
pub const RETRIES: u32 = 2;

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
    retries: u32,
    observation: ObservationForm,
}

/// A failed call.
struct LlmError {
    why: String,
    remedy: Remedy,
}

/// What may help after a failed call.
enum Remedy {
    Nothing,
    /// The server is busy or broken. It may have said for how long.
    Wait(Option<Duration>),
    /// The model said nothing.
    AskAgain,
}

/// Who said something to a model, or as the model.
#[derive(Clone, Copy)]
enum Role {
    User,
    Assistant,
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
            retries: RETRIES,
            observation: ObservationForm::Text,
        }
    }

    #[must_use]
    pub fn with_budget(self, budget: Arc<LlmBudget>) -> Self {
        Self { budget, ..self }
    }

    /// How often the model is asked again, and told what was wrong, after an answer that is no move.
    #[must_use]
    pub fn with_retries(self, retries: u32) -> Self {
        Self { retries, ..self }
    }

    /// The form in which the model is shown a turn.
    #[must_use]
    pub fn with_observation(self, observation: ObservationForm) -> Self {
        Self {
            observation,
            ..self
        }
    }

    /// The user prompt: one turn.
    fn question(&self, turn: &TurnSheet) -> String {
        let seconds_left = Duration::from_millis(turn.time_left_ms).as_secs_f64();
        Observation::of(turn, seconds_left).question(self.observation)
    }

    async fn decide_turn(&self, turn: &TurnSheet) -> ExternalResult {
        let deadline = Instant::now() + Duration::from_millis(turn.time_left_ms);
        let mut messages = vec![(Role::User, self.question(turn))];
        let mut pause = FIRST_PAUSE;
        let mut retries_left = self.retries;
        loop {
            self.budget.begin_call()?;
            let body = self.api.request(&self.model, &rules(turn), &messages);
            let why = match self.call(&body.to_string(), deadline).await {
                Ok(reply) => match parse_model_reply(&reply, &turn.options) {
                    Ok(choice) => return Ok(choice),
                    Err(why) => {
                        messages.push((Role::Assistant, reply));
                        why
                    }
                },
                Err(LlmError { why, remedy }) => match remedy {
                    Remedy::Nothing => return Err(why),
                    Remedy::AskAgain => why,
                    Remedy::Wait(said) => {
                        let wait = said.unwrap_or(pause);
                        if Instant::now() + wait >= deadline {
                            return Err(why);
                        }
                        sleep(wait).await;
                        pause *= 2;
                        continue;
                    }
                },
            };
            if retries_left == 0 || Instant::now() >= deadline {
                return Err(why);
            }
            retries_left -= 1;
            messages.push((Role::User, correction(&why, turn)));
        }
    }

    async fn call(&self, body: &str, deadline: Instant) -> Result<String, LlmError> {
        let headers = self.api.headers(self.key.as_ref());
        let body = body.to_owned().into();
        match self
            .client
            .post_with(&self.url, headers, body, deadline, ANSWER_BYTES_MAX)
            .await
        {
            Ok(CallResponse {
                status,
                headers,
                body,
                ..
            }) => {
                let text = self.redact_key(&body);
                if status != 200 {
                    return Err(status_error(status, retry_after(&headers), &text));
                }
                let (input_tokens, output_tokens) = self.api.tokens(&text);
                self.budget.count_tokens(input_tokens, output_tokens);
                self.api.reply(&text)
            }
            Err(error) => Err(LlmError {
                remedy: match error {
                    CallError::NoConnection(_)
                    | CallError::Closed(_)
                    | CallError::NoRoute(_)
                    | CallError::Local(_) => Remedy::Wait(None),
                    _ => Remedy::Nothing,
                },
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

/// The seconds after which the server wants to be asked again. The form with a date is not read: clocks differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

fn status_error(status: u16, retry_after: Option<Duration>, text: &str) -> LlmError {
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
        remedy: if status == 429 || status >= 500 {
            Remedy::Wait(retry_after)
        } else {
            Remedy::Nothing
        },
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

    fn request(self, model: &str, system: &str, messages: &[(Role, String)]) -> Value {
        let messages = messages.iter().map(|(role, content)| {
            let role = match role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({"role": role, "content": content})
        });
        match self {
            Self::OpenAi => {
                let system = json!({"role": "system", "content": system});
                let messages: Vec<_> = iter::once(system).chain(messages).collect();
                json!({"model": model, "messages": messages})
            }
            Self::Anthropic => json!({
                "model": model,
                "max_tokens": TOKENS_MAX,
                "system": system,
                "messages": messages.collect::<Vec<_>>(),
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
        let answer: Value = serde_json::from_str(text).map_err(|_| LlmError {
            why: format!(
                "the model's server answered with {}, which is not JSON",
                excerpt(text)
            ),
            remedy: Remedy::Nothing,
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
            return Err(LlmError {
                why: format!("the model's server answered without a text: {shape}"),
                remedy: Remedy::AskAgain,
            });
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

/// What a model is told after an answer that is no move.
fn correction(why: &str, turn: &TurnSheet) -> String {
    format!(
        "That is no move: {why}. Answer with one JSON object and nothing else: {{\"move\": X}}, where X is one of the options: {}",
        Value::Array(turn.options.clone())
    )
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
