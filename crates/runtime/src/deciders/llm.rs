//! A language model as decider: a turn is a short conversation with its server, which is recorded. The key is sent to that server
//! only.

pub use super::llm_api::{Api, Key, ModelSettings};
pub use matchday_store::llm_call::{LlmCall, Message, Role};

use super::llm_budget::LlmBudget;
use super::llm_gate::LlmGate;
use super::parse_move::{excerpt, parse_model_reply};
use crate::Decider;
use crate::decider::{Decided, Deciding, Failure, FailureKind};
use hyper::HeaderMap;
use hyper::header::RETRY_AFTER;
use matchday_core::game::observation::{Observation, ObservationForm};
use matchday_core::game::turn::TurnSheet;
use matchday_net::client::{CallError, CallResponse, Client};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A model's answer is short. What is longer than this is something else.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// The first pause for a server that is busy or broken and does not say when to come again. It doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// How much earlier than its agent a decider gives up: a call that the agent ends is neither counted nor stored.
const GIVES_UP_BEFORE_MS: u64 = 20;
/// How often a model is asked again after an answer that is no move, unless it is said otherwise.
pub const RETRIES: u32 = 2;

/// A model on a server.
#[derive(Debug, Clone)]
pub struct Llm {
    client: Client,
    url: String,
    model: String,
    api: Api,
    key: Option<Key>,
    settings: Arc<ModelSettings>,
    budget: Arc<LlmBudget>,
    gate: Option<Arc<LlmGate>>,
    retries: u32,
    observation: ObservationForm,
}

/// A turn for which a model was asked.
#[derive(Debug, PartialEq, Eq)]
pub struct ModelTurn {
    pub decision: Result<Value, Failure>,
    pub calls: Vec<LlmCall>,
}

/// Whether waiting for a free call is part of the time for a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Queueing {
    IsFree,
    TakesTime,
}

/// When a server that failed may be asked again.
enum Retry {
    Never,
    Soon,
    /// As the server says.
    After(Duration),
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
        Self {
            client,
            url: api.endpoint(url),
            model: model.into(),
            api,
            key,
            settings: Arc::default(),
            budget: Arc::default(),
            gate: None,
            retries: RETRIES,
            observation: ObservationForm::Text,
        }
    }

    #[must_use]
    pub fn with_settings(self, settings: ModelSettings) -> Self {
        Self {
            settings: Arc::new(settings),
            ..self
        }
    }

    #[must_use]
    pub fn with_budget(self, budget: Arc<LlmBudget>) -> Self {
        Self { budget, ..self }
    }

    #[must_use]
    pub fn with_gate(self, gate: Arc<LlmGate>) -> Self {
        Self {
            gate: Some(gate),
            ..self
        }
    }

    pub fn budget(&self) -> &Arc<LlmBudget> {
        &self.budget
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

    /// Asks until there is a move, the time for it is over, or asking again is of no use. Waiting for the gate takes nothing of
    /// the time.
    pub async fn ask(&self, turn: &TurnSheet) -> ModelTurn {
        self.converse(turn, Queueing::IsFree).await
    }

    async fn converse(&self, turn: &TurnSheet, queueing: Queueing) -> ModelTurn {
        let asked_at = Instant::now();
        let mut deadline = asked_at + Duration::from_millis(turn.time_left_ms);
        let mut prompt = self.opening(turn);
        let mut messages = Vec::new();
        let mut calls: Vec<LlmCall> = Vec::new();
        let mut pause = FIRST_PAUSE;
        let mut retries_left = self.retries;
        let decision = loop {
            let queued = Instant::now();
            let permit = match &self.gate {
                Some(gate) => gate.enter().await,
                None => None,
            };
            if queueing == Queueing::IsFree {
                deadline += queued.elapsed();
            }
            if let Err(why) = self.budget.begin_call() {
                break Err(FailureKind::NotAsked.because(why));
            }
            messages.extend(prompt.iter().cloned());
            let began = Instant::now();
            let (mut call, retry) = self.call(&messages, deadline).await;
            drop(permit);
            call.prompt = std::mem::take(&mut prompt);
            call.began_after = began - asked_at;
            call.latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let read = read_move(&call, &turn.options);
            call.failure = read.as_ref().err().map(|failure| failure.kind);
            let reply = call.reply.clone();
            calls.push(call);
            let failure = match read {
                Ok(made) => break Ok(made),
                Err(failure) => failure,
            };
            if failure.kind == FailureKind::Server {
                let wait = match retry {
                    Retry::Never => break Err(failure),
                    Retry::After(wait) => wait,
                    Retry::Soon => pause,
                };
                if Instant::now() + wait >= deadline {
                    break Err(failure);
                }
                sleep(wait).await;
                pause *= 2;
                continue;
            }
            if retries_left == 0 || Instant::now() >= deadline {
                break Err(failure);
            }
            retries_left -= 1;
            messages.extend(reply.map(|reply| Message::new(Role::Assistant, reply)));
            prompt = vec![Message::new(Role::User, correction(&failure.why, turn))];
        };
        ModelTurn { decision, calls }
    }

    /// Decides as the recorded calls of this turn say, without a server. Fails if the model would be told something else now.
    pub fn replay(&self, turn: &TurnSheet, calls: &[LlmCall]) -> Result<ModelTurn, String> {
        let mut expected = self.opening(turn);
        let mut decision = Err(FailureKind::NotAsked.because("no call is recorded"));
        for call in calls {
            if call.prompt != expected || decision.is_ok() {
                return Err("the recorded prompt is another one".to_owned());
            }
            decision = read_move(call, &turn.options);
            expected = match &decision {
                Err(failure) if failure.kind != FailureKind::Server => {
                    vec![Message::new(Role::User, correction(&failure.why, turn))]
                }
                _ => Vec::new(),
            };
        }
        let calls = calls.to_vec();
        Ok(ModelTurn { decision, calls })
    }

    fn opening(&self, turn: &TurnSheet) -> Vec<Message> {
        let system = match &self.settings.system {
            Some(template) => template.replace("{rules}", turn.rules.unwrap_or_default()),
            None => rules(turn),
        };
        vec![
            Message::new(Role::System, system),
            Message::new(Role::User, self.question(turn)),
        ]
    }

    /// The call, but for what it was about.
    async fn call(&self, messages: &[Message], deadline: Instant) -> (LlmCall, Retry) {
        let mut headers = self.api.headers(self.key.as_ref());
        headers.retain(|(name, _)| {
            let own = &self.settings.headers;
            !own.iter().any(|(other, _)| other == name)
        });
        headers.extend(self.settings.headers.iter().cloned());
        let body = self.api.request(&self.model, &self.settings, messages);
        let body = body.to_string().into();
        let called = self
            .client
            .post_with(&self.url, headers, body, deadline, ANSWER_BYTES_MAX)
            .await;
        match called {
            Ok(CallResponse {
                status,
                headers,
                body,
                ..
            }) => {
                let text = String::from_utf8_lossy(&body).into_owned();
                let text = match &self.key {
                    Some(key) => key.redact(text),
                    None => text,
                };
                let call = LlmCall {
                    status: Some(status),
                    ..self.answered(status, &text)
                };
                (call, Retry::of_status(status, &headers))
            }
            Err(error) => {
                let kind = match error {
                    CallError::TimedOut => FailureKind::Late,
                    _ => FailureKind::Server,
                };
                let retry = match error {
                    CallError::Forbidden(_) | CallError::TooLarge(_) | CallError::Unusable(_) => {
                        Retry::Never
                    }
                    _ => Retry::Soon,
                };
                let call = LlmCall {
                    failure: Some(kind),
                    error: Some(format!("the model's server: {error}")),
                    ..LlmCall::default()
                };
                (call, retry)
            }
        }
    }

    fn answered(&self, status: u16, text: &str) -> LlmCall {
        let failed = |kind: FailureKind, why: String| LlmCall {
            failure: Some(kind),
            error: Some(why),
            ..LlmCall::default()
        };
        if status != 200 {
            return failed(FailureKind::Server, status_error(status, text));
        }
        let Some(answer) = self.api.answer(text) else {
            let why = format!(
                "the model's server answered with {}, which is not JSON",
                excerpt(text)
            );
            return failed(FailureKind::Server, why);
        };
        let [input_tokens, output_tokens] = answer.tokens;
        let said = Some(answer.text).filter(|text| !text.trim().is_empty());
        let (failure, error) = match (answer.refusal, &said) {
            (Some(refusal), _) => (
                Some(FailureKind::Refused),
                Some(format!("the model declines: {}", excerpt(&refusal))),
            ),
            (None, None) => (
                Some(FailureKind::Unreadable),
                Some(format!(
                    "the model's server answered without a text: {}",
                    excerpt(text)
                )),
            ),
            (None, Some(_)) => (None, None),
        };
        LlmCall {
            model: answer.model,
            reply: said,
            thinking: answer.thinking,
            input_tokens,
            output_tokens,
            cost_micros: self.budget.count_tokens(input_tokens, output_tokens),
            failure,
            error,
            ..LlmCall::default()
        }
    }
}

impl Decider for Llm {
    fn decide(&self, mut turn: TurnSheet) -> Deciding {
        let llm = self.clone();
        turn.time_left_ms = turn.time_left_ms.saturating_sub(GIVES_UP_BEFORE_MS);
        Box::pin(async move {
            let asked = llm.converse(&turn, Queueing::TakesTime).await;
            Decided {
                usage: llm.budget.take_untold(),
                calls: asked.calls,
                ..Decided::from(asked.decision.map_err(|failure| failure.why))
            }
        })
    }
}

impl Retry {
    fn of_status(status: u16, headers: &HeaderMap) -> Self {
        if !matches!(status, 408 | 429 | 500..) {
            return Self::Never;
        }
        // The form with a date is not read: clocks differ.
        let text = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let seconds = text.and_then(|text| text.trim().parse().ok());
        seconds.map_or(Self::Soon, |seconds| {
            Self::After(Duration::from_secs(seconds))
        })
    }
}

/// The move. A reply is read anew; that there was none is a fact.
fn read_move(call: &LlmCall, options: &[Value]) -> Result<Value, Failure> {
    use FailureKind::{Late, NotAsked, Refused, Server, Unreadable};
    let why = || call.error.clone().unwrap_or_default();
    match (&call.reply, call.failure) {
        (_, Some(kind @ (Late | Refused | Server | NotAsked))) => Err(kind.because(why())),
        (Some(reply), _) => parse_model_reply(reply, options),
        (None, _) => Err(Unreadable.because(why())),
    }
}

fn status_error(status: u16, text: &str) -> String {
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let said = body
        .pointer("/error/message")
        .or(body.get("error"))
        .and_then(Value::as_str);
    let said = said.map_or_else(String::new, |said| format!(": {}", excerpt(said)));
    let hint = match status {
        300..=399 => " (it is not followed: name the address it leads to)",
        401 | 403 => " (is the key right?)",
        404 => " (are URL, API and model right?)",
        _ => "",
    };
    format!("the model's server answered HTTP {status}{said}{hint}")
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
    fn the_key_is_not_shown_by_debug_output() {
        let key = Some(Key::new("sk-very-secret"));
        let llm = Llm::new(Client::new(), "http://localhost:1", "m", Api::OpenAi, key);
        assert!(!format!("{llm:?}").contains("secret"));
        let headers = Api::OpenAi.headers(llm.key.as_ref());
        assert!(!format!("{headers:?}").contains("secret"));
        let echoed = "bad key sk-very-secret".to_owned();
        assert_eq!(llm.key.unwrap().redact(echoed), "bad key (the key)");
    }
}
