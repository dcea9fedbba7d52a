//! The commands. Each prints for people, or with `--json` for programs; each ends with 0 if it is done, 1 if it failed, 2
//! if it was called wrongly.
//!
//! # Layout
//! - [`settings`], `config`, `config_file`: what can be set, and where each value came from
//! - `manager`, `referee`, `player`, `seat`: the agents, which keep running; `serve`: what they have in common
//! - `observing`: what an operator can see; `network`, `tls`: whom an agent may call and what it takes; certificates;
//!   `log_file`: where the log goes; `limits`: all limits in one table
//! - `desk`: talks to a manager; `manager_answer`: reads what it answers; `look`, `stats`, `order`: the commands that do;
//!   `watch`: what is looked at again and again; `follow`: the whole terminal
//! - `new`: a starter agent; `check`: is an agent conformant? `practice`: how does it bear a league, and trouble?
//! - `bench`: how fast it is; `simulate`: strategies against each other, without a network
//! - `games`: what can be played
//! - `schema`: the messages and methods for those who write agents
//! - `dashboard`: a league in a browser
//! - `run`: a whole league at once; `files`, `report`: what can be made of a stored league; `against`: its requests, sent again;
//!   `backup`: a copy of it
//! - `leagues`: the leagues of a store, one after the other; `compare`: two of them side by side

mod against;
mod backup;
mod bench;
mod check;
mod compare;
mod competition;
mod config;
mod config_file;
mod dashboard;
pub(crate) mod desk;
mod files;
mod follow;
mod games;
mod leagues;
#[cfg(test)]
mod limits;
mod log_file;
mod look;
mod manager;
mod manager_answer;
mod network;
mod new;
mod observing;
mod order;
mod player;
mod practice;
mod referee;
mod report;
mod roster;
mod run;
mod schema;
mod seat;
mod serve;
mod settings;
mod show;
mod simulate;
mod stats;
mod tls;
mod watch;

use crate::cores;
use crate::net::room;
use crate::view;
use clap::{Parser, Subcommand};
use config::Flags;
use matchday_core::protocol::Untrusted;
use settings::{ForManager, ForPlayer, ForReferee, ForSeat};
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

/// Runs leagues of AI agents that speak league.v2.
#[derive(Debug, Parser)]
#[command(
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "\
Example, each in a terminal of its own:
  matchday manager --lead 5
  matchday referee
  matchday player --strategy random
  matchday player --listen 127.0.0.1:8102 --strategy pattern
  matchday start && matchday standings --watch"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play a whole league on this machine
    Run(run::RunArgs),
    /// Run a league manager
    #[command(after_help = manager::EXAMPLE)]
    Manager(Flags<ForManager>),
    /// Run a referee
    #[command(after_help = referee::EXAMPLE)]
    Referee(Flags<ForReferee>),
    /// Run a player
    #[command(after_help = player::example())]
    Player(Flags<ForPlayer>),
    /// Run seats for language models: players by the Model Context Protocol
    #[command(after_help = seat::EXAMPLE)]
    Seat(Flags<ForSeat>),
    /// Close registration and begin the league
    #[command(after_help = "Example:\n  matchday start --manager http://localhost:8000/mcp")]
    Start(order::StartArgs),
    /// Show how far the league has come
    #[command(after_help = "Example:\n  matchday status --watch")]
    Status(look::LookArgs),
    /// Show the table
    #[command(after_help = "Example:\n  matchday standings --json")]
    Standings(look::LookArgs),
    /// Follow a league on the whole terminal: table, matches, messages
    #[command(after_help = follow::EXAMPLE)]
    Watch(follow::FollowArgs),
    /// Show the rounds, their matches and results
    #[command(after_help = "Example:\n  matchday schedule --round 1")]
    Schedule(look::ScheduleArgs),
    /// Show how a league or a player has done, and how much of it is luck
    #[command(after_help = stats::EXAMPLE)]
    Stats(stats::StatsArgs),
    /// Step in as the operator: pause, resume, withdraw, void, end
    #[command(after_help = order::ADMIN_EXAMPLE)]
    Admin(order::AdminArgs),
    /// Show who may register, and make join codes
    #[command(after_help = roster::EXAMPLE)]
    Roster(roster::RosterArgs),
    /// Write a starter agent, in a language of your choice
    #[command(after_help = new::EXAMPLE)]
    New(new::NewArgs),
    /// Show the games, their rules, and the strategies that are built in
    #[command(after_help = games::EXAMPLE)]
    Games(games::GamesArgs),
    /// Check an agent: does it keep the rules, and if not, how is it mended?
    #[command(after_help = check::EXAMPLE)]
    Check(check::CheckArgs),
    /// Play a league of one: let an agent practise against every strategy, and against trouble
    #[command(after_help = practice::EXAMPLE)]
    Practice(practice::PracticeArgs),
    /// Show the settings in effect, and where each came from
    #[command(after_help = show::EXAMPLE)]
    Config(show::ConfigArgs),
    /// Write JSON Schemas of all messages, and an OpenRPC document for each kind of agent
    #[command(after_help = schema::EXAMPLE)]
    Schema(schema::SchemaArgs),
    /// Measure how fast leagues are played here, beside the fastest that HTTP can be
    #[command(after_help = bench::EXAMPLE)]
    Bench(bench::BenchArgs),
    /// Look at a stored league in a browser
    #[command(after_help = dashboard::EXAMPLE)]
    Dashboard(dashboard::DashboardArgs),
    /// Play strategies against each other without a network, millions of matches a second
    #[command(after_help = simulate::EXAMPLE)]
    Simulate(simulate::SimulateArgs),
    /// Check a stored league: its chain of events, draws, scores and table
    Verify(files::VerifyArgs),
    /// Tell a stored match as it happened
    Replay(files::ReplayArgs),
    /// List the leagues that a store holds, and ratings through all of them
    #[command(after_help = leagues::EXAMPLE)]
    Leagues(leagues::LeaguesArgs),
    /// Compare the same players in two leagues: tables, ratings, answer times
    #[command(after_help = compare::EXAMPLE)]
    Compare(compare::CompareArgs),
    /// Write a report of a stored league: a page with table, plots and grades, or CSV, JSON, Markdown
    #[command(after_help = report::EXAMPLE)]
    Report(report::ReportArgs),
    /// Write a stored league out as JSON and CSV
    Export(files::ExportArgs),
    /// Copy a store, also while it is in use, and check the copy
    Backup(backup::BackupArgs),
}

/// The command was called in a way that cannot work.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    room::raise_descriptor_limit();
    room::make_room();
    let outcome = runtime(&cli.command)
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(execute(cli.command)));
    let code = outcome.unwrap_or_else(|error| {
        let line = format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ");
        notice(&line);
        ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
    });
    view::flush();
    code
}

/// One agent on its own has no use for several threads, which would only wake each other. A whole league has the machine to
/// itself.
fn runtime(command: &Command) -> std::io::Result<Runtime> {
    match command {
        Command::Referee(_) | Command::Player(_) => Builder::new_current_thread().enable_all().build(),
        Command::Run(_) | Command::Bench(_) => cores::runtime(),
        _ => Runtime::new(),
    }
}

async fn execute(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Run(args) => run::execute(args).await,
        Command::Manager(flags) => manager::execute(flags).await,
        Command::Referee(flags) => referee::execute(flags).await,
        Command::Player(flags) => player::execute(flags).await,
        Command::Seat(flags) => seat::execute(flags).await,
        Command::Start(args) => order::start(args).await,
        Command::Status(args) => look::status(args).await,
        Command::Standings(args) => look::standings(args).await,
        Command::Watch(args) => follow::execute(args).await,
        Command::Schedule(args) => look::schedule(args).await,
        Command::Stats(args) => stats::stats(args).await,
        Command::Admin(args) => order::admin(args).await,
        Command::Roster(args) => roster::execute(args).await,
        Command::New(args) => new::execute(args),
        Command::Games(args) => games::execute(args),
        Command::Check(args) => check::execute(args).await,
        Command::Practice(args) => practice::execute(args).await,
        Command::Config(args) => show::config(args),
        Command::Schema(args) => schema::execute(args),
        Command::Bench(args) => bench::execute(args).await,
        Command::Dashboard(args) => dashboard::execute(args).await,
        Command::Simulate(args) => simulate::execute(args).await,
        Command::Verify(args) => files::verify(args),
        Command::Replay(args) => files::replay(args).await,
        Command::Leagues(args) => leagues::execute(args),
        Command::Compare(args) => compare::execute(args),
        Command::Report(args) => report::execute(args),
        Command::Export(args) => files::export(args),
        Command::Backup(args) => backup::execute(args),
    }
}

/// Tells whoever runs the command something that is not its result.
fn notice(text: &str) {
    view::warn(format!("matchday: {}\n", Untrusted::new(text).escaped()));
}
