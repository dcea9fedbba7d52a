//! A CSV row for each player, for grading. Pure.

use super::{Report, sentences};
use crate::csv_rows;
use crate::league_view::columns::text_of;
use crate::league_view::{PlayerView, STANDINGS, Standing};

pub fn csv(report: &Report) -> Result<String, csv::Error> {
    let rows: Vec<_> = report
        .view
        .ranked()
        .map(|(row, player)| cells(report, row, player))
        .collect();
    let keys = rows
        .first()
        .map(|row| row.iter().map(|(key, _)| *key).collect::<Vec<_>>());
    let texts = rows
        .iter()
        .map(|row| row.iter().map(|(_, text)| text.as_str()).collect());
    csv_rows::csv(keys.into_iter().chain(texts))
}

/// The columns of the standings, and what else a grade may depend on.
fn cells(report: &Report, row: &Standing, player: &PlayerView) -> Vec<(&'static str, String)> {
    let standings = STANDINGS
        .iter()
        .map(|column| (column.key, text_of(column, row)));
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let verified = &report.verification;
    let more = [
        ("won_by_default", player.wins_by_default.to_string()),
        ("technical_causes", player.technical_causes()),
        ("answers_measured", player.answers.ms.len().to_string()),
        ("answer_ms_median", number(player.answers.median())),
        ("answer_ms_longest", number(player.answers.longest())),
        ("deviations", sentences::counted(&player.deviations)),
        ("state", player.state.to_owned()),
        ("league_id", report.view.league_id.clone()),
        ("completed", report.view.unfinished.is_none().to_string()),
        ("verified", verified.passed.to_string()),
        ("chain_head", verified.head.clone().unwrap_or_default()),
    ];
    standings.chain(more).collect()
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
        report.view.standings[0].who.name = "=HYPERLINK(\"http://localhost\")".into();
        let csv = csv(&report).unwrap();
        assert!(
            csv.contains("\"'=HYPERLINK(\"\"http://localhost\"\")\""),
            "{csv}"
        );
    }

    #[test]
    fn a_league_before_its_first_player_has_no_rows() {
        assert_eq!(csv(&sample::before_the_first_player()).unwrap(), "");
    }
}
