//! Leagues of a service that were played, read from its store.

use super::process::BenchLeague;
use anyhow::{Result, anyhow};
use matchday_audit::league_log::LeagueLog;
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::GameStatus;
use matchday_store::{Direction, LeagueChoice, Location, StoreUrl};

#[derive(Debug)]
pub(crate) struct PlayedLeague {
    pub(crate) began: Timestamp,
    pub(crate) ended: Timestamp,
    pub(crate) matches: usize,
    pub(crate) technical_losses: usize,
    /// How long its calls took, in microseconds.
    pub(crate) calls: Vec<u64>,
}

impl PlayedLeague {
    pub(crate) fn read(store: &StoreUrl, league: &BenchLeague) -> Result<Self> {
        let location = Location {
            store: store.clone(),
            league: LeagueChoice::Named(league.id.clone()),
        };
        let reader = location.open()?;
        let log = LeagueLog::load(&reader)?;
        let when = |wanted: fn(&LeagueEvent) -> bool| {
            let found = log
                .entries
                .iter()
                .find(|entry| wanted(&entry.event))
                .map(|entry| entry.at);
            found.ok_or_else(|| anyhow!("{} has not come to its end", league.id))
        };
        let began = when(|event| matches!(event, LeagueEvent::LeagueStarted { .. }))?;
        let ended = when(|event| matches!(event, LeagueEvent::LeagueCompleted { .. }))?;
        let decided = log
            .league
            .matches
            .values()
            .filter_map(|game| game.decision.as_ref());
        let technical = decided
            .clone()
            .filter(|decision| decision.status == GameStatus::TechnicalLoss);
        let times = reader.exchange_times()?.into_iter();
        let calls = times.filter(|call| {
            call.direction == Direction::Out && began <= call.at && call.at <= ended
        });
        let took =
            calls.filter_map(|call| u64::try_from(call.done_at?.since(call.at).as_micros()).ok());
        Ok(Self {
            began,
            ended,
            matches: decided.count(),
            technical_losses: technical.count(),
            calls: took.collect(),
        })
    }
}

/// Matches a second of leagues that were played at once, from the start of the first to the end of the last.
pub(crate) fn matches_per_s(leagues: &[PlayedLeague]) -> Option<f64> {
    let began = leagues.iter().map(|league| league.began).min()?;
    let ended = leagues.iter().map(|league| league.ended).max()?;
    let matches: usize = leagues.iter().map(|league| league.matches).sum();
    Some(matches as f64 / ended.since(began).as_secs_f64())
}
