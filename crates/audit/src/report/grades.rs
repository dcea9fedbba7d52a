//! A CSV row for each player, for grading. Pure.

use super::{Player, Report, sentences};
use crate::csv_rows;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
struct Row<'a> {
    rank: u32,
    player_id: &'a str,
    name: &'a str,
    points: u32,
    played: u32,
    won: u32,
    won_by_default: u32,
    drawn: u32,
    lost: u32,
    lost_in_play: u32,
    technical_losses: u32,
    technical_causes: String,
    rating: Option<String>,
    rating_low: Option<String>,
    rating_high: Option<String>,
    as_good_by_chance: Option<String>,
    answers_measured: usize,
    answer_ms_median: Option<u32>,
    answer_ms_longest: Option<u32>,
    departures_from_the_rules: String,
    state: &'a str,
    league_id: &'a str,
    completed: bool,
    verified: bool,
    chain_head: &'a str,
}

pub fn csv(report: &Report) -> Result<String, csv::Error> {
    csv_rows::csv(report.players.iter().map(|player| row(report, player)))
}

fn row<'a>(report: &'a Report, player: &'a Player) -> Row<'a> {
    let statistics = report.statistics_of(&player.who.id);
    let strength = statistics.and_then(|statistics| statistics.bradley_terry);
    let whole = |value: f64| format!("{value:.0}");
    let chance = statistics.filter(|statistics| statistics.record.total() > 0);
    Row {
        rank: player.rank,
        player_id: &player.who.id,
        name: &player.who.name,
        points: player.points,
        played: player.played,
        won: player.wins,
        won_by_default: player.wins_by_default,
        drawn: player.draws,
        lost: player.losses,
        lost_in_play: player.losses_in_play,
        technical_losses: player.technical_losses,
        technical_causes: causes(player),
        rating: strength.map(|strength| whole(strength.rating)),
        rating_low: strength.map(|strength| whole(strength.low)),
        rating_high: strength.map(|strength| whole(strength.high)),
        as_good_by_chance: chance.map(|statistics| format!("{:.4}", statistics.as_good_by_chance)),
        answers_measured: player.answers.ms.len(),
        answer_ms_median: player.answers.median(),
        answer_ms_longest: player.answers.longest(),
        departures_from_the_rules: sentences::counted(&player.deviations),
        state: player.state,
        league_id: &report.league_id,
        completed: report.unfinished.is_none(),
        verified: report.verification.passed,
        chain_head: report.verification.head.as_deref().unwrap_or_default(),
    }
}

pub(super) fn causes(player: &Player) -> String {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for lost in &player.technical {
        *counts.entry(lost.cause.to_owned()).or_default() += 1;
    }
    sentences::counted(&counts)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_row_for_each_player() {
        insta::assert_snapshot!(csv(&sample::league()).unwrap());
    }

    #[test]
    fn no_name_becomes_a_formula() {
        let mut report = sample::league();
        report.players[0].who.name = "=HYPERLINK(\"http://localhost\")".into();
        let csv = csv(&report).unwrap();
        assert!(csv.contains("\"'=HYPERLINK(\"\"http://localhost\"\")\""), "{csv}");
    }

    #[test]
    fn a_league_before_its_first_player_has_no_rows() {
        assert_eq!(csv(&sample::before_the_first_player()).unwrap(), "");
    }
}
