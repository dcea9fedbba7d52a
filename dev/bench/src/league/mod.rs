//! Whole durable leagues, compared with the raw HTTP ceiling that is measured in alternation on the same machine.
//!
//! # Layout
//! - `figures`: what is measured, as values, with the goals and tables
//! - `one_process`, `outside_players`: play a league; `workload`, `ceiling`: the same exchanges without a league
//! - `queries`: a league that is asked while it runs; `allocations`: how often a match asks for memory
//! - `pure_core`: the state machines without a network

mod allocations;
mod ceiling;
pub(crate) mod figures;
pub(crate) mod one_process;
pub(crate) mod outside_players;
mod pure_core;
mod queries;
#[cfg(test)]
pub(crate) mod sample;
mod tables;
mod workload;

use crate::benchmark::{Benchmark, Tell, temporary_folder};
use crate::processes::Reached;
use crate::quantiles::Quantiles;
use crate::run_statistics;
use crate::size::Size;
use anyhow::Result;
use ceiling::Ceiling;
use figures::{Answers, FORMAT, Kind, League, LeagueFigures, Run};
use one_process::PlayedLeague;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use workload::Workload;

/// The defaults of `matchday run`.
const DEFAULT_SIZE: Size = Size::new(4, 2);

#[derive(Debug, Clone)]
pub(crate) struct LeaguePlan {
    pub(crate) sizes: Vec<Size>,
    pub(crate) runs: usize,
    /// The duration of each measurement of the ceiling.
    pub(crate) ceiling_time: Duration,
    pub(crate) outside_players: bool,
    /// Where the stores of the measured leagues are: the disk matters.
    pub(crate) folder: PathBuf,
}

impl Benchmark for LeaguePlan {
    type Figures = LeagueFigures;

    async fn measure(&self, tell: Tell<'_>) -> Result<LeagueFigures> {
        let mut leagues = Vec::new();
        for &size in &self.sizes {
            leagues.extend(measure(self, size, tell).await?);
        }
        tell("from the start of the program to its first match");
        let mut first_match_ms = Vec::new();
        for _ in 0..self.runs {
            let first = play(self, DEFAULT_SIZE, Kind::OneProcess)
                .await?
                .to_first_match;
            first_match_ms.extend(first.map(|took| took.as_secs_f64() * 1000.0));
        }
        tell("a player at rest");
        let player_bytes =
            outside_players::player_at_rest(temporary_folder(&self.folder)?.path()).await?;
        let mut queries = None;
        if let Some(size) = query_size(&self.sizes) {
            tell(&format!("{size}: queries while a league runs flat out"));
            queries = Some(queries::measure(size, temporary_folder(&self.folder)?.path()).await?);
        }
        let mut allocations = Vec::new();
        for &size in &self.sizes {
            allocations
                .extend(allocations::measure(size, temporary_folder(&self.folder)?.path()).await?);
        }
        tell("the pure core");
        let sizes = self.sizes.clone();
        let runs = self.runs;
        let pure = move || {
            sizes
                .into_iter()
                .map(|size| pure_core::measure(size, runs))
                .collect::<Result<_>>()
        };
        let core = tokio::task::spawn_blocking(pure).await??;
        Ok(LeagueFigures {
            format: FORMAT,
            leagues,
            queries,
            core,
            allocations,
            first_match_ms,
            player_bytes,
        })
    }
}

/// Queries are measured with 50 players, or else with the largest league.
fn query_size(sizes: &[Size]) -> Option<Size> {
    let usual = sizes.iter().find(|size| size.players == 50);
    usual.or(sizes.iter().max()).copied()
}

/// Measures leagues of one size, each between two measurements of the ceiling. A first, uncounted league gives the
/// workload.
async fn measure(plan: &LeaguePlan, size: Size, tell: Tell<'_>) -> Result<Vec<League>> {
    let kinds: &[Kind] = if plan.outside_players {
        &[Kind::OneProcess, Kind::OutsidePlayers]
    } else {
        &[Kind::OneProcess]
    };
    tell(&format!("{size}: a first league, not counted"));
    let first = play(plan, size, Kind::OneProcess).await?;
    let workload = Arc::new(Workload::of(size, &first.statistics.calls)?);
    let ceiling = async |tell: Tell<'_>| {
        tell(&format!("{size}: the raw ceiling"));
        ceiling::measure(&workload, plan.ceiling_time).await
    };
    let mut collectors: Vec<RunCollector> = kinds
        .iter()
        .map(|kind| RunCollector::of(size, *kind))
        .collect();
    let mut before = ceiling(tell).await?;
    for number in 1..=plan.runs {
        for collector in &mut collectors {
            let kind = collector.league.kind;
            tell(&format!(
                "{size}: {}, league {number} of {}",
                kind.name(),
                plan.runs
            ));
            let played = play(plan, size, kind).await?;
            let after = ceiling(tell).await?;
            collector.add(played, before, after);
            before = after;
        }
    }
    Ok(collectors.into_iter().map(RunCollector::finish).collect())
}

async fn play(plan: &LeaguePlan, size: Size, kind: Kind) -> Result<PlayedLeague> {
    let folder = temporary_folder(&plan.folder)?;
    match kind {
        Kind::OneProcess => {
            one_process::play(size, folder.path(), &folder.path().join("league.db").into()).await
        }
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
        let league = League {
            size,
            kind,
            runs: Vec::new(),
            answers: Vec::new(),
            standings: None,
        };
        Self {
            league,
            times: BTreeMap::new(),
            standings: Vec::new(),
        }
    }

    fn add(&mut self, played: PlayedLeague, before: Ceiling, after: Ceiling) {
        let PlayedLeague {
            statistics,
            cpu,
            memory,
            ..
        } = played;
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
        let Self {
            mut league,
            times,
            standings,
        } = self;
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
