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
    /// Begin no more matches; running matches are finished
    Pause,
    /// Continue after a pause
    Resume,
    /// Withdraw a player: it forfeits its remaining matches
    Withdraw {
        /// The player, as in P03
        player: String,
    },
    /// Void a result; the match is played again
    Void {
        /// The match, as in R1M1
        #[arg(value_name = "MATCH")]
        match_id: String,
    },
    /// End the league now, with its current standings
    End,
    /// Allow every referee for every match, if the league waits for a referee with proofs and none returns; such results are marked unproven
    AllowUnproven,
    /// Make a new token for an agent and show it once; the old one stops working
    Rotate {
        /// The agent, as in P03 or REF01; operator, for the token of these commands; or checkpoint-key, for the key that signs checkpoints
        agent: String,
    },
    /// Revoke an agent's token: the agent cannot take part until rotate gives it another
    Revoke {
        /// The agent, as in P03 or REF01
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
