//! `matchday start` and `matchday admin`: what the operator tells a league.

use super::Usage;
use super::desk::ManagerArg;
use super::look::status_table;
use crate::view::say;
use anyhow::Result;
use matchday_core::protocol::messages::{LeagueOrder, Order};
use matchday_core::protocol::{MatchId, PlayerId, Token};
use serde_json::Value;
use std::process::ExitCode;

pub(super) const ADMIN_EXAMPLE: &str = "\
Example:
  export MATCHDAY_OPERATOR_TOKEN=tok_operator_...
  matchday admin pause
  matchday admin withdraw P03
  matchday admin void R1M1
  matchday admin resume";

#[derive(Debug, clap::Args)]
struct Office {
    #[command(flatten)]
    at: ManagerArg,
    /// The token that the manager showed when the league was made
    #[arg(
        long,
        value_name = "TOKEN",
        env = "MATCHDAY_OPERATOR_TOKEN",
        hide_env_values = true,
        global = true
    )]
    operator_token: Option<String>,
    /// Which league, if the manager does not tell
    #[arg(long, value_name = "ID", global = true)]
    league_id: Option<String>,
    /// Print the status as JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Office {
    fn token(&self) -> Option<Token> {
        self.operator_token.as_deref().filter(|text| !text.is_empty()).map(Token::new)
    }

    fn print(&self, status: &Value) -> Result<ExitCode> {
        match self.json {
            true => say(serde_json::to_string_pretty(status)?),
            false => say(status_table(status)),
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct StartArgs {
    #[command(flatten)]
    office: Office,
}

#[derive(Debug, clap::Args)]
pub(super) struct AdminArgs {
    #[command(flatten)]
    office: Office,
    #[command(subcommand)]
    order: OrderCommand,
}

#[derive(Debug, clap::Subcommand)]
enum OrderCommand {
    /// Begin no more matches; those being played are played out
    Pause,
    /// Go on after a pause
    Resume,
    /// Take a player out: it forfeits what it has not played
    Withdraw {
        /// Such as P03
        player: String,
    },
    /// Strike a result, and have the match played again
    Void {
        /// Such as R1M1
        #[arg(value_name = "MATCH")]
        match_id: String,
    },
    /// Finish now, with the table as it stands
    End,
}

pub(super) async fn start(args: StartArgs) -> Result<ExitCode> {
    let office = args.office;
    let desk = office.at.desk()?;
    let league_id = desk.league(office.league_id.clone()).await?;
    office.print(&desk.start(&league_id, office.token().as_ref()).await?)
}

pub(super) async fn admin(args: AdminArgs) -> Result<ExitCode> {
    let AdminArgs { office, order } = args;
    let Some(token) = office.token() else {
        let what = "this needs the operator token - give --operator-token, or set MATCHDAY_OPERATOR_TOKEN";
        return Err(Usage(what.to_owned()).into());
    };
    let desk = office.at.desk()?;
    let (order, player_id, match_id) = match order {
        OrderCommand::Pause => (Order::Pause, None, None),
        OrderCommand::Resume => (Order::Resume, None, None),
        OrderCommand::Withdraw { player } => (Order::Withdraw, Some(PlayerId::new(player)), None),
        OrderCommand::Void { match_id } => (Order::Void, None, Some(MatchId::new(match_id))),
        OrderCommand::End => (Order::End, None, None),
    };
    let league_id = desk.league(office.league_id.clone()).await?;
    office.print(&desk.order(LeagueOrder { league_id, order, player_id, match_id }, &token).await?)
}
