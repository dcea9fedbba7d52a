//! `matchday experiment`: a tournament of strategies by a plan. Starts threads, runs programs that are strategies, writes the
//! folder of results.

use super::program_env_arg::ProgramEnvArg;
use super::tls::TlsArgs;
use super::{Usage, notice};
use anyhow::{Result, bail};
use clap::Args;
use matchday_os::signals::Termination;
use matchday_research::Run;
use matchday_research::experiment::folder::Folder;
use matchday_research::experiment::page::page;
use matchday_research::experiment::plan::Plan;
use matchday_research::experiment::results::Results;
use matchday_research::experiment::run::{open_replies, play};
use matchday_research::simulate::entrants::Externals;
use matchday_research::simulate::progress::{ProgressBar, grouped};
use matchday_stats::estimate::Estimate;
use matchday_terminal::{say, table};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;

pub(super) const EXAMPLE: &str = "\
A plan is a TOML file:

  name = \"Who holds out in the dilemma?\"
  games = [\"iterated_prisoners_dilemma\", \"nim\"]   # or game_command = \"./rules.py\"
  strategies = [\"tit_for_tat\", \"grim\", \"random\", \"optimal\"]   # in each game those it knows
  formats = [\"duels\", \"swiss\"]   # duels: every pair; or formats of leagues
  seeds = [1, 2, 3]               # each game and format is played once with each
  repetitions = 500               # a series of each pair, or a league; default 100
  series = 2                      # matches until both forget; default 2
  openings = 40                   # random ones, for duels; default none
  opening_turns = 2
  think_time = 5                  # seconds for a move of a program; 60 for that of a model
  stop = { margin = 0.01 }        # or { sprt = [0, 20], alpha = 0.05, beta = 0.05 }

  [[game]]                        # a game with settings of its own
  name = \"connect_four\"
  series = 4

  [[player]]                      # a language model, or a program by its command
  name = \"small\"
  api = \"ollama\"                  # openai, anthropic or ollama
  model = \"some-model\"

Only games is needed. The folder of results holds matches.csv (a line for each match),
results.json and report.html; with models also replies.jsonl (all that they were told and said)
and players.csv, .md and .tex. Interrupt it or kill it: the same command continues. The
same plan gives the same bytes.

Example:
  matchday experiment examples/dilemma.toml
  matchday experiment plan.toml --out results/monday --threads 4
  matchday experiment models.toml --out check --replay-replies results/replies.jsonl

Tournaments of models: docs/models.md. What the figures mean: docs/statistics.md";

/// Calls of models at once, whatever their providers allow.
const THREADS_MAX: usize = 256;

#[derive(Debug, Args)]
pub(super) struct ExperimentArgs {
    /// The plan, in TOML
    #[arg(value_name = "PLAN.toml")]
    plan: PathBuf,
    /// The folder of results [default: the plan's name, without .toml, beside it]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// How many threads play [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Ask no model, but play by the replies of an earlier run: its replies.jsonl, or its folder
    #[arg(long, value_name = "FILE")]
    replay_replies: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    program_env: ProgramEnvArg,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(args: ExperimentArgs) -> Result<ExitCode> {
    args.program_env.apply()?;
    let shown = args.plan.display().to_string();
    let text = std::fs::read_to_string(&args.plan)
        .map_err(|error| Usage(format!("{shown} cannot be read: {error}")))?;
    let stop = Arc::new(AtomicBool::new(false));
    let externals = Externals {
        think_time: Duration::ZERO,
        runtime: Handle::current(),
        client: args.tls.client()?,
        replays: args.replay_replies.is_some(),
    };
    let plan = Plan::read(&text, &externals, &stop)
        .await
        .map_err(|why| Usage(format!("{shown}: {why}")))?;
    let out = args.out.unwrap_or_else(|| args.plan.with_extension(""));
    if out == args.plan {
        return Err(Usage(format!(
            "{shown}: the plan has no extension: name a folder with --out"
        ))
        .into());
    }
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    // A thread waits for each call.
    let calls = NonZeroUsize::new(plan.calls_at_once().min(THREADS_MAX));
    let threads = args
        .threads
        .unwrap_or_else(|| calls.map_or(cores, |calls| calls.max(cores)));
    let mut termination = Termination::listen()?;
    let flag = Arc::clone(&stop);
    let folder = out.clone();
    let mut playing = tokio::task::spawn_blocking(move || {
        conduct(
            &plan,
            &folder,
            args.replay_replies.as_deref(),
            threads,
            &flag,
        )
    });
    let done = tokio::select! {
        done = &mut playing => done?,
        () = termination.recv() => {
            stop.store(true, Ordering::Relaxed);
            playing.await?
        }
    };
    match done? {
        Some(results) if args.json => say(serde_json::to_string_pretty(&results)?),
        Some(results) => say(for_people(&results, &out)),
        None => {
            notice(&format!(
                "interrupted; the same command continues where {} ends",
                out.join("matches.csv").display()
            ));
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `None` if it was stopped before its end.
fn conduct(
    plan: &Plan,
    out: &Path,
    replay: Option<&Path>,
    threads: NonZeroUsize,
    stop: &AtomicBool,
) -> Result<Option<Results>> {
    let (mut folder, mut fold) = Folder::open(out, plan)?;
    let replies = Arc::new(open_replies(out, plan, replay)?);
    let mut bar = ProgressBar::of_long_run();
    let complete = play(
        plan,
        &mut folder,
        &mut fold,
        &Run { threads, stop },
        &replies,
        &mut bar,
    );
    bar.clear();
    if !complete? {
        folder.flush()?;
        if let Some(why) = plan
            .tournaments
            .iter()
            .find_map(|game| game.rules.as_ref()?.failure())
        {
            bail!("the rules of the game failed: {why}");
        }
        if let Some(why) = plan.halt.why() {
            bail!("{why}. The same command continues from there");
        }
        return Ok(None);
    }
    for (name, program) in plan
        .tournaments
        .iter()
        .flat_map(|tournament| &tournament.entrants.programs)
    {
        if let Some(why) = program.last_failure() {
            notice(&format!("{name} failed, at last because: {why}"));
        }
    }
    let results = if plan.models.is_empty() {
        fold.results()
    } else {
        let (results, said) = fold.results_with(&replies)?;
        folder.finish_replies(&said)?;
        results
    };
    folder.finish(&results, &page(&results))?;
    Ok(Some(results))
}

fn for_people(results: &Results, out: &Path) -> String {
    let rows: Vec<Vec<String>> = results
        .groups
        .iter()
        .map(|group| {
            let best = group.strategies.first();
            let payoff = best.and_then(|row| row.payoff_per_match).map(|payoff| {
                let Estimate { value, low, high } = payoff;
                format!("payoff {value:.2} ({low:.2} to {high:.2})")
            });
            let score = best.and_then(|row| row.score).map(|score| {
                let [value, low, high] = [score.value, score.low, score.high].map(|it| 100.0 * it);
                format!("{value:.1} % ({low:.1} to {high:.1})")
            });
            let score = payoff.or(score).unwrap_or_default();
            vec![
                group.game.clone(),
                group.format.clone(),
                grouped(group.repetitions),
                grouped(group.matches),
                best.map_or_else(String::new, |row| row.strategy.clone()),
                score,
                group.cycles.len().to_string(),
            ]
        })
        .collect();
    let heads = [
        "GAME",
        "FORMAT",
        "REPETITIONS",
        "MATCHES",
        "BEST",
        "SCORE, 95 %",
        "CYCLES",
    ];
    let mut files = vec!["report.html", "results.json", "matches.csv"];
    if results.players.is_some() {
        files.extend(["players.md", "players.csv", "players.tex", "replies.jsonl"]);
    }
    let files: Vec<String> = files
        .iter()
        .map(|file| out.join(file).display().to_string())
        .collect();
    format!(
        "{}\n\n{}\n\n{}",
        results.name,
        table(&heads, &rows),
        files.join("\n")
    )
}
