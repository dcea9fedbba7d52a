//! A simulation for people. Pure.

use super::progress::grouped;
use super::report::{PairResult, Report, Results};
use crate::summary::{Row, SeasonRow};
use matchday_audit::best_response::BestResponse;
use matchday_stats::elo::EloDifference;
use matchday_stats::estimate::Estimate;
use matchday_terminal::table;

pub fn for_people(report: &Report, width: usize) -> String {
    let mut parts = vec![match &report.results {
        Results::Duels { strategies, .. } => duels(strategies),
        Results::Leagues { strategies, .. } => leagues(strategies),
    }];
    let map = report.heat_map();
    if map.rows.len() > 2 || matches!(report.results, Results::Leagues { .. }) {
        parts.push(format!("{}\n{}", map.title, map.sketch(width)));
    }
    let dots = report.dots();
    parts.push(format!(
        "{}, with 95 % intervals\n{}",
        dots.title,
        dots.sketch(width)
    ));
    if let Results::Duels {
        sprt: Some(verdict),
        ..
    } = &report.results
    {
        let standing = verdict.standing;
        let [llr, lower, upper] = [standing.llr, standing.lower, standing.upper];
        parts.push(format!(
            "{}\nLLR {llr:.2}, bounds {lower:.2} and {upper:.2}",
            verdict.sentence
        ));
    }
    if let Results::Duels { best_responses, .. } = &report.results
        && !best_responses.is_empty()
    {
        parts.push(responses(best_responses));
    }
    if let Results::Duels {
        pairs, openings, ..
    } = &report.results
    {
        if let [only] = pairs.as_slice() {
            parts.extend(swapped_pairs(only));
        }
        parts.extend(replayed(pairs, *openings));
    }
    let complaints = report.complaints.iter();
    parts.extend(complaints.map(|failure| {
        format!(
            "{} failed, at last because: {}",
            failure.strategy, failure.last
        )
    }));
    parts.push(closing(report));
    parts.join("\n\n")
}

fn share(share: Option<Estimate>) -> [String; 2] {
    let Some(Estimate { value, low, high }) = share else {
        return ["-", "-"].map(str::to_owned);
    };
    let [value, low, high] = [value, low, high].map(|share| format!("{:.2}", share * 100.0));
    [format!("{value} %"), format!("{low} to {high}")]
}

fn points(points: Option<Estimate>) -> [String; 2] {
    let Some(Estimate { value, low, high }) = points else {
        return ["-", "-"].map(str::to_owned);
    };
    [format!("{value:.3}"), format!("{low:.3} to {high:.3}")]
}

fn elo(difference: Option<EloDifference>) -> [String; 2] {
    let Some(EloDifference {
        difference,
        low,
        high,
    }) = difference
    else {
        return ["-", "-"].map(str::to_owned);
    };
    // An infinite difference has an infinite bound on one side.
    let end = |end: Option<f64>, beyond: &str| end.map_or_else(|| beyond.to_owned(), signed);
    let sign = if low.is_some() { "+∞" } else { "-∞" };
    [
        end(difference, sign),
        format!("{} to {}", end(low, "-∞"), end(high, "+∞")),
    ]
}

fn signed(elo: f64) -> String {
    if elo.abs() < 0.05 {
        "0.0".to_owned()
    } else {
        format!("{elo:+.1}")
    }
}

/// What somebody wins against each strategy who knows it.
fn responses(found: &[BestResponse]) -> String {
    let by_payoff = found.iter().any(|found| found.payoff_per_match.is_some());
    let rows = found.iter().map(|found| {
        let mut row = vec![found.strategy.clone()];
        if by_payoff {
            row.extend(points(found.payoff_per_match));
        }
        row.extend(share(Some(found.score)));
        row
    });
    let mut headers = vec!["AGAINST"];
    if by_payoff {
        headers.extend(["PAYOFF", "95 %"]);
    }
    headers.extend(["SCORE", "95 %"]);
    format!(
        "Best responses: what an opponent wins who knows the strategy\n{}",
        table(&headers, &rows.collect::<Vec<_>>())
    )
}

fn duels(strategies: &[Row]) -> String {
    let forfeits = strategies.iter().any(|row| row.forfeits > 0);
    let goes_by_payoff = strategies.iter().any(|row| row.payoff_per_match.is_some());
    // What the rows are sorted by comes first where wins say another thing than the game itself.
    let mut headers = vec!["STRATEGY", "MATCHES"];
    headers.extend(
        goes_by_payoff
            .then_some(["PAYOFF", "95 %"])
            .into_iter()
            .flatten(),
    );
    headers.extend(["WON", "95 %", "DRAWN", "95 %", "LOST", "95 %"]);
    let points_and_elo = ["POINTS", "95 %", "ELO", "95 %"];
    headers.extend(
        (!goes_by_payoff)
            .then_some(points_and_elo)
            .into_iter()
            .flatten(),
    );
    headers.extend(forfeits.then_some("FORFEITED"));
    let rows = strategies.iter().map(|row| {
        let mut cells = vec![row.strategy.clone(), row.matches.to_string()];
        if goes_by_payoff {
            cells.extend(points(row.payoff_per_match));
        }
        cells.extend(
            [share(row.win), share(row.draw), share(row.loss)]
                .into_iter()
                .flatten(),
        );
        if !goes_by_payoff {
            cells.extend(points(row.points_per_match));
            cells.extend(elo(row.elo));
        }
        cells.extend(forfeits.then(|| row.forfeits.to_string()));
        cells
    });
    table(&headers, &rows.collect::<Vec<_>>())
}

/// What two strategies scored in pairs of matches.
fn swapped_pairs(pair: &PairResult) -> Option<String> {
    let [none, half, one, more, two] = pair.tally.pairs.0;
    let normalised = pair.normalised_elo.map_or_else(String::new, |normalised| {
        let [difference, interval] = elo(Some(normalised));
        format!(" Normalised Elo {difference} ({interval}).")
    });
    (pair.tally.pairs.total() > 0).then(|| {
        format!(
            "Pairs of matches with swapped seats, by the points of {}: 0 in {none}, ½ in {half}, 1 in {one}, 1½ in {more}, \
             2 in {two}.{normalised}",
            pair.a
        )
    })
}

/// Pairs of strategies that only repeat themselves.
fn replayed(pairs: &[PairResult], openings: usize) -> Option<String> {
    let found: Vec<&PairResult> = pairs
        .iter()
        .filter(|pair| pair.different_games.is_some())
        .collect();
    let (first, games) = found
        .first()
        .and_then(|pair| Some((pair, pair.different_games?)))?;
    let others = match found.len() - 1 {
        0 => String::new(),
        1 => ", and one more pair does so".to_owned(),
        more => format!(", and {more} more pairs do so"),
    };
    let advice = match openings {
        0 => "--openings N begins from N different positions",
        _ => "more openings would",
    };
    Some(format!(
        "{} and {} repeat themselves: {} matches are {games} different games, because neither plays by chance{others}. \
         More matches of this kind tell nothing; {advice}.",
        first.a,
        first.b,
        grouped(first.tally.matches())
    ))
}

fn leagues(strategies: &[SeasonRow]) -> String {
    let forfeits = strategies.iter().any(|row| row.forfeits > 0);
    let goes_by_payoff = strategies.iter().any(|row| row.payoff_per_match.is_some());
    let mut headers = vec![
        "STRATEGY",
        "CHAMPION",
        "95 %",
        "MEAN RANK",
        if goes_by_payoff {
            "PAYOFF A MATCH"
        } else {
            "POINTS A MATCH"
        },
        "95 %",
    ];
    headers.extend(forfeits.then_some("FORFEITED"));
    let rows = strategies.iter().map(|row| {
        let rank = row
            .mean_rank
            .map_or_else(|| "-".to_owned(), |rank| format!("{rank:.2}"));
        let mut cells = vec![row.strategy.clone()];
        cells.extend(share(row.champion));
        cells.push(rank);
        cells.extend(points(row.payoff_per_match.or(row.points_per_match)));
        cells.extend(forfeits.then(|| row.forfeits.to_string()));
        cells
    });
    table(&headers, &rows.collect::<Vec<_>>())
}

fn closing(report: &Report) -> String {
    let of = match &report.results {
        Results::Duels {
            series,
            openings: 0,
            ..
        } => format!("series of {series}"),
        Results::Duels {
            series, openings, ..
        } => {
            format!(
                "series of {series} from {} openings",
                grouped(*openings as u64)
            )
        }
        Results::Leagues {
            leagues, format, ..
        } => format!("{} leagues ({format})", grouped(*leagues)),
    };
    let ended = if report.interrupted {
        "; ended early"
    } else {
        ""
    };
    let took = &report.took;
    format!(
        "{} matches of {} in {of}, seed {}{ended}\n{:.2} s on {} {}: {} matches a second",
        grouped(report.matches),
        report.game,
        report.seed,
        took.seconds,
        took.threads,
        if took.threads == 1 {
            "thread"
        } else {
            "threads"
        },
        grouped(took.matches_per_second as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::super::report::{ProgramFailure, RunTime, SprtQuestion, SprtVerdict};
    use super::*;
    use crate::distinct::DistinctGames;
    use crate::summary::{of_duels, of_leagues};
    use crate::{Pair, Seasons, Tally};
    use matchday_stats::results::Wdl;
    use matchday_stats::sprt::Sprt;
    use std::time::Duration;

    fn names() -> Vec<String> {
        ["random", "pattern", "command:./mine"]
            .map(str::to_owned)
            .to_vec()
    }

    fn tally(wins: u64, draws: u64, losses: u64) -> Tally {
        Tally {
            record: Wdl {
                wins,
                draws,
                losses,
            },
            ..Tally::default()
        }
    }

    fn pair(a: usize, b: usize, tally: Tally) -> Pair {
        Pair {
            a,
            b,
            tally,
            distinct: DistinctGames::of_openings(0),
        }
    }

    fn report(results: Results, matches: u64) -> Report {
        Report {
            game: "even_odd".into(),
            seed: 7,
            interrupted: false,
            matches,
            results,
            complaints: Vec::new(),
            took: RunTime::of(2, Duration::from_millis(250), matches),
        }
    }

    fn duels_of(pairs: &[Pair], names: &[String], sprt: Option<SprtVerdict>) -> Report {
        let matches = pairs.iter().map(|pair| pair.tally.matches()).sum();
        let results = Results::Duels {
            series: 100,
            openings: 0,
            strategies: of_duels(names, pairs),
            pairs: pairs
                .iter()
                .map(|pair| PairResult::of(names, pair))
                .collect(),
            best_responses: Vec::new(),
            sprt,
        };
        report(results, matches)
    }

    #[test]
    fn three_strategies_of_which_one_is_a_program() {
        let mut lost = tally(300, 400, 300);
        lost.forfeits = [0, 50];
        let pairs = [
            pair(0, 1, tally(250, 500, 250)),
            pair(0, 2, lost),
            pair(1, 2, tally(1000, 0, 0)),
        ];
        let mut report = duels_of(&pairs, &names(), None);
        report.interrupted = true;
        let last = "no decision within 1.0 s".to_owned();
        report.complaints.push(ProgramFailure {
            strategy: "command:./mine".into(),
            last,
        });
        insta::assert_snapshot!(for_people(&report, 100));
    }

    #[test]
    fn a_question_that_is_settled_and_one_that_is_not() {
        let question = SprtQuestion {
            elo0: 0.0,
            elo1: 20.0,
            alpha: 0.05,
            beta: 0.05,
        };
        let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05).unwrap();
        for (name, tally) in [
            ("better", tally(600, 0, 400)),
            ("no_better", tally(1500, 0, 1560)),
            ("open", tally(5, 0, 5)),
        ] {
            let verdict = SprtVerdict::of(
                question,
                sprt.standing(tally.record),
                ["frequency", "random"],
                tally.matches(),
            );
            let names = ["frequency", "random"].map(str::to_owned);
            let report = duels_of(&[pair(0, 1, tally)], &names, Some(verdict));
            insta::assert_snapshot!(name, for_people(&report, 80));
        }
    }

    #[test]
    fn leagues_with_their_champions() {
        let seasons = Seasons {
            leagues: 1000,
            matches: 3000,
            places: vec![
                vec![500, 300, 200],
                vec![300, 400, 300],
                vec![200, 300, 500],
            ],
            tallies: vec![
                tally(900, 300, 800),
                tally(700, 500, 800),
                tally(700, 400, 900),
            ],
        };
        let strategies = of_leagues(&names(), &seasons);
        let results = Results::Leagues {
            format: "round_robin".into(),
            leagues: 1000,
            strategies,
        };
        insta::assert_snapshot!(for_people(&report(results, 3000), 100));
    }
}
