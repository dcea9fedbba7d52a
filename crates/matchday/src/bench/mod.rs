//! Benchmarks: whole durable leagues, compared with the raw HTTP ceiling that is measured in alternation on the same
//! machine.
//!
//! # Layout
//! - `size`, `measurements`, `quantiles`: what is measured, as values
//! - `child_process`, `usage`: this program in child processes, and their CPU time and memory
//! - `one_process`, `outside_players` with `light_players`: plays a league; `run_statistics`: reads its stores
//! - `workload`, `ceiling`: the same exchanges without a league
//! - `in_process`, `queries`, `allocations`: a league in this process, to query it under load and to count
//!   allocations
//! - `pure_core`: the state machines without a network
//! - `service`: many leagues in one service; `database`: leagues in PostgreSQL beside SQLite
//! - `targets`, `compare`, `render`: the goals, the comparison with a saved run, the output for people

mod allocations;
mod ceiling;
mod child_process;
pub(crate) mod compare;
pub(crate) mod database;
mod in_process;
mod light_players;
pub(crate) mod measurements;
mod one_process;
mod outside_players;
mod pure_core;
mod quantiles;
mod queries;
pub(crate) mod relay;
pub(crate) mod render;
mod run_statistics;
#[cfg(test)]
mod sample;
pub(crate) mod service;
pub(crate) mod size;
pub(crate) mod targets;
mod usage;
mod workload;

use anyhow::{Context, Result};
use ceiling::Ceiling;
use measurements::{Answers, Kind, League, Measurements, Run};
use one_process::PlayedLeague;
use outside_players::Reached;
use quantiles::Quantiles;
use size::Size;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use workload::Workload;

/// The defaults of `matchday run`.
const DEFAULT_SIZE: Size = Size::new(4, 2);

#[derive(Debug, Clone)]
pub(crate) struct BenchPlan {
    pub(crate) sizes: Vec<Size>,
    pub(crate) runs: usize,
    /// The duration of each measurement of the ceiling.
    pub(crate) ceiling_time: Duration,
    pub(crate) outside_players: bool,
    /// Where the stores of the measured leagues are: the disk matters.
    pub(crate) folder: PathBuf,
}

/// Reports progress.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&str);

pub(crate) async fn run(plan: &BenchPlan, tell: Tell<'_>) -> Result<Measurements> {
    let mut leagues = Vec::new();
    for &size in &plan.sizes {
        leagues.extend(measure(plan, size, tell).await?);
    }
    tell("from the start of the program to its first match");
    let mut first_match_ms = Vec::new();
    for _ in 0..plan.runs {
        let first = play(plan, DEFAULT_SIZE, Kind::OneProcess).await?.to_first_match;
        first_match_ms.extend(first.map(|took| took.as_secs_f64() * 1000.0));
    }
    tell("a player at rest");
    let player_bytes = outside_players::player_at_rest(folder(plan)?.path()).await?;
    let queries = match query_size(&plan.sizes) {
        Some(size) => {
            tell(&format!("{size}: queries while a league runs flat out"));
            Some(queries::measure(size, folder(plan)?.path()).await?)
        }
        None => None,
    };
    let mut allocations = Vec::new();
    for &size in &plan.sizes {
        allocations.extend(allocations::measure(size, folder(plan)?.path()).await?);
    }
    tell("the pure core");
    let (sizes, runs) = (plan.sizes.clone(), plan.runs);
    let pure = move || sizes.into_iter().map(|size| pure_core::measure(size, runs)).collect::<Result<_>>();
    Ok(Measurements {
        format: measurements::FORMAT,
        made_by: concat!("matchday ", env!("CARGO_PKG_VERSION")).to_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        optimised: !cfg!(debug_assertions),
        leagues,
        queries,
        core: tokio::task::spawn_blocking(pure).await??,
        allocations,
        first_match_ms,
        player_bytes,
    })
}

/// Queries are measured with 50 players, or else with the largest league.
fn query_size(sizes: &[Size]) -> Option<Size> {
    let usual = sizes.iter().find(|size| size.players == 50);
    usual.or(sizes.iter().max()).copied()
}

fn folder(plan: &BenchPlan) -> Result<TempDir> {
    TempDir::with_prefix_in("matchday-bench-", &plan.folder)
        .with_context(|| format!("cannot make a folder in {}", plan.folder.display()))
}

/// Measures leagues of one size, each between two measurements of the ceiling. A first, uncounted league gives the
/// workload.
async fn measure(plan: &BenchPlan, size: Size, tell: Tell<'_>) -> Result<Vec<League>> {
    let kinds: &[Kind] = match plan.outside_players {
        true => &[Kind::OneProcess, Kind::OutsidePlayers],
        false => &[Kind::OneProcess],
    };
    tell(&format!("{size}: a first league, not counted"));
    let first = play(plan, size, Kind::OneProcess).await?;
    let workload = Arc::new(Workload::of(size, &first.statistics.calls)?);
    let ceiling = async |tell: Tell<'_>| {
        tell(&format!("{size}: the raw ceiling"));
        ceiling::measure(&workload, plan.ceiling_time).await
    };
    let mut collectors: Vec<RunCollector> = kinds.iter().map(|kind| RunCollector::of(size, *kind)).collect();
    let mut before = ceiling(tell).await?;
    for number in 1..=plan.runs {
        for collector in &mut collectors {
            let kind = collector.league.kind;
            tell(&format!("{size}: {}, league {number} of {}", kind.name(), plan.runs));
            let played = play(plan, size, kind).await?;
            let after = ceiling(tell).await?;
            collector.add(played, before, after);
            before = after;
        }
    }
    Ok(collectors.into_iter().map(RunCollector::finish).collect())
}

async fn play(plan: &BenchPlan, size: Size, kind: Kind) -> Result<PlayedLeague> {
    let folder = folder(plan)?;
    match kind {
        Kind::OneProcess => one_process::play(size, folder.path(), &folder.path().join("league.db")).await,
        Kind::OutsidePlayers => outside_players::play(size, folder.path(), Reached::Directly).await,
    }
}

/// Collects the runs of one size and kind.
struct RunCollector {
    league: League,
    times: BTreeMap<SmolStr, Vec<u64>>,
    standings: Vec<u64>,
}

impl RunCollector {
    fn of(size: Size, kind: Kind) -> Self {
        let league = League { size, kind, runs: Vec::new(), answers: Vec::new(), standings: None };
        Self { league, times: BTreeMap::new(), standings: Vec::new() }
    }

    fn add(&mut self, played: PlayedLeague, before: Ceiling, after: Ceiling) {
        let PlayedLeague { statistics, cpu, memory, .. } = played;
        let matches = statistics.matches.max(1) as f64;
        let cpus = before.cpu_us_per_exchange.zip(after.cpu_us_per_exchange);
        self.league.runs.push(Run {
            matches: statistics.matches,
            technical_losses: statistics.technical_losses,
            exchanges: statistics.calls.len(),
            seconds: statistics.took().as_secs_f64(),
            ceiling_per_s: (before.exchanges_per_s + after.exchanges_per_s) / 2.0,
            ceiling_cpu_us_per_exchange: cpus.map(|(before, after)| (before + after) / 2.0),
            cpu_us_per_match: cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / matches),
            memory,
            log_bytes_per_match: statistics.store_bytes as f64 / matches,
        });
        for (kind, times) in statistics.answer_times() {
            self.times.entry(kind).or_default().extend(times);
        }
        self.standings.extend(statistics.standings);
    }

    fn finish(self) -> League {
        let Self { mut league, times, standings } = self;
        let matches: usize = league.runs.iter().map(|run| run.matches).sum();
        league.standings = Quantiles::of(standings);
        league.answers = run_statistics::quantiles_by_type(times)
            .into_iter()
            .map(|(kind, took)| Answers {
                message_type: kind.into(),
                per_match: took.count as f64 / matches.max(1) as f64,
                took,
            })
            .collect();
        league
    }
}
