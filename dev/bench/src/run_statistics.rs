//! Statistics of one run, read from its stores: start and end, calls, latencies.

use crate::quantiles::Quantiles;
use anyhow::{Context, Result, bail};
use matchday_audit::league_log::LeagueLog;
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{MessageType, Timestamp};
use matchday_store::reader::ExchangeTimes;
use matchday_store::{Direction, Store, StoreUrl};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone)]
pub(crate) struct RunStatistics {
    pub(crate) began: Timestamp,
    pub(crate) first_match: Timestamp,
    pub(crate) ended: Timestamp,
    pub(crate) matches: usize,
    /// Technical losses distort the measurement.
    pub(crate) technical_losses: usize,
    /// Every call during the league, ordered by start.
    pub(crate) calls: Vec<ExchangeTimes>,
    /// From a report's arrival to the next standings sent, for each report and player, in microseconds.
    pub(crate) standings: Vec<u64>,
    pub(crate) store_bytes: u64,
}

impl RunStatistics {
    /// The manager's store comes first, then those of the other agents if they have their own.
    pub(crate) fn read(stores: &[StoreUrl]) -> Result<Self> {
        let first = stores.first().context("a league has a store")?;
        let league = LeagueLog::load(&Store::open_read_only(first)?)?;
        let when = |wanted: fn(&LeagueEvent) -> bool| {
            league
                .entries
                .iter()
                .find(|entry| wanted(&entry.event))
                .map(|entry| entry.at)
        };
        let began = when(|event| matches!(event, LeagueEvent::LeagueStarted { .. }));
        let first_match = when(|event| matches!(event, LeagueEvent::MatchAssigned { .. }));
        let ended = when(|event| matches!(event, LeagueEvent::LeagueCompleted { .. }));
        let (Some(began), Some(first_match), Some(ended)) = (began, first_match, ended) else {
            bail!("the league in {first} has not come to its end");
        };
        let mut exchanges = Vec::new();
        let mut store_bytes = 0;
        for store in stores {
            let reader = Store::open_read_only(store)?;
            store_bytes += reader.bytes()?;
            exchanges.extend(reader.exchange_times()?);
        }
        let standings = standings(&exchanges);
        let during = |call: &ExchangeTimes| {
            call.direction == Direction::Out && began <= call.at && call.at <= ended
        };
        let mut calls: Vec<ExchangeTimes> = exchanges.into_iter().filter(during).collect();
        calls.sort_by_key(|call| call.at);
        let decided = league
            .league
            .matches
            .values()
            .filter_map(|game| game.decision.as_ref());
        let technical = decided
            .clone()
            .filter(|decision| decision.status == GameStatus::TechnicalLoss);
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

    pub(crate) fn took(&self) -> Duration {
        self.ended.since(self.began)
    }

    /// From the first byte sent to the last byte received, by message type.
    pub(crate) fn answer_times(&self) -> BTreeMap<SmolStr, Vec<u64>> {
        let mut times: BTreeMap<SmolStr, Vec<u64>> = BTreeMap::new();
        for call in &self.calls {
            if let Some(done_at) = call.done_at {
                times
                    .entry(call.message_type.clone())
                    .or_default()
                    .push(micros(call.at, done_at));
            }
        }
        times
    }
}

fn micros(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.since(from).as_micros()).unwrap_or(u64::MAX)
}

/// Standings sent after a report was acknowledged include its result, because the manager sends both in the order of
/// its steps. In one process only the referee records the report, and its time starts a little earlier.
fn standings(exchanges: &[ExchangeTimes]) -> Vec<u64> {
    let of = |kind: MessageType, direction: Direction| {
        exchanges
            .iter()
            .filter(move |seen| seen.direction == direction && seen.message_type == kind.name())
    };
    let mut sent: BTreeMap<&str, Vec<Timestamp>> = BTreeMap::new();
    for table in of(MessageType::LeagueStandingsUpdate, Direction::Out) {
        sent.entry(&table.peer).or_default().push(table.at);
    }
    sent.values_mut().for_each(|sent| sent.sort_unstable());
    let arrived = of(MessageType::MatchResultReport, Direction::In)
        .next()
        .is_some();
    let direction = if arrived {
        Direction::In
    } else {
        Direction::Out
    };
    let mut delays = Vec::new();
    for report in of(MessageType::MatchResultReport, direction) {
        let Some(acknowledged) = report.answered_at else {
            continue;
        };
        for sent in sent.values() {
            let next = sent.get(sent.partition_point(|at| *at < acknowledged));
            delays.extend(next.map(|at| micros(report.at, *at)));
        }
    }
    delays
}

/// By message type, most frequent first.
pub(crate) fn quantiles_by_type(times: BTreeMap<SmolStr, Vec<u64>>) -> Vec<(SmolStr, Quantiles)> {
    let mut quantiles_by_type: Vec<_> = times
        .into_iter()
        .filter_map(|(kind, times)| Some((kind, Quantiles::of(times)?)))
        .collect();
    quantiles_by_type.sort_by_key(|(_, quantiles)| std::cmp::Reverse(quantiles.count));
    quantiles_by_type
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(direction: Direction, kind: &str, peer: &str, at: i64, done_at: i64) -> ExchangeTimes {
        ExchangeTimes {
            match_id: None,
            answered: true,
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
