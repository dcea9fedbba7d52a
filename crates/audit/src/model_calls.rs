//! What players were told and said before they moved: the calls of their language models, and the reasoning that holders of
//! seats give. Pure.

use crate::describe::{self, on_one_line};
use matchday_core::protocol::messages::Phase;
use matchday_store::exchange::Exchange;
use matchday_store::llm_call::{FailureKind, LlmCall, Message, Role};
use serde::Serialize;
use serde_json::Value;

/// One call of a model, or one move of a seat with its reasoning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelCallView {
    pub player: String,
    /// Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    pub at: String,
    /// The exact name of the model, as its server states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it was told since the call before.
    pub prompt: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// `None`: a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Of HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    pub latency_ms: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost_micros: u64,
}

/// Whether an exchange tells what a player thinks. Opponents must not read it before the league is over.
pub fn is_private(exchange: &Exchange, phase: Phase) -> bool {
    phase != Phase::Completed
        && (LlmCall::of_exchange(exchange).is_some() || reasoning(exchange).is_some())
}

/// The calls among these exchanges, in their order. A system prompt is told once for each player.
pub fn model_calls(exchanges: &[Exchange]) -> Vec<ModelCallView> {
    let mut all: Vec<ModelCallView> = exchanges.iter().filter_map(ModelCallView::of).collect();
    let mut told: Vec<(String, Message)> = Vec::new();
    for call in &mut all {
        call.prompt.retain(|message| {
            let line = (call.player.clone(), message.clone());
            let is_new = message.role != Role::System || !told.contains(&line);
            told.push(line);
            is_new
        });
    }
    all
}

impl ModelCallView {
    pub(crate) fn of(exchange: &Exchange) -> Option<Self> {
        let (turn, call) = match LlmCall::of_exchange(exchange) {
            Some(known) => known,
            None => (None, by_seat(exchange)?),
        };
        Some(Self {
            player: exchange.agent.to_string(),
            turn,
            at: describe::time(exchange.at),
            model: call.model,
            prompt: call.prompt,
            thinking: call.thinking,
            reply: call.reply,
            failure: call.failure,
            error: call.error,
            status: call.status,
            latency_ms: call.latency_ms,
            input_tokens: call.input_tokens,
            output_tokens: call.output_tokens,
            cost_micros: call.cost_micros,
        })
    }

    /// In a few words: `a move`.
    pub(crate) fn outcome(&self) -> String {
        match (self.failure, &self.error) {
            (None, _) => "a move".to_owned(),
            (Some(kind), None) => format!("no move: {kind}"),
            (Some(kind), Some(why)) => format!("no move: {kind}, {}", on_one_line(why)),
        }
    }

    /// `1203 ms, 512 tokens read, 20 written, HTTP 200`, as far as it is known.
    pub fn figures(&self) -> String {
        let mut figures: Vec<String> = self.model.iter().cloned().collect();
        if self.latency_ms > 0 || self.status.is_some() {
            figures.push(format!("{} ms", self.latency_ms));
        }
        if self.input_tokens + self.output_tokens > 0 {
            figures.push(format!(
                "{} tokens read, {} written",
                self.input_tokens, self.output_tokens
            ));
        }
        figures.extend(
            self.status
                .filter(|status| *status != 200)
                .map(|status| format!("HTTP {status}")),
        );
        figures.extend(self.failure.map(|_| self.outcome()));
        figures.join(", ")
    }
}

/// Why the holder of a seat makes its move, if it says so.
pub(crate) fn reasoning(exchange: &Exchange) -> Option<String> {
    let call = seat_move(exchange)?;
    let said = call.pointer("/arguments/reasoning")?.as_str()?;
    Some(said.to_owned()).filter(|said| !said.is_empty())
}

fn by_seat(exchange: &Exchange) -> Option<LlmCall> {
    let call = seat_move(exchange)?;
    Some(LlmCall {
        thinking: Some(reasoning(exchange)?),
        reply: call.pointer("/arguments/choice").map(Value::to_string),
        ..LlmCall::default()
    })
}

fn seat_move(exchange: &Exchange) -> Option<Value> {
    let is_move = exchange.message_type.raw() == "make_move";
    serde_json::from_str(is_move.then_some(&exchange.request)?).ok()
}
