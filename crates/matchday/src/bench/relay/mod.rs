//! Benchmarks of the relay: what it adds to a call, very many streams at rest, how soon a client is back after a cut, and a league
//! whose players all dial out.
//!
//! # Layout
//! - `figures`: what is measured, as values, with the aims and the text for people
//! - `agent`: an agent that answers at once, called directly or through a relay
//! - `calls`, `idle`, `reconnect`, `league`: the four measurements

mod agent;
mod calls;
pub(crate) mod figures;
mod idle;
mod league;
mod reconnect;

use super::Tell;
use super::size::Size;
use anyhow::{Context, Result};
use figures::RelayFigures;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

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
    pub(crate) fn new(folder: PathBuf) -> Self {
        let rest = Duration::from_secs(20);
        Self { calls: 5_000, streams: 5_000, rest, cuts: 20, size: Size::new(50, 10), runs: 3, folder }
    }

    pub(crate) fn quick(folder: PathBuf) -> Self {
        let rest = Duration::from_secs(2);
        Self { calls: 100, streams: 50, rest, cuts: 2, size: Size::new(4, 1), runs: 1, folder }
    }
}

pub(crate) async fn run(plan: &RelayPlan, tell: Tell<'_>) -> Result<RelayFigures> {
    tell(&format!("{} calls, directly and through the relay", plan.calls));
    let calls = calls::measure(plan.calls, folder(plan)?.path()).await?;
    tell(&format!("{} streams at rest for {} s", plan.streams, plan.rest.as_secs()));
    let idle = idle::measure(plan, folder(plan)?.path()).await?;
    tell(&format!("{} cuts", plan.cuts));
    let reconnect = reconnect::measure(plan.cuts, folder(plan)?.path()).await?;
    let league = league::measure(plan, tell).await?;
    Ok(RelayFigures {
        made_by: concat!("matchday ", env!("CARGO_PKG_VERSION")).to_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        optimised: !cfg!(debug_assertions),
        calls,
        idle,
        reconnect,
        league,
    })
}

fn folder(plan: &RelayPlan) -> Result<TempDir> {
    TempDir::with_prefix_in("matchday-bench-", &plan.folder)
        .with_context(|| format!("cannot make a folder in {}", plan.folder.display()))
}
