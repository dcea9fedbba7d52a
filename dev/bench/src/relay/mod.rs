//! Benchmarks of the relay: what it adds to a call, very many streams at rest, how soon a client is back after a cut, and a league
//! whose players all dial out.
//!
//! # Layout
//! - `figures`: what is measured, as values, with the goals and tables
//! - `agent`: an agent that answers at once, called directly or through a relay
//! - `calls`, `idle`, `reconnect`, `league`: the four measurements

mod agent;
mod calls;
pub(crate) mod figures;
mod idle;
mod league;
mod reconnect;

use crate::benchmark::{Benchmark, Tell, temporary_folder};
use crate::size::Size;
use anyhow::Result;
use figures::RelayFigures;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct RelayPlan {
    /// Each way.
    pub(crate) calls: usize,
    pub(crate) streams: usize,
    /// How long CPU time is measured while nothing happens.
    pub(crate) rest: Duration,
    pub(crate) cuts: usize,
    pub(crate) size: Size,
    /// How often each league is played.
    pub(crate) runs: usize,
    /// Where the stores are: the disk matters.
    pub(crate) folder: PathBuf,
}

impl RelayPlan {
    pub(crate) fn new(folder: PathBuf, quick: bool) -> Self {
        let rest = Duration::from_secs(20);
        let size = Size::new(50, 10);
        let plan = Self {
            calls: 5_000,
            streams: 5_000,
            rest,
            cuts: 20,
            size,
            runs: 3,
            folder,
        };
        if !quick {
            return plan;
        }
        let rest = Duration::from_secs(2);
        let size = Size::new(4, 1);
        Self {
            calls: 100,
            streams: 50,
            rest,
            cuts: 2,
            size,
            runs: 1,
            ..plan
        }
    }
}

impl Benchmark for RelayPlan {
    type Figures = RelayFigures;

    async fn measure(&self, tell: Tell<'_>) -> Result<RelayFigures> {
        let folder = || temporary_folder(&self.folder);
        tell(&format!(
            "{} calls, directly and through the relay",
            self.calls
        ));
        let calls = calls::measure(self.calls, folder()?.path()).await?;
        tell(&format!(
            "{} streams at rest for {} s",
            self.streams,
            self.rest.as_secs()
        ));
        let idle = idle::measure(self, folder()?.path()).await?;
        tell(&format!("{} cuts", self.cuts));
        let reconnect = reconnect::measure(self.cuts, folder()?.path()).await?;
        let league = league::measure(self, tell).await?;
        Ok(RelayFigures {
            calls,
            idle,
            reconnect,
            league,
        })
    }
}
