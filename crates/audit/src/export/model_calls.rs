//! The calls of language models as rows. Pure.

use crate::model_calls::ModelCallView;
use matchday_core::protocol::MatchId;
use matchday_store::exchange::Exchange;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct ModelCallRow<'a> {
    league: &'a str,
    #[serde(rename = "match")]
    match_id: &'a str,
    turn: Option<u32>,
    player: String,
    at: String,
    model: Option<String>,
    prompt: Option<String>,
    thinking: Option<String>,
    reply: Option<String>,
    failure: Option<&'static str>,
    error: Option<String>,
    status: Option<u16>,
    latency_ms: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: f64,
}

pub(super) fn rows<'a>(
    league: &'a str,
    match_id: &'a MatchId,
    exchanges: &[Exchange],
) -> impl Iterator<Item = ModelCallRow<'a>> {
    let calls = exchanges.iter().filter_map(ModelCallView::of);
    calls.map(move |call| ModelCallRow {
        league,
        match_id: match_id.as_str(),
        turn: call.turn,
        player: call.player,
        at: call.at,
        model: call.model,
        prompt: serde_json::to_string(&call.prompt)
            .ok()
            .filter(|_| !call.prompt.is_empty()),
        thinking: call.thinking,
        reply: call.reply,
        failure: call.failure.map(|kind| kind.name()),
        error: call.error,
        status: call.status,
        latency_ms: call.latency_ms,
        input_tokens: call.input_tokens,
        output_tokens: call.output_tokens,
        cost: call.cost_micros as f64 / 1e6,
    })
}
