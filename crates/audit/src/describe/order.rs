//! What came of an operator's order, for people. Pure.

use matchday_core::league::CHECKPOINT_KEY;
use matchday_core::protocol::messages::{LeagueOrder, Order};

/// What is so now that the order has been carried out.
pub fn carried_out(order: &LeagueOrder) -> String {
    let player = order.player_id.as_ref().map_or("", |id| id.as_str());
    let agent = order.agent_id.as_deref().unwrap_or_default();
    match order.order {
        Order::Pause => "The league is paused: running matches are finished.".to_owned(),
        Order::Resume => "The league continues.".to_owned(),
        Order::End => "The league has ended with its current standings.".to_owned(),
        Order::Withdraw => {
            format!("{player} is withdrawn: it forfeits its remaining matches.")
        }
        Order::Void => {
            let match_id = order.match_id.as_ref().map_or("", |id| id.as_str());
            format!("The result of {match_id} is voided: the match is played again.")
        }
        Order::AllowUnproven => {
            "Matches that waited for a referee with proofs can go to every referee now.".to_owned()
        }
        Order::Rotate if agent == CHECKPOINT_KEY => {
            "The manager signs checkpoints with a new key.".to_owned()
        }
        Order::Rotate => format!("{agent} has a new token. The old one no longer works."),
        Order::Roster => "The roster follows.".to_owned(),
        Order::Invite | Order::RotateCode => "The roster is changed.".to_owned(),
        Order::Revoke => format!(
            "The token of {agent} is revoked: the agent cannot take part until `matchday admin rotate {agent}` gives it another."
        ),
    }
}
