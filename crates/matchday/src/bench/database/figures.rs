//! The figures of leagues in PostgreSQL beside those in SQLite, the aims, and both for people. Pure.

use super::super::render::{headed, targets_met};
use super::super::size::Size;
use super::super::targets::{Target, at_least, at_most};
use matchday_terminal::{Colour, Paint};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct DatabaseFigures {
    pub(crate) made_by: String,
    pub(crate) cores: usize,
    /// Whether this is a release build; otherwise the figures are meaningless.
    pub(crate) optimised: bool,
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

pub(crate) fn targets(figures: &DatabaseFigures) -> Vec<Target> {
    let DatabaseFigures { sqlite, postgres, .. } = figures;
    let ratio = |figure: fn(&StoreFigures) -> f64| Some(figure(postgres) / figure(sqlite));
    [
        at_least("matches/s in one process, to SQLite", 0.5, 2, "", ratio(|store| store.matches_per_s)),
        at_least("matches/s of leagues at once, to SQLite", 0.6, 2, "", ratio(|store| store.at_once_per_s)),
        at_least(
            "the same by two services, to one",
            0.8,
            2,
            "",
            Some(figures.two_services_per_s / postgres.at_once_per_s),
        ),
        at_most("commit, p99", 20.0, 1, " ms", postgres.commit_p99_ms),
        at_most("bytes a match, to SQLite", 2.0, 2, "", ratio(|store| store.bytes_per_match)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn for_people(figures: &DatabaseFigures, paint: Paint) -> String {
    let mut parts = Vec::new();
    if !figures.optimised {
        parts.push(paint.colour(
            Colour::Yellow,
            "Not built for speed: these figures say nothing about a release build (cargo run --release -- bench --postgres).",
        ));
    }
    let row = |name: &str, store: &StoreFigures| {
        vec![
            name.to_owned(),
            format!("{:.0}", store.matches_per_s),
            format!("{:.0}", store.at_once_per_s),
            store.commit_p99_ms.map(|ms| format!("{ms:.1}")).unwrap_or_default(),
            format!("{:.0}", store.bytes_per_match),
            store.technical_losses.to_string(),
        ]
    };
    let title = format!(
        "Leagues in PostgreSQL beside SQLite, {} in one process and {} of {} players at once, on {} cores with the database on them",
        figures.size, figures.at_once, figures.players, figures.cores
    );
    let columns = "store|matches/s|at once, matches/s|commit p99, ms|bytes a match|technical losses";
    let rows = [row("SQLite", &figures.sqlite), row(&figures.server, &figures.postgres)];
    parts.push(headed(&title, columns, &rows, paint));
    parts.push(format!(
        "By two services that share the database, players at one of them: {:.0} matches/s of leagues at once",
        figures.two_services_per_s
    ));
    parts.push(targets_met(&targets(figures), paint));
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> DatabaseFigures {
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
        DatabaseFigures {
            made_by: "matchday 0.1.0".to_owned(),
            cores: 2,
            optimised: true,
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
        let text = for_people(&figures(), Paint::Plain);
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
        let missed: Vec<&str> =
            targets(&figures()).iter().filter(|target| !target.met).map(|target| target.what).collect();
        assert_eq!(missed, ["matches/s of leagues at once, to SQLite"]);
    }
}
