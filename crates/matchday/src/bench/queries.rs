//! LEAGUE_QUERY while a league runs flat out: how long those wait who only ask.

use super::figures::Queries;
use super::here;
use super::size::Size;
use super::spread::Spread;
use crate::local::LocalLeague;
use crate::net::client::Client;
use crate::shell::Clock;
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use matchday_core::enrol::Identity;
use matchday_core::league;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::{LeagueQuery, Phase, QueryParams, QueryType};
use matchday_core::protocol::{ConversationId, Envelope, Message, MessageType, PlayerId, Sender};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

const QUESTIONS: [QueryType; 3] =
    [QueryType::GetStandings, QueryType::GetNextMatch, QueryType::GetPlayerStats];
/// To ask whether the league is over costs the manager about as much as an answer does.
const ASKED_BETWEEN_LOOKS: usize = 20;
const ANSWER_MAX: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Plays a league in this process, and asks as its first player all the while, one question at a time.
pub(super) async fn measure(size: Size, folder: &Path) -> Result<Queries> {
    let mut local = here::gather(size, folder).await?;
    let identity = local.first_player().await?;
    local.start().await?;
    let asked = ask(&mut local, &identity).await;
    local.farewell().await;
    let closed = local.shutdown().await;
    let took = asked?;
    closed?;
    let named = QUESTIONS.iter().map(|question| question.name().to_owned());
    let spreads = took.into_iter().map(Spread::of);
    let took = named.zip(spreads).filter_map(|(name, spread)| Some((name, spread?))).collect();
    Ok(Queries { size, took })
}

async fn ask(local: &mut LocalLeague, identity: &Identity<PlayerId>) -> Result<Vec<Vec<u64>>> {
    let (client, clock, url) = (Client::new(), Clock::start(), local.manager_url());
    let mut took = vec![Vec::new(); QUESTIONS.len()];
    while local.look(|league| league.phase).await? != Phase::Completed {
        for _ in 0..ASKED_BETWEEN_LOOKS {
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
        league_id: league::Settings::default().league_id,
        query_type,
        query_params: QueryParams { player_id: Some(identity.id.clone()), ..QueryParams::default() },
    };
    Ok(write_call(Dialect::Standard, 1, &Message::new(envelope, query)).into())
}

/// A refusal is no answer, and quicker than one.
fn check(body: &[u8]) -> Result<()> {
    let answer: Value = serde_json::from_slice(body).context("the answer to a LEAGUE_QUERY")?;
    let kind = answer.pointer("/result/message_type").and_then(Value::as_str);
    let failed = answer.pointer("/result/error").is_some_and(|error| !error.is_null());
    if kind != Some(MessageType::LeagueQueryResponse.name()) || failed {
        bail!("the manager refuses a LEAGUE_QUERY: {answer}");
    }
    Ok(())
}
