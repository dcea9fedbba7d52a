//! A whole league in one child process: `matchday run`, sampled from outside.

use super::figures::Memory;
use crate::program::Program;
use crate::run_statistics::RunStatistics;
use crate::size::Size;
use crate::usage::{self, UsageSampler, UsageSeries};
use anyhow::Result;
use matchday_core::protocol::Timestamp;
use matchday_store::StoreUrl;
use std::path::Path;
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct PlayedLeague {
    pub(crate) statistics: RunStatistics,
    /// CPU time between the start and the end of the league.
    pub(crate) cpu: Option<Duration>,
    pub(crate) memory: Option<Memory>,
    /// From process start, in one process.
    pub(crate) to_first_match: Option<Duration>,
}

/// The store is at this location, and empty.
pub(crate) async fn play(size: Size, folder: &Path, store: &StoreUrl) -> Result<PlayedLeague> {
    let players = size.players.to_string();
    let referees = size.referees.to_string();
    let named = store.to_string();
    let sized = [
        "--players",
        &players,
        "--referees",
        &referees,
        "--store",
        &named,
    ];
    let args = [&["run", "--json", "--port-base", "0"], &sized[..]].concat();
    let started_at = usage::now();
    let program = Program::start(folder, "league", &args)?;
    let sampler = UsageSampler::begin(program.pid()?);
    let finished = program.finish().await;
    let usage = sampler.end();
    finished?;
    let statistics = RunStatistics::read(std::slice::from_ref(store))?;
    Ok(PlayedLeague {
        cpu: usage.cpu(statistics.began, statistics.ended),
        memory: memory(&usage, &statistics),
        to_first_match: Some(statistics.first_match.since(started_at)),
        statistics,
    })
}

fn memory(usage: &UsageSeries, statistics: &RunStatistics) -> Option<Memory> {
    let quarter = |number: u32| -> Timestamp { statistics.began + statistics.took() * number / 4 };
    Some(Memory {
        start_bytes: usage.rss_bytes(statistics.began)?,
        quarters_bytes: (1..=4)
            .map(|number| usage.rss_bytes(quarter(number)))
            .collect::<Option<_>>()?,
        most_bytes: usage
            .rss_bytes_max(statistics.began, statistics.ended)
            .or(usage.rss_bytes(statistics.ended))?,
    })
}
