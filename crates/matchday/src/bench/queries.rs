//! Latency of LEAGUE_QUERY while a league runs at full speed.

use super::in_process;
use super::measurements::Queries;
use super::quantiles::Quantiles;
use super::size::Size;
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use matchday_core::league;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::{LeagueQuery, Phase, QueryParams, QueryType};
use matchday_core::protocol::{ConversationId, Envelope, Message, MessageType, PlayerId, Sender};
use matchday_core::registration::Identity;
use matchday_net::client::Client;
use matchday_runtime::Clock;
use matchday_server::local::LocalLeague;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

const QUESTIONS: [QueryType; 3] =
    [QueryType::GetStandings, QueryType::GetNextMatch, QueryType::GetPlayerStats];
/// Looking whether the league is over costs the manager about as much as a query.
const QUERIES_BETWEEN_LOOKS: usize = 20;
const ANSWER_MAX: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Plays a league in this process and queries it as its first player, one query at a time.
pub(super) async fn measure(size: Size, folder: &Path) -> Result<Queries> {
    let mut local = in_process::gather(size, folder).await?;
    let identity = local.first_player().await?;
    local.start().await?;
    let asked = ask(&mut local, &identity).await;
    local.wait_for_agents_to_finish().await;
    let closed = local.shutdown().await;
    let took = asked?;
    closed?;
    let named = QUESTIONS.iter().map(|question| question.name().to_owned());
    let quantiles_by_type = took.into_iter().map(Quantiles::of);
    let took =
        named.zip(quantiles_by_type).filter_map(|(name, quantiles)| Some((name, quantiles?))).collect();
    Ok(Queries { size, took })
}

async fn ask(local: &mut LocalLeague, identity: &Identity<PlayerId>) -> Result<Vec<Vec<u64>>> {
    let (client, clock, url) = (Client::new(), Clock::start(), local.manager_url());
    let mut took = vec![Vec::new(); QUESTIONS.len()];
    while local.look(|league| league.phase).await? != Phase::Completed {
        for _ in 0..QUERIES_BETWEEN_LOOKS {
            for (question, took) in QUESTIONS.into_iter().zip(&mut took) {
                let body = written(identity, question, clock)?;
                let began = Instant::now();
                let received = client.post(&url, body, began + ANSWER_MAX, ANSWER_BYTES_MAX).await?;
                took.push(u64::try_from(began.elapsed().as_micros())?);
                check(&received.body)?;
            }
        }
    }
    Ok(took)
}

fn written(identity: &Identity<PlayerId>, query_type: QueryType, clock: Clock) -> Result<Bytes> {
    let sender = Sender::Player(identity.id.clone());
    let envelope = Envelope::new(sender, clock.now(), ConversationId::new("conv-bench-query"))
        .with_token(identity.auth_token.clone());
    let query = LeagueQuery {
        league_id: league::LeagueSettings::default().league_id,
        query_type,
        query_params: QueryParams { player_id: Some(identity.id.clone()), ..QueryParams::default() },
    };
    Ok(write_call(Dialect::Standard, 1, &Message::new(envelope, query)).into())
}

/// A refusal must not count as an answer.
fn check(body: &[u8]) -> Result<()> {
    let answer: Value = serde_json::from_slice(body).context("the answer to a LEAGUE_QUERY")?;
    let kind = answer.pointer("/result/message_type").and_then(Value::as_str);
    let failed = answer.pointer("/result/error").is_some_and(|error| !error.is_null());
    if kind != Some(MessageType::LeagueQueryResponse.name()) || failed {
        bail!("the manager refuses a LEAGUE_QUERY: {answer}");
    }
    Ok(())
}
