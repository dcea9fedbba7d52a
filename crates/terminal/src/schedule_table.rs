//! The matches of a round as table rows. Pure.

use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::messages::query_data::{MatchProgress, ScheduledMatch, ScheduledRound};

pub const HEADERS: [&str; 6] = ["match", "player A", "player B", "referee", "result", "why"];

/// Matches, then byes.
pub fn rows(round: &ScheduledRound) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = round.matches.iter().map(cells).collect();
    let dash = || "-".to_owned();
    let byes = if round.byes.is_empty() { round.bye.as_slice() } else { &round.byes };
    let sits_out =
        |bye: &PlayerId| vec![dash(), bye.to_string(), dash(), dash(), "bye".into(), String::new()];
    rows.extend(byes.iter().map(sits_out));
    rows
}

fn cells(game: &ScheduledMatch) -> Vec<String> {
    let referee = game.referee_id.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let [a, b] = [&game.player_a_id, &game.player_b_id].map(ToString::to_string);
    let why = game.result.as_ref().map(|result| result.reason.escaped().to_string()).unwrap_or_default();
    vec![game.match_id.to_string(), a, b, referee, outcome(game), why]
}

fn outcome(game: &ScheduledMatch) -> String {
    match (&game.result, game.state) {
        (Some(result), _) => {
            let technical = if result.status == GameStatus::TechnicalLoss { " (technical)" } else { "" };
            match &result.winner {
                Some(winner) => format!("{winner} won{technical}"),
                None if technical.is_empty() => "draw".to_owned(),
                None => "nobody won (technical)".to_owned(),
            }
        }
        (None, MatchProgress::Playing) => "playing".to_owned(),
        (None, _) => "to come".to_owned(),
    }
}
