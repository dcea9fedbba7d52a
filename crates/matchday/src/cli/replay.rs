//! `matchday replay`: a stored league or one match as a timeline, or a match played again with an agent. Reads stores, and changes
//! nothing in them.

use super::Usage;
use super::check::WaitArgs;
use super::league_arg::LeagueArg;
use super::replay_against::{self, Again, Whom};
use super::store_arg::StoreArgs;
use super::tls::TlsArgs;
use anyhow::Result;
use clap::Args;
use matchday_audit::log_set::LogSet;
use matchday_audit::{export as exporting, request_replay, timeline};
use matchday_core::protocol::MatchId;
use matchday_terminal::say;
use std::process::ExitCode;
use std::time::Duration;

/// Print a stored league or one match as a timeline.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  matchday replay league.db --match R1M1
  matchday replay weekend.db referee-8001.db player-8101.db --match R1M1
  matchday replay https://league.example/leagues/spring/ --match R1M1 --as P01 --wait
      then start the agent, with http://localhost:8000/mcp as its manager
  matchday replay league.db --match R1M1 --against http://localhost:8101/mcp

Each agent's store tells what that agent sent and received; those of several are put together by time.

With --wait the agent registers here under the id that it had in the match, and is asked again
what it was asked then, with tokens that only the manager can make that it has chosen itself.
It knows of no earlier match.")]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    league: LeagueArg,
    /// The match to show, message by message [default: everything in brief]
    #[arg(long = "match", value_name = "MATCH")]
    match_id: Option<String>,
    /// Print all that is known of the match as JSON; with --against or --wait, the answers
    #[arg(long, requires = "match_id")]
    json: bool,
    /// Send the requests that a player was sent in the match to this agent, and show both answers
    #[arg(
        long,
        value_name = "URL",
        requires = "match_id",
        conflicts_with = "wait"
    )]
    against: Option<String>,
    #[command(flatten)]
    waiting: WaitArgs,
    /// With --against or --wait: whose requests to send [default: the first player's of whom they are known]
    #[arg(long = "as", value_name = "PLAYER", requires = "match_id")]
    player: Option<String>,
    /// With --against or --wait: how long each answer may take [default: what the rules allow, 5 to 30 seconds]
    #[arg(long, value_name = "SECONDS", requires = "match_id", value_parser = super::run::in_seconds)]
    timeout: Option<Duration>,
    #[command(flatten)]
    tls: TlsArgs,
}

pub(crate) async fn execute(args: ReplayArgs) -> Result<ExitCode> {
    let match_id = args
        .match_id
        .as_ref()
        .map(|id| MatchId::new(id.to_ascii_uppercase()));
    let whom = match (&args.against, args.waiting.is_on()) {
        (Some(url), _) => Some(Whom::Running(url)),
        (None, true) => Some(Whom::Waited(&args.waiting)),
        (None, false) => None,
    };
    let page = args.stores.page();
    let Some((match_id, whom)) = match_id.as_ref().zip(whom) else {
        if let Some(page) = page {
            let why = "that page shows its matches itself; to play one again with your agent, add --match, --as and --wait";
            return Err(Usage(format!("{page}: {why}")).into());
        }
        return tell(&args, match_id.as_ref());
    };
    let client = args.tls.client()?;
    let player = args.player.as_deref();
    let part = match page {
        Some(page) => replay_against::fetch(&client, &page, match_id, player).await?,
        None => {
            let logs = LogSet::open_league(&args.stores.urls(), args.league.id().as_ref())?;
            request_replay::player_requests(&logs, match_id, player)?
        }
    };
    let again = Again {
        match_id,
        part: &part,
        timeout: args.timeout,
        json: args.json,
        client: &client,
    };
    replay_against::execute(&again, whom).await
}

fn tell(args: &ReplayArgs, match_id: Option<&MatchId>) -> Result<ExitCode> {
    let logs = LogSet::open_league(&args.stores.urls(), args.league.id().as_ref())?;
    match match_id {
        Some(match_id) if args.json => {
            timeline::replay(&logs, Some(match_id))?;
            say(serde_json::to_string_pretty(&exporting::record(
                &logs, match_id,
            )?)?);
        }
        _ => say(timeline::replay(&logs, match_id)?.trim_end()),
    }
    Ok(ExitCode::SUCCESS)
}
