//! Every round with its matches, collapsed.

use super::boards;
use super::tables::{Cell, table};
use super::writer::{Html, section};
use crate::report::{Match, Report, Round, sentences};

pub(super) fn all(html: &mut Html, report: &Report) {
    section(html, "rounds", "Rounds and matches", |html| {
        if report.rounds.is_empty() {
            html.leaf("p", &[], "The rounds are drawn up when the league starts.");
        }
        let all_fit = boards::all_fit(report);
        for (number, round) in (1..).zip(&report.rounds) {
            one(html, round, all_fit || number == report.rounds.len());
        }
    });
}

fn one(html: &mut Html, round: &Round, with_boards: bool) {
    let technical = round.matches.iter().filter(|game| game.technical).count();
    let mut summary = format!(
        "{}: {}, {}",
        round.name(),
        sentences::count_of(round.matches.len(), "match", "matches"),
        round.state
    );
    if technical > 0 {
        summary.push_str(&format!(", {technical} technical"));
    }
    html.element("details", &[], |html| {
        html.leaf("summary", &[], &summary);
        if let Some(at) = round.starts_at {
            html.leaf(
                "p",
                &[("class", "quiet")],
                &format!("Its matches could begin at {}.", sentences::format_time(at)),
            );
        }
        for bye in &round.byes {
            html.element("p", &[], |html| {
                html.name(&bye.name);
                html.text(&format!(" ({}) sat out.", bye.id));
            });
        }
        let heads = [
            ("Match", false),
            ("A", false),
            ("B", false),
            ("Result", false),
            ("Why", false),
            ("Draw", false),
            ("By", false),
        ];
        let results: Vec<String> = round.matches.iter().map(result).collect();
        let rows = round.matches.iter().zip(&results).map(|(game, result)| {
            vec![
                Cell::Text(&game.id),
                Cell::Text(&game.a.id),
                Cell::Text(&game.b.id),
                if game.technical { Cell::Fault(result) } else { Cell::Text(result) },
                Cell::Text(&game.reason),
                Cell::Text(game.draw.as_deref().unwrap_or("-")),
                Cell::Text(game.decided_by.as_deref().unwrap_or("-")),
            ]
        });
        table(html, &format!("Matches of round {}", round.number), &heads, rows);
        if with_boards {
            boards::of_matches(html, &round.matches);
        }
    });
}

fn result(game: &Match) -> String {
    let Some((a, b)) = game.score else { return game.state.to_owned() };
    let technical = if game.technical { ", technical" } else { "" };
    let again = if game.attempts > 1 { format!(", attempt {}", game.attempts) } else { String::new() };
    match &game.winner {
        Some(winner) => format!("{winner} won {a}:{b}{technical}{again}"),
        None if game.technical => format!("both lost{technical}{again}"),
        None => format!("drawn {a}:{b}{again}"),
    }
}
