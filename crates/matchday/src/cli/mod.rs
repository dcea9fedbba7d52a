//! The commands. Each prints for people, or with `--json` for programs; each ends with 0 if it is done, 1 if it failed, 2
//! if it was called wrongly.
//!
//! # Layout
//! One file for each command, by its name. What several of them share:
//! - `settings`: every setting, declared once; `manager_arg`, `league_arg`, `operator`, `program_env_arg`, `query`,
//!   `tls`: flags
//! - `daemon`: what the commands that keep running have in common; `network`, `competition`, `telemetry`: their settings as values
//! - `run_record`: what `run` goes on with; `browser`: opens a page; `store_arg`: FILE or `--store`; `help`: `--help-all`; `manual`: `help TOPIC`

mod admin;
mod backup;
mod browser;
mod check;
mod cluster;
mod competition;
mod completions;
mod config;
mod connect;
mod course;
mod daemon;
mod dashboard;
mod dial;
mod doctor;
mod experiment;
mod export;
mod games;
mod health;
mod help;
mod league;
mod league_arg;
mod man;
mod manager;
mod manager_arg;
mod manual;
mod network;
mod new;
mod operator;
mod peers;
mod plan_players;
mod player;
mod practice;
mod program_env_arg;
mod query;
mod referee;
mod relay;
mod replay;
mod replay_against;
mod report;
mod roster;
mod run;
mod run_players;
mod run_record;
mod schedule;
mod schema;
mod season;
mod seat;
mod seat_play;
mod serve;
mod service_api;
mod settings;
mod simulate;
mod since;
mod standings;
mod start;
mod stats;
mod status;
mod store_arg;
mod store_password;
mod stored_leagues;
mod telemetry;
#[cfg(test)]
mod tests;
mod tls;
mod verify;
mod watch;

use ::matchday_terminal;
use clap::{Parser, Subcommand};
use matchday_core::protocol::Untrusted;
use matchday_os::fd_limit;
use matchday_runtime::deciders::launcher;
use settings::{ManagerFlags, PlayerFlags, RefereeFlags, SeatFlags, ServeFlags};
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

/// Runs leagues of AI agents that speak league.v2.
#[derive(Debug, Parser)]
#[command(
    version,
    // On Windows the file is matchday.exe, and people type matchday.
    bin_name = "matchday",
    propagate_version = true,
    max_term_width = 100,
    after_help = help::EXAMPLES
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
    Manager(ManagerFlags),
    /// Run a referee
    #[command(after_help = referee::EXAMPLE)]
    Referee(RefereeFlags),
    /// Run a player
    #[command(after_help = player::example())]
    Player(PlayerFlags),
    /// Run seats for language models: players by the Model Context Protocol
    #[command(after_help = seat::EXAMPLE)]
    Seat(SeatFlags),
    /// Run many leagues at one address, with referees of its own
    #[command(after_help = serve::EXAMPLE)]
    Serve(ServeFlags),
    /// Let an agent play in a league elsewhere: it dials out
    #[command(after_help = connect::EXAMPLE)]
    Connect(connect::ConnectArgs),
    /// Create, list, archive and delete the leagues of a service; list those of a store
    #[command(after_help = league::EXAMPLE)]
    League(league::LeagueArgs),
    /// Show the services that share a store, and what each of them has
    #[command(after_help = cluster::EXAMPLE)]
    Cluster(cluster::ClusterArgs),
    /// Create, list and steer the seasons of a service: leagues by a schedule
    #[command(after_help = season::EXAMPLE)]
    Season(season::SeasonArgs),
    /// Run a course: roster, nightly leagues, hand-outs for students, grades
    #[command(after_help = course::EXAMPLE)]
    Course(course::CourseArgs),
    /// Close registration and begin the league
    #[command(after_help = "Example:\n  matchday start --manager http://localhost:8000/mcp")]
    Start(start::StartArgs),
    /// Show how far the league has come
    #[command(after_help = "Example:\n  matchday status --json")]
    Status(query::QueryArgs),
    /// Show the standings
    #[command(after_help = "Example:\n  matchday standings --json")]
    Standings(query::QueryArgs),
    /// Follow a league on the whole terminal: table, matches, messages
    #[command(after_help = watch::EXAMPLE)]
    Watch(watch::WatchArgs),
    /// Show the rounds, their matches and results
    #[command(after_help = "Example:\n  matchday schedule --round 1")]
    Schedule(schedule::ScheduleArgs),
    /// Show how a league or a player has done, and how much of it is luck
    #[command(after_help = stats::EXAMPLE)]
    Stats(stats::StatsArgs),
    /// Step in as the operator: pause, resume, withdraw, void, end
    #[command(after_help = admin::EXAMPLE)]
    Admin(admin::AdminArgs),
    /// Show who may register, and make join codes
    #[command(after_help = roster::EXAMPLE)]
    Roster(roster::RosterArgs),
    /// Write a starter agent, in a language of your choice
    #[command(after_help = new::EXAMPLE)]
    New(new::NewArgs),
    /// Show the games, their rules, and the strategies that are built in
    #[command(after_help = games::EXAMPLE)]
    Games(games::GamesArgs),
    /// Check an agent: does it keep the rules, and if not, what is the fix?
    #[command(after_help = check::EXAMPLE)]
    Check(check::CheckArgs),
    /// Let an agent practise against every strategy, and with faults of the network
    #[command(after_help = practice::EXAMPLE)]
    Practice(practice::PracticeArgs),
    /// Show the settings in effect, and where each came from
    #[command(after_help = config::EXAMPLE)]
    Config(config::ConfigArgs),
    /// Write JSON Schemas of all messages, and an OpenRPC document for each agent
    #[command(after_help = schema::EXAMPLE)]
    Schema(schema::SchemaArgs),
    /// Look at a stored league in a browser
    #[command(after_help = dashboard::EXAMPLE)]
    Dashboard(dashboard::DashboardArgs),
    /// Play strategies against each other without a network, very many matches
    #[command(after_help = simulate::EXAMPLE)]
    Simulate(simulate::SimulateArgs),
    /// Play a tournament of strategies by a plan that anybody can repeat
    #[command(after_help = experiment::EXAMPLE)]
    Experiment(experiment::ExperimentArgs),
    /// Verify a stored league: its chain of events, numbers, scores and standings
    Verify(verify::VerifyArgs),
    /// Show a stored match message by message
    Replay(replay::ReplayArgs),
    /// Write a report of a stored league: table, plots and grades
    #[command(after_help = report::EXAMPLE)]
    Report(report::ReportArgs),
    /// Export a stored league as JSON and CSV
    Export(export::ExportArgs),
    /// Find problems that keep an agent from working here: ports, clock, disk, TLS, other agents
    #[command(after_help = doctor::EXAMPLE)]
    Doctor(doctor::DoctorArgs),
    /// Ask an agent whether it is ready; for health checks
    #[command(after_help = health::EXAMPLE)]
    Health(health::HealthArgs),
    /// Copy a store, also while it is in use, and check the copy
    Backup(backup::BackupArgs),
    /// Print completions of commands and options for a shell
    #[command(after_help = completions::EXAMPLE)]
    Completions(completions::CompletionsArgs),
    /// Print or write manual pages
    #[command(after_help = man::EXAMPLE)]
    Man(man::ManArgs),
}

/// As shells say it of a command that cannot be run.
const CANNOT_LAUNCH: u8 = 127;

/// The command was called in a way that cannot work.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    if let Some(why) = launcher::launch(std::env::args_os()) {
        notice(&why);
        matchday_terminal::flush();
        return ExitCode::from(CANNOT_LAUNCH);
    }
    launcher::enable();
    if let Some(code) = store_password::hide() {
        matchday_terminal::flush();
        return code;
    }
    let cli = match help::parse() {
        Ok(cli) => cli,
        Err(code) => {
            matchday_terminal::flush();
            return code;
        }
    };
    fd_limit::raise();
    let outcome = settings::check_environment(
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()),
    )
    .map_err(anyhow::Error::from)
    .and_then(|()| Ok(runtime(&cli.command)?))
    .and_then(|runtime| runtime.block_on(execute(cli.command)));
    let code = outcome.unwrap_or_else(|error| {
        let line = format!("{error:#}")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        notice(&line);
        ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
    });
    matchday_terminal::flush();
    code
}

/// Runs a command within the caller's runtime, whose time it keeps: for tests that play days in seconds.
pub async fn run_command<'a>(words: impl IntoIterator<Item = &'a str>) -> anyhow::Result<ExitCode> {
    let words = std::iter::once("matchday").chain(words);
    execute(Cli::try_parse_from(words)?.command).await
}

/// One agent on its own has no use for several threads, which would only wake each other.
fn runtime(command: &Command) -> std::io::Result<Runtime> {
    match command {
        Command::Referee(_) | Command::Player(_) => {
            Builder::new_current_thread().enable_all().build()
        }
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
        Command::Serve(flags) => serve::execute(flags).await,
        Command::Connect(args) => connect::execute(args).await,
        Command::League(args) => league::execute(args).await,
        Command::Cluster(args) => cluster::execute(args).await,
        Command::Season(args) => season::execute(args).await,
        Command::Course(args) => course::execute(args).await,
        Command::Start(args) => start::execute(args).await,
        Command::Status(args) => status::execute(args).await,
        Command::Standings(args) => standings::execute(args).await,
        Command::Watch(args) => watch::execute(args).await,
        Command::Schedule(args) => schedule::execute(args).await,
        Command::Stats(args) => stats::execute(args).await,
        Command::Admin(args) => admin::execute(args).await,
        Command::Roster(args) => roster::execute(args).await,
        Command::New(args) => new::execute(args),
        Command::Games(args) => games::execute(args),
        Command::Check(args) => check::execute(args).await,
        Command::Practice(args) => practice::execute(args).await,
        Command::Config(args) => config::execute(args),
        Command::Schema(args) => schema::execute(args),
        Command::Dashboard(args) => dashboard::execute(args).await,
        Command::Simulate(args) => simulate::execute(args).await,
        Command::Experiment(args) => experiment::execute(args).await,
        Command::Verify(args) => verify::execute(args),
        Command::Replay(args) => replay::execute(args).await,
        Command::Report(args) => report::execute(args),
        Command::Export(args) => export::execute(args),
        Command::Doctor(args) => doctor::execute(args).await,
        Command::Health(args) => health::execute(args).await,
        Command::Backup(args) => backup::execute(args),
        Command::Completions(args) => completions::execute(&args),
        Command::Man(args) => man::execute(&args),
    }
}

/// Prints a line on stderr that is not the result of the command.
fn notice(text: &str) {
    matchday_terminal::warn(format!("matchday: {}\n", Untrusted::new(text).escaped()));
}
