//! `matchday run`: a whole league on this machine, every message over real HTTP. Binds ports, makes a store, prints.

use super::competition::{self, CompetitionArgs};
use super::serve::Stop;
use super::{Usage, games, notice, observing};
use crate::local::ports::{Others, Ports};
use crate::local::{LocalLeague, Plan, Seat};
use crate::mind::chooser::{self, Chooser};
use crate::mind::game_program::{Allowance, GameProgram};
use crate::net::client::Client;
use crate::store::Store;
use crate::store::history::History;
use crate::view::live::View;
use crate::view::progress::{Progress, Scene, round_line};
use crate::view::screen::Size;
use crate::view::summary::Summary;
use crate::view::{bold, say, show};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum, value_parser};
use matchday_core::game::GameEntry;
use matchday_core::league::fixture::Round;
use matchday_core::league::{self, Competition, Format, League};
use matchday_core::player::strategy;
use matchday_core::protocol::{GameType, LeagueId, PlayerId, Timestamp};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;

const LOOK_EVERY: Duration = Duration::from_millis(20);
const DRAW_EVERY: Duration = Duration::from_millis(150);
/// As many as any terminal shows.
const TABLE_TOP: usize = 200;
const RESULTS_SHOWN: usize = 4;

/// Play a whole league on this machine, every message over real HTTP.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  matchday run --players 8 --referees 2 --strategies random,pattern --port-base 0
  matchday run --game connect_four --strategies lookahead,random
  matchday run --format swiss --players 16 --port-base 0"
)]
pub(crate) struct RunArgs {
    /// How many players take part
    #[arg(long, default_value_t = 4, value_parser = value_parser!(u16).range(2..=99))]
    players: u16,
    /// How many referees there are
    #[arg(long, default_value_t = 2, value_parser = value_parser!(u16).range(1..=99))]
    referees: u16,
    #[arg(long, default_value = "even_odd", value_name = "NAME", value_parser = games::known, help = games::help())]
    game: &'static GameEntry,
    /// A program of yours that knows the rules of the game, in place of --game; docs/adding-a-game.md describes it
    #[arg(long, value_name = "PROGRAM", conflicts_with = "game")]
    game_command: Option<String>,
    /// Strategies, given to the players in turn; command:PROGRAM has a program of yours choose [default: every built-in
    /// one of the game]
    #[arg(long, value_delimiter = ',', value_name = "A,B", value_parser = chooser::named)]
    strategies: Vec<Chooser>,
    #[command(flatten)]
    competition: CompetitionArgs,
    /// The manager's port; referees follow from 1 above it and players from 101; 0 picks free ports for all
    #[arg(long, default_value_t = 8000, value_name = "PORT")]
    port_base: u16,
    /// The file that keeps the league, which must not exist yet [default: matchday-run-TIME.db here]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Take chance from this number instead of the system; tokens can then be guessed. Draws come out the same again
    /// if no referee has more than one match at a time, as with 4 players and 2 referees
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many seconds before its first match a round is announced; a manager of its own takes 60, here nobody waits
    #[arg(long, default_value = "0", value_name = "SECONDS", value_parser = in_seconds)]
    lead: Duration,
    /// Print only how it ended
    #[arg(long, short)]
    quiet: bool,
    /// Print how it ended as JSON, and nothing else
    #[arg(long)]
    json: bool,
    /// Whether every message and answer is kept, for `replay` and `export`
    #[arg(long, value_enum, default_value_t = Switch::On)]
    exchanges: Switch,
    /// Whether /metrics of every agent shows figures of all of them, for Prometheus
    #[arg(long, value_enum, default_value_t = Switch::On)]
    metrics: Switch,
    /// A collector of OpenTelemetry that traces are sent to, such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL", value_parser = observing::collector)]
    otlp: Option<String>,
    /// Whether the league can be seen in a browser while it is played, at the manager's address
    #[arg(long, value_enum, default_value_t = Switch::On)]
    dashboard: Switch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

pub(super) fn in_seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

impl RunArgs {
    /// Whether every strategy means something in the game: one that does not would only play at random.
    fn check_strategies(&self) -> Result<(), Usage> {
        for chooser in &self.strategies {
            if let Chooser::BuiltIn(entry) = chooser {
                games::knows(self.game, entry.name).map_err(|why| Usage(format!("--strategies: {why}")))?;
            }
        }
        Ok(())
    }

    fn rules(&self) -> Result<Option<GameProgram>, Usage> {
        let named = |command: &String| GameProgram::named(command, Allowance::default());
        let program = self.game_command.as_ref().map(named).transpose();
        program.map_err(|error| Usage(format!("--game-command: {error}")))
    }

    fn plan(&self) -> Plan {
        let known: Vec<Chooser> = match self.strategies.as_slice() {
            [] if self.game_command.is_some() => vec![Chooser::BuiltIn(&strategy::RANDOM)],
            [] => strategy::of(self.game).map(Chooser::BuiltIn).collect(),
            named => named.to_vec(),
        };
        let choosers = (1..=self.players).zip(known.into_iter().cycle());
        Plan {
            league: league::Settings {
                league_id: league_id(self.game),
                game_type: GameType::new(self.game.name),
                announce_lead: self.lead,
                competition: self.competition.competition(),
                tie_breaks: self.competition.tie_breaks(),
                ..league::Settings::default()
            },
            seats: choosers.map(|(number, chooser)| numbered(number, chooser)).collect(),
            referees: self.referees.into(),
            seed: self.seed,
            record_exchanges: self.exchanges == Switch::On,
            dashboard: self.dashboard == Switch::On,
            rules: None,
            observed: observing::of(self.metrics == Switch::On, self.otlp.clone(), &Client::new()),
        }
    }

    /// Where the league is kept: a file that is not there yet.
    fn file(&self) -> Result<PathBuf> {
        match &self.store {
            Some(file) if file.exists() => {
                bail!("{} exists already: `run` begins a new league and needs a new file", file.display())
            }
            Some(file) => Ok(file.clone()),
            None => Ok(fresh_file("run", SystemTime::now())),
        }
    }
}

fn numbered(number: u16, chooser: Chooser) -> Seat {
    Seat { name: format!("Player {number}"), chooser, reached_at: None }
}

/// The default league's id says which game it plays; so does that of a league of another game.
fn league_id(game: &GameEntry) -> LeagueId {
    let (usual, name) = (league::Settings::default(), game.name);
    if usual.game_type.as_str() == name { usual.league_id } else { LeagueId::new(format!("league_{name}")) }
}

/// `matchday-run-20250115-103000.db`, or the next that is free.
pub(super) fn fresh_file(what: &str, now: SystemTime) -> PathBuf {
    let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let stamp = (Timestamp::EPOCH + since_epoch).to_string();
    let digits: String = stamp.chars().take(19).filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at_checked(8).unwrap_or((&digits, "0"));
    let names = (1_u32..).map(|number| match number {
        1 => format!("matchday-{what}-{day}-{time}.db"),
        more => format!("matchday-{what}-{day}-{time}-{more}.db"),
    });
    let mut free = names.map(PathBuf::from).filter(|file| !file.exists());
    free.next().unwrap_or_else(|| PathBuf::from(format!("matchday-{what}.db")))
}

pub(crate) async fn execute(args: RunArgs) -> Result<ExitCode> {
    let mut stop = Stop::listen()?;
    let mut plan = args.plan();
    competition::check(&plan.league, Some(plan.seats.len()))?;
    match args.rules()? {
        Some(rules) => {
            let game = tokio::select! {
                game = rules.describe() => game.map_err(anyhow::Error::msg)?,
                // The program that knows the rules ends with this.
                () = stop.told() => bail!("stopped before the league began"),
            };
            plan.league.league_id = LeagueId::new(format!("league_{}", game.game_type));
            plan.league.game_type = game.game_type.clone();
            plan.league.outside_game = Some(game);
            plan.rules = Some(rules);
        }
        None => args.check_strategies()?,
    }
    let ports = Ports::bind(args.port_base, args.referees, args.players).await?;
    let file = args.file()?;
    let store = Store::open(&file)?;
    let mut view = View::new(args.quiet || args.json);
    view.say(&opening(&args, &plan, &ports, &file)?);
    let (strategies, observed) = (strategies(&plan), plan.observed.clone());

    let Ports { manager, others } = ports;
    let mut local = LocalLeague::begin(plan, store, manager)?;
    let mut began = Instant::now();
    let played = tokio::select! {
        played = play(&mut local, others, &mut view, &mut began) => Some(played),
        () = stop.told() => None,
    };
    let took = began.elapsed();
    view.finish();
    let closed = local.shutdown().await;
    observed.flush().await;
    let interrupted = played.is_none();
    let lies = || format!("the league broke off; what is decided lies in {}", file.display());
    played.unwrap_or(Ok(())).and(closed).with_context(lies)?;

    // Told from the file: matches may have been decided since anyone last looked, and it is the file that counts.
    let league = History::load(&Store::open_read_only(&file)?)?.league;
    let summary = Summary::of(&league, &strategies, took, file);
    let columns = Size::of_terminal().map(|size| size.columns);
    say(if args.json { serde_json::to_string_pretty(&summary)? } else { summary.for_people(bold, columns) });
    if interrupted {
        let Summary { matches_decided, matches, .. } = summary;
        notice(&format!(
            "stopped before the end: {matches_decided} of {matches} matches are decided and kept"
        ));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Everyone registers in order, so a player's number is its place.
fn strategies(plan: &Plan) -> BTreeMap<PlayerId, SmolStr> {
    let numbered = (1_u32..).zip(&plan.seats);
    numbered.map(|(number, seat)| (PlayerId::numbered(number), seat.chooser.name())).collect()
}

fn opening(args: &RunArgs, plan: &Plan, ports: &Ports, file: &Path) -> Result<String> {
    let address = ports.manager.local_addr()?;
    let seen = if plan.dashboard { format!("; see it at http://{address}/") } else { String::new() };
    Ok(format!(
        "{} players and {} referees play {}{}, the manager at http://{address}/mcp; the league is kept in {}{seen}",
        args.players,
        args.referees,
        plan.league.game_type,
        course(&plan.league.competition),
        file.display()
    ))
}

/// `, format swiss`, where it is not what everyone expects.
fn course(competition: &Competition) -> String {
    match competition.format {
        Format::RoundRobin => String::new(),
        other => format!(", format {other}"),
    }
}

/// From the first registration until everyone has heard how it ended.
async fn play(local: &mut LocalLeague, others: Others, view: &mut View, began: &mut Instant) -> Result<()> {
    local.gather(others).await?;
    *began = Instant::now();
    local.start().await?;
    watch(local, view, round_line).await?;
    let deaf = local.farewell().await;
    if deaf > 0 {
        view.say(&format!("{deaf} agents have not heard that the league is over"));
    }
    for fallback in local.fallbacks().await {
        view.say(&fallback);
    }
    Ok(())
}

/// Shows how the league goes on until it is over; `line` tells of a round.
pub(super) async fn watch(
    local: &mut LocalLeague,
    view: &mut View,
    line: impl Fn(&League, &Round) -> String + Clone + Send + 'static,
) -> Result<()> {
    let mut told = 0;
    loop {
        let progress = local.look(Progress::of).await?;
        match &mut *view {
            View::Live(live) => {
                let scene = local.look(|league| Scene::of(league, TABLE_TOP, RESULTS_SHOWN)).await?;
                local.settled().await?;
                live.draw(&progress, &scene);
            }
            View::Lines if progress.rounds_completed > told => {
                let line = line.clone();
                let lines = local.look(move |league| {
                    let over = league.rounds.iter().filter(|round| round.completed).skip(told);
                    over.map(|round| line(league, round)).collect::<Vec<_>>()
                });
                let lines = lines.await?;
                local.settled().await?;
                told += lines.len();
                lines.iter().for_each(|line| show(format!("{line}\n")));
            }
            View::Lines | View::Silent => {}
        }
        if progress.completed {
            return Ok(());
        }
        sleep(if matches!(view, View::Live(_)) { DRAW_EVERY } else { LOOK_EVERY }).await;
    }
}
