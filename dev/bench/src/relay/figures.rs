//! The figures of a relay, its aims, and tables. Pure.

use crate::quantiles::Quantiles;
use crate::report::{Figures, MEGABYTE, Table, Target, number};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RelayFigures {
    pub(crate) calls: Calls,
    pub(crate) idle: Idle,
    pub(crate) reconnect: Reconnect,
    pub(crate) league: Leagues,
}

/// The same call, one after another, each way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Calls {
    pub(crate) direct: Quantiles,
    pub(crate) relayed: Quantiles,
}

/// Streams on which nothing happens, at one manager.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Idle {
    /// That were open at the end.
    pub(crate) streams: usize,
    /// Of the manager without a stream. `None` where the system does not tell it, as below.
    pub(crate) before_bytes: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpu_percent: Option<f64>,
}

/// From a cut to the next stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Reconnect {
    pub(crate) cuts: usize,
    pub(crate) median_s: f64,
    pub(crate) most_s: f64,
}

/// A league with players that are called directly, and one with players that dial out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Leagues {
    pub(crate) players: u16,
    pub(crate) referees: u16,
    pub(crate) direct_matches_per_s: f64,
    pub(crate) relayed_matches_per_s: f64,
    pub(crate) technical_losses: usize,
}

impl Figures for RelayFigures {
    fn targets(&self) -> Vec<Target> {
        let RelayFigures {
            calls,
            idle,
            reconnect,
            league,
            ..
        } = self;
        let added = calls.relayed.p99_ms - calls.direct.p99_ms;
        let megabytes = idle.memory_bytes.map(|bytes| bytes as f64 / MEGABYTE);
        let ratio = league.relayed_matches_per_s / league.direct_matches_per_s;
        [
            Target::at_most(
                "p99 that the relay adds to a call",
                2.0,
                2,
                " ms",
                Some(added),
            ),
            Target::at_most("memory with idle streams", 200.0, 0, " MB", megabytes),
            Target::at_most("CPU with idle streams", 1.0, 2, " %", idle.cpu_percent),
            Target::at_most(
                "reconnect after a cut, slowest",
                2.0,
                2,
                " s",
                Some(reconnect.most_s),
            ),
            Target::at_least(
                "matches/s of players that dial out, to direct ones",
                0.5,
                2,
                "",
                Some(ratio),
            ),
            Target::at_most(
                "technical losses",
                0.0,
                0,
                "",
                Some(league.technical_losses as f64),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn tables(&self) -> Vec<Table> {
        let Self {
            calls,
            idle,
            reconnect,
            league,
        } = self;
        let row = |way: &str, times: &Quantiles| {
            let ms = |time: f64| number(Some(time), 2);
            vec![
                way.to_owned(),
                ms(times.p50_ms),
                ms(times.p99_ms),
                ms(times.p999_ms),
            ]
        };
        let title = format!("{} calls each way, in milliseconds", calls.direct.count);
        let rows = [
            row("direct", &calls.direct),
            row("through the relay", &calls.relayed),
        ];
        let calls = Table::new(title, "call|p50|p99|p99.9", rows);

        let megabytes = |bytes: Option<u64>| number(bytes.map(|bytes| bytes as f64 / MEGABYTE), 0);
        let row = vec![
            idle.streams.to_string(),
            megabytes(idle.before_bytes),
            megabytes(idle.memory_bytes),
            number(idle.cpu_percent, 2),
        ];
        let idle = Table::new(
            "Streams at rest",
            "streams|memory without, MB|memory, MB|CPU, %",
            [row],
        );

        let seconds = |seconds: f64| number(Some(seconds), 2);
        let row = vec![
            reconnect.cuts.to_string(),
            seconds(reconnect.median_s),
            seconds(reconnect.most_s),
        ];
        let reconnect = Table::new(
            "From a cut to the next stream, in seconds",
            "cuts|median|slowest",
            [row],
        );

        let rows = [
            ("direct", league.direct_matches_per_s),
            ("dial out", league.relayed_matches_per_s),
        ]
        .map(|(way, rate)| vec![way.to_owned(), number(Some(rate), 0)]);
        let title = format!(
            "A league of {} players and {} referees; {} technical losses",
            league.players, league.referees, league.technical_losses
        );
        vec![
            calls,
            idle,
            reconnect,
            Table::new(title, "players|matches/s", rows),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tables_text;

    fn figures() -> RelayFigures {
        let times = |p50_ms, p99_ms| Quantiles {
            count: 5_000,
            p50_ms,
            p99_ms,
            p999_ms: 2.0 * p99_ms,
        };
        RelayFigures {
            calls: Calls {
                direct: times(0.1, 0.3),
                relayed: times(0.4, 1.2),
            },
            idle: Idle {
                streams: 5_000,
                before_bytes: Some(20 << 20),
                memory_bytes: Some(120 << 20),
                cpu_percent: Some(0.7),
            },
            reconnect: Reconnect {
                cuts: 20,
                median_s: 0.8,
                most_s: 1.6,
            },
            league: Leagues {
                players: 50,
                referees: 10,
                direct_matches_per_s: 400.0,
                relayed_matches_per_s: 240.0,
                technical_losses: 0,
            },
        }
    }

    #[test]
    fn every_figure_stands_beside_its_aim() {
        insta::assert_snapshot!(tables_text(&figures()));
    }

    #[test]
    fn what_misses_its_aim_says_so() {
        let mut figures = figures();
        figures.calls.relayed.p99_ms = 2.4;
        figures.league.technical_losses = 1;
        figures.idle.cpu_percent = None;
        let targets = figures.targets();
        assert_eq!(
            targets.len(),
            5,
            "what was not measured has no aim: {targets:?}"
        );
        assert_eq!(
            Target::missed(&figures),
            ["p99 that the relay adds to a call", "technical losses"]
        );
    }
}
