//! The figures of a service, its aims, and tables. Pure.

use crate::report::{Figures, MEGABYTE, Table, Target, number};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ServiceFigures {
    pub(crate) at_rest: AtRest,
    pub(crate) at_once: AtOnce,
    pub(crate) flood: Flood,
}

/// A store of very many leagues, some of them loaded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct AtRest {
    pub(crate) leagues: usize,
    pub(crate) active: usize,
    pub(crate) create_s: f64,
    /// From the start of the process to the first answer of a league.
    pub(crate) restart_ms: f64,
    /// `None` where the system does not tell it, as below.
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) idle_cpu_percent: Option<f64>,
}

/// Leagues of one size played at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct AtOnce {
    pub(crate) leagues: usize,
    pub(crate) players: u16,
    pub(crate) matches_per_s: f64,
    /// Of one such league alone.
    pub(crate) one_matches_per_s: f64,
    /// Of one league that has about as many matches as all of them.
    pub(crate) large_players: u16,
    pub(crate) large_matches_per_s: f64,
    pub(crate) technical_losses: usize,
}

/// Exchanges of leagues beside one that is flooded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Flood {
    pub(crate) others: usize,
    pub(crate) per_s: u32,
    pub(crate) answered_per_s: f64,
    pub(crate) calm_p99_ms: f64,
    pub(crate) beside_p99_ms: f64,
    /// Beside a flood of another process on the same machine: what no isolation within a process can avoid.
    pub(crate) elsewhere_p99_ms: f64,
}

impl Figures for ServiceFigures {
    fn targets(&self) -> Vec<Target> {
        let ServiceFigures {
            at_rest,
            at_once,
            flood,
            ..
        } = self;
        let megabytes = at_rest.memory_bytes.map(|bytes| bytes as f64 / MEGABYTE);
        let ratio = at_once.matches_per_s / at_once.one_matches_per_s;
        let rise = (flood.beside_p99_ms / flood.calm_p99_ms - 1.0) * 100.0;
        [
            Target::at_most("memory of the service", 1024.0, 0, " MB", megabytes),
            Target::at_most(
                "start to the first answer",
                2_000.0,
                0,
                " ms",
                Some(at_rest.restart_ms),
            ),
            Target::at_most("CPU at rest", 1.0, 2, " %", at_rest.idle_cpu_percent),
            Target::at_least(
                "matches/s of leagues at once, to one alone",
                0.9,
                2,
                "",
                Some(ratio),
            ),
            Target::at_most(
                "p99 of exchanges beside a flood, rise",
                20.0,
                0,
                " %",
                Some(rise),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn tables(&self) -> Vec<Table> {
        let Self {
            at_rest,
            at_once,
            flood,
        } = self;
        let row = vec![
            at_rest.leagues.to_string(),
            at_rest.active.to_string(),
            number(Some(at_rest.create_s), 1),
            number(Some(at_rest.restart_ms), 0),
            number(at_rest.memory_bytes.map(|bytes| bytes as f64 / MEGABYTE), 0),
            number(at_rest.idle_cpu_percent, 2),
        ];
        let columns =
            "leagues|loaded|created in s|start to first answer, ms|memory, MB|CPU at rest, %";
        let many = Table::new("A store of many leagues", columns, [row]);

        let rate = |leagues: usize, players: u16, rate: f64| {
            vec![
                leagues.to_string(),
                players.to_string(),
                number(Some(rate), 0),
            ]
        };
        let rows = [
            rate(at_once.leagues, at_once.players, at_once.matches_per_s),
            rate(1, at_once.players, at_once.one_matches_per_s),
            rate(1, at_once.large_players, at_once.large_matches_per_s),
        ];
        let title = format!(
            "Leagues refereed by the service, light players in the bench; {} technical losses",
            at_once.technical_losses
        );
        let together = Table::new(title, "leagues at once|players|matches/s", rows);

        let answered = format!(
            "{} a second, {:.0} answered",
            flood.per_s, flood.answered_per_s
        );
        let rows = [
            vec!["none".to_owned(), number(Some(flood.calm_p99_ms), 1)],
            vec![answered, number(Some(flood.beside_p99_ms), 1)],
            vec![
                "the same, to another process".to_owned(),
                number(Some(flood.elsewhere_p99_ms), 1),
            ],
        ];
        let title = format!(
            "Exchanges of {} leagues beside one that is flooded, in milliseconds",
            flood.others
        );
        vec![many, together, Table::new(title, "flood|p99", rows)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tables_text;

    fn figures() -> ServiceFigures {
        ServiceFigures {
            at_rest: AtRest {
                leagues: 10_000,
                active: 100,
                create_s: 2.5,
                restart_ms: 640.0,
                memory_bytes: Some(120 << 20),
                idle_cpu_percent: Some(0.25),
            },
            at_once: AtOnce {
                leagues: 100,
                players: 8,
                matches_per_s: 700.0,
                one_matches_per_s: 500.0,
                large_players: 76,
                large_matches_per_s: 720.0,
                technical_losses: 0,
            },
            flood: Flood {
                others: 10,
                per_s: 2_000,
                answered_per_s: 1_999.6,
                calm_p99_ms: 10.0,
                beside_p99_ms: 11.5,
                elsewhere_p99_ms: 11.0,
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
        figures.flood.beside_p99_ms = 12.5;
        figures.at_rest.idle_cpu_percent = None;
        let targets = figures.targets();
        assert_eq!(
            targets.len(),
            4,
            "what was not measured has no aim: {targets:?}"
        );
        assert_eq!(
            Target::missed(&figures),
            ["p99 of exchanges beside a flood, rise"]
        );
    }
}
