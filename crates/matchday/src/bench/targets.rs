//! What a league should reach, and whether it does. Pure.

use super::figures::{Figures, Kind, League, Memory};
use super::spread::median;
use serde::Serialize;

const MEGABYTE: f64 = 1024.0 * 1024.0;
/// How much the memory of the last quarter may exceed that of the first and still be called flat.
const FLAT: f64 = 1.1;

/// One target beside what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Target {
    pub(crate) what: &'static str,
    pub(crate) wanted: String,
    pub(crate) found: String,
    pub(crate) met: bool,
}

/// Those of which something was measured.
pub(crate) fn targets(figures: &Figures) -> Vec<Target> {
    // Goals are for leagues with referees enough.
    let league = |players, kind| {
        let of_size = figures.leagues.iter().filter(|league| league.size.players == players);
        of_size.filter(|league| league.kind == kind).max_by_key(|league| league.size.referees)
    };
    let (one, separate) = (Kind::OneProcess, Kind::SeparateProcesses);
    let ratio = |league: Option<&League>| league.and_then(|league| league.median(|run| run.ratio()));
    let per_match =
        |league: Option<&League>| league.and_then(|league| league.median(|run| run.us_per_match()));
    let growth =
        per_match(league(99, one)).zip(per_match(league(16, one))).map(|(large, small)| large / small);
    let standings = league(99, one).and_then(|league| Some(league.standings.as_ref()?.p99_ms));
    let queries = figures
        .queries
        .as_ref()
        .and_then(|queries| queries.took.iter().map(|(_, took)| took.p99_ms).max_by(f64::total_cmp));
    let core = figures.core.iter().filter_map(|core| median(core.matches_per_s.iter().copied()));
    let memory = |figure: fn(&Memory) -> Option<f64>| {
        league(99, one).and_then(|league| league.median_of(|run| figure(run.memory.as_ref()?)))
    };
    let most = memory(|memory| Some(memory.most_bytes as f64 / MEGABYTE));
    let rise =
        memory(|memory| Some(*memory.quarters_bytes.last()? as f64 / *memory.quarters_bytes.first()? as f64));
    [
        at_least(
            "exchanges a second of the ceiling, 50 players, one process",
            0.7,
            2,
            "",
            ratio(league(50, one)),
        ),
        at_least("the same with separate processes", 0.5, 2, "", ratio(league(50, separate))),
        at_most("time per match, 99 players to 16", 1.3, 2, "", growth),
        at_most("memory, 99 players in one process", 150.0, 0, " MB", most),
        at_most("memory after the last quarter to the first", FLAT, 2, "", rise),
        at_most("report to table sent, p99, 99 players", 100.0, 1, " ms", standings),
        at_most("LEAGUE_QUERY under load, p99", 10.0, 1, " ms", queries),
        at_most(
            "start of the program to its first match",
            300.0,
            0,
            " ms",
            median(figures.first_match_ms.clone()),
        ),
        at_least("the pure core, matches a second", 500_000.0, 0, "", core.max_by(f64::total_cmp)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn at_least(what: &'static str, bound: f64, places: usize, unit: &str, found: Option<f64>) -> Option<Target> {
    let wanted = format!("at least {bound:.places$}{unit}");
    found.map(|found| Target { what, wanted, found: format!("{found:.places$}{unit}"), met: found >= bound })
}

fn at_most(what: &'static str, bound: f64, places: usize, unit: &str, found: Option<f64>) -> Option<Target> {
    let wanted = format!("at most {bound:.places$}{unit}");
    found.map(|found| Target { what, wanted, found: format!("{found:.places$}{unit}"), met: found <= bound })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_league_that_is_too_slow_misses_its_target_and_no_other() {
        let missed = |speed: f64| -> Vec<&'static str> {
            let all = targets(&sample::figures(speed));
            assert_eq!(all.len(), 9, "{all:?}");
            all.into_iter().filter(|target| !target.met).map(|target| target.what).collect()
        };
        assert_eq!(missed(1.5), [] as [&str; 0]);
        let both = [
            "exchanges a second of the ceiling, 50 players, one process",
            "the same with separate processes",
        ];
        assert_eq!(missed(1.0), both);
    }

    #[test]
    fn of_leagues_of_one_size_the_one_with_most_referees_is_held_to_the_goal() {
        let mut figures = sample::figures(1.5);
        let mut with_few = figures.leagues.clone();
        for league in &mut with_few {
            league.size.referees = 1;
            league.runs.iter_mut().for_each(|run| run.seconds *= 10.0);
        }
        figures.leagues.splice(..0, with_few);
        assert_eq!(targets(&figures), targets(&sample::figures(1.5)));
    }

    #[test]
    fn what_was_not_measured_has_no_target() {
        let figures = Figures {
            leagues: Vec::new(),
            queries: None,
            core: Vec::new(),
            first_match_ms: Vec::new(),
            ..sample::figures(1.0)
        };
        assert_eq!(targets(&figures), []);
    }
}
