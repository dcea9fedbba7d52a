//! What the stores of a league tell about how it went: when, how much was said, how long each answer took.

use super::spread::Spread;
use crate::store::history::History;
use crate::store::reader::Timed;
use crate::store::{Direction, Store};
use anyhow::{Context, Result, bail};
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{MessageType, Timestamp};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(super) struct Story {
    pub(super) began: Timestamp,
    pub(super) first_match: Timestamp,
    pub(super) ended: Timestamp,
    pub(super) matches: usize,
    /// Matches that were not played to the end: whatever is measured of such a league is not what it should be.
    pub(super) technical_losses: usize,
    /// Every call while the league ran, in the order in which they began.
    pub(super) calls: Vec<Timed>,
    /// From a report's arrival to the next table sent out, for each report and each player, in microseconds.
    pub(super) standings: Vec<u64>,
    pub(super) store_bytes: u64,
}

impl Story {
    /// The manager's store comes first; those of others follow, if they have their own.
    pub(super) fn read(stores: &[PathBuf]) -> Result<Self> {
        let first = stores.first().context("a league has a store")?;
        let league = History::load(&Store::open_read_only(first)?)?;
        let when = |wanted: fn(&LeagueEvent) -> bool| {
            league.entries.iter().find(|entry| wanted(&entry.event)).map(|entry| entry.at)
        };
        let began = when(|event| matches!(event, LeagueEvent::LeagueStarted { .. }));
        let first_match = when(|event| matches!(event, LeagueEvent::MatchAssigned { .. }));
        let ended = when(|event| matches!(event, LeagueEvent::LeagueCompleted { .. }));
        let (Some(began), Some(first_match), Some(ended)) = (began, first_match, ended) else {
            bail!("the league in {} has not come to its end", first.display());
        };
        let mut exchanges = Vec::new();
        let mut store_bytes = 0;
        for file in stores {
            store_bytes += std::fs::metadata(file)?.len();
            exchanges.extend(Store::open_read_only(file)?.times()?);
        }
        let standings = standings(&exchanges);
        let during = |call: &Timed| call.direction == Direction::Out && began <= call.at && call.at <= ended;
        let mut calls: Vec<Timed> = exchanges.into_iter().filter(during).collect();
        calls.sort_by_key(|call| call.at);
        let decided = league.league.matches.values().filter_map(|game| game.decision.as_ref());
        let technical = decided.clone().filter(|decision| decision.status == GameStatus::TechnicalLoss);
        Ok(Self {
            began,
            first_match,
            ended,
            matches: decided.count(),
            technical_losses: technical.count(),
            calls,
            standings,
            store_bytes,
        })
    }

    pub(super) fn took(&self) -> Duration {
        self.ended.since(self.began)
    }

    /// How long calls of each type took, from the first byte out to the last byte in.
    pub(super) fn answer_times(&self) -> BTreeMap<SmolStr, Vec<u64>> {
        let mut times: BTreeMap<SmolStr, Vec<u64>> = BTreeMap::new();
        for call in &self.calls {
            if let Some(done_at) = call.done_at {
                times.entry(call.message_type.clone()).or_default().push(micros(call.at, done_at));
            }
        }
        times
    }
}

fn micros(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.since(from).as_micros()).unwrap_or(u64::MAX)
}

/// A table that begins to go out after a report was acknowledged has its result: acknowledgements and tables leave the
/// manager in the order in which they were made. In one process only the referee has a record of the report; it begins to
/// send a little before the manager has it.
fn standings(exchanges: &[Timed]) -> Vec<u64> {
    let of = |kind: MessageType, direction: Direction| {
        exchanges.iter().filter(move |seen| seen.direction == direction && seen.message_type == kind.name())
    };
    let mut sent: BTreeMap<&str, Vec<Timestamp>> = BTreeMap::new();
    for table in of(MessageType::LeagueStandingsUpdate, Direction::Out) {
        sent.entry(&table.peer).or_default().push(table.at);
    }
    sent.values_mut().for_each(|sent| sent.sort_unstable());
    let arrived = of(MessageType::MatchResultReport, Direction::In).next().is_some();
    let direction = if arrived { Direction::In } else { Direction::Out };
    let mut delays = Vec::new();
    for report in of(MessageType::MatchResultReport, direction) {
        let Some(acknowledged) = report.answered_at else { continue };
        for sent in sent.values() {
            let next = sent.get(sent.partition_point(|at| *at < acknowledged));
            delays.extend(next.map(|at| micros(report.at, *at)));
        }
    }
    delays
}

/// The spread of each type of message, most frequent first.
pub(super) fn spreads(times: BTreeMap<SmolStr, Vec<u64>>) -> Vec<(SmolStr, Spread)> {
    let mut spreads: Vec<_> =
        times.into_iter().filter_map(|(kind, times)| Some((kind, Spread::of(times)?))).collect();
    spreads.sort_by_key(|(_, spread)| std::cmp::Reverse(spread.count));
    spreads
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(direction: Direction, kind: &str, peer: &str, at: i64, done_at: i64) -> Timed {
        Timed {
            at: Timestamp::from_micros(at),
            answered_at: Some(Timestamp::from_micros(done_at)),
            done_at: Some(Timestamp::from_micros(done_at)),
            direction,
            peer: peer.into(),
            message_type: kind.into(),
        }
    }

    #[test]
    fn a_result_waits_for_the_first_table_after_its_acknowledgement_at_each_player() {
        let report = seen(Direction::In, "MATCH_RESULT_REPORT", "referee", 100, 300);
        let table = |peer, at| seen(Direction::Out, "LEAGUE_STANDINGS_UPDATE", peer, at, at + 1);
        let exchanges = [
            report,
            table("one", 250),
            table("one", 400),
            table("one", 900),
            table("two", 350),
            table("gone", 200),
        ];
        let mut delays = standings(&exchanges);
        delays.sort_unstable();
        assert_eq!(delays, [250, 300]);
    }

    #[test]
    fn in_one_process_a_report_is_known_from_its_sender() {
        let report = seen(Direction::Out, "MATCH_RESULT_REPORT", "manager", 100, 300);
        let table = seen(Direction::Out, "LEAGUE_STANDINGS_UPDATE", "one", 400, 401);
        assert_eq!(standings(&[report, table]), [300]);
    }
}
