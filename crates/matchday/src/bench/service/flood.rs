//! Leagues beside one that is flooded with requests, and the same leagues without the flood, in turn.

use super::super::Tell;
use super::super::quantiles::{Quantiles, median};
use super::ServicePlan;
use super::figures::Flood;
use super::played::PlayedLeague;
use super::process::{BenchLeague, ServiceProcess, names, settings};
use anyhow::{Context, Result};
use matchday_net::client::Client;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How many connections the flood comes over.
const CONNECTIONS: u32 = 16;
const ANSWER_MAX: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;

pub(super) async fn measure(plan: &ServicePlan, folder: &Path, tell: Tell<'_>) -> Result<Flood> {
    let mut service = ServiceProcess::start(folder, "127.0.0.1:0", &[]).await?;
    let flooded = service.create(&names("flooded", 1), settings(&[])).await?;
    let flooded = flooded.first().context("a league was created")?;
    // A round a second: the leagues do not take the whole machine themselves.
    let paced = settings(&[("lead", "1")]);
    let (mut calm, mut beside, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for run in 1..=plan.runs {
        for is_flooded in [false, true] {
            let how = if is_flooded { "beside a flood" } else { "without a flood" };
            tell(&format!("{} leagues {how}, {run} of {}", plan.others, plan.runs));
            let prefix = format!("{}-{run}", if is_flooded { "beside" } else { "calm" });
            let others = service.create(&names(&prefix, plan.others), paced.clone()).await?;
            let players = service.register(&others, plan.players).await?;
            let flood = is_flooded.then(|| Stream::begin(flooded, plan.flood_per_s));
            service.play(&others).await?;
            rates.extend(flood.map(Stream::end));
            for players in players {
                players.close().await;
            }
            if is_flooded { beside.push(others) } else { calm.push(others) }
        }
    }
    let store = service.stop().await?;
    Ok(Flood {
        others: plan.others,
        per_s: plan.flood_per_s,
        answered_per_s: median(rates).context("the flood was measured")?,
        calm_p99_ms: p99_ms(&store, &calm)?,
        beside_p99_ms: p99_ms(&store, &beside)?,
    })
}

/// Of all calls of these leagues: the median over runs of the 99th percentile of a run.
fn p99_ms(store: &Path, runs: &[Vec<BenchLeague>]) -> Result<f64> {
    let mut p99s = Vec::new();
    for leagues in runs {
        let mut calls = Vec::new();
        for league in leagues {
            calls.extend(PlayedLeague::read(store, league)?.calls);
        }
        p99s.extend(Quantiles::of(calls).map(|quantiles| quantiles.p99_ms));
    }
    median(p99s).context("no exchange was recorded")
}

/// Requests at a fixed rate, whether they are answered or not.
struct Stream {
    tasks: JoinSet<()>,
    answered: Arc<AtomicU64>,
    began: Instant,
}

impl Stream {
    fn begin(league: &BenchLeague, per_s: u32) -> Self {
        let answered = Arc::<AtomicU64>::default();
        let mut tasks = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let (league, answered, client) = (league.clone(), Arc::clone(&answered), Client::new());
            tasks.spawn(async move {
                let mut ticks = interval(Duration::from_secs(1) * CONNECTIONS / per_s);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
                loop {
                    ticks.tick().await;
                    let deadline = Instant::now() + ANSWER_MAX;
                    let answer =
                        client.post(&league.url, league.question(), deadline, ANSWER_BYTES_MAX).await;
                    let is_answered = answer.is_ok_and(|answer| answer.status == 200);
                    answered.fetch_add(u64::from(is_answered), Ordering::Relaxed);
                }
            });
        }
        Self { tasks, answered, began: Instant::now() }
    }

    /// How many requests were answered in a second, and not refused.
    fn end(self) -> f64 {
        drop(self.tasks);
        self.answered.load(Ordering::Relaxed) as f64 / self.began.elapsed().as_secs_f64()
    }
}
