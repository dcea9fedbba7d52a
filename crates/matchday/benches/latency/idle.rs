//! What the manager and a referee add to a bare exchange when they have nothing else to do.

use crate::figures::{Figures, above, alone, head};
use crate::floor::{self, Floor};
use crate::ground::{Ground, query};
use crate::players::{Moments, Players};
use anyhow::{Context, Result};
use matchday_core::event_codec;
use matchday_core::protocol::Timestamp;
use matchday_store::{Batch, Direction, Durability, Stream};
use serde_json::json;
use std::sync::PoisonError;
use std::time::Instant;
use tokio::sync::oneshot;

const QUESTIONS: usize = 3000;
const COMMITS: usize = 300;
/// As many as make 190 matches, played one at a time.
const PLAYERS: usize = 20;

/// Questions that change nothing.
pub(crate) async fn questions() -> Result<()> {
    let ground = Ground::new().await?;
    let players = Players::none();
    let (id, token) = players.join(&ground).await?;
    for _ in 1..4 {
        players.join(&ground).await?;
    }
    let columns = [
        "floor p50",
        "p50",
        "p99",
        "added p50",
        "added p99",
        "p50/floor",
    ];
    head(
        "Idle: asked by one client, a manager of four players",
        columns,
    );
    for (name, question) in [
        ("ping", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})),
        (
            "get_standings",
            json!({"jsonrpc": "2.0", "id": 1, "method": "get_standings"}),
        ),
        (
            "LEAGUE_QUERY GET_STANDINGS",
            query("GET_STANDINGS", &id, &token, ground.clock),
        ),
        (
            "LEAGUE_QUERY GET_NEXT_MATCH",
            query("GET_NEXT_MATCH", &id, &token, ground.clock),
        ),
    ] {
        ground.ask(&question).await?;
        let question = question.to_string().into();
        let to = ground.manager.address();
        let floor =
            Floor::answering(ground.post(to, bytes::Bytes::clone(&question)).await?).await?;
        let (taken, least) = floor::beside(&ground, to, &floor, &question, QUESTIONS).await?;
        above(name, taken, least);
    }
    ground.end().await.map(drop)
}

/// Matches, one at a time, between players that answer at once.
pub(crate) async fn matches() -> Result<()> {
    let ground = Ground::new().await?;
    let commits = commits(&ground).await?;
    let referee = ground.referee(1, 1).await?;
    let players = Players::none();
    for _ in 0..PLAYERS {
        players.join(&ground).await?;
    }
    ground.registered(PLAYERS, 1).await?;
    ground.start().await?;
    ground.completed().await?;
    let (calls, overs, bytes) = {
        let mut notes = players.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = between(notes.matches.values(), |moments| {
            moments.joined.zip(moments.called)
        });
        let overs = between(notes.matches.values(), |moments| {
            moments.chose.zip(moments.over)
        });
        (calls, overs, std::mem::take(&mut notes.samples))
    };
    let sample = |kind: &str| {
        bytes
            .get(kind)
            .cloned()
            .with_context(|| format!("no {kind} was seen"))
    };
    let call = sample("CHOOSE_PARITY_CALL")?;
    let over = sample("GAME_OVER")?;
    let call_floor = floor::bare(&ground, call, sample("GAME_JOIN_ACK")?, QUESTIONS).await?;
    let over_floor =
        floor::bare(&ground, over, sample("CHOOSE_PARITY_RESPONSE")?, QUESTIONS).await?;
    referee.shutdown().await?;
    let reports = reports(ground).await?;
    println!();
    above("last join to both asked to choose", calls, call_floor);
    above("last choice to GAME_OVER at both *", overs, over_floor);
    head(
        "* what waits for the disk, and the disk",
        ["tries", "p50", "p90", "p99", "p99.9", "max"],
    );
    alone("MATCH_RESULT_REPORT, round trip *", reports);
    alone("one event made durable", commits);
    Ok(())
}

fn between<'a>(
    matches: impl Iterator<Item = &'a Moments>,
    ends: impl Fn(&Moments) -> Option<(Instant, Instant)>,
) -> Figures {
    let mut figures = Figures::default();
    for (from, to) in matches.filter_map(ends) {
        figures.add(to.saturating_duration_since(from));
    }
    figures
}

/// How long the store takes for one small event, alone.
async fn commits(ground: &Ground) -> Result<Figures> {
    let mut figures = Figures::default();
    for number in 0..COMMITS {
        let (tell, told) = oneshot::channel();
        let began = Instant::now();
        ground.store.append(Batch {
            at: Timestamp::EPOCH,
            stream: Stream("bench".into()),
            lines: vec![event_codec::encode(
                ground.clock.now(),
                &json!({"number": number}),
            )?],
            durability: Durability::Fsynced,
            awaited: true,
            then: Box::new(move |outcome| {
                let _ = tell.send(outcome);
            }),
        });
        told.await??;
        figures.add(began.elapsed());
    }
    Ok(figures)
}

/// How long the referee waited for the manager's acknowledgments, as it has recorded.
async fn reports(ground: Ground) -> Result<Figures> {
    let mut figures = Figures::default();
    for exchange in ground.end().await?.exchanges()? {
        if exchange.message_type == "MATCH_RESULT_REPORT"
            && exchange.direction == Direction::Out
            && let Some(done_at) = exchange.done_at
        {
            figures.add(done_at.since(exchange.at));
        }
    }
    Ok(figures)
}
