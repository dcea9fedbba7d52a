//! `matchday replay`: a stored league or one match as a timeline. Reads stores, and changes nothing in them.

use super::league_arg::LeagueArg;
use super::replay_against::{self, Against};
use super::store_arg::StoreArgs;
use super::tls::TlsArgs;
use anyhow::Result;
use clap::Args;
use matchday_audit::log_set::LogSet;
use matchday_audit::{export as exporting, timeline};
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
  matchday replay league.db --match R1M1 --against http://localhost:8101/mcp

Each agent's store tells what that agent sent and received; those of several are put together by time.")]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    league: LeagueArg,
    /// The match to show, message by message [default: everything in brief]
    #[arg(long = "match", value_name = "MATCH")]
    match_id: Option<String>,
    /// Print all that is known of the match as JSON; with --against, the answers
    #[arg(long, requires = "match_id")]
    json: bool,
    /// Send the requests that a player was sent in the match to this agent, and show both answers
    #[arg(long, value_name = "URL", requires = "match_id")]
    against: Option<String>,
    /// With --against: whose requests to send [default: the first player's of whom they are known]
    #[arg(long = "as", value_name = "PLAYER", requires = "against")]
    player: Option<String>,
    /// With --against: how long each answer may take [default: what the rules allow, 5 to 30 seconds]
    #[arg(long, value_name = "SECONDS", requires = "against", value_parser = super::run::in_seconds)]
    timeout: Option<Duration>,
    #[command(flatten)]
    tls: TlsArgs,
}

pub(crate) async fn execute(args: ReplayArgs) -> Result<ExitCode> {
    let logs = LogSet::open_league(&args.stores.urls(), args.league.id().as_ref())?;
    let match_id = args
        .match_id
        .map(|id| MatchId::new(id.to_ascii_uppercase()));
    match (&match_id, &args.against) {
        (Some(match_id), Some(url)) => {
            let player = args.player.as_deref();
            let timeout = args.timeout;
            let json = args.json;
            return replay_against::execute(
                &logs,
                match_id,
                &Against {
                    url,
                    player,
                    timeout,
                    json,
                    client: &args.tls.client()?,
                },
            )
            .await;
        }
        (Some(match_id), None) if args.json => {
            timeline::replay(&logs, Some(match_id))?;
            say(serde_json::to_string_pretty(&exporting::record(
                &logs, match_id,
            )?)?);
        }
        _ => say(timeline::replay(&logs, match_id.as_ref())?.trim_end()),
    }
    Ok(ExitCode::SUCCESS)
}
