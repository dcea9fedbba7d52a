//! Performance goals, and whether the figures meet them. Pure.

use super::measurements::{Kind, League, Measurements, Memory};
use super::quantiles::median;
use serde::Serialize;

const MEGABYTE: f64 = 1024.0 * 1024.0;
/// By how much memory after the last quarter may exceed that after the first.
const FLAT: f64 = 1.1;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Target {
    pub(crate) what: &'static str,
    pub(crate) wanted: String,
    pub(crate) found: String,
    pub(crate) met: bool,
}

/// The goals for which there are figures.
pub(crate) fn targets(figures: &Measurements) -> Vec<Target> {
    // Goals apply to the league with the most referees.
    let league = |players, kind| {
        let of_size = figures.leagues.iter().filter(|league| league.size.players == players);
        of_size.filter(|league| league.kind == kind).max_by_key(|league| league.size.referees)
    };
    let (one, outside) = (Kind::OneProcess, Kind::OutsidePlayers);
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
    let at_rest = figures.player_bytes.map(|bytes| bytes as f64 / MEGABYTE);
    let memory = |figure: fn(&Memory) -> Option<f64>| {
        league(99, one).and_then(|league| league.median_of(|run| figure(run.memory.as_ref()?)))
    };
    let most = memory(|memory| Some(memory.most_bytes as f64 / MEGABYTE));
    let rise =
        memory(|memory| Some(*memory.quarters_bytes.last()? as f64 / *memory.quarters_bytes.first()? as f64));
    [
        at_least("share of the ceiling, 50 players in one process", 0.65, 2, "", ratio(league(50, one))),
        at_least("share of the ceiling, 50 outside players", 0.5, 2, "", ratio(league(50, outside))),
        at_least("share of the ceiling, 99 outside players", 0.5, 2, "", ratio(league(99, outside))),
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
        at_most("memory of a player process at rest", 12.0, 1, " MB", at_rest),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) fn at_least(
    what: &'static str,
    bound: f64,
    places: usize,
    unit: &str,
    found: Option<f64>,
) -> Option<Target> {
    let wanted = format!("at least {bound:.places$}{unit}");
    found.map(|found| Target { what, wanted, found: format!("{found:.places$}{unit}"), met: found >= bound })
}

pub(super) fn at_most(
    what: &'static str,
    bound: f64,
    places: usize,
    unit: &str,
    found: Option<f64>,
) -> Option<Target> {
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
            assert_eq!(all.len(), 10, "{all:?}");
            all.into_iter().filter(|target| !target.met).map(|target| target.what).collect()
        };
        assert_eq!(missed(1.5), [] as [&str; 0]);
        let slow = [
            "share of the ceiling, 50 players in one process",
            "share of the ceiling, 50 outside players",
            "share of the ceiling, 99 outside players",
        ];
        assert_eq!(missed(0.9), slow);
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
        let figures = Measurements {
            leagues: Vec::new(),
            queries: None,
            core: Vec::new(),
            first_match_ms: Vec::new(),
            player_bytes: None,
            ..sample::figures(1.0)
        };
        assert_eq!(targets(&figures), []);
    }
}
