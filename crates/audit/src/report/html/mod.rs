//! A report as one self-contained HTML page, without scripts or external resources. Pure.
//!
//! # Layout
//! - `writer`: the only writer of HTML, which escapes; `tables`: scrollable tables
//! - here: the page; `league`: standings, plots, verification; `players`: a section for each; `rounds`: every match, `boards`:
//!   their last positions

mod boards;
mod league;
mod players;
mod rounds;
pub mod tables;
pub mod writer;

use super::{Report, sentences};
use writer::Html;

pub const STYLE: &str = include_str!("style.css");

/// Content Security Policy: nothing is loaded and nothing runs, even if markup were injected.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const SECTIONS: [(&str, &str); 7] = [
    ("table", "Table"),
    ("meaning", "What it means"),
    ("plots", "Plots"),
    ("verification", "Verification"),
    ("players", "Players"),
    ("rounds", "Rounds and matches"),
    ("wrong", "What went wrong"),
];

pub fn page(report: &Report) -> String {
    let mut html = Html::document();
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| head(html, report));
        html.element("body", &[], |html| body(html, report));
    });
    html.finish()
}

fn head(html: &mut Html, report: &Report) {
    html.open("meta", &[("charset", "utf-8")]);
    html.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
    html.open("meta", &[("name", "generator"), ("content", concat!("matchday ", env!("CARGO_PKG_VERSION")))]);
    html.leaf("title", &[], &format!("{} - league report", report.league_id));
    html.style(&[STYLE, matchday_plot::CSS]);
}

fn body(html: &mut Html, report: &Report) {
    html.leaf("a", &[("class", "skip"), ("href", "#table")], "Skip to the table");
    html.element("header", &[], |html| {
        html.leaf("p", &[("class", "quiet")], "League report");
        html.leaf("h1", &[], &report.league_id);
        outcome(html, report);
    });
    html.element("nav", &[("aria-label", "Sections")], |html| {
        html.element("ul", &[], |html| {
            for (id, title) in SECTIONS {
                let to = format!("#{id}");
                html.element("li", &[], |html| html.leaf("a", &[("href", &to)], title));
            }
        });
    });
    html.element("main", &[], |html| {
        league::table(html, report);
        league::meaning(html, report);
        league::plots(html, report);
        league::verification(html, report);
        players::all(html, report);
        rounds::all(html, report);
        league::wrong(html, report);
    });
    html.element("footer", &[], |html| footer(html, report));
}

fn outcome(html: &mut Html, report: &Report) {
    if let Some(unfinished) = &report.unfinished {
        html.element("p", &[("class", "notice"), ("role", "note")], |html| {
            html.leaf("strong", &[], unfinished);
            let as_of =
                report.as_of.map(|at| format!(" This is how it stood at {}.", sentences::format_time(at)));
            html.text(&as_of.unwrap_or_default());
        });
    }
    let champions: Vec<_> = match report.joint_champions.as_slice() {
        [] => report.champion.iter().collect(),
        joint => joint.iter().collect(),
    };
    if !champions.is_empty() {
        html.element("p", &[("class", "champion")], |html| {
            html.text(if champions.len() > 1 { "Joint champions: " } else { "Champion: " });
            for (place, champion) in champions.iter().enumerate() {
                html.text(if place > 0 { ", " } else { "" });
                html.element("strong", &[], |html| html.name(&champion.name));
                html.text(&format!(" ({})", champion.id));
            }
        });
    }
    let verified = &report.verification;
    let (class, label) =
        if verified.passed { ("badge passed", "Verified") } else { ("badge failed", "Verification failed") };
    html.element("p", &[], |html| {
        html.leaf("span", &[("class", class)], label);
        html.text(" ");
        html.text(&verified.sentence);
    });
    html.element("dl", &[("class", "facts")], |html| {
        for (name, fact) in report.facts() {
            html.element("div", &[], |html| {
                html.leaf("dt", &[], name);
                html.leaf("dd", &[], &fact);
            });
        }
    });
}

fn footer(html: &mut Html, report: &Report) {
    let files = report.verification.files.join(", ");
    html.leaf(
        "p",
        &[],
        &format!(
            "Made by matchday {} from {files}. The same stores give the same page, to the byte.",
            env!("CARGO_PKG_VERSION")
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    /// Checks that tags are balanced.
    fn is_well_formed(page: &str) -> Result<(), String> {
        let mut open: Vec<&str> = Vec::new();
        for part in page.split('<').skip(1) {
            let name = part.split([' ', '>', '/']).find(|word| !word.is_empty()).unwrap_or_default();
            if part.starts_with('/') {
                let last = open.pop();
                if last != Some(name) {
                    return Err(format!("</{name}> closes {last:?}"));
                }
            } else if !part.starts_with('!')
                && name != "meta"
                && !part.split('>').next().unwrap().ends_with('/')
            {
                open.push(name);
            }
        }
        if open.is_empty() { Ok(()) } else { Err(format!("left open: {open:?}")) }
    }

    #[test]
    fn a_league_that_is_over() {
        let page = page(&sample::league());
        is_well_formed(&page).unwrap();
        let body = page.split("</style>").nth(1).unwrap();
        insta::assert_snapshot!(body);
    }

    #[test]
    fn the_page_loads_nothing_and_runs_nothing() {
        let page = page(&sample::league());
        for word in ["<script", "<link", "<img", "<iframe", "src=", "@import", "url(", "javascript:"] {
            assert!(!page.contains(word), "{word}");
        }
        let links: Vec<_> = page.split("href=\"").skip(1).collect();
        assert!(links.len() > 10 && links.iter().all(|link| link.starts_with('#')), "{links:?}");
    }

    #[test]
    fn a_hostile_name_stays_text() {
        let mut report = sample::league();
        let hostile = "</title><script>alert(1)</script><img src=x onerror=\"alert(2)\">";
        for player in &mut report.players {
            player.who.name = hostile.into();
            player.against.iter_mut().for_each(|against| against.who.name = hostile.into());
        }
        for game in report.rounds.iter_mut().flat_map(|round| &mut round.matches) {
            game.reason = hostile.into();
            game.a.name = hostile.into();
        }
        report.league_id = hostile.into();
        report.champion.iter_mut().for_each(|champion| champion.name = hostile.into());
        let page = page(&report);
        assert!(!page.contains("<script") && !page.contains("<img"), "a name became markup");
        is_well_formed(&page).unwrap();
    }

    #[test]
    fn a_league_that_is_not_over_says_so() {
        let page = page(&sample::unfinished());
        assert!(page.contains("The league is not over: "), "{page}");
        assert!(!page.contains("Champion: "));
        is_well_formed(&page).unwrap();
    }

    #[test]
    fn a_league_before_its_first_player_says_what_is_missing() {
        let page = page(&sample::before_the_first_player());
        assert!(page.contains("The league has not begun") && page.contains("No player has registered yet."));
        is_well_formed(&page).unwrap();
    }

    #[test]
    fn a_store_that_was_tampered_with_is_named() {
        let page = page(&sample::tampered());
        assert!(page.contains("Verification failed") && page.contains("This does not fit: event "), "{page}");
    }

    #[test]
    fn the_largest_league_stays_small_enough_to_be_mailed() {
        let report = sample::large(99);
        let page = page(&report);
        assert_eq!(report.matches, 4851);
        // Leaves room for longer names and reasons.
        assert!(page.len() < 4_200_000, "{} bytes", page.len());
        is_well_formed(&page).unwrap();
    }
}
