//! The goals of leagues, and their tables. Pure.

use super::figures::{Allocations, Core, Kind, League, LeagueFigures, Memory, Queries, Run};
use crate::compare::{More, Sample};
use crate::quantiles::{Quantiles, median};
use crate::report::{Figures, MEGABYTE, Table, Target, number};

/// By how much memory after the last quarter may exceed that after the first.
const FLAT: f64 = 1.1;

impl Figures for LeagueFigures {
    fn targets(&self) -> Vec<Target> {
        // Goals apply to the league with the most referees.
        let league = |players, kind| {
            let of_size = self
                .leagues
                .iter()
                .filter(|league| league.size.players == players);
            of_size
                .filter(|league| league.kind == kind)
                .max_by_key(|league| league.size.referees)
        };
        let one = Kind::OneProcess;
        let outside = Kind::OutsidePlayers;
        let ratio =
            |league: Option<&League>| league.and_then(|league| league.median(|run| run.ratio()));
        let per_match = |league: Option<&League>| {
            league.and_then(|league| league.median(|run| run.us_per_match()))
        };
        let growth = per_match(league(99, one))
            .zip(per_match(league(16, one)))
            .map(|(large, small)| large / small);
        let standings = league(99, one).and_then(|league| Some(league.standings.as_ref()?.p99_ms));
        let queries = self.queries.as_ref().and_then(|queries| {
            queries
                .took
                .iter()
                .map(|(_, took)| took.p99_ms)
                .max_by(f64::total_cmp)
        });
        let at_rest = self.player_bytes.map(|bytes| bytes as f64 / MEGABYTE);
        let memory = |figure: fn(&Memory) -> Option<f64>| {
            league(99, one).and_then(|league| league.median_of(|run| figure(run.memory.as_ref()?)))
        };
        let most = memory(|memory| Some(memory.most_bytes as f64 / MEGABYTE));
        let rise = memory(|memory| {
            Some(*memory.quarters_bytes.last()? as f64 / *memory.quarters_bytes.first()? as f64)
        });
        [
            Target::at_least(
                "share of the ceiling, 50 players in one process",
                0.65,
                2,
                "",
                ratio(league(50, one)),
            ),
            Target::at_least(
                "share of the ceiling, 50 outside players",
                0.5,
                2,
                "",
                ratio(league(50, outside)),
            ),
            Target::at_least(
                "share of the ceiling, 99 outside players",
                0.5,
                2,
                "",
                ratio(league(99, outside)),
            ),
            Target::at_most("time per match, 99 players to 16", 1.3, 2, "", growth),
            Target::at_most("memory, 99 players in one process", 150.0, 0, " MB", most),
            Target::at_most(
                "memory after the last quarter to the first",
                FLAT,
                2,
                "",
                rise,
            ),
            Target::at_most(
                "report to table sent, p99, 99 players",
                100.0,
                1,
                " ms",
                standings,
            ),
            Target::at_most("LEAGUE_QUERY under load, p99", 10.0, 1, " ms", queries),
            Target::at_most(
                "start of the program to its first match",
                300.0,
                0,
                " ms",
                median(self.first_match_ms.clone()),
            ),
            Target::at_most(
                "memory of a player process at rest",
                12.0,
                1,
                " MB",
                at_rest,
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn tables(&self) -> Vec<Table> {
        let mut tables = vec![leagues(&self.leagues), memory(&self.leagues)];
        tables.extend(answers(&self.leagues));
        tables.extend(self.queries.iter().map(queries));
        tables.push(allocations(&self.allocations));
        tables.push(pure_core(&self.core));
        tables.push(at_rest(self.player_bytes));
        tables.retain(|table| !table.is_empty());
        tables
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples: Vec<Sample> = self.leagues.iter().flat_map(samples_of_league).collect();
        samples.extend(self.core.iter().map(|core| Sample {
            what: format!("{} pure core, matches/s", core.size),
            more: More::Faster,
            values: core.matches_per_s.clone(),
        }));
        let what = "start to first match, ms".to_owned();
        let values = self.first_match_ms.clone();
        samples.push(Sample {
            what,
            more: More::Slower,
            values,
        });
        samples
    }
}

fn samples_of_league(league: &League) -> impl Iterator<Item = Sample> {
    type Figure = (&'static str, More, fn(&Run) -> Option<f64>);
    const FIGURES: [Figure; 5] = [
        ("ratio to the ceiling", More::Faster, |run| {
            Some(run.ratio())
        }),
        ("CPU ratio", More::Faster, Run::cpu_ratio),
        ("CPU us/match", More::Slower, |run| run.cpu_us_per_match),
        ("log bytes/match", More::Larger, |run| {
            Some(run.log_bytes_per_match)
        }),
        ("most memory, MB", More::Larger, |run| {
            Some(run.memory.as_ref()?.most_bytes as f64 / MEGABYTE)
        }),
    ];
    FIGURES.into_iter().map(move |(name, more, figure)| Sample {
        what: format!("{} {}, {name}", league.size, league.kind.name()),
        more,
        values: league.runs.iter().filter_map(figure).collect(),
    })
}

fn leagues(leagues: &[League]) -> Table {
    let title = "Whole leagues, every event and message stored; the ceiling is the same exchanges with nothing behind them";
    let columns = "players/referees|as|matches|runs|matches/s|exchanges/s|ceiling/s|ratio|least to most|CPU ratio|CPU us/match|\
                   log bytes/match|technical losses";
    Table::new(title, columns, leagues.iter().map(league))
}

fn league(league: &League) -> Vec<String> {
    let median = |places, figure: fn(&Run) -> f64| number(league.median(figure), places);
    let ratios = league.runs.iter().map(Run::ratio);
    let range = ratios.clone().reduce(f64::min).zip(ratios.reduce(f64::max));
    vec![
        league.size.to_string(),
        league.kind.name().to_owned(),
        median(0, |run| run.matches as f64),
        league.runs.len().to_string(),
        median(0, Run::matches_per_s),
        median(0, Run::exchanges_per_s),
        median(0, |run| run.ceiling_per_s),
        median(2, Run::ratio),
        range.map_or_else(String::new, |(least, most)| {
            format!("{least:.2} to {most:.2}")
        }),
        number(league.median_of(Run::cpu_ratio), 2),
        number(league.median_of(|run| run.cpu_us_per_match), 0),
        median(0, |run| run.log_bytes_per_match),
        league
            .runs
            .iter()
            .map(|run| run.technical_losses)
            .sum::<usize>()
            .to_string(),
    ]
}

/// Only the last run: a median over runs would hide growth.
fn memory(leagues: &[League]) -> Table {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / MEGABYTE);
    let row = |league: &League| {
        let memory = league.runs.last()?.memory.as_ref()?;
        let mut row = vec![
            league.size.to_string(),
            league.kind.name().to_owned(),
            megabytes(memory.start_bytes),
        ];
        let quarters = memory.quarters_bytes.iter().map(|bytes| megabytes(*bytes));
        row.extend(std::iter::repeat_n(
            String::new(),
            4_usize.saturating_sub(memory.quarters_bytes.len()),
        ));
        row.extend(quarters);
        row.push(megabytes(memory.most_bytes));
        Some(row)
    };
    let columns = "players/referees|as|start|1st quarter|2nd|3rd|end|most";
    Table::new(
        "Resident memory in MB, in the last run",
        columns,
        leagues.iter().filter_map(row),
    )
}

/// Only the largest league of each kind; the JSON has all.
fn answers(leagues: &[League]) -> Vec<Table> {
    let largest = |league: &&League| {
        !leagues
            .iter()
            .any(|other| other.kind == league.kind && other.size > league.size)
    };
    leagues
        .iter()
        .filter(largest)
        .map(|league| {
            let mut rows: Vec<Vec<String>> = league
                .answers
                .iter()
                .map(|answers| {
                    times(
                        &answers.message_type,
                        number(Some(answers.per_match), 2),
                        &answers.took,
                    )
                })
                .collect();
            rows.extend(
                league
                    .standings
                    .iter()
                    .map(|took| times("report arrived to table sent", String::new(), took)),
            );
            let title = format!(
                "How long answers took, {} as {}, in milliseconds",
                league.size,
                league.kind.name()
            );
            Table::new(title, "message|count|a match|p50|p99|p99.9", rows)
        })
        .collect()
}

fn times(name: &str, per_match: String, took: &Quantiles) -> Vec<String> {
    let ms = |value: f64| format!("{value:.2}");
    vec![
        name.to_owned(),
        took.count.to_string(),
        per_match,
        ms(took.p50_ms),
        ms(took.p99_ms),
        ms(took.p999_ms),
    ]
}

fn queries(queries: &Queries) -> Table {
    let title = format!(
        "LEAGUE_QUERY while {} runs flat out, in milliseconds",
        queries.size
    );
    let rows = queries
        .took
        .iter()
        .map(|(name, took)| times(name, String::new(), took));
    Table::new(title, "query|count||p50|p99|p99.9", rows)
}

fn allocations(allocations: &[Allocations]) -> Table {
    let title = "Allocations, in one process; this program counts them, and is the slower for it";
    let row =
        |counted: &Allocations| vec![counted.size.to_string(), number(Some(counted.per_match), 0)];
    Table::new(
        title,
        "players/referees|a match",
        allocations.iter().map(row),
    )
}

fn pure_core(cores: &[Core]) -> Table {
    let title = "The pure core: the same agents without network, disk or JSON, on one core";
    let row = |core: &Core| {
        let rate = median(core.matches_per_s.iter().copied());
        vec![
            core.size.to_string(),
            number(rate, 0),
            number(rate.map(|rate| 1e6 / rate), 2),
        ]
    };
    Table::new(
        title,
        "players/referees|matches/s|us/match",
        cores.iter().map(row),
    )
}

fn at_rest(bytes: Option<u64>) -> Table {
    let title = "A player process at rest, with its part of what such processes share";
    let row = bytes.map(|bytes| vec![number(Some(bytes as f64 / MEGABYTE), 1)]);
    Table::new(title, "memory, MB", row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::league::sample;
    use crate::report::tables_text;

    #[test]
    fn a_league_that_is_too_slow_misses_its_target_and_no_other() {
        let missed = |speed: f64| -> Vec<&'static str> {
            let all = sample::figures(speed).targets();
            assert_eq!(all.len(), 10, "{all:?}");
            all.into_iter()
                .filter(|target| !target.met)
                .map(|target| target.what)
                .collect()
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
        assert_eq!(figures.targets(), sample::figures(1.5).targets());
    }

    #[test]
    fn what_was_not_measured_has_no_target() {
        let figures = LeagueFigures {
            leagues: Vec::new(),
            queries: None,
            core: Vec::new(),
            first_match_ms: Vec::new(),
            player_bytes: None,
            ..sample::figures(1.0)
        };
        assert_eq!(figures.targets(), []);
    }

    #[test]
    fn everything_that_was_measured_is_shown() {
        insta::assert_snapshot!(tables_text(&sample::figures(1.0)));
    }
}
