//! Counts allocations per match. Only in builds with the feature `count-allocations`, because counting costs.

use super::in_process;
use super::measurements::Allocations;
use super::size::Size;
use anyhow::Result;
use matchday_core::protocol::messages::Phase;
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Plays a league in this process. `None` without the feature.
pub(super) async fn measure(size: Size, folder: &Path) -> Result<Option<Allocations>> {
    if made().is_none() {
        return Ok(None);
    }
    let mut local = in_process::gather(size, folder).await?;
    let before = made();
    local.start().await?;
    while local.look(|league| league.phase).await? != Phase::Completed {
        sleep(POLL_INTERVAL).await;
    }
    let after = made();
    let matches = local.look(|league| league.matches_decided).await?;
    local.wait_for_agents_to_finish().await;
    local.shutdown().await?;
    let made = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    Ok(made.map(|made| Allocations { size, per_match: made as f64 / f64::from(matches.max(1)) }))
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
