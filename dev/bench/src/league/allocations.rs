//! Counts allocations per match, registrations included. Only in builds with the feature `count-allocations`, because
//! counting costs.

use super::figures::Allocations;
use crate::run_statistics::RunStatistics;
use crate::size::Size;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::ExitCode;

/// Plays a league in this process. `None` without the feature.
pub(crate) async fn measure(size: Size, folder: &Path) -> Result<Option<Allocations>> {
    let Some(before) = made() else {
        return Ok(None);
    };
    let players = size.players.to_string();
    let referees = size.referees.to_string();
    let store = folder.join("league.db");
    let file = store.to_string_lossy();
    let sized = [
        "--players",
        &players,
        "--referees",
        &referees,
        "--store",
        &file,
    ];
    let words = [&["run", "--quiet", "--port-base", "0"], &sized[..]].concat();
    if matchday::cli::run_command(words).await? != ExitCode::SUCCESS {
        bail!("the league of {size} whose allocations are counted has failed");
    }
    let made = made().unwrap_or(before).saturating_sub(before);
    let matches = RunStatistics::read(&[store.into()])?.matches.max(1);
    Ok(Some(Allocations {
        size,
        per_match: made as f64 / matches as f64,
    }))
}

/// Allocations and reallocations of this process so far.
#[cfg(feature = "count-allocations")]
fn made() -> Option<usize> {
    let stats = stats_alloc::INSTRUMENTED_SYSTEM.stats();
    Some(stats.allocations + stats.reallocations)
}

#[cfg(not(feature = "count-allocations"))]
fn made() -> Option<usize> {
    None
}
