//! How often a match asks for memory. Only a program that was built to count can tell: counting costs, so nobody else does.

use super::figures::Allocations;
use super::here;
use super::size::Size;
use anyhow::Result;
use matchday_core::protocol::messages::Phase;
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Plays a league in this process. `None` if nothing counts.
pub(super) async fn measure(size: Size, folder: &Path) -> Result<Option<Allocations>> {
    if made().is_none() {
        return Ok(None);
    }
    let mut local = here::gather(size, folder).await?;
    let before = made();
    local.start().await?;
    while local.look(|league| league.phase).await? != Phase::Completed {
        sleep(LOOK_EVERY).await;
    }
    let after = made();
    let matches = local.look(|league| league.matches_decided).await?;
    local.farewell().await;
    local.shutdown().await?;
    let made = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    Ok(made.map(|made| Allocations { size, per_match: made as f64 / f64::from(matches.max(1)) }))
}

/// How often this process has asked for memory, or for more of it.
#[cfg(feature = "count-allocations")]
fn made() -> Option<usize> {
    let stats = stats_alloc::INSTRUMENTED_SYSTEM.stats();
    Some(stats.allocations + stats.reallocations)
}

#[cfg(not(feature = "count-allocations"))]
fn made() -> Option<usize> {
    None
}
