//! The figures of leagues in PostgreSQL beside those in SQLite, the aims, and tables. Pure.

use crate::report::{Figures, Table, Target, number};
use crate::size::Size;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PostgresFigures {
    pub(crate) server: String,
    /// Of the league that was played in one process.
    pub(crate) size: Size,
    /// How many leagues a service played at once, and how many players each had.
    pub(crate) at_once: usize,
    pub(crate) players: u16,
    pub(crate) sqlite: StoreFigures,
    pub(crate) postgres: StoreFigures,
    /// The same leagues at once, by two services that share the database.
    pub(crate) two_services_per_s: f64,
}

/// Medians over the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StoreFigures {
    pub(crate) matches_per_s: f64,
    pub(crate) bytes_per_match: f64,
    pub(crate) at_once_per_s: f64,
    /// Of commits that somebody waits for, with all leagues at once.
    pub(crate) commit_p99_ms: Option<f64>,
    pub(crate) technical_losses: usize,
}

impl Figures for PostgresFigures {
    fn targets(&self) -> Vec<Target> {
        let PostgresFigures {
            sqlite, postgres, ..
        } = self;
        let ratio = |figure: fn(&StoreFigures) -> f64| Some(figure(postgres) / figure(sqlite));
        [
            Target::at_least(
                "matches/s in one process, to SQLite",
                0.5,
                2,
                "",
                ratio(|store| store.matches_per_s),
            ),
            Target::at_least(
                "matches/s of leagues at once, to SQLite",
                0.6,
                2,
                "",
                ratio(|store| store.at_once_per_s),
            ),
            Target::at_least(
                "the same by two services, to one",
                0.8,
                2,
                "",
                Some(self.two_services_per_s / postgres.at_once_per_s),
            ),
            Target::at_most("commit, p99", 20.0, 1, " ms", postgres.commit_p99_ms),
            Target::at_most(
                "bytes a match, to SQLite",
                2.0,
                2,
                "",
                ratio(|store| store.bytes_per_match),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn tables(&self) -> Vec<Table> {
        let row = |name: &str, store: &StoreFigures| {
            vec![
                name.to_owned(),
                number(Some(store.matches_per_s), 0),
                number(Some(store.at_once_per_s), 0),
                number(store.commit_p99_ms, 1),
                number(Some(store.bytes_per_match), 0),
                store.technical_losses.to_string(),
            ]
        };
        let mut by_two = vec![format!("{} by two services", self.server), String::new()];
        by_two.push(number(Some(self.two_services_per_s), 0));
        let title = format!(
            "Leagues in PostgreSQL beside SQLite, {} in one process and {} of {} players at once, with the database on the same cores",
            self.size, self.at_once, self.players
        );
        let columns =
            "store|matches/s|at once, matches/s|commit p99, ms|bytes a match|technical losses";
        vec![Table::new(
            title,
            columns,
            [
                row("SQLite", &self.sqlite),
                row(&self.server, &self.postgres),
                by_two,
            ],
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tables_text;

    fn figures() -> PostgresFigures {
        let sqlite = StoreFigures {
            matches_per_s: 4_000.0,
            bytes_per_match: 9_000.0,
            at_once_per_s: 700.0,
            commit_p99_ms: Some(3.5),
            technical_losses: 0,
        };
        let postgres = StoreFigures {
            matches_per_s: 2_400.0,
            bytes_per_match: 15_000.0,
            at_once_per_s: 400.0,
            commit_p99_ms: Some(12.25),
            technical_losses: 0,
        };
        PostgresFigures {
            server: "postgres (PostgreSQL) 15.18".to_owned(),
            size: Size::new(50, 10),
            at_once: 100,
            players: 8,
            sqlite,
            postgres,
            two_services_per_s: 360.0,
        }
    }

    #[test]
    fn both_stores_stand_beside_each_other_with_the_aims() {
        let text = tables_text(&figures());
        for part in [
            "SQLite",
            "postgres (PostgreSQL) 15.18",
            "50/10 in one process",
            "4000",
            "2400",
            "12.2",
            "15000",
            "0.57",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn what_misses_its_aim_says_so() {
        assert_eq!(
            Target::missed(&figures()),
            ["matches/s of leagues at once, to SQLite"]
        );
    }
}
