//! `matchday check`: is an agent conformant? Exit code 0 only if it is known to lose no match in the league asked about.

use super::games::GameArgs;
use super::operator::secret_or_file;
use super::tls::TlsArgs;
use super::{Usage, notice};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use matchday_author::check::manager::ManagerOptions;
use matchday_author::check::player::PlayerOptions;
use matchday_author::check::report::Report;
use matchday_author::check::{
    CheckOptions, Wait, explain, manager, player, preflight, referee, relay_front, render,
};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::{Endpoint, PlayerId};
use matchday_terminal::{Paint, say};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::net::TcpListener;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday check player http://localhost:8101/mcp
  matchday check player --wait --listen 127.0.0.1:8000
  matchday check manager http://localhost:8000/mcp
  matchday check --explain choice.parity

The report says in which leagues the agent would lose no match, and what else to improve.
Exit code 0 only if it would lose none in a lenient league, as leagues are by default; with
--conformance strict, none in a strict one. 1 if not, 2 if called wrongly.";

const PLAYER_EXAMPLE: &str = "\
Example:
  matchday check player http://localhost:8101/mcp
  matchday check player http://localhost:8101/mcp --quick --json
  matchday check player --game tic_tac_toe http://localhost:8101/mcp
  matchday check player --game-command ./examples/twenty_one.py --wait
  matchday check player --wait --relay     for an agent that dials out
  matchday check player --wait --junit player.xml
      then start the agent, with http://localhost:8000/mcp as its manager

With --wait the check is the agent's manager: it sees the registration, and the agent can know
the tokens that it is shown. Without it, an agent that answers only to its own manager cannot be
checked in full.

Exit code 0 only if it would lose no match in the league that --conformance names, 1 if not, 2 if
called wrongly.";

const REFEREE_EXAMPLE: &str = "\
Example:
  matchday check referee --wait --listen 127.0.0.1:8000
      then start the referee, with http://localhost:8000/mcp as its manager
  matchday check referee --wait --quick --json

The check is the referee's manager and all its players. A referee works for its own manager only:
without --wait nothing but its JSON-RPC can be checked. Silent players take a referee half a minute.

Exit code 0 only if it would lose no match in the league that --conformance names, 1 if not, 2 if
called wrongly.";

const MANAGER_EXAMPLE: &str = "\
Example:
  matchday manager --listen 127.0.0.1:8000 --store /tmp/checked.db --lead 1
      then, elsewhere:
  matchday check manager http://localhost:8000/mcp
  matchday check manager http://localhost:8000/mcp --quick --json

The check registers four players and two referees, which stay, starts the league, and reports
made-up results until it is over: give it a fresh league, and one that does not wait long between rounds. With
--quick it registers and asks, and starts nothing.

Exit code 0 only if it would lose no match in the league that --conformance names, 1 if not, 2 if
called wrongly.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(super) struct CheckArgs {
    #[command(subcommand)]
    role: Option<Role>,
    /// Say what a rule asks, what a violation costs and how to fix it, with its section of the protocol
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Role {
    /// Check a player: play manager and referee against it
    #[command(after_help = PLAYER_EXAMPLE)]
    Player(PlayerArgs),
    /// Check a referee: be manager and players to it
    #[command(after_help = REFEREE_EXAMPLE)]
    Referee(RefereeArgs),
    /// Check a manager: register agents of our own in its league, and play the league to its end
    #[command(after_help = MANAGER_EXAMPLE)]
    Manager(ManagerArgs),
}

#[derive(Debug, Args)]
struct PlayerArgs {
    /// Where the player listens, such as http://localhost:8101/mcp [with --wait: where it registers]
    #[arg(required_unless_present = "wait")]
    url: Option<String>,
    #[command(flatten)]
    waiting: WaitArgs,
    #[command(flatten)]
    common: CommonArgs,
    /// The id under which the player is registered elsewhere [default: the one it answers with]
    #[arg(long, value_name = "ID", conflicts_with = "wait")]
    player_id: Option<String>,
    #[command(flatten)]
    game: GameArgs,
}

#[derive(Debug, Args)]
struct RefereeArgs {
    /// Where the referee listens [with --wait: where it registers]
    #[arg(required_unless_present = "wait")]
    url: Option<String>,
    #[command(flatten)]
    waiting: WaitArgs,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, Args)]
struct ManagerArgs {
    /// Where the manager listens, such as http://localhost:8000/mcp
    url: String,
    /// The operator's token, where START_LEAGUE needs one
    #[arg(long, value_name = "TOKEN", env = super::settings::OPERATOR_TOKEN.variable(), hide_env_values = true)]
    operator_token: Option<String>,
    /// How many players to register: some managers start at a number of their own
    #[arg(long, value_name = "N", default_value_t = 4)]
    players: usize,
    /// How many referees to register: a second one forges reports, and some managers know one only
    #[arg(long, value_name = "N", default_value_t = 2)]
    referees: usize,
    #[command(flatten)]
    common: CommonArgs,
}

/// What every role's check can be told.
#[derive(Debug, Args)]
struct CommonArgs {
    /// Check the most important rules only, in less than five seconds
    #[arg(long)]
    quick: bool,
    /// The kind of league that the agent must be ready for; the report has both verdicts
    #[arg(long, value_enum, default_value_t = League::Lenient)]
    conformance: League,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Also write the report as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsArgs,
}

/// How the agent's own registration is waited for.
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// Open a manager, and wait for the agent to register with it first
    #[arg(long)]
    wait: bool,
    /// Where that manager listens
    #[arg(
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:8000",
        requires = "wait"
    )]
    listen: String,
    /// For a player that dials out: that manager has a relay
    #[arg(long, requires = "wait")]
    relay: bool,
    /// For how many seconds it waits
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60.0,
        requires = "wait"
    )]
    wait_for: f64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum League {
    Strict,
    Lenient,
}

impl From<League> for Conformance {
    fn from(league: League) -> Self {
        match league {
            League::Strict => Self::Strict,
            League::Lenient => Self::Lenient,
        }
    }
}

pub(super) async fn execute(args: CheckArgs) -> Result<ExitCode> {
    match (args.explain, args.role) {
        (Some(rule), _) => {
            say(explain::explain(&rule).map_err(Usage)?);
            Ok(ExitCode::SUCCESS)
        }
        (None, Some(Role::Player(args))) => check_player(args).await,
        (None, Some(Role::Referee(args))) => check_referee(args).await,
        (None, Some(Role::Manager(args))) => check_manager(args).await,
        (None, None) => bail!(Usage("name what is to be checked".to_owned())),
    }
}

async fn check_player(args: PlayerArgs) -> Result<ExitCode> {
    let (game, rules) = args.game.game().await?;
    let options = args
        .common
        .options(args.url.as_deref(), Some(&args.waiting))
        .await?;
    let player_id = args.player_id.map(PlayerId::new);
    let report = player::check(
        options,
        PlayerOptions {
            player_id,
            game,
            rules,
        },
    )
    .await?;
    args.common.publish(&report)
}

async fn check_referee(args: RefereeArgs) -> Result<ExitCode> {
    let options = args
        .common
        .options(args.url.as_deref(), Some(&args.waiting))
        .await?;
    args.common.publish(&referee::check(options).await?)
}

async fn check_manager(args: ManagerArgs) -> Result<ExitCode> {
    let ManagerArgs {
        url,
        operator_token,
        players,
        referees,
        common,
    } = args;
    let operator_token = secret_or_file(operator_token, &super::settings::OPERATOR_TOKEN)?;
    notice(&format!(
        "this registers {players} players and {referees} referees in the league at {}, and leaves them there: use a fresh one",
        target(&url)?.escaped()
    ));
    let options = common.options(Some(&url), None).await?;
    common.publish(
        &manager::check(
            options,
            ManagerOptions {
                operator_token,
                players,
                referees,
            },
        )
        .await?,
    )
}

fn target(url: &str) -> Result<Endpoint> {
    preflight::parse_target(url).map_err(|why| Usage(why).into())
}

impl WaitArgs {
    pub(super) fn is_on(&self) -> bool {
        self.wait
    }

    pub(super) async fn open(&self) -> Result<Option<Wait>> {
        if !self.wait {
            return Ok(None);
        }
        let address = &self.listen;
        let within = Duration::try_from_secs_f64(self.wait_for).map_err(|_| {
            Usage(format!(
                "--wait-for: expected seconds, got {}",
                self.wait_for
            ))
        })?;
        let listener = TcpListener::bind(address).await.with_context(|| {
            format!("cannot listen on {address} - choose another address with --listen HOST:PORT")
        })?;
        let bound = listener.local_addr()?;
        notice(&format!(
            "waiting {} s for the agent to register at http://{bound}/mcp",
            self.wait_for
        ));
        if self.relay {
            let inner = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
            relay_front::start(listener, inner.local_addr()?)?;
            return Ok(Some(Wait {
                listener: inner,
                within,
            }));
        }
        Ok(Some(Wait { listener, within }))
    }
}

impl CommonArgs {
    async fn options(&self, url: Option<&str>, waiting: Option<&WaitArgs>) -> Result<CheckOptions> {
        Ok(CheckOptions {
            url: url.map(target).transpose()?,
            wait: match waiting {
                Some(waiting) => waiting.open().await?,
                None => None,
            },
            quick: self.quick,
            conformance: self.conformance.into(),
            client: self.tls.client()?,
        })
    }

    /// Writes the report down, and gives the exit code that it comes to.
    fn publish(&self, report: &Report) -> Result<ExitCode> {
        if let Some(file) = &self.junit {
            std::fs::write(file, render::junit(report))
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        match (&report.stopped, self.json) {
            (_, true) => say(serde_json::to_string_pretty(&render::json(report))?),
            (Some(why), false) => notice(why),
            (None, false) => say(render::people(report, Paint::of_stdout())),
        }
        Ok(if report.holds() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}
