//! The three machines alone: no network, no disk, no JSON, one core. What a match costs at the very least.

use super::figures::Core;
use super::size::Size;
use anyhow::{Result, bail};
use matchday_core::sim::bare::BareLeague;
use std::time::{Duration, Instant};

/// Small leagues are over too soon to be timed one by one.
const TIME_MIN: Duration = Duration::from_millis(200);

/// Plays leagues of this size for a while, as often as asked. Registration is not counted.
pub(super) fn measure(size: Size, runs: usize) -> Result<Core> {
    let matches_per_s = (0..runs).map(|_| once(size)).collect::<Result<_>>()?;
    Ok(Core { size, matches_per_s })
}

fn once(size: Size) -> Result<f64> {
    let players = u32::from(size.players);
    let (mut matches, mut took) = (0, Duration::ZERO);
    while took < TIME_MIN {
        let mut league = BareLeague::gather(players, size.referees.into())?;
        let began = Instant::now();
        let played = league.play();
        took += began.elapsed();
        if played != players * (players - 1) / 2 {
            bail!("a league of {size} without a network came to an end after {played} matches");
        }
        matches += u64::from(played);
    }
    Ok(matches as f64 / took.as_secs_f64())
}
