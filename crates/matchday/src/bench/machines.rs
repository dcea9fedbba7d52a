//! The three machines alone: no network, no disk, no JSON, one core. What a match costs at the very least.

use super::figures::Core;
use super::size::Size;
use super::usage::Usage;
use anyhow::{Result, bail};
use matchday_core::sim::bare::BareLeague;
use std::time::{Duration, Instant};

/// Small leagues are over too soon to be timed one by one: so many matches are played at a stretch, and for so long.
const MATCHES_MIN: u32 = 1000;
const TIME_MIN: Duration = Duration::from_millis(300);

/// Plays leagues of this size for a while, as often as asked. Registration is not counted.
pub(super) fn measure(size: Size, runs: usize) -> Result<Core> {
    let matches_per_s = (0..runs).map(|_| once(size)).collect::<Result<_>>()?;
    Ok(Core { size, matches_per_s })
}

fn once(size: Size) -> Result<f64> {
    let players = u32::from(size.players);
    let matches = players * (players - 1) / 2;
    let (mut all, mut took) = (0, Duration::ZERO);
    while took < TIME_MIN {
        let leagues = 0..MATCHES_MIN.div_ceil(matches);
        let gathered = leagues.map(|_| BareLeague::gather(players, size.referees.into()));
        let mut leagues = gathered.collect::<Result<Vec<_>, _>>()?;
        let began = Stopwatch::start();
        let played: Vec<u32> = leagues.iter_mut().map(BareLeague::play).collect();
        took += began.elapsed();
        if let Some(few) = played.iter().find(|played| **played != matches) {
            bail!("a league of {size} without a network came to an end after {few} matches");
        }
        all += played.iter().sum::<u32>();
    }
    Ok(f64::from(all) / took.as_secs_f64())
}

/// Processor time, so that it does not matter who else is busy; where it is not known, time as it passes.
struct Stopwatch {
    began: Instant,
    used: Option<Usage>,
}

impl Stopwatch {
    fn start() -> Self {
        Self { used: Usage::of_this_process(), began: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        let used = self.used.zip(Usage::of_this_process());
        used.map_or(self.began.elapsed(), |(before, now)| now.cpu.saturating_sub(before.cpu))
    }
}
