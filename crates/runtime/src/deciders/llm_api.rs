//! What servers of models speak: requests and answers of three interfaces. Pure.

use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue, USER_AGENT};
use matchday_store::llm_call::{Message, Role};
use serde_json::{Map, Value, json};
use std::fmt;

/// How much a model may say, where the interface asks for a limit and none is set.
const TOKENS_MAX: u32 = 1024;

/// Which interface a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `POST /v1/chat/completions`
    OpenAi,
    /// `POST /v1/messages`
    Anthropic,
    /// `POST /api/chat`
    Ollama,
}

/// The API key of a server. Its `Debug` does not show it.
#[derive(Clone)]
pub struct Key(String);

/// How a model is asked. What is not set is left to its server.
#[derive(Debug, Clone, Default)]
pub struct ModelSettings {
    pub temperature: Option<f64>,
    pub seed: Option<u64>,
    pub max_tokens: Option<u32>,
    /// As the server names it: low, medium, high.
    pub effort: Option<String>,
    /// How many tokens of thinking are allowed.
    pub thinking_tokens: Option<u32>,
    /// Further fields of the request.
    pub request: Map<String, Value>,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The system prompt, with `{rules}` where the rules of the game go.
    pub system: Option<String>,
}

/// What a server answered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) thinking: Option<String>,
    /// That the model declines, in the words or the code of the server.
    pub(super) refusal: Option<String>,
    /// The exact name of the model, as the server states it.
    pub(super) model: Option<String>,
    /// Of the prompt and of the answer, as the server counts them; 0 where it does not.
    pub(super) tokens: [u64; 2],
}

impl Key {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A server may echo the key: it is cut out of the answer.
    pub(super) fn redact(&self, text: String) -> String {
        if self.0.is_empty() {
            text
        } else {
            text.replace(&self.0, "(the key)")
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(set)")
    }
}

impl Api {
    pub const NAMES: [&str; 3] = ["openai", "anthropic", "ollama"];

    pub fn named(name: &str) -> Option<Self> {
        match name {
            "openai" => Some(Self::OpenAi),
            "anthropic" => Some(Self::Anthropic),
            "ollama" => Some(Self::Ollama),
            _ => None,
        }
    }

    /// Where the interface comes from.
    pub fn home(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://localhost:11434",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/messages",
            Self::Ollama => "/chat",
        }
    }

    pub(super) fn endpoint(self, url: &str) -> String {
        let url = url.trim().trim_end_matches('/');
        let path = self.path();
        let root = if self == Self::Ollama { "/api" } else { "/v1" };
        if url.ends_with(path) {
            url.to_owned()
        } else if url.ends_with(root) {
            format!("{url}{path}")
        } else {
            format!("{url}{root}{path}")
        }
    }

    pub(super) fn headers(self, key: Option<&Key>) -> Vec<(HeaderName, HeaderValue)> {
        let secret = |text: String| {
            let mut value = HeaderValue::from_str(&text).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        let key = key.and_then(|Key(key)| match self {
            Self::OpenAi | Self::Ollama => Some((AUTHORIZATION, secret(format!("Bearer {key}"))?)),
            Self::Anthropic => Some((HeaderName::from_static("x-api-key"), secret(key.clone())?)),
        });
        let version = (
            HeaderName::from_static("anthropic-version"),
            HeaderValue::from_static("2023-06-01"),
        );
        let version = (self == Self::Anthropic).then_some(version);
        let agent = HeaderValue::from_static(concat!("matchday/", env!("CARGO_PKG_VERSION")));
        key.into_iter()
            .chain(version)
            .chain([(USER_AGENT, agent)])
            .collect()
    }

    pub(super) fn request(
        self,
        model: &str,
        settings: &ModelSettings,
        messages: &[Message],
    ) -> Value {
        let mut body = match self {
            Self::OpenAi => settings.of_openai(messages),
            Self::Anthropic => settings.of_anthropic(messages),
            Self::Ollama => settings.of_ollama(messages),
        };
        if let Some(fields) = body.as_object_mut() {
            fields.insert("model".to_owned(), Value::from(model));
            fields.retain(|_, value| !value.is_null());
            fields.extend(settings.request.clone());
        }
        body
    }

    /// `None` if it is no JSON.
    pub(super) fn answer(self, text: &str) -> Option<Answer> {
        let said: Value = serde_json::from_str(text).ok()?;
        let word = |path: &str| {
            said.pointer(path)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let count = |path: &str| said.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let model = word("/model");
        let is = |path: &str, code: &str| word(path).filter(|found| found == code);
        Some(match self {
            Self::OpenAi => Answer {
                text: texts(said.pointer("/choices/0/message/content"), "text"),
                thinking: word("/choices/0/message/reasoning_content")
                    .or_else(|| word("/choices/0/message/reasoning")),
                refusal: word("/choices/0/message/refusal")
                    .or_else(|| is("/choices/0/finish_reason", "content_filter")),
                model,
                tokens: ["/usage/prompt_tokens", "/usage/completion_tokens"].map(count),
            },
            Self::Anthropic => Answer {
                text: texts(said.get("content"), "text"),
                thinking: Some(texts(said.get("content"), "thinking"))
                    .filter(|text| !text.is_empty()),
                refusal: is("/stop_reason", "refusal"),
                model,
                tokens: ["/usage/input_tokens", "/usage/output_tokens"].map(count),
            },
            Self::Ollama => Answer {
                text: texts(said.pointer("/message/content"), "text"),
                thinking: word("/message/thinking"),
                refusal: None,
                model,
                tokens: ["/prompt_eval_count", "/eval_count"].map(count),
            },
        })
    }
}

impl ModelSettings {
    fn of_openai(&self, messages: &[Message]) -> Value {
        json!({
            "messages": messages,
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.effort,
        })
    }

    fn of_anthropic(&self, messages: &[Message]) -> Value {
        let (system, turns): (Vec<_>, Vec<_>) = messages
            .iter()
            .partition(|message| message.role == Role::System);
        let thinking = self.thinking_tokens;
        json!({
            "max_tokens": self.max_tokens.unwrap_or(TOKENS_MAX + thinking.unwrap_or(0)),
            "system": system.first().map(|message| &message.content),
            "messages": turns,
            "temperature": self.temperature,
            "thinking": thinking.map(|tokens| json!({"type": "enabled", "budget_tokens": tokens})),
            "output_config": self.effort.as_ref().map(|effort| json!({"effort": effort})),
        })
    }

    fn of_ollama(&self, messages: &[Message]) -> Value {
        let mut options = Map::new();
        let given = [
            ("temperature", self.temperature.map(Value::from)),
            ("seed", self.seed.map(Value::from)),
            ("num_predict", self.max_tokens.map(Value::from)),
        ];
        options.extend(
            given
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?))),
        );
        json!({
            "messages": messages,
            "stream": false,
            "think": self.effort,
            "options": options,
        })
    }
}

/// A text, or the texts of the parts that have this field.
fn texts(content: Option<&Value>, field: &str) -> String {
    match content {
        Some(Value::String(text)) if field == "text" => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get(field)?.as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_interface_is_added_where_it_is_missing() {
        for (api, url, endpoint) in [
            (
                Api::OpenAi,
                "http://localhost:11434",
                "http://localhost:11434/v1/chat/completions",
            ),
            (
                Api::OpenAi,
                "https://api.example.com/v1/",
                "https://api.example.com/v1/chat/completions",
            ),
            (
                Api::OpenAi,
                "https://api.example.com/x/chat/completions",
                "https://api.example.com/x/chat/completions",
            ),
            (
                Api::Anthropic,
                "https://a.example",
                "https://a.example/v1/messages",
            ),
            (
                Api::Ollama,
                "http://localhost:11434",
                "http://localhost:11434/api/chat",
            ),
        ] {
            assert_eq!(api.endpoint(url), endpoint);
        }
    }

    #[test]
    fn settings_are_sent_where_the_interface_has_them() {
        let settings = ModelSettings {
            temperature: Some(0.5),
            seed: Some(7),
            max_tokens: Some(99),
            effort: Some("low".into()),
            thinking_tokens: None,
            request: Map::from_iter([("top_p".to_owned(), json!(0.9))]),
            ..ModelSettings::default()
        };
        let messages = [Message::new(Role::User, "hi")];
        let said = json!([{"role": "user", "content": "hi"}]);
        assert_eq!(
            Api::OpenAi.request("m", &settings, &messages),
            json!({"model": "m", "messages": said, "temperature": 0.5, "seed": 7, "max_tokens": 99,
                "reasoning_effort": "low", "top_p": 0.9})
        );
        assert_eq!(
            Api::Ollama.request("m", &settings, &messages),
            json!({"model": "m", "messages": said, "stream": false, "think": "low", "top_p": 0.9,
                "options": {"temperature": 0.5, "seed": 7, "num_predict": 99}})
        );
        let thinking = ModelSettings {
            thinking_tokens: Some(2000),
            ..ModelSettings::default()
        };
        assert_eq!(
            Api::Anthropic.request("m", &thinking, &messages),
            json!({"model": "m", "messages": said, "max_tokens": 3024,
                "thinking": {"type": "enabled", "budget_tokens": 2000}})
        );
    }

    #[test]
    fn answers_are_read_with_thinking_refusal_and_tokens() {
        let openai = r#"{"model": "m-2026", "choices": [{"finish_reason": "stop", "message": {"content": "x",
            "reasoning_content": "hm"}}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}"#;
        let read = Api::OpenAi.answer(openai).unwrap();
        assert_eq!((read.text.as_str(), read.tokens), ("x", [5, 2]));
        assert_eq!(
            (read.thinking.as_deref(), read.model.as_deref()),
            (Some("hm"), Some("m-2026"))
        );
        let refused = r#"{"choices": [{"message": {"content": null, "refusal": "I cannot."}}]}"#;
        let read = Api::OpenAi.answer(refused).unwrap();
        assert_eq!(read.refusal.as_deref(), Some("I cannot."));
        let anthropic =
            r#"{"stop_reason": "refusal", "content": [{"type": "thinking", "thinking": "no"}]}"#;
        let read = Api::Anthropic.answer(anthropic).unwrap();
        assert_eq!(
            (read.thinking.as_deref(), read.refusal.as_deref()),
            (Some("no"), Some("refusal"))
        );
        let ollama = r#"{"model": "llama3", "message": {"content": "3"}, "prompt_eval_count": 9, "eval_count": 1}"#;
        let read = Api::Ollama.answer(ollama).unwrap();
        assert_eq!((read.text.as_str(), read.tokens), ("3", [9, 1]));
    }
}
