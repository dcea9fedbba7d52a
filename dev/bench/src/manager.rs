//! Requests of an operator to a manager.

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::StartLeague;
use matchday_core::protocol::{
    ConversationId, Envelope, LeagueId, Message, Sender, Timestamp, Token,
};
use matchday_net::client::Client;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const ANSWER_MAX: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Begins the league at this endpoint.
pub(crate) async fn start_league(
    client: &Client,
    url: &str,
    league_id: &LeagueId,
    token: Option<&Token>,
    now: Timestamp,
) -> Result<()> {
    let envelope = Envelope::new(
        Sender::Launcher,
        now,
        ConversationId::new("conv-bench-start"),
    );
    let start = StartLeague {
        league_id: league_id.clone(),
    };
    let message = Message::new(envelope.with_token(token.cloned()), start);
    result(
        client,
        url,
        write_call(Dialect::Standard, 1, &message).into(),
    )
    .await?;
    Ok(())
}

/// Whether the league at this endpoint has come to its end.
pub(crate) async fn is_completed(client: &Client, url: &str) -> Result<bool> {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "get_status", "params": {} });
    let status = result(client, url, request.to_string().into()).await?;
    Ok(status.get("status").and_then(Value::as_str) == Some("completed"))
}

/// The result of a JSON-RPC call that must not be refused.
async fn result(client: &Client, url: &str, request: Bytes) -> Result<Value> {
    let deadline = Instant::now() + ANSWER_MAX;
    let received = client
        .post(url, request, deadline, ANSWER_BYTES_MAX)
        .await?;
    let mut answer: Value =
        serde_json::from_slice(&received.body).context("the answer of a manager")?;
    let is_refused = answer
        .pointer("/result/message_type")
        .is_some_and(|kind| kind == "LEAGUE_ERROR");
    match answer.get_mut("result").map(Value::take) {
        Some(result) if !is_refused => Ok(result),
        _ => bail!("{url} refuses: {}", String::from_utf8_lossy(&received.body)),
    }
}
