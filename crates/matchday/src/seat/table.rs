//! What the manager knows of the league, asked as the member that sits in a seat.

use crate::shell::Options;
use matchday_core::enrol::Identity;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::{LeagueQuery, QueryParams, QueryType, StandingRow};
use matchday_core::protocol::{ConversationId, Endpoint, Envelope, LeagueId, Message, PlayerId, Sender};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// The table, or why there is none.
pub(super) async fn standings(
    options: &Options,
    manager: &Endpoint,
    own: &Identity<PlayerId>,
) -> Result<Vec<StandingRow>, String> {
    let now = options.clock.now();
    let conversation = ConversationId::new(format!("conv-seat-{}-{}", own.id, now.as_micros()));
    let query = LeagueQuery {
        league_id: own.league_id.clone().unwrap_or_else(|| LeagueId::new("unknown")),
        query_type: QueryType::GetStandings,
        query_params: QueryParams::default(),
    };
    let envelope =
        Envelope::new(Sender::Player(own.id.clone()), now, conversation).with_token(own.auth_token.clone());
    let request = write_call(Dialect::Standard, 1, &Message::new(envelope, query));
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let received = options.client.post(manager.raw(), request.into(), deadline, ANSWER_BYTES_MAX).await;
    let received = received.map_err(|error| format!("the manager cannot be asked: {error}"))?;
    let limits = Limits { message_bytes_max: ANSWER_BYTES_MAX, ..Limits::AGENT };
    match read_answer(received.status, &received.body, &limits) {
        WireAnswer::Message(answer) => read(answer.to_value()),
        _ => Err(format!("the manager does not answer with a table (HTTP {})", received.status)),
    }
}

fn read(mut answer: Value) -> Result<Vec<StandingRow>, String> {
    let table = ["/standings", "/data/standings"]
        .iter()
        .find_map(|place| answer.pointer_mut(place).filter(|table| table.is_array()).map(Value::take));
    if let Some(table) = table {
        return serde_json::from_value(table).map_err(|error| format!("the manager's table is odd: {error}"));
    }
    let said = ["/error_message", "/error/error_description", "/error_description"];
    let said = said.iter().find_map(|place| answer.pointer(place)?.as_str());
    Err(format!("the manager refuses: {}", said.unwrap_or("it does not say why")))
}
