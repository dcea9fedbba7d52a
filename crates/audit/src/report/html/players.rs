//! A section for each player: record, technical losses with causes, head-to-head results, answer times, statistics.

use super::tables::{Cell, table};
use super::writer::{Html, section};
use crate::report::{Player, Report, grades, plots, sentences};

pub(super) fn all(html: &mut Html, report: &Report) {
    section(html, "players", "Players", |html| {
        if report.players.is_empty() {
            html.leaf("p", &[], "No player has registered yet.");
        }
        for player in &report.players {
            let heading = format!("{}-heading", player.who.id);
            html.element("article", &[("id", &player.who.id), ("aria-labelledby", &heading)], |html| {
                html.element("h3", &[("id", &heading)], |html| {
                    html.text(&format!("{}. ", player.rank));
                    html.name(&player.who.name);
                    html.text(&format!(" ({})", player.who.id));
                    if player.state != "active" {
                        html.text(" ");
                        html.leaf("span", &[("class", "badge failed")], player.state);
                    }
                });
                one(html, report, player);
            });
        }
    });
}

fn one(html: &mut Html, report: &Report, player: &Player) {
    html.leaf("p", &[], &sentences::record(player));
    let statistics = report.statistics_of(&player.who.id);
    if let Some(statistics) = statistics {
        html.leaf("p", &[], &statistics.sentence);
    }
    html.element("dl", &[("class", "facts")], |html| {
        let mut fact = |name: &str, text: &str| {
            html.element("div", &[], |html| {
                html.leaf("dt", &[], name);
                html.leaf("dd", &[], text);
            });
        };
        if let Some(rating) = statistics.and_then(sentences::rating) {
            fact("Rating (95 %)", &rating);
        }
        if let Some(reason) = &player.reason {
            fact("Place", reason);
        }
        if !player.choices.is_empty() {
            fact("Choices", &sentences::counted(&player.choices));
        }
        let deviations = sentences::counted(&player.deviations);
        fact("Departures from the rules", if deviations.is_empty() { "none" } else { &deviations });
        if let Some(failed) = &player.fallbacks {
            fact("Strategy", &failed.sentence());
        }
        if let Some(used) = &player.llm_usage {
            fact("Model", &used.sentence());
        }
        fact("Agent version", &player.version);
    });
    technical(html, player);
    against(html, player);
    answers(html, report, player);
}

fn technical(html: &mut Html, player: &Player) {
    if player.technical.is_empty() {
        return;
    }
    let losses = sentences::count_of(player.technical.len(), "technical loss", "technical losses");
    html.element("h4", &[], |html| html.text(&format!("{losses}: {}", grades::causes(player))));
    let heads = [
        ("Match", false),
        ("Against", false),
        ("At fault", false),
        ("What happened", false),
        ("Seen", false),
    ];
    let rows = player.technical.iter().map(|lost| {
        vec![
            Cell::Text(&lost.match_id),
            Cell::Text(&lost.opponent.id),
            Cell::Text(lost.culprit),
            Cell::Fault(&lost.account),
            Cell::Text(lost.evidence.as_deref().unwrap_or("-")),
        ]
    });
    let caption = format!("Technical losses of {}", player.who.id);
    if player.technical.len() > SHOWN_OPEN_MAX {
        html.element("details", &[], |html| {
            html.leaf("summary", &[], "Each of them");
            table(html, &caption, &heads, rows);
        });
    } else {
        table(html, &caption, &heads, rows);
    }
}

const SHOWN_OPEN_MAX: usize = 4;

fn against(html: &mut Html, player: &Player) {
    if player.against.is_empty() {
        return;
    }
    html.element("details", &[], |html| {
        html.leaf(
            "summary",
            &[],
            &format!(
                "Against each of {}",
                sentences::count_of(player.against.len(), "opponent", "opponents")
            ),
        );
        let heads = [
            ("Player", false),
            ("Name", false),
            ("Won", true),
            ("Drawn", true),
            ("Lost", true),
            ("Technical", true),
        ];
        let rows = player.against.iter().map(|against| {
            let numbers = [against.wins, against.draws, against.losses, against.technical];
            let mut row = vec![
                Cell::Link(format!("#{}", against.who.id), &against.who.id),
                Cell::Name(&against.who.name),
            ];
            row.extend(numbers.map(|number| Cell::Number(number.to_string())));
            row
        });
        table(html, &format!("{} against each", player.who.id), &heads, rows);
    });
}

fn answers(html: &mut Html, report: &Report, player: &Player) {
    html.element("details", &[], |html| {
        html.leaf(
            "summary",
            &[],
            &format!("Answer times: {}", sentences::answers(player, report.deadline_ms)),
        );
        if !player.answers.ms.is_empty() {
            let label = format!("Answer times of {}", player.who.id);
            let scrolls =
                [("class", "wide"), ("tabindex", "0"), ("role", "group"), ("aria-label", label.as_str())];
            html.element("div", &scrolls, |html| {
                html.plot(&plots::answers_of(&player.answers, report.deadline_ms));
            });
        }
    });
}
