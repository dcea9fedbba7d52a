//! The state machines alone: no network, no disk, no JSON, one core. The minimum cost of a match.

use super::figures::Core;
use crate::size::Size;
use crate::usage::Usage;
use anyhow::{Result, bail};
use matchday_benchmark_league::BenchmarkLeague;
use std::time::{Duration, Instant};

/// Small leagues are too short to be timed one by one, so at least so many matches are played, for at least so long.
const MATCHES_MIN: u32 = 1000;
const TIME_MIN: Duration = Duration::from_millis(300);

/// Registration is not counted.
pub(crate) fn measure(size: Size, runs: usize) -> Result<Core> {
    let matches_per_s = (0..runs).map(|_| once(size)).collect::<Result<_>>()?;
    Ok(Core {
        size,
        matches_per_s,
    })
}

fn once(size: Size) -> Result<f64> {
    let players = u32::from(size.players);
    let matches = players * (players - 1) / 2;
    let mut all = 0;
    let mut took = Duration::ZERO;
    while took < TIME_MIN {
        let leagues = 0..MATCHES_MIN.div_ceil(matches);
        let collectors = leagues.map(|_| BenchmarkLeague::gather(players, size.referees.into()));
        let mut leagues = collectors.collect::<Result<Vec<_>, _>>()?;
        let began = Stopwatch::start();
        let played: Vec<u32> = leagues.iter_mut().map(BenchmarkLeague::play).collect();
        took += began.elapsed();
        if let Some(few) = played.iter().find(|played| **played != matches) {
            bail!("a league of {size} without a network came to an end after {few} matches");
        }
        all += played.iter().sum::<u32>();
    }
    Ok(f64::from(all) / took.as_secs_f64())
}

/// CPU time, which does not depend on other load; wall-clock time where it is not available.
struct Stopwatch {
    began: Instant,
    used: Option<Usage>,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            used: Usage::of_this_process(),
            began: Instant::now(),
        }
    }

    fn elapsed(&self) -> Duration {
        let used = self.used.zip(Usage::of_this_process());
        used.map_or(self.began.elapsed(), |(before, now)| {
            now.cpu.saturating_sub(before.cpu)
        })
    }
}
