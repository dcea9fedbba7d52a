//! A league whose players dial out, and the same league with players that are called directly.

use super::RelayPlan;
use super::figures::Leagues;
use crate::benchmark::Tell;
use crate::benchmark::temporary_folder;
use crate::league::outside_players;
use crate::processes::Reached;
use crate::quantiles::median;
use anyhow::{Context, Result};

pub(crate) async fn measure(plan: &RelayPlan, tell: Tell<'_>) -> Result<Leagues> {
    let mut direct = Vec::new();
    let mut relayed = Vec::new();
    let mut technical_losses = 0;
    // By turns, so that a machine that becomes slower does so for both.
    for run in 1..=plan.runs {
        for (reached, rates) in [
            (Reached::Directly, &mut direct),
            (Reached::ByRelay, &mut relayed),
        ] {
            tell(&format!(
                "a league of {} players, run {run}: {reached:?}",
                plan.size.players
            ));
            let played =
                outside_players::play(plan.size, temporary_folder(&plan.folder)?.path(), reached)
                    .await?
                    .statistics;
            rates.push(played.matches as f64 / played.took().as_secs_f64());
            technical_losses += played.technical_losses;
        }
    }
    let middle = |rates| median(rates).context("no league was played");
    Ok(Leagues {
        players: plan.size.players,
        referees: plan.size.referees,
        direct_matches_per_s: middle(direct)?,
        relayed_matches_per_s: middle(relayed)?,
        technical_losses,
    })
}
