//! `matchday-bench`: how fast leagues are on this machine. Starts processes, makes temporary stores, prints.
//!
//! # Layout
//! - `benchmark`: what a benchmark is; `report`: its figures, goals and tables; `compare`: with a saved run
//! - `league`: whole leagues beside the raw HTTP ceiling; `service`: many leagues in one service; `relay`: agents that
//!   dial out; `postgres`: leagues in PostgreSQL beside SQLite
//! - `program`: `matchday` in child processes, which are this executable; `processes`: a league of them; `usage`: their
//!   CPU time and memory; `light_players`, `manager`: players that cost nothing, and requests to a manager
//! - `run_statistics`, `quantiles`, `size`: what is read of the stores, and values

mod benchmark;
mod compare;
mod league;
mod light_players;
mod manager;
mod postgres;
mod processes;
mod program;
mod quantiles;
mod relay;
mod report;
mod run_statistics;
mod service;
mod size;
mod usage;

use anyhow::{Context, Result, bail};
use benchmark::Benchmark;
use clap::{Parser, value_parser};
use league::LeaguePlan;
use league::figures::{FORMAT, LeagueFigures};
use matchday_os::signals::Termination;
use postgres::PostgresPlan;
use relay::RelayPlan;
use report::Report;
use service::ServicePlan;
use size::Size;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// As in the program that is measured.
#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(feature = "count-allocations")]
#[global_allocator]
static COUNTING: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

const EXAMPLES: &str = "\
Example:
  matchday-bench --quick
  matchday-bench --save before.json       (now change something, and build it)
  matchday-bench --against before.json    (faster, slower, or no difference that can be told)
  matchday-bench --service                (10,000 leagues in one service, 100 at once, a flood)
  matchday-bench --relay                  (agents that dial out: latency, idle streams, cuts, a league)
  matchday-bench --postgres               (leagues in PostgreSQL beside the same in SQLite)

Each league is played between two measurements of the raw ceiling: the same exchanges, made by
the same HTTP client with the same HTTP server, each side reading the JSON once and doing nothing
else. The ratio of the two says how good a league is, whatever machine it runs on. Every figure is
for information; only a league that fails makes the command fail. Allocations are told by a
program that was built with --features count-allocations.";

/// Sizes that show how the cost of a match grows.
const DEFAULT_SIZES: [Size; 4] = [
    Size::new(4, 1),
    Size::new(16, 2),
    Size::new(50, 10),
    Size::new(99, 10),
];
const QUICK_SIZES: [Size; 2] = [Size::new(16, 2), Size::new(50, 10)];
const PLAYERS: [u16; 4] = [4, 16, 50, 99];
const REFEREES: [u16; 3] = [1, 2, 10];

/// Measures how fast leagues are played here, beside the fastest that HTTP can be.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
struct BenchArgs {
    /// Leagues to play, each as PLAYERS/REFEREES [default: 4/1,16/2,50/10,99/10]
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    sizes: Vec<Size>,
    /// Play 4, 16, 50 and 99 players with 1, 2 and 10 referees each
    #[arg(long, conflicts_with_all = ["sizes", "quick"])]
    full: bool,
    /// Measure `matchday serve` instead: a store of 10,000 leagues, 100 leagues at once, and a league that is flooded
    #[arg(long, conflicts_with_all = ["sizes", "full", "runs", "one_process", "save", "against"])]
    service: bool,
    /// Measure the relay instead: what it adds to a call, 5,000 idle streams, cuts, and a league of players that dial out
    #[arg(long, conflicts_with_all = ["sizes", "full", "runs", "one_process", "save", "against", "service"])]
    relay: bool,
    /// Measure leagues in PostgreSQL beside SQLite instead, on a server that is started for it: it needs PostgreSQL's programs
    #[arg(long, conflicts_with_all = ["sizes", "full", "runs", "one_process", "save", "against", "service", "relay"])]
    postgres: bool,
    /// Play 16/2 and 50/10 only, once each: enough for a first look, too little for a comparison
    #[arg(long)]
    quick: bool,
    /// How often each league is played: a comparison needs three, and five tell more [default: 3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=100))]
    runs: Option<u8>,
    /// Leave out leagues with outside players, where manager and referees are processes of their own
    #[arg(long)]
    one_process: bool,
    /// The folder in which leagues are kept while they are measured; its disk is measured too [default: this one]
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true, value_parser = existing_folder)]
    folder: PathBuf,
    /// Print figures, targets and comparison as JSON, and nothing else
    #[arg(long)]
    json: bool,
    /// Keep the figures in this file, to compare with them later
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with the figures that were kept in this file
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

fn main() -> ExitCode {
    if program::is_wanted() {
        return matchday::cli::main();
    }
    let args = BenchArgs::parse();
    let outcome = tokio::runtime::Runtime::new()
        .context("no runtime")
        .and_then(|runtime| runtime.block_on(execute(&args)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("matchday-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn execute(args: &BenchArgs) -> Result<()> {
    let folder = args.folder.clone();
    if args.service {
        measure_and_show(args, ServicePlan::new(folder, args.quick), None).await
    } else if args.relay {
        measure_and_show(args, RelayPlan::new(folder, args.quick), None).await
    } else if args.postgres {
        measure_and_show(args, PostgresPlan::new(folder, args.quick), None).await
    } else {
        // A file that cannot be read is better known of before the minutes that follow.
        let before = args.against.as_deref().map(saved).transpose()?;
        measure_and_show(args, args.league_plan(), before).await
    }
}

async fn measure_and_show<B: Benchmark>(
    args: &BenchArgs,
    plan: B,
    before: Option<B::Figures>,
) -> Result<()> {
    let mut stop = Termination::listen()?;
    let mut progress = Progress::new(args.json);
    let mut tell = |doing: &str| progress.tell(doing);
    let figures = tokio::select! {
        figures = plan.measure(&mut tell) => figures,
        () = stop.recv() => bail!("stopped before the end: nothing was measured"),
    };
    progress.clear();
    let report = Report::new(figures?, before.as_ref());
    if let Some(file) = &args.save {
        let text = serde_json::to_string_pretty(&report)?;
        fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    println!(
        "{}",
        if args.json {
            serde_json::to_string_pretty(&report)?
        } else {
            report.text()
        }
    );
    Ok(())
}

impl BenchArgs {
    fn league_plan(&self) -> LeaguePlan {
        let sizes = if !self.sizes.is_empty() {
            self.sizes.clone()
        } else if self.full {
            PLAYERS
                .iter()
                .flat_map(|p| REFEREES.iter().map(|r| Size::new(*p, *r)))
                .collect()
        } else if self.quick {
            QUICK_SIZES.to_vec()
        } else {
            DEFAULT_SIZES.to_vec()
        };
        LeaguePlan {
            sizes,
            runs: self
                .runs
                .map_or(if self.quick { 1 } else { 3 }, usize::from),
            ceiling_time: Duration::from_millis(if self.quick { 400 } else { 1000 }),
            outside_players: !self.one_process,
            folder: self.folder.clone(),
        }
    }
}

/// Absolute: the processes that are measured work in folders of their own.
fn existing_folder(path: &str) -> Result<PathBuf, String> {
    let folder = Path::new(path);
    if !folder.is_dir() {
        return Err(format!("{path} is no folder"));
    }
    fs::canonicalize(folder).map_err(|error| error.to_string())
}

fn saved(file: &Path) -> Result<LeagueFigures> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let figures: LeagueFigures = serde_json::from_str(&text).with_context(|| {
        format!(
            "{} holds no figures that `matchday-bench --save` of this version has kept",
            file.display()
        )
    })?;
    if figures.format != FORMAT {
        let file = file.display();
        let format = figures.format;
        bail!(
            "{file} holds figures of form {format}, and this program knows {FORMAT}: measure again with --save"
        );
    }
    Ok(figures)
}

/// What is being done, on one line of a terminal, or on a line each.
struct Progress {
    silent: bool,
    terminal: bool,
}

impl Progress {
    fn new(silent: bool) -> Self {
        Self {
            silent,
            terminal: std::io::stderr().is_terminal(),
        }
    }

    fn tell(&mut self, doing: &str) {
        match (self.silent, self.terminal) {
            (true, _) => {}
            (_, true) => self.draw(doing),
            (_, false) => eprintln!("matchday-bench: {doing}"),
        }
    }

    fn clear(&mut self) {
        if self.terminal && !self.silent {
            self.draw("");
        }
    }

    fn draw(&mut self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "\r\u{1b}[2K{text}").and_then(|()| stderr.flush());
    }
}
