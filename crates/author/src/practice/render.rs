//! The report of a practice for people. Pure.

use super::report::{Report, ResponseTimes, Row, TechnicalLoss};
use matchday_terminal::{Colour, Paint, table};

pub fn people(report: &Report, paint: Paint) -> String {
    let agent = &report.agent;
    let head = format!("{} ({}) at {}", agent.name, agent.player_id, agent.url);
    let mut parts = vec![format!(
        "{}\n\n{}",
        paint.bold(&head),
        partners(report, paint)
    )];
    if !report.technical_losses.is_empty() {
        parts.push(losses(&report.technical_losses, paint));
    }
    parts.push(times(&report.answer_times, paint));
    if !report.deviations.is_empty() {
        let rows: Vec<Vec<String>> = report
            .deviations
            .iter()
            .map(|seen| vec![seen.what.clone(), seen.times.to_string()])
            .collect();
        parts.push(headed("DEVIATION FROM THE RULES|TIMES", &rows, paint));
    }
    if !report.errors.is_empty() {
        let rows: Vec<Vec<String>> = report
            .errors
            .iter()
            .map(|error| {
                let text = format!("{} {}", error.code, error.message);
                vec![
                    text,
                    error.at.clone(),
                    error.times.to_string(),
                    error.reaction.clone(),
                ]
            })
            .collect();
        parts.push(headed(
            "ERROR IT WAS TOLD|FIRST AT|TIMES|ITS ANSWER",
            &rows,
            paint,
        ));
    }
    if !report.oddities.is_empty() {
        let lines: Vec<String> = report
            .oddities
            .iter()
            .map(|line| paint.colour(Colour::Yellow, line))
            .collect();
        parts.push(lines.join("\n"));
    }
    parts.push(verdict(report, paint));
    parts.join("\n\n")
}

fn headed(headers: &str, rows: &[Vec<String>], paint: Paint) -> String {
    let headers: Vec<&str> = headers.split('|').collect();
    let text = table(&headers, rows);
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", paint.bold(head)),
        None => text,
    }
}

fn partners(report: &Report, paint: Paint) -> String {
    let count = |number: u32| {
        if number == 0 {
            String::new()
        } else {
            number.to_string()
        }
    };
    let cells = |row: &Row| {
        let tally = &row.tally;
        let mut cells = vec![row.kind.to_owned(), row.partner.to_owned()];
        cells.extend([tally.won, tally.drawn, tally.lost, tally.technical].map(count));
        let matches = match row.matches.as_slice() {
            [one] => one.clone(),
            [first, .., last] => format!("{first} to {last}"),
            [] => String::new(),
        };
        cells.push(matches);
        cells.push(row.about.to_owned());
        cells
    };
    let mut rows: Vec<Vec<String>> = report.partners.iter().map(cells).collect();
    let total = &report.total;
    let mut sum = vec!["all".to_owned(), String::new()];
    sum.extend([total.won, total.drawn, total.lost, total.technical].map(count));
    rows.push(sum);
    headed("|PARTNER|WON|DRAWN|LOST|TECHNICAL|MATCH|", &rows, paint)
}

fn losses(losses: &[TechnicalLoss], paint: Paint) -> String {
    let rows: Vec<Vec<String>> = losses
        .iter()
        .map(|lost| {
            let id = lost.match_id.clone();
            let partner = lost.partner.to_owned();
            vec![id, partner, lost.reason.clone(), lost.blame.to_owned()]
        })
        .collect();
    let mut text = headed("TECHNICAL LOSS|AGAINST|WHY|TO BLAME", &rows, paint);
    if let Some(first) = losses.first() {
        text.push_str(&format!(
            "\nMessage by message: {}",
            paint.colour(Colour::Yellow, &first.command)
        ));
    }
    text
}

fn times(times: &[ResponseTimes], paint: Paint) -> String {
    let ms = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
    let rows: Vec<Vec<String>> = times
        .iter()
        .map(|seen| {
            vec![
                seen.question.to_owned(),
                seen.answers.to_string(),
                ms(seen.p50_ms),
                ms(seen.p99_ms),
                format!("{:.0}", seen.deadline_ms),
                seen.late.to_string(),
                seen.unanswered.to_string(),
            ]
        })
        .collect();
    headed(
        "ITS ANSWERS TO|COUNT|P50 MS|P99 MS|DEADLINE MS|LATE|NONE",
        &rows,
        paint,
    )
}

fn verdict(report: &Report, paint: Paint) -> String {
    let colour = if report.passed {
        Colour::Green
    } else {
        Colour::Red
    };
    let mut text = paint.colour(colour, &report.verdict);
    text.push_str(&format!(
        "\n{} of {} matches in {:.1} s, kept in {}",
        report.matches_played, report.matches, report.seconds, report.store
    ));
    text
}
