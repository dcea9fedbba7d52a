//! `matchday admin`: the operator's orders to a league.

use super::operator::OperatorArgs;
use super::status::status_table;
use anyhow::Result;
use matchday_audit::describe;
use matchday_core::league::CHECKPOINT_KEY;
use matchday_core::protocol::messages::{LeagueOrder, Order};
use matchday_core::protocol::{MatchId, PlayerId};
use smol_str::SmolStr;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
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
pub(super) struct AdminArgs {
    #[command(flatten)]
    operator: OperatorArgs,
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
    /// Give every match to every referee from now on, if the league waits for one that proves and none comes back: results that
    /// are a referee's word then count, and are marked unproven
    AllowUnproven,
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

pub(super) async fn execute(args: AdminArgs) -> Result<ExitCode> {
    let AdminArgs { operator, order } = args;
    let token = operator.needed_token()?;
    let client = operator.client()?;
    let plain = |order| (order, None, None, None);
    let of_agent = |order, agent: String| (order, None, None, Some(SmolStr::from(agent)));
    let (order, player_id, match_id, agent_id) = match order {
        OrderCommand::Pause => plain(Order::Pause),
        OrderCommand::Resume => plain(Order::Resume),
        OrderCommand::Withdraw { player } => {
            (Order::Withdraw, Some(PlayerId::new(player)), None, None)
        }
        OrderCommand::Void { match_id } => (Order::Void, None, Some(MatchId::new(match_id)), None),
        OrderCommand::End => plain(Order::End),
        OrderCommand::AllowUnproven => plain(Order::AllowUnproven),
        OrderCommand::Rotate { agent } => of_agent(Order::Rotate, agent),
        OrderCommand::Revoke { agent } => of_agent(Order::Revoke, agent),
    };
    let league_id = client.league().await?;
    let order = LeagueOrder {
        league_id,
        order,
        player_id,
        match_id,
        agent_id,
        join_code: None,
    };
    let has_token =
        order.order == Order::Rotate && order.agent_id.as_deref() != Some(CHECKPOINT_KEY);
    if !has_token {
        let done = describe::carried_out(&order);
        let status = client.order(order, &token).await?;
        return operator.show(&status, |status| {
            format!("{done}\n{}", status_table(status))
        });
    }
    let whose = order.agent_id.clone().unwrap_or_default();
    let (status, made) = client.rotate(order, &token).await?;
    operator.print_token(&whose, &made, status)
}
