//! `matchday simulate`: strategies against each other without a network. Starts threads, runs programs that are strategies,
//! writes the plot or the table of matches.

use super::program_env_arg::ProgramEnvArg;
use super::{Usage, games, notice};
use anyhow::{Context, Result};
use clap::{Args, value_parser};
use matchday_audit::best_response::{self, BestResponse};
use matchday_core::game::GameEntry;
use matchday_core::league::format::{Competition, Format};
use matchday_net::client::Client;
use matchday_os::signals::Termination;
use matchday_research::openings::{self, Opening};
use matchday_research::simulate::entrants::{Entrants, Externals};
use matchday_research::simulate::match_table::MatchTable;
use matchday_research::simulate::progress::ProgressBar;
use matchday_research::simulate::render::for_people;
use matchday_research::simulate::report::{
    PairResult, ProgramFailure, Report, Results, RunTime, SprtQuestion, SprtVerdict,
};
use matchday_research::simulate::rules_program::RulesProgram;
use matchday_research::{
    Duels, ExternalRules, Leagues, Pair, Run, Seasons, StrategySource, summary,
};
use matchday_stats::sprt::{Answer, Sprt};
use matchday_terminal::say;
use matchday_terminal::screen::Size;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;

pub(super) const EXAMPLE: &str = "\
Every pair plays --matches matches, in series: two players who meet for the first time, change
seats after each match and remember all of them, as in a league; after --series matches both
forget. Each has each seat equally often. With --openings, each two matches begin from the same
given moves: strategies without chance play one game from each opening. With --format, whole leagues are played instead. The same seed gives the same results on
any number of threads. A program (command:PROGRAM, without commas) is asked for each move; a move that is late or not legal forfeits the match. Ctrl-C ends early, with what there is. Language models: `matchday experiment`.

Example:
  matchday simulate                              (every strategy of even_odd against every other)
  matchday simulate --strategies random,pattern,mirror --matches 1000000 --out matrix.svg
  matchday simulate --game nim --matches 1000 --out matches.csv
  matchday simulate --game connect_four --strategies lookahead,random --sprt 0,50
  matchday simulate --game connect_four --strategies lookahead,lookahead --openings 40 --matches 80
  matchday simulate --game nim --strategies optimal,random,random --format knockout
  matchday simulate --strategies command:./my_program,random --matches 200
  matchday simulate --game-command ./examples/twenty_one.py --strategies random,command:./mine

What the figures mean: docs/statistics.md";

/// How many matches each pair plays by default.
const MATCHES: u64 = 10_000;
/// How many with a program, which takes milliseconds for each move.
const MATCHES_OF_PROGRAMS: u64 = 200;
/// When a question is given up that nothing settles.
const MATCHES_OF_A_TEST: u64 = 10_000_000;
const LEAGUES: u64 = 1_000;
/// How wide pictures made of letters are at most.
const WIDTH: usize = 100;

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    #[arg(long, default_value = "even_odd", value_name = "NAME", value_parser = games::known, help = games::help())]
    game: &'static GameEntry,
    /// A program that knows the rules, in place of --game
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["game", "openings"])]
    game_command: Option<String>,
    /// Who plays, two or more of the game's strategies, or command:PROGRAM [default: all that the game has]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    strategies: Vec<String>,
    /// How many matches each pair plays [default: 10000, with programs 200, with --sprt at most 10000000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1_000_000_000_000))]
    matches: Option<u64>,
    /// After how many matches two players forget what they have seen of each other
    #[arg(long, value_name = "N", default_value = "100")]
    series: NonZeroU32,
    /// Begin each two matches, with swapped seats, from one of N random openings, or from those in a file: one a line, a
    /// JSON array of moves
    #[arg(long, value_name = "N or FILE")]
    openings: Option<String>,
    /// How many turns a random opening has
    #[arg(long, value_name = "N", default_value_t = 2, requires = "openings", value_parser = value_parser!(u32).range(1..=100))]
    opening_turns: u32,
    /// Play whole leagues, one player for each strategy: round_robin, double_round_robin, swiss, knockout, groups_knockout
    #[arg(long, value_name = "FORMAT", value_parser = format, conflicts_with_all = ["matches", "series", "sprt", "openings"])]
    format: Option<Format>,
    /// How many matches two players have who are paired in a league
    #[arg(long, value_name = "N", default_value_t = 1, requires = "format")]
    matches_per_pairing: u32,
    /// How many rounds a swiss league has [default: what its size asks for]
    #[arg(long, value_name = "N", requires = "format")]
    rounds: Option<u32>,
    /// How many groups groups_knockout has [default: about four players in each]
    #[arg(long, value_name = "N", requires = "format")]
    groups: Option<u32>,
    /// How many of each group go through [default: 2]
    #[arg(long, value_name = "N", requires = "format")]
    qualifiers: Option<u32>,
    /// How many leagues are played [default: 1000]
    #[arg(long, value_name = "N", requires = "format", value_parser = value_parser!(u64).range(1..=1_000_000_000))]
    leagues: Option<u64>,
    /// Of two strategies: is the first better than the second by ELO1, or only by ELO0? Ends as soon as that is settled
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<String>,
    /// How often --sprt may say ELO1 though it is ELO0
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, requires = "sprt")]
    alpha: f64,
    /// How often --sprt may say ELO0 though it is ELO1
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, requires = "sprt")]
    beta: f64,
    /// Where chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many threads play [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// How many seconds a program may think about a move
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    think_time: Duration,
    #[command(flatten)]
    program_env: ProgramEnvArg,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Write every match with its moves to a table (FILE.csv), or the matrix to a picture (FILE.svg)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn format(name: &str) -> Result<Format, String> {
    let found =
        Format::find(&name.replace('-', "_")).filter(|format| Format::ENDING.contains(format));
    found.ok_or_else(|| {
        let known: Vec<&str> = Format::ENDING.iter().map(|format| format.name()).collect();
        format!(
            "there is no format {name:?}; choose one of: {}",
            known.join(", ")
        )
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| format!("expected seconds, got {text:?}"))?;
    match Duration::try_from_secs_f64(number) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(format!("expected more than 0 seconds, got {text}")),
    }
}

/// What is played, once all is known to make sense.
struct Plan {
    args: SimulateArgs,
    /// Of the game, if they are in a program.
    rules: Option<RulesProgram>,
    entrants: Entrants,
    openings: Vec<Opening>,
    sprt: Option<(SprtQuestion, Sprt)>,
    competition: Option<Competition>,
    threads: NonZeroUsize,
}

pub(super) async fn execute(args: SimulateArgs) -> Result<ExitCode> {
    args.program_env.apply()?;
    let stop = Arc::new(AtomicBool::new(false));
    let plan = Plan::of(args, &stop).await?;
    let mut termination = Termination::listen()?;
    let flag = Arc::clone(&stop);
    let json = plan.args.json;
    let out = plan.args.out.clone();
    let cannot_write = |file: &Path| format!("cannot write {}", file.display());
    let mut table = match out.as_deref().filter(|file| is_table(file)) {
        Some(file) => Some(plan.table(file).with_context(|| cannot_write(file))?),
        None => None,
    };
    let mut playing = tokio::task::spawn_blocking(move || {
        let report = plan.play(&flag, table.as_mut());
        (report, table)
    });
    let (report, table) = tokio::select! {
        played = &mut playing => played?,
        () = termination.recv() => {
            stop.store(true, Ordering::Relaxed);
            playing.await?
        }
    };
    if let Some(file) = &out {
        let written = match table {
            Some(table) => table.finish(),
            None => std::fs::write(file, report.heat_map().svg() + "\n"),
        };
        written.with_context(|| cannot_write(file))?;
    }
    if json {
        say(serde_json::to_string_pretty(&report)?)
    } else {
        say(for_people(
            &report,
            Size::of_terminal().map_or(WIDTH, |size| size.columns.min(WIDTH)),
        ))
    }
    if let (Some(file), false) = (&out, json) {
        let what = if is_table(file) {
            "matches are"
        } else {
            "matrix is"
        };
        notice(&format!("the {what} in {}", file.display()));
    }
    Ok(ExitCode::SUCCESS)
}

impl Plan {
    /// `stop` ends it early.
    async fn of(mut args: SimulateArgs, stop: &Arc<AtomicBool>) -> Result<Self> {
        if let Some(file) = &args.out {
            check_out(file)?;
        }
        let rules = match &args.game_command {
            Some(command) => {
                let started = RulesProgram::start(command, stop).await;
                let (rules, game) =
                    started.map_err(|why| Usage(format!("--game-command: {why}")))?;
                args.game = game;
                Some(rules)
            }
            None => None,
        };
        let externals = Externals {
            think_time: args.think_time,
            runtime: Handle::current(),
            client: Client::new(),
            replays: false,
        };
        let entrants = Entrants::named(args.game, &args.strategies, &externals)
            .map_err(|error| Usage(format!("--strategies: {error}")))?;
        let count = entrants.entrants.len();
        let openings = openings(&args)?;
        let sprt = question(&args)?;
        if sprt.is_some() && count != 2 {
            let wrong = format!(
                "--sprt is a question about two strategies, and --strategies names {count}"
            );
            return Err(Usage(wrong).into());
        }
        let competition = competition(&args, count)?;
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let threads = args.threads.unwrap_or(cores);
        Ok(Self {
            args,
            rules,
            entrants,
            openings,
            sprt,
            competition,
            threads,
        })
    }

    fn names(&self) -> Vec<String> {
        self.entrants
            .entrants
            .iter()
            .map(|entrant| entrant.name.clone())
            .collect()
    }

    fn table(&self, file: &Path) -> std::io::Result<MatchTable> {
        let format = self.args.format;
        let (game, seed) = (self.args.game.name, self.args.seed);
        MatchTable::create(file, game, format, seed, self.names())
    }

    fn play(&self, stop: &AtomicBool, table: Option<&mut MatchTable>) -> Report {
        let run = Run {
            threads: self.threads,
            stop,
        };
        let mut bar = ProgressBar::new(self.args.json);
        let (matches, results) = match &self.competition {
            Some(competition) => self.leagues(competition, &run, &mut bar, table),
            None => self.duels(&run, &mut bar, table),
        };
        let took = RunTime::of(self.threads.get(), bar.took(), matches);
        bar.clear();
        let complaints = self.entrants.programs.iter().filter_map(|(name, program)| {
            Some(ProgramFailure {
                strategy: name.clone(),
                last: program.last_failure()?,
            })
        });
        let of_rules = self.rules.iter().filter_map(|rules| {
            Some(ProgramFailure {
                strategy: self.args.game.name.to_owned(),
                last: rules.failure()?,
            })
        });
        Report {
            game: self.args.game.name.to_owned(),
            seed: self.args.seed,
            interrupted: stop.load(Ordering::Relaxed),
            matches,
            results,
            complaints: complaints.chain(of_rules).collect(),
            took,
        }
    }

    fn duels(
        &self,
        run: &Run<'_>,
        bar: &mut ProgressBar,
        mut table: Option<&mut MatchTable>,
    ) -> (u64, Results) {
        let usual = match (&self.sprt, self.entrants.programs.is_empty()) {
            (Some(_), _) => MATCHES_OF_A_TEST,
            (None, true) => MATCHES,
            (None, false) => MATCHES_OF_PROGRAMS,
        };
        let duels = Duels {
            game: self.args.game,
            entrants: &self.entrants.entrants,
            rules: self.rules.as_ref().map(|rules| rules as &dyn ExternalRules),
            matches: self.args.matches.unwrap_or(usual),
            series: self.args.series,
            openings: &self.openings,
            seed: self.args.seed,
            every_unit: self.sprt.is_some(),
            records: table.is_some(),
        };
        let all = duels.matches_in_all();
        let played = |pairs: &[Pair]| pairs.iter().map(|pair| pair.tally.matches()).sum::<u64>();
        let is_decided = |pairs: &[Pair]| {
            let of_pair = pairs
                .first()
                .map(|pair| pair.tally.pairs)
                .unwrap_or_default();
            self.sprt
                .is_some_and(|(_, sprt)| sprt.standing(of_pair).answer != Answer::Open)
        };
        let pairs = duels.play(run, |pairs, rows| {
            bar.at(played(pairs), all);
            let is_written = table.as_mut().is_none_or(|table| table.append(&rows));
            if is_decided(pairs) || !is_written {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let names = self.names();
        let results = Results::Duels {
            series: self.args.series.get(),
            openings: self.openings.len(),
            strategies: summary::of_duels(&names, &pairs),
            sprt: self.verdict(&names, &pairs),
            best_responses: self.best_responses(),
            pairs: pairs
                .iter()
                .map(|pair| PairResult::of(&names, pair))
                .collect(),
        };
        (played(&pairs), results)
    }

    /// Of the built-in strategies: nobody knows the rule of a program.
    fn best_responses(&self) -> Vec<BestResponse> {
        let entrants = self.entrants.entrants.iter();
        let known = entrants.filter_map(|entrant| match entrant.strategy {
            StrategySource::BuiltIn(_) => Some(entrant.name.as_str()),
            StrategySource::External(_) => None,
        });
        known
            .filter_map(|name| best_response::against(self.args.game, name, self.args.seed))
            .collect()
    }

    fn verdict(&self, names: &[String], pairs: &[Pair]) -> Option<SprtVerdict> {
        let ((question, sprt), pair) = self.sprt.zip(pairs.first())?;
        let [a, b] = names else { return None };
        Some(SprtVerdict::of(
            question,
            sprt.standing(pair.tally.pairs),
            [a, b],
            pair.tally.matches(),
        ))
    }

    fn leagues(
        &self,
        competition: &Competition,
        run: &Run<'_>,
        bar: &mut ProgressBar,
        mut table: Option<&mut MatchTable>,
    ) -> (u64, Results) {
        let leagues = Leagues {
            game: self.args.game,
            entrants: &self.entrants.entrants,
            rules: self.rules.as_ref().map(|rules| rules as &dyn ExternalRules),
            competition,
            leagues: self.args.leagues.unwrap_or(LEAGUES),
            seed: self.args.seed,
            records: table.is_some(),
        };
        let played = leagues.play(run, |seasons, rows| {
            // How many matches a league has may depend on their results.
            let all =
                seasons.matches as f64 / seasons.leagues.max(1) as f64 * leagues.leagues as f64;
            bar.at(seasons.matches, all as u64);
            if table.as_mut().is_none_or(|table| table.append(&rows)) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        // Whether it is possible was found out before it began.
        let seasons = played.unwrap_or_else(|_| Seasons::none(self.entrants.entrants.len()));
        let strategies = summary::of_leagues(&self.names(), &seasons);
        let format = competition.format.name().to_owned();
        (
            seasons.matches,
            Results::Leagues {
                format,
                leagues: seasons.leagues,
                strategies,
            },
        )
    }
}

/// The course of the leagues, if leagues are to be played and so many can play them.
fn competition(args: &SimulateArgs, players: usize) -> Result<Option<Competition>, Usage> {
    let Some(format) = args.format else {
        return Ok(None);
    };
    let competition = Competition {
        rounds: args.rounds,
        matches_per_pairing: args.matches_per_pairing,
        groups: args.groups,
        qualifiers: args.qualifiers,
        ..Competition::of(format)
    };
    match competition.check_for(players) {
        Ok(()) => Ok(Some(competition)),
        Err(error) => Err(Usage(format!("--format {format}: {error}"))),
    }
}

fn openings(args: &SimulateArgs) -> Result<Vec<Opening>, Usage> {
    let Some(text) = &args.openings else {
        return Ok(Vec::new());
    };
    let count = text.parse::<usize>();
    let found = match &count {
        Ok(0 | 1_000_001..) => {
            return Err(Usage(
                "--openings: expected 1 to 1000000, or a file".to_owned(),
            ));
        }
        Ok(count) => openings::random(args.game, *count, args.opening_turns, args.seed),
        Err(_) => {
            let read = std::fs::read_to_string(text);
            let read =
                read.map_err(|error| Usage(format!("--openings: {text} cannot be read: {error}")))?;
            openings::parse(args.game, &read)
        }
    };
    let found = found.map_err(|bad| match bad.line {
        Some(line) => Usage(format!("--openings: {text}, line {line}: {}", bad.why)),
        None => Usage(format!("--openings: {}", bad.why)),
    })?;
    if count.is_ok_and(|count| found.len() < count) {
        let there = found.len();
        let turns = args.opening_turns;
        notice(&format!(
            "only {there} different openings of {turns} turns were found (--opening-turns)"
        ));
    }
    Ok(found)
}

/// Whether the file can be written, as far as that can be known before.
fn check_out(file: &Path) -> Result<(), Usage> {
    if !is_table(file) && !has_extension(file, "svg") {
        return Err(Usage(format!(
            "--out: expected a name that ends in .csv (every match) or .svg (the matrix), got {}",
            file.display()
        )));
    }
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Usage(format!(
            "--out: there is no folder {}",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether it is to hold the matches.
fn is_table(file: &Path) -> bool {
    has_extension(file, "csv")
}

fn has_extension(file: &Path, wanted: &str) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

fn question(args: &SimulateArgs) -> Result<Option<(SprtQuestion, Sprt)>, Usage> {
    let alpha = args.alpha;
    let beta = args.beta;
    let Some(text) = &args.sprt else {
        return Ok(None);
    };
    let numbers: Result<Vec<f64>, _> = text
        .split(',')
        .map(|number| number.trim().parse())
        .collect();
    match numbers.as_deref() {
        Ok([elo0, elo1]) => {
            let elo0 = *elo0;
            let elo1 = *elo1;
            let sprt = Sprt::new(elo0, elo1, alpha, beta)
                .map_err(|error| Usage(format!("--sprt: {error}")))?;
            Ok(Some((
                SprtQuestion {
                    elo0,
                    elo1,
                    alpha,
                    beta,
                },
                sprt,
            )))
        }
        _ => Err(Usage(format!(
            "--sprt: expected two numbers, as in --sprt 0,10, got {text:?}"
        ))),
    }
}
