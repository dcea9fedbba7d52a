//! `matchday report`: a stored league as a page, as Markdown, as rows for grades, or as data. Reads stores, writes one file.

use super::Usage;
use super::league_arg::LeagueArg;
use super::store_arg::StoreArgs;
use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use matchday_audit::report::{Report, grades, page};
use matchday_core::protocol::untrusted::escape_output;
use matchday_stats::Resampling;
use matchday_terminal::{draw, say};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday report league.db                             (writes report.html)
  matchday report weekend.db referee-8001.db --out weekend.html
  matchday report league.db --format csv --out grades.csv
  matchday report league.db --format md --out - | less

The page holds everything and loads nothing: mail it, or open it from anywhere. A league that is not over is reported as
far as it is. Exit code 0 if the report is written and the stores verify, 1 if they do not (the report says why).";

#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    league: LeagueArg,
    /// What to write: a page, one row for each player, everything as data, or Markdown
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// The file to write; - for the standard output [default: report.html, or .csv, .json, .md]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
    /// Where the chance of simulated leagues comes from; the same number gives the same figures again
    #[arg(long, value_name = "N", default_value_t = Resampling::default().seed)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Html,
    Csv,
    Json,
    Md,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Md => "md",
        }
    }

    fn write(self, report: &Report) -> Result<String> {
        Ok(match self {
            Self::Html => page::html(report),
            Self::Csv => grades::csv(report)?,
            Self::Json => escape_output(&serde_json::to_string_pretty(report)?).into_owned() + "\n",
            Self::Md => page::markdown(report),
        })
    }
}

pub(super) fn execute(args: ReportArgs) -> Result<ExitCode> {
    let out = args
        .out
        .unwrap_or_else(|| PathBuf::from(format!("report.{}", args.format.name())));
    let to_stdout = out == Path::new("-");
    // Said before the work, not after it.
    if !to_stdout && !args.force && out.exists() {
        return Err(taken(&out));
    }
    let settings = Resampling {
        seed: args.seed,
        ..Resampling::default()
    };
    let report = Report::gather(&args.stores.urls(), args.league.id().as_ref(), &settings)?;
    let text = args.format.write(&report)?;
    if to_stdout {
        draw(&text);
    } else {
        write(&out, &text, args.force)?;
        say(out.display());
    }
    let verified = &report.verification;
    if !verified.passed {
        super::notice(&verified.sentence);
    }
    Ok(if verified.passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn write(out: &Path, text: &str, force: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).truncate(true);
    let opened = if force {
        options.create(true).open(out)
    } else {
        options.create_new(true).open(out)
    };
    let mut file = match opened {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(taken(out)),
        opened => opened.with_context(|| format!("cannot write {}", out.display()))?,
    };
    file.write_all(text.as_bytes())
        .with_context(|| format!("cannot write {}", out.display()))
}

fn taken(out: &Path) -> anyhow::Error {
    let out = out.display();
    anyhow!(Usage(format!(
        "{out} exists already - overwrite it with --force, or name another file with --out"
    )))
}
