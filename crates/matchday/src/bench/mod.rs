//! How fast leagues are: whole durable leagues beside the fastest that HTTP can be, measured in turns on one machine.
//!
//! # Layout
//! - `size`, `figures`, `spread`: what is measured, as values
//! - `program`, `usage`: this program in processes of its own, and what they use of the machine
//! - `one_process`, `separate`: a league played, in the two ways there are; `story`: what its stores tell
//! - `mix`, `ceiling`: the same exchanges with nothing behind them
//! - `here`, `queries`, `allocations`: a league in this process, asked while it runs flat out, and its memory counted
//! - `machines`: the machines without a network
//! - `targets`, `compare`, `render`: what it should be, what it was before, and all of it for people

mod allocations;
mod ceiling;
pub(crate) mod compare;
pub(crate) mod figures;
mod here;
mod machines;
mod mix;
mod one_process;
mod program;
mod queries;
pub(crate) mod render;
#[cfg(test)]
mod sample;
mod separate;
pub(crate) mod size;
mod spread;
mod story;
pub(crate) mod targets;
mod usage;

use anyhow::{Context, Result};
use ceiling::Ceiling;
use figures::{Answers, Figures, Kind, League, Run};
use mix::Mix;
use one_process::Played;
use size::Size;
use smol_str::SmolStr;
use spread::Spread;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// As many as `matchday run` takes by itself.
const USUAL: Size = Size::new(4, 2);

/// What is to be measured.
#[derive(Debug, Clone)]
pub(crate) struct Programme {
    pub(crate) sizes: Vec<Size>,
    /// How often each league is played.
    pub(crate) runs: usize,
    /// How long the bare exchanges are made each time.
    pub(crate) ceiling_time: Duration,
    /// Whether leagues of separate processes are measured too.
    pub(crate) separate: bool,
    /// Where leagues are kept while they are measured: the disk counts.
    pub(crate) folder: PathBuf,
}

/// Told what is being done.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&str);

pub(crate) async fn run(programme: &Programme, tell: Tell<'_>) -> Result<Figures> {
    let mut leagues = Vec::new();
    for &size in &programme.sizes {
        leagues.extend(measure(programme, size, tell).await?);
    }
    tell("from the start of the program to its first match");
    let mut first_match_ms = Vec::new();
    for _ in 0..programme.runs {
        let first = play(programme, USUAL, Kind::OneProcess).await?.to_first_match;
        first_match_ms.extend(first.map(|took| took.as_secs_f64() * 1000.0));
    }
    let queries = match asked_of(&programme.sizes) {
        Some(size) => {
            tell(&format!("{size}: queries while a league runs flat out"));
            Some(queries::measure(size, folder(programme)?.path()).await?)
        }
        None => None,
    };
    let mut allocations = Vec::new();
    for &size in &programme.sizes {
        allocations.extend(allocations::measure(size, folder(programme)?.path()).await?);
    }
    tell("the pure core");
    let (sizes, runs) = (programme.sizes.clone(), programme.runs);
    let pure = move || sizes.into_iter().map(|size| machines::measure(size, runs)).collect::<Result<_>>();
    Ok(Figures {
        format: figures::FORMAT,
        made_by: concat!("matchday ", env!("CARGO_PKG_VERSION")).to_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        optimised: !cfg!(debug_assertions),
        leagues,
        queries,
        core: tokio::task::spawn_blocking(pure).await??,
        allocations,
        first_match_ms,
    })
}

/// The size at which queries are tried: 50 players, if that is among them, else the largest.
fn asked_of(sizes: &[Size]) -> Option<Size> {
    let usual = sizes.iter().find(|size| size.players == 50);
    usual.or(sizes.iter().max()).copied()
}

fn folder(programme: &Programme) -> Result<TempDir> {
    TempDir::with_prefix_in("matchday-bench-", &programme.folder)
        .with_context(|| format!("cannot make a folder in {}", programme.folder.display()))
}

/// Leagues of one size, each between two measurements of the ceiling. The first one only shows what is said in them.
async fn measure(programme: &Programme, size: Size, tell: Tell<'_>) -> Result<Vec<League>> {
    let kinds: &[Kind] = match programme.separate {
        true => &[Kind::OneProcess, Kind::SeparateProcesses],
        false => &[Kind::OneProcess],
    };
    tell(&format!("{size}: a first league, not counted"));
    let first = play(programme, size, Kind::OneProcess).await?;
    let mix = Arc::new(Mix::of(size, &first.story.calls)?);
    let ceiling = async |tell: Tell<'_>| {
        tell(&format!("{size}: the raw ceiling"));
        ceiling::measure(&mix, programme.ceiling_time).await
    };
    let mut gathered: Vec<Gathered> = kinds.iter().map(|kind| Gathered::of(size, *kind)).collect();
    let mut before = ceiling(tell).await?;
    for number in 1..=programme.runs {
        for gathered in &mut gathered {
            let kind = gathered.league.kind;
            tell(&format!("{size}: {}, league {number} of {}", kind.name(), programme.runs));
            let played = play(programme, size, kind).await?;
            let after = ceiling(tell).await?;
            gathered.take_in(played, before, after);
            before = after;
        }
    }
    Ok(gathered.into_iter().map(Gathered::told).collect())
}

async fn play(programme: &Programme, size: Size, kind: Kind) -> Result<Played> {
    let folder = folder(programme)?;
    match kind {
        Kind::OneProcess => one_process::play(size, folder.path()).await,
        Kind::SeparateProcesses => separate::play(size, folder.path()).await,
    }
}

/// Leagues of one size and kind, as they come in.
struct Gathered {
    league: League,
    times: BTreeMap<SmolStr, Vec<u64>>,
    standings: Vec<u64>,
}

impl Gathered {
    fn of(size: Size, kind: Kind) -> Self {
        let league = League { size, kind, runs: Vec::new(), answers: Vec::new(), standings: None };
        Self { league, times: BTreeMap::new(), standings: Vec::new() }
    }

    fn take_in(&mut self, played: Played, before: Ceiling, after: Ceiling) {
        let Played { story, cpu, memory, .. } = played;
        let matches = story.matches.max(1) as f64;
        let cpus = before.cpu_us_per_exchange.zip(after.cpu_us_per_exchange);
        self.league.runs.push(Run {
            matches: story.matches,
            technical_losses: story.technical_losses,
            exchanges: story.calls.len(),
            seconds: story.took().as_secs_f64(),
            ceiling_per_s: (before.exchanges_per_s + after.exchanges_per_s) / 2.0,
            ceiling_cpu_us_per_exchange: cpus.map(|(before, after)| (before + after) / 2.0),
            cpu_us_per_match: cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / matches),
            memory,
            log_bytes_per_match: story.store_bytes as f64 / matches,
        });
        for (kind, times) in story.answer_times() {
            self.times.entry(kind).or_default().extend(times);
        }
        self.standings.extend(story.standings);
    }

    fn told(self) -> League {
        let Self { mut league, times, standings } = self;
        let matches: usize = league.runs.iter().map(|run| run.matches).sum();
        league.standings = Spread::of(standings);
        league.answers = story::spreads(times)
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
