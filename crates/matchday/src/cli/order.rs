//! `matchday start` and `matchday admin`: what the operator tells a league.

use super::Usage;
use super::desk::{Desk, ManagerArg};
use super::look::status_table;
use crate::view::say;
use anyhow::Result;
use matchday_core::league::{CHECKPOINT_KEY, OPERATOR};
use matchday_core::protocol::messages::{LeagueOrder, Order};
use matchday_core::protocol::{MatchId, PlayerId, Token};
use serde_json::Value;
use smol_str::SmolStr;
use std::process::ExitCode;

pub(super) const ADMIN_EXAMPLE: &str = "\
Example:
  export MATCHDAY_OPERATOR_TOKEN=tok_operator_...
  matchday admin pause
  matchday admin withdraw P03
  matchday admin void R1M1
  matchday admin resume
  matchday admin rotate P02      # prints a new token, for `matchday player --auth-token`
  matchday admin revoke REF01
  matchday admin rotate operator
  matchday admin rotate checkpoint-key   # the manager signs checkpoints with a new key";

#[derive(Debug, clap::Args)]
pub(super) struct Office {
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
    /// Print the status as JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Office {
    fn token(&self) -> Option<Token> {
        self.operator_token.as_deref().filter(|text| !text.is_empty()).map(Token::new)
    }

    /// The token, for what cannot be done without it.
    pub(super) fn needed_token(&self) -> Result<Token> {
        let what = "this needs the operator token - give --operator-token, or set MATCHDAY_OPERATOR_TOKEN";
        self.token().ok_or_else(|| Usage(what.to_owned()).into())
    }

    pub(super) fn desk(&self) -> Result<Desk> {
        self.at.desk()
    }

    pub(super) fn manager(&self) -> &str {
        &self.at.manager
    }

    fn print(&self, status: &Value) -> Result<ExitCode> {
        self.show(status, status_table)
    }

    /// As JSON, or in words.
    pub(super) fn show(&self, told: &Value, words: impl FnOnce(&Value) -> String) -> Result<ExitCode> {
        match self.json {
            true => say(serde_json::to_string_pretty(told)?),
            false => say(words(told)),
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Office {
    /// The one place where a token is printed: whoever asked for it must be able to hand it on.
    fn print_token(&self, whose: &str, token: &Token, mut status: Value) -> Result<ExitCode> {
        if self.json {
            if let Some(fields) = status.as_object_mut() {
                fields.insert("agent_id".to_owned(), whose.into());
                fields.insert("auth_token".to_owned(), token.reveal().into());
            }
            return self.print(&status);
        }
        let how = match whose {
            OPERATOR => "set MATCHDAY_OPERATOR_TOKEN to it for the next command",
            _ => "its agent comes back with --auth-token, or by registering with it as auth_token",
        };
        say(format!("new token of {whose}, shown this once - {how}:\n{}", token.reveal()));
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
    /// Make a new token for an agent and show it, this once; the old one is worth nothing from now on
    Rotate {
        /// Such as P03 or REF01; operator, for the token that these commands need; or checkpoint-key, for the key that
        /// the manager signs checkpoints with
        agent: String,
    },
    /// Take an agent's token away: it is out until it is given another by rotate
    Revoke {
        /// Such as P03 or REF01
        agent: String,
    },
}

pub(super) async fn start(args: StartArgs) -> Result<ExitCode> {
    let office = args.office;
    let desk = office.at.desk()?;
    let league_id = desk.league().await?;
    office.print(&desk.start(&league_id, office.token().as_ref()).await?)
}

pub(super) async fn admin(args: AdminArgs) -> Result<ExitCode> {
    let AdminArgs { office, order } = args;
    let token = office.needed_token()?;
    let desk = office.at.desk()?;
    let plain = |order| (order, None, None, None);
    let of_agent = |order, agent: String| (order, None, None, Some(SmolStr::from(agent)));
    let (order, player_id, match_id, agent_id) = match order {
        OrderCommand::Pause => plain(Order::Pause),
        OrderCommand::Resume => plain(Order::Resume),
        OrderCommand::Withdraw { player } => (Order::Withdraw, Some(PlayerId::new(player)), None, None),
        OrderCommand::Void { match_id } => (Order::Void, None, Some(MatchId::new(match_id)), None),
        OrderCommand::End => plain(Order::End),
        OrderCommand::Rotate { agent } => of_agent(Order::Rotate, agent),
        OrderCommand::Revoke { agent } => of_agent(Order::Revoke, agent),
    };
    let league_id = desk.league().await?;
    let order = LeagueOrder { league_id, order, player_id, match_id, agent_id };
    let has_token = order.order == Order::Rotate && order.agent_id.as_deref() != Some(CHECKPOINT_KEY);
    if !has_token {
        return office.print(&desk.order(order, &token).await?);
    }
    let whose = order.agent_id.clone().unwrap_or_default();
    let (status, made) = desk.rotate(order, &token).await?;
    office.print_token(&whose, &made, status)
}
