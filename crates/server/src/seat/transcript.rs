//! What the client of a seat said and was told: kept as exchanges of its player, without keys, for the dashboard.

use super::Seats;
use super::one_seat::Seat;
use matchday_core::driver::ExchangeOutcome;
use matchday_core::protocol::{ConversationId, ErrorCode, MatchId, Timestamp, UntrustedText};
use matchday_store::{Direction, Exchange};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

/// Fields that hold a key.
const SECRET: [&str; 2] = ["seat", "join_code"];
/// Replies that say nothing.
const EMPTY: [&str; 2] = ["nothing_yet", "waiting_for_manager"];

/// A call of a tool and its reply.
pub(super) struct ToolCall<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: Option<&'a Map<String, Value>>,
    pub(super) reply: Option<&'a Value>,
    pub(super) at: Timestamp,
}

impl Seats {
    pub(super) async fn record(&self, seat: &Seat, call: ToolCall<'_>) {
        let reply = call.reply.cloned().unwrap_or_default();
        let text = |path: &str| reply.pointer(path).and_then(Value::as_str);
        let is_full = || self.log.store().exchange_bytes() >= self.options.exchanges_bytes_max;
        if !self.options.record_exchanges
            || text("/happened").is_some_and(|said| EMPTY.contains(&said))
            || is_full()
        {
            return;
        }
        let Some(player) = seat.state(u32::MAX).await.and_then(|state| state.identity) else {
            return;
        };
        // The name of a turn begins with its match.
        let of_turn = text("/turn")
            .and_then(|turn| turn.rsplit_once('-'))
            .map(|(match_id, _)| match_id);
        let of_reply = || text("/turn/match_id").or_else(|| text("/results/0/match_id"));
        let match_id = of_turn.or_else(of_reply).map(MatchId::new);
        let error_code = text("/error_code").map(SmolStr::new);
        let outcome = match &error_code {
            None => ExchangeOutcome::Data,
            Some(code) => ExchangeOutcome::Error {
                code: ErrorCode::parse(code),
                text: None,
            },
        };
        let arguments = Value::Object(call.arguments.cloned().unwrap_or_default());
        self.log.store().record(Exchange {
            at: call.at,
            connected_at: None,
            first_byte_at: None,
            deadline_at: None,
            done_at: Some(self.options.clock.now()),
            agent: SmolStr::new(player.id.as_str()),
            direction: Direction::In,
            peer: UntrustedText::new_static("its client"),
            message_type: UntrustedText::from(call.tool),
            conversation_id: ConversationId::new(format!("conv-seat-{}", player.id)),
            match_id,
            request: json!({ "tool": call.tool, "arguments": without_keys(arguments) }).to_string(),
            answer: Some(without_keys(reply).to_string()),
            outcome: UntrustedText::from(outcome.to_string()),
            error_code,
        });
    }
}

fn without_keys(mut value: Value) -> Value {
    for name in SECRET {
        if let Some(key) = value.get_mut(name) {
            *key = "(not kept)".into();
        }
    }
    value
}
