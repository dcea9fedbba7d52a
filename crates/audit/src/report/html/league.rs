//! The sections about the league as a whole: standings, statistics, plots, verification, faults.

use super::tables::{Cell, table as write_table};
use super::writer::{Html, figure, section};
use crate::report::sentences::{TABLE_HEADS, table_row};
use crate::report::{Report, plots as drawn, sentences};

pub(super) fn table(html: &mut Html, report: &Report) {
    let title = if report.unfinished.is_none() { "Final table" } else { "Table so far" };
    section(html, "table", title, |html| {
        if report.players.is_empty() {
            html.leaf("p", &[], "No player has registered yet.");
            return;
        }
        let heads: Vec<_> =
            TABLE_HEADS.iter().enumerate().map(|(place, head)| (*head, is_number(place))).collect();
        let rows: Vec<[String; 12]> = report.players.iter().map(|player| table_row(report, player)).collect();
        let cells =
            rows.iter().map(|row| row.iter().enumerate().map(|(place, text)| cell(place, text)).collect());
        write_table(html, title, &heads, cells);
        html.leaf(
            "p",
            &[("class", "quiet")],
            "A technical loss is a match that a player lost because it did not play: it was silent, could not be reached, \
             declined, or gave no valid answer. Ratings count only what was played out; with 95 %, the true one lies in \
             the interval. The last column but one: how often a record at least as good comes about by chance alone.",
        );
    });
}

/// Indices into [`TABLE_HEADS`].
fn is_number(place: usize) -> bool {
    !matches!(place, 1 | 2 | 11)
}

fn cell(place: usize, text: &str) -> Cell<'_> {
    match place {
        1 => Cell::Link(format!("#{text}"), text),
        2 => Cell::Name(text),
        11 => Cell::Text(text),
        _ => Cell::Number(text.to_owned()),
    }
}

pub(super) fn meaning(html: &mut Html, report: &Report) {
    section(html, "meaning", "What it means", |html| {
        let remarks = report.remarks();
        let mut remarks = remarks.iter();
        if let Some((name, luck)) = remarks.next() {
            html.element("div", &[("class", "luck")], |html| {
                html.element("p", &[], |html| {
                    html.leaf("strong", &[], &format!("{name}: "));
                    html.text(luck);
                });
            });
        }
        html.element("dl", &[("class", "remarks")], |html| {
            for (name, remark) in remarks {
                html.leaf("dt", &[], name);
                html.leaf("dd", &[], remark);
            }
        });
    });
}

pub(super) fn plots(html: &mut Html, report: &Report) {
    section(html, "plots", "Plots", |html| {
        if report.matches_decided == 0 {
            html.leaf("p", &[], "There is nothing to draw before the first match is decided.");
            return;
        }
        let about = "The first eight of the table are labelled; the others are drawn thin behind them.";
        let about = if report.players.len() > 8 { about } else { "" };
        figure(html, "Points over rounds", about, &drawn::points(report));
        let about = "The points of the player on the left against the one above. T: lost without play. Won-drawn-lost \
                     where they met more than once.";
        figure(html, "Cross table", about, &drawn::cross(report));
        let ratings = drawn::ratings(report);
        if !ratings.dots.is_empty() {
            let about = "Where two intervals overlap widely, the table does not say who is better.";
            figure(html, "Ratings", about, &ratings);
        }
        let answers = drawn::answers(report);
        if !answers.dots.is_empty() {
            figure(html, "Answer times", &report.answers_sentence(), &answers);
        }
        if !report.faults.is_empty() {
            figure(html, "What went wrong, by kind", "", &drawn::faults(report));
        }
    });
}

pub(super) fn verification(html: &mut Html, report: &Report) {
    section(html, "verification", "Verification", |html| {
        let verified = &report.verification;
        let (class, label) =
            if verified.passed { ("badge passed", "Passed") } else { ("badge failed", "FAILED") };
        html.element("p", &[], |html| {
            html.leaf("span", &[("class", class)], label);
            html.text(" ");
            html.text(&verified.sentence);
        });
        let found = &verified.found;
        html.leaf(
            "p",
            &[],
            &format!(
                "{} in {} were checked. Draws that follow from what the referee bound itself to before anyone chose: \
                 {}; without proof: {}.",
                sentences::count_of(found.events as usize, "event", "events"),
                sentences::count_of(found.streams as usize, "stream", "streams"),
                found.draws_proven,
                found.draws_unproven
            ),
        );
        if let Some(head) = &verified.head {
            html.element("p", &[], |html| {
                html.text("The chain of events ends in ");
                html.leaf("code", &[], head);
                html.text(
                    ". Two reports with the same end are of the same league at the same moment; if they differ, one of \
                     the stores has gone on, or was changed.",
                );
            });
        }
        for what in found.not_checked.iter().chain(&found.unconfirmed) {
            html.leaf("p", &[("class", "quiet")], &format!("Not checked: {what}."));
        }
        html.element("p", &[], |html| {
            html.text("To check it yourself: ");
            html.leaf("code", &[], &format!("matchday verify {}", verified.files.join(" ")));
        });
    });
}

pub(super) fn wrong(html: &mut Html, report: &Report) {
    section(html, "wrong", "What went wrong", |html| {
        if report.faults.is_empty() {
            html.leaf(
                "p",
                &[],
                "Nothing: no technical loss, no message without an answer, no error, no departure.",
            );
            return;
        }
        let rows = report.faults.iter().map(|fault| {
            vec![Cell::Text(fault.group), Cell::Text(&fault.kind), Cell::Number(fault.count.to_string())]
        });
        write_table(html, "What went wrong", &[("What", false), ("Kind", false), ("How often", true)], rows);
        html.leaf(
            "p",
            &[("class", "quiet")],
            "Messages and errors are counted where they were recorded: name the stores of referees and players too, and \
             theirs are counted as well.",
        );
    });
}
