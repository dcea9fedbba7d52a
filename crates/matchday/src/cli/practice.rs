//! `matchday practice`: a league of one for the author of a player. Opens ports, makes a store, prints a report.

use super::games::GameArgs;
use super::run::{fresh_file, in_seconds, watch};
use super::tls::TlsArgs;
use super::{Usage, notice};
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum, value_parser};
use matchday_audit::league_log::LeagueLog;
use matchday_author::check::preflight;
use matchday_author::practice::plan::PracticePlan;
use matchday_author::practice::proxy::player::Stopped;
use matchday_author::practice::report::{Report, ReportInput};
use matchday_author::practice::{AgentSource, Practice, PracticeOptions, render};
use matchday_core::league::League;
use matchday_core::league::fixture::Round;
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{DisplayName, Endpoint};
use matchday_os::signals::Termination;
use matchday_store::Store;
use matchday_terminal::live::View;
use matchday_terminal::{Paint, say};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};
use tokio::net::TcpListener;
use tokio::time::sleep;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday practice
      then start the agent, with http://localhost:8000/mcp as its manager
  matchday practice --rounds 5 --choice-timeout 10 --json
  matchday practice --game connect_four
  matchday practice --game-command ./examples/twenty_one.py
  matchday practice --against http://localhost:8101/mcp

The agent plays every built-in strategy of the game, a partner that is silent, sends invalid data, repeats itself
or restarts, and honest partners while its own messages are delayed, lost or doubled.

With --against the agent is registered on its behalf: it gets no token, so one that checks tokens,
as a player of Matchday does, refuses to play. Let such an agent register by itself.

Exit code 0 if it had no technical loss, 1 if it had or could not play, 2 if called wrongly.";

/// How long the refusal of an agent is looked for between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The longest deadline that can be request for.
const DEADLINE_MAX: Duration = Duration::from_secs(3600);

#[derive(Debug, Args)]
pub(super) struct PracticeArgs {
    /// Where the agent listens, if it does not register by itself
    #[arg(long, value_name = "URL", conflicts_with_all = ["listen", "wait"])]
    against: Option<String>,
    /// What it is called, with --against
    #[arg(long, default_value = "Guest", requires = "against")]
    name: String,
    /// Where the manager listens that the agent registers with
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8000")]
    listen: String,
    /// For how many seconds the agent is waited for
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = in_seconds)]
    wait: Duration,
    #[command(flatten)]
    game: GameArgs,
    /// How often it meets each strategy
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// How many seconds an agent has to accept an invitation; a league gives 5
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = deadline)]
    join_timeout: Duration,
    /// How many seconds an agent has to choose; a league gives 30
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = deadline)]
    choice_timeout: Duration,
    /// Lenient plays on where it can, and lists what a strict league refuses
    #[arg(long, value_enum, default_value_t = Reading::Lenient)]
    conformance: Reading,
    /// The file that keeps the matches, which must not exist yet [default: matchday-practice-TIME.db here]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Print only the report
    #[arg(long, short)]
    quiet: bool,
    /// Print the report as JSON, and nothing else
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tls: TlsArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Reading {
    Strict,
    Lenient,
}

fn deadline(text: &str) -> Result<Duration, String> {
    let span = in_seconds(text)?;
    if span.is_zero() || span > DEADLINE_MAX {
        return Err("expected more than 0 and at most 3600 seconds".to_owned());
    }
    Ok(span)
}

impl PracticeArgs {
    async fn options(&self) -> Result<PracticeOptions> {
        let (game, game_program) = self.game.game().await?;
        Ok(PracticeOptions {
            rounds: self.rounds,
            join: self.join_timeout,
            choice: self.choice_timeout,
            conformance: match self.conformance {
                Reading::Strict => Conformance::Strict,
                Reading::Lenient => Conformance::Lenient,
            },
            game,
            game_program,
            client: self.tls.client()?,
        })
    }

    async fn source(&self) -> Result<AgentSource> {
        if let Some(url) = &self.against {
            let url: Endpoint = preflight::parse_target(url).map_err(Usage)?;
            let name = DisplayName::parse(&self.name)
                .map_err(|rule| Usage(format!("--name: expected {rule}, got {:?}", self.name)))?;
            return Ok(AgentSource::Url { url, name });
        }
        let address = &self.listen;
        let listener = TcpListener::bind(address).await.with_context(|| {
            format!("cannot listen on {address} - choose another address with --listen HOST:PORT")
        })?;
        Ok(AgentSource::Registers {
            listener,
            within: self.wait,
        })
    }

    fn file(&self) -> Result<PathBuf> {
        match &self.store {
            Some(file) if file.exists() => {
                bail!(
                    "{} exists already: a practice needs a new file",
                    file.display()
                )
            }
            Some(file) => Ok(file.clone()),
            None => Ok(fresh_file("practice", SystemTime::now())),
        }
    }
}

pub(super) async fn execute(args: PracticeArgs) -> Result<ExitCode> {
    let options = args.options().await?;
    let file = args.file()?;
    let source = args.source().await?;
    let mut stop = Termination::listen()?;
    let mut practice = Practice::open(&options, Store::open(&file)?).await?;
    let mut view = View::new(args.quiet || args.json);
    if let AgentSource::Registers { listener, within } = &source {
        let bound = listener.local_addr()?;
        let seconds = within.as_secs_f64();
        notice(&format!(
            "waiting {seconds} s for the agent to register at http://{bound}/mcp"
        ));
    }
    let fetched = args.against.as_deref();
    let mut began = Instant::now();
    let played = tokio::select! {
        played = play(&mut practice, source, fetched, &mut view, &mut began) => Some(played),
        () = stop.recv() => None,
    };
    let took = began.elapsed();
    if matches!(played, Some(Ok(()))) {
        // The report stands apart from the lines before it.
        view.say("");
    }
    view.finish();
    let plan = practice.plan.clone();
    let proxy = practice.proxy.clone();
    let refusals = practice.refusals();
    let closed = practice.shutdown().await;
    let interrupted = played.is_none();
    played.unwrap_or(Ok(()))?;
    closed.with_context(|| {
        format!(
            "the practice was interrupted; its results so far are in {}",
            file.display()
        )
    })?;

    let league = LeagueLog::load(&Store::open_read_only(&file)?)?.league;
    let report = Report::of(&ReportInput {
        league: &league,
        plan: &plan,
        log: &proxy.log(),
        refusals: &refusals,
        url: proxy.agent_url().unwrap_or_default(),
        timing: options.timing(),
        took,
        store: file.into(),
    });
    say(if args.json {
        serde_json::to_string_pretty(&report)?
    } else {
        render::people(&report, Paint::of_stdout())
    });
    if interrupted {
        notice("stopped before the end");
    }
    Ok(if report.passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// From the agent's registration to the last match.
async fn play(
    practice: &mut Practice,
    source: AgentSource,
    fetched: Option<&str>,
    view: &mut View,
    began: &mut Instant,
) -> Result<()> {
    practice.gather(source).await?;
    *began = Instant::now();
    let agent = practice.proxy.agent_url().unwrap_or_default();
    view.say(&format!(
        "{} matches against the agent at {agent}",
        practice.plan.matches.len()
    ));
    practice.local.start().await?;
    let proxy = practice.proxy.clone();
    let plan = practice.plan.clone();
    let refused = async {
        loop {
            if let (Some(url), Some(refusal)) = (fetched, proxy.refusal()) {
                return refused(url, refusal);
            }
            sleep(LOOK_EVERY).await;
        }
    };
    tokio::select! {
        over = watch(&mut practice.local, view, move |league, round| line(&plan, league, round)) => over?,
        error = refused => return Err(error),
    }
    practice.local.wait_for_agents_to_finish().await;
    Ok(())
}

fn refused(url: &str, refusal: Stopped) -> anyhow::Error {
    match refusal {
        Stopped::NoAgent(why) => anyhow!(why),
        Stopped::Error(error) => anyhow!(
            "{url} answers an invitation with {error}: it plays only in the league that it has registered with - run \
             `matchday practice` without --against, and start the agent with http://localhost:8000/mcp as its manager"
        ),
    }
}

/// "R9M1 silent when invited: won by default"
fn line(plan: &PracticePlan, league: &League, round: &Round) -> String {
    let lines = plan
        .matches()
        .filter(|(id, _)| round.matches.contains(id))
        .filter_map(|(id, planned)| {
            let game = league.matches.get(&id)?;
            let decision = game.decision.as_ref()?;
            let is_a = game.a == PracticePlan::agent_id();
            let technical = decision.status == GameStatus::TechnicalLoss;
            let how = match (decision.verdict(game), is_a) {
                (Verdict::WonByA, true) | (Verdict::WonByB, false) if technical => "won by default",
                (Verdict::WonByA, true) | (Verdict::WonByB, false) => "won",
                (Verdict::Drawn, _) => "drawn",
                _ if technical => "TECHNICAL LOSS",
                _ => "lost",
            };
            let reason = decision
                .result
                .reason
                .as_ref()
                .filter(|_| how == "TECHNICAL LOSS");
            let reason =
                reason.map_or_else(String::new, |reason| format!(" ({})", reason.escaped()));
            Some(format!("{id} {}: {how}{reason}", planned.name))
        });
    lines.collect::<Vec<_>>().join("; ")
}
