//! The matches of rounds as a table of a terminal. Pure.

use super::Colour;
use super::table::{Cell, Table};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::messages::query_data::{
    MatchProgress, ScheduledMatch, ScheduledRound,
};
use std::collections::BTreeMap;

/// What players call themselves, as far as it is known.
pub type Names = BTreeMap<PlayerId, String>;

/// Matches, then byes, round by round.
pub fn schedule_table(rounds: &[ScheduledRound], names: &Names) -> Table {
    let rows: Vec<[Cell; 8]> = rounds.iter().flat_map(|round| rows(round, names)).collect();
    let mut table = Table::default();
    let headers = [
        "ROUND", "TITLE", "MATCH", "PLAYER A", "PLAYER B", "REFEREE", "RESULT", "WHY",
    ];
    let priorities = [3, 4, 9, 9, 9, 2, 9, 1];
    for (place, (header, priority)) in headers.into_iter().zip(priorities).enumerate() {
        let cells: Vec<Cell> = rows
            .iter()
            .filter_map(|row| row.get(place).cloned())
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            table.add_column(header, priority, cells);
        }
    }
    table
}

fn rows(round: &ScheduledRound, names: &Names) -> Vec<[Cell; 8]> {
    let title = || {
        round
            .title
            .clone()
            .unwrap_or_default()
            .escaped()
            .to_string()
    };
    let player = |id: &PlayerId| match names.get(id) {
        Some(name) => format!("{id} {name}"),
        None => id.to_string(),
    };
    let number = || Cell::from(round.round_id.to_string());
    let played = round.matches.iter().map(|game| {
        let referee = game
            .referee_id
            .as_ref()
            .map_or_else(|| "-".to_owned(), ToString::to_string);
        let why = game
            .result
            .as_ref()
            .map(|result| result.reason.escaped().to_string());
        [
            number(),
            title().into(),
            game.match_id.to_string().into(),
            player(&game.player_a_id).into(),
            player(&game.player_b_id).into(),
            referee.into(),
            outcome(game),
            why.unwrap_or_default().into(),
        ]
    });
    let byes = if round.byes.is_empty() {
        round.bye.as_slice()
    } else {
        &round.byes
    };
    let sitting_out = byes.iter().map(|bye| {
        let [dash, none] = ["-", ""].map(|text| Cell::from(text.to_owned()));
        let bye = [player(bye), "bye".to_owned()].map(Cell::from);
        let [player, result] = bye;
        [
            number(),
            title().into(),
            dash.clone(),
            player,
            dash.clone(),
            dash,
            result,
            none,
        ]
    });
    played.chain(sitting_out).collect()
}

fn outcome(game: &ScheduledMatch) -> Cell {
    let Some(result) = &game.result else {
        let state = if game.state == MatchProgress::Playing {
            "playing"
        } else {
            "to come"
        };
        return state.to_owned().into();
    };
    let is_technical = result.status == GameStatus::TechnicalLoss;
    match &result.winner {
        Some(winner) if is_technical => {
            Cell::coloured(format!("{winner} won (technical)"), Colour::Magenta)
        }
        Some(winner) => Cell::coloured(format!("{winner} won"), Colour::Green),
        None if is_technical => Cell::coloured("nobody won (technical)", Colour::Magenta),
        None => Cell::coloured("draw", Colour::Yellow),
    }
}
