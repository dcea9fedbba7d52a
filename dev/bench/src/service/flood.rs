//! Leagues without a flood of requests, beside a league of the same service that is flooded, and beside one of another process, in
//! turn. The last shows what a flood costs by taking its share of the machine alone.

use super::ServicePlan;
use super::figures::Flood;
use super::played::PlayedLeague;
use super::process::{BenchLeague, ServiceProcess, names, settings};
use crate::benchmark::Tell;
use crate::quantiles::{Quantiles, median};
use anyhow::{Context, Result};
use matchday_net::client::Client;
use matchday_store::StoreUrl;
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

pub(crate) async fn measure(plan: &ServicePlan, folder: &Path, tell: Tell<'_>) -> Result<Flood> {
    let mut service = ServiceProcess::start(folder, "127.0.0.1:0", &[]).await?;
    let elsewhere = folder.join("elsewhere");
    std::fs::create_dir(&elsewhere)
        .with_context(|| format!("cannot make {}", elsewhere.display()))?;
    let neighbour = ServiceProcess::start(&elsewhere, "127.0.0.1:0", &[]).await?;
    let flooded = service.create(&names("flooded", 1), settings(&[])).await?;
    let flooded_elsewhere = neighbour
        .create(&names("flooded", 1), settings(&[]))
        .await?;
    // A round a second: the leagues do not take the whole machine themselves.
    let paced = settings(&[("lead", "1")]);
    let mut rates = Vec::new();
    let mut runs = [
        ("calm", "without a flood", None, Vec::new()),
        ("beside", "beside a flood", flooded.first(), Vec::new()),
        (
            "elsewhere",
            "beside a flood of another service",
            flooded_elsewhere.first(),
            Vec::new(),
        ),
    ];
    for run in 1..=plan.runs {
        for (name, how, target, played) in &mut runs {
            tell(&format!(
                "{} leagues {how}, {run} of {}",
                plan.others, plan.runs
            ));
            let others = service
                .create(&names(&format!("{name}-{run}"), plan.others), paced.clone())
                .await?;
            let players = service.register(&others, plan.players).await?;
            let flood = target.map(|league| Stream::begin(league, plan.flood_per_s));
            service.play(&others).await?;
            rates.extend(flood.map(Stream::end));
            for players in players {
                players.close().await;
            }
            played.push(others);
        }
    }
    neighbour.stop().await?;
    let store = service.stop().await?;
    let [calm, beside, elsewhere] = runs.map(|(.., played)| p99_ms(&store, &played));
    Ok(Flood {
        others: plan.others,
        per_s: plan.flood_per_s,
        answered_per_s: median(rates).context("the flood was measured")?,
        calm_p99_ms: calm?,
        beside_p99_ms: beside?,
        elsewhere_p99_ms: elsewhere?,
    })
}

/// Of all calls of these leagues: the median over runs of the 99th percentile of a run.
fn p99_ms(store: &StoreUrl, runs: &[Vec<BenchLeague>]) -> Result<f64> {
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
            let league = league.clone();
            let answered = Arc::clone(&answered);
            let client = Client::new();
            tasks.spawn(async move {
                let mut ticks = interval(Duration::from_secs(1) * CONNECTIONS / per_s);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
                loop {
                    ticks.tick().await;
                    let deadline = Instant::now() + ANSWER_MAX;
                    let answer = client
                        .post(&league.url, league.question(), deadline, ANSWER_BYTES_MAX)
                        .await;
                    let is_answered = answer.is_ok_and(|answer| answer.status == 200);
                    answered.fetch_add(u64::from(is_answered), Ordering::Relaxed);
                }
            });
        }
        Self {
            tasks,
            answered,
            began: Instant::now(),
        }
    }

    /// How many requests were answered in a second, and not refused.
    fn end(self) -> f64 {
        drop(self.tasks);
        self.answered.load(Ordering::Relaxed) as f64 / self.began.elapsed().as_secs_f64()
    }
}
