//! Latency of LEAGUE_QUERY while a league runs at full speed.

use super::figures::Queries;
use crate::light_players::Identity;
use crate::manager;
use crate::processes::{LeagueProcesses, Reached};
use crate::quantiles::Quantiles;
use crate::size::Size;
use crate::usage;
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use matchday_core::league::LeagueSettings;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::LeagueQuery;
use matchday_core::protocol::{
    ConversationId, Envelope, Message, MessageType, PlayerId, Query, QueryParams, Sender, Token,
};
use matchday_net::client::Client;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

const QUESTIONS: [Query; 3] = [Query::Standings, Query::NextMatch, Query::PlayerStats];
/// Looking whether the league is over costs the manager about as much as a query.
const QUERIES_BETWEEN_LOOKS: usize = 20;
const ANSWER_MAX: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Plays a league with outside players and queries it as its first player, one query at a time.
pub(crate) async fn measure(size: Size, folder: &Path) -> Result<Queries> {
    let (processes, players) = LeagueProcesses::gather(size, folder, Reached::Directly).await?;
    let client = Client::new();
    processes.begin_league(&client).await?;
    let first = players.identities.first().context("a league has players")?;
    let took = ask(&client, &processes.manager, first).await?;
    players.close().await;
    processes.stop().await?;
    let named = QUESTIONS.iter().map(|question| question.name().to_owned());
    let quantiles_by_type = took.into_iter().map(Quantiles::of);
    let took = named
        .zip(quantiles_by_type)
        .filter_map(|(name, quantiles)| Some((name, quantiles?)))
        .collect();
    Ok(Queries { size, took })
}

async fn ask(client: &Client, url: &str, identity: &Identity) -> Result<Vec<Vec<u64>>> {
    let mut took = vec![Vec::new(); QUESTIONS.len()];
    while !manager::is_completed(client, url).await? {
        for _ in 0..QUERIES_BETWEEN_LOOKS {
            for (question, took) in QUESTIONS.into_iter().zip(&mut took) {
                let began = Instant::now();
                let body = written(identity, question);
                let received = client
                    .post(url, body, began + ANSWER_MAX, ANSWER_BYTES_MAX)
                    .await?;
                took.push(u64::try_from(began.elapsed().as_micros())?);
                check(&received.body)?;
            }
        }
    }
    Ok(took)
}

fn written((id, token): &Identity, query_type: Query) -> Bytes {
    let id = PlayerId::new(id.as_str());
    let conversation = ConversationId::new("conv-bench-query");
    let envelope = Envelope::new(Sender::Player(id.clone()), usage::now(), conversation)
        .with_token(Some(Token::new(token.as_str())));
    let query = LeagueQuery {
        league_id: LeagueSettings::default().league_id,
        query_type,
        query_params: QueryParams {
            player_id: Some(id),
            ..QueryParams::default()
        },
    };
    write_call(Dialect::Standard, 1, &Message::new(envelope, query)).into()
}

/// A refusal must not count as an answer.
fn check(body: &[u8]) -> Result<()> {
    let answer: Value = serde_json::from_slice(body).context("the answer to a LEAGUE_QUERY")?;
    let kind = answer
        .pointer("/result/message_type")
        .and_then(Value::as_str);
    let failed = answer
        .pointer("/result/error")
        .is_some_and(|error| !error.is_null());
    if kind != Some(MessageType::LeagueQueryResponse.name()) || failed {
        bail!("the manager refuses a LEAGUE_QUERY: {answer}");
    }
    Ok(())
}
