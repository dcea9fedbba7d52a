//! `matchday bench`: how fast leagues are on this machine. Starts processes, makes temporary stores, prints.

use super::{Usage, notice};
use crate::bench::compare::{Change, compare};
use crate::bench::database::DatabasePlan;
use crate::bench::measurements::{FORMAT, Measurements};
use crate::bench::relay::{self, RelayPlan};
use crate::bench::render::for_people;
use crate::bench::service::figures;
use crate::bench::service::{self, ServicePlan};
use crate::bench::size::Size;
use crate::bench::targets::{Target, targets};
use crate::bench::{self, BenchPlan, Tell, database};
use anyhow::{Context, Result, bail};
use clap::{Args, value_parser};
use matchday_os::signals::Termination;
use matchday_terminal::{Paint, say};
use serde::Serialize;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday bench --quick
  matchday bench --save before.json       (now change something, and build it)
  matchday bench --against before.json    (faster, slower, or no difference that can be told)
  matchday bench --service                (10,000 leagues in one service, 100 at once, a flood)
  matchday bench --relay                  (agents that dial out: latency, idle streams, cuts, a league)
  matchday bench --postgres               (leagues in PostgreSQL beside the same in SQLite)

Each league is played between two measurements of the raw ceiling: the same exchanges, made by
the same HTTP client with the same HTTP server, each side reading the JSON once and doing nothing
else. The ratio of the two says how good a league is, whatever machine it runs on. Every figure is
for information; only a league that fails makes the command fail. Allocations are told by a
program that was built with --features count-allocations.";

/// Sizes that show how the cost of a match grows.
const DEFAULT_SIZE: [Size; 4] = [Size::new(4, 1), Size::new(16, 2), Size::new(50, 10), Size::new(99, 10)];
const QUICK: [Size; 2] = [Size::new(16, 2), Size::new(50, 10)];
const PLAYERS: [u16; 4] = [4, 16, 50, 99];
const REFEREES: [u16; 3] = [1, 2, 10];

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
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
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
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

impl BenchArgs {
    fn plan(&self) -> Result<BenchPlan> {
        let sizes = match (self.sizes.as_slice(), self.full, self.quick) {
            ([], true, _) => {
                PLAYERS.iter().flat_map(|p| REFEREES.iter().map(|r| Size::new(*p, *r))).collect()
            }
            ([], _, true) => QUICK.to_vec(),
            ([], ..) => DEFAULT_SIZE.to_vec(),
            (sizes, ..) => sizes.to_vec(),
        };
        Ok(BenchPlan {
            sizes,
            runs: self.runs.map_or(if self.quick { 1 } else { 3 }, usize::from),
            ceiling_time: Duration::from_millis(if self.quick { 400 } else { 1000 }),
            outside_players: !self.one_process,
            folder: self.folder()?,
        })
    }

    /// Absolute: the processes that are measured work in folders of their own.
    fn folder(&self) -> Result<PathBuf> {
        match self.folder.is_dir() {
            true => Ok(fs::canonicalize(&self.folder)?),
            false => Err(Usage(format!("--folder: {} is no folder", self.folder.display())).into()),
        }
    }
}

/// All of it, for programs.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    figures: &'a Measurements,
    targets: &'a [Target],
    #[serde(skip_serializing_if = "<[Change]>::is_empty")]
    changes: &'a [Change],
}

/// Figures of one kind beside their aims, for programs.
#[derive(Serialize)]
struct PartReport<'a, F> {
    #[serde(flatten)]
    figures: &'a F,
    targets: &'a [Target],
}

async fn execute_service(args: &BenchArgs) -> Result<ExitCode> {
    let folder = args.folder()?;
    let plan = if args.quick { ServicePlan::quick(folder) } else { ServicePlan::new(folder) };
    let measuring = async |tell: Tell<'_>| service::run(&plan, tell).await;
    let found = measured(args, measuring).await?;
    show_part(args, &found, &figures::targets(&found), figures::for_people)
}

async fn execute_relay(args: &BenchArgs) -> Result<ExitCode> {
    let folder = args.folder()?;
    let plan = if args.quick { RelayPlan::quick(folder) } else { RelayPlan::new(folder) };
    let measuring = async |tell: Tell<'_>| relay::run(&plan, tell).await;
    let found = measured(args, measuring).await?;
    show_part(args, &found, &relay::figures::targets(&found), relay::figures::for_people)
}

async fn execute_database(args: &BenchArgs) -> Result<ExitCode> {
    let folder = args.folder()?;
    let plan = if args.quick { DatabasePlan::quick(folder) } else { DatabasePlan::new(folder) };
    let measuring = async |tell: Tell<'_>| database::run(&plan, tell).await;
    let found = measured(args, measuring).await?;
    show_part(args, &found, &database::figures::targets(&found), database::figures::for_people)
}

/// Measures, with the progress shown, until that is done or the user ends it.
async fn measured<F>(args: &BenchArgs, measuring: impl AsyncFnOnce(Tell<'_>) -> Result<F>) -> Result<F> {
    let mut stop = Termination::listen()?;
    let mut progress = Progress::new(args.json);
    let mut tell = |doing: &str| progress.tell(doing);
    let found = tokio::select! {
        found = measuring(&mut tell) => found,
        () = stop.recv() => bail!("stopped before the end: nothing was measured"),
    };
    progress.clear();
    found
}

fn show_part<F: Serialize>(
    args: &BenchArgs,
    figures: &F,
    targets: &[Target],
    for_people: fn(&F, Paint) -> String,
) -> Result<ExitCode> {
    say(match args.json {
        true => serde_json::to_string_pretty(&PartReport { figures, targets })?,
        false => for_people(figures, Paint::of_stdout()),
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn execute(args: BenchArgs) -> Result<ExitCode> {
    if args.service {
        return execute_service(&args).await;
    }
    if args.relay {
        return execute_relay(&args).await;
    }
    if args.postgres {
        return execute_database(&args).await;
    }
    let plan = args.plan()?;
    // A file that cannot be read is better known of before the minutes that follow.
    let before = args.against.as_deref().map(saved).transpose()?;
    let figures = measured(&args, async |tell: Tell<'_>| bench::run(&plan, tell).await).await?;
    if let Some(file) = &args.save {
        let text = serde_json::to_string_pretty(&figures)?;
        fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    let targets = targets(&figures);
    let changes = before.map(|before| compare(&before, &figures)).unwrap_or_default();
    say(match args.json {
        true => {
            let report = Report { figures: &figures, targets: &targets, changes: &changes };
            serde_json::to_string_pretty(&report)?
        }
        false => for_people(&figures, &targets, &changes, Paint::of_stdout()),
    });
    Ok(ExitCode::SUCCESS)
}

fn saved(file: &Path) -> Result<Measurements> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let figures: Measurements = serde_json::from_str(&text).with_context(|| {
        format!("{} holds no figures that `matchday bench --save` of this version has kept", file.display())
    })?;
    if figures.format != FORMAT {
        let (file, format) = (file.display(), figures.format);
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
        Self { silent, terminal: std::io::stderr().is_terminal() }
    }

    fn tell(&mut self, doing: &str) {
        match (self.silent, self.terminal) {
            (true, _) => {}
            (_, true) => self.draw(doing),
            (_, false) => notice(doing),
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
