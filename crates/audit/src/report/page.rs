//! A report as a self-contained HTML page without scripts or external resources, and as Markdown: templates. Pure.

use super::sentences::{answers, format_time, player_facts, record};
use super::{Report, VerificationSummary, plots};
use crate::design::badge;
use crate::glossary::meaning;
use crate::league_view::columns::{Column, number_classes, text_of, told};
use crate::league_view::{Kind, LeagueView, STANDINGS, Standing};
use crate::plural::count_of;
use crate::template::rendered;
use crate::verify::Verification;
use askama::Template;
use matchday_core::game::view::Grid;

/// How many boards a report draws.
const BOARDS_MAX: usize = 60;
/// The side of a cell of a board.
const CELL: usize = 20;

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    report: &'a Report,
    view: &'a LeagueView,
    verified: &'a VerificationSummary,
    found: &'a Verification,
    columns: Vec<&'static Column<Standing>>,
    plots: Vec<plots::Figure>,
    /// Whether every board of the report is drawn; otherwise those of its last round are.
    boards_fit: bool,
}

#[derive(Template)]
#[template(path = "report.md", whitespace = "preserve")]
struct ReportMarkdown<'a> {
    report: &'a Report,
    view: &'a LeagueView,
    verified: &'a VerificationSummary,
    found: &'a Verification,
    columns: Vec<&'static Column<Standing>>,
}

/// What the heading of a column means, if the glossary has it.
fn meaning_of(column: &Column<Standing>) -> Option<String> {
    meaning(column.title).or_else(|| meaning(column.key))
}

pub fn html(report: &Report) -> String {
    let view = &report.view;
    let games = view.rounds.iter().flat_map(|round| &round.matches);
    rendered(&ReportPage {
        report,
        view,
        verified: &report.verification,
        found: &report.verification.found,
        columns: told(&STANDINGS, &view.standings),
        plots: plots::all(report),
        boards_fit: games.filter(|game| game.position.is_some()).count() <= BOARDS_MAX,
    })
}

pub fn markdown(report: &Report) -> String {
    let view = &report.view;
    rendered(&ReportMarkdown {
        report,
        view,
        verified: &report.verification,
        found: &report.verification.found,
        columns: told(&STANDINGS, &view.standings),
    })
}

/// `12 events in 3 streams`
fn checked(found: &Verification) -> String {
    let events = count_of(found.events as usize, "event", "events");
    format!(
        "{events} in {}",
        count_of(found.streams as usize, "stream", "streams")
    )
}

/// A cell of a board as it is drawn.
struct BoardCell<'a> {
    x: usize,
    y: usize,
    class: &'static str,
    /// `a`, `b`, or neutral.
    owner: &'static str,
    text: &'a str,
}

/// Width and height of a board.
fn board_size(grid: &Grid) -> [usize; 2] {
    let columns = grid.columns.max(1);
    [columns * CELL, grid.cells.len().div_ceil(columns) * CELL]
}

fn board_cells(grid: &Grid) -> impl Iterator<Item = BoardCell<'_>> {
    let columns = grid.columns.max(1);
    grid.cells
        .iter()
        .enumerate()
        .map(move |(index, text)| BoardCell {
            x: index % columns * CELL + 1,
            y: index / columns * CELL + 1,
            class: match (grid.line.contains(&index), grid.last.contains(&index)) {
                (true, _) => "line",
                (false, true) => "last",
                (false, false) => "cell",
            },
            owner: match (grid.marks.a.contains(text), grid.marks.b.contains(text)) {
                (true, _) => "a",
                (false, true) => "b",
                (false, false) => "neutral",
            },
            text,
        })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use matchday_core::game::view::Marks;

    /// Checks that tags are balanced.
    fn is_well_formed(page: &str) -> Result<(), String> {
        let mut open: Vec<&str> = Vec::new();
        for part in page.split('<').skip(1) {
            let name = part
                .split([' ', '>', '/'])
                .find(|word| !word.is_empty())
                .unwrap_or_default();
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
        if open.is_empty() {
            Ok(())
        } else {
            Err(format!("left open: {open:?}"))
        }
    }

    #[test]
    fn a_league_that_is_over() {
        let page = html(&sample::league());
        is_well_formed(&page).unwrap();
        let body = page.split("</style>").nth(1).unwrap();
        insta::assert_snapshot!(body);
    }

    #[test]
    fn markdown_tells_the_same() {
        insta::assert_snapshot!(
            "markdown_of_a_league_that_is_over",
            markdown(&sample::league())
        );
        let early = markdown(&sample::before_the_first_player());
        insta::assert_snapshot!("markdown_before_the_first_player", early);
    }

    #[test]
    fn a_name_stays_a_name_in_markdown() {
        let mut report = sample::league();
        let hostile =
            "<img src=x onerror=alert(1)> | [click](javascript:alert(1)) `x` **bold**\n# head";
        report.view.standings[0].who.name = hostile.into();
        let text = markdown(&report);
        assert!(
            !text.contains("<img") && text.contains("\\](") && text.contains("\\|"),
            "{text}"
        );
        assert!(!text.contains("\n# head"), "{text}");
    }

    #[test]
    fn the_last_position_is_drawn_with_its_line() {
        let mut report = sample::league();
        let cells = ["X", "O", "", "X", "O", "", "X", "", "<b>"]
            .map(Into::into)
            .to_vec();
        let marks = Marks {
            a: vec!["X".into()],
            b: vec!["O".into()],
        };
        let position = Grid {
            columns: 3,
            cells,
            marks,
            line: vec![0, 3, 6],
            last: vec![6],
            ..Grid::default()
        };
        report.view.rounds[0].matches[0].position = Some(position);
        let page = html(&report);
        assert_eq!(
            page.matches("class=\"line\"").count(),
            3,
            "the winning line is lit"
        );
        assert_eq!(page.matches("class=\"a\"").count(), 3);
        assert!(
            page.contains("&lt;b&gt;") && !page.contains("<b>"),
            "text of a game stays text"
        );
    }

    #[test]
    fn the_page_loads_nothing_and_runs_nothing() {
        let page = html(&sample::league());
        for word in [
            "<script",
            "<link",
            "<img",
            "<iframe",
            "src=",
            "@import",
            "url(",
            "javascript:",
        ] {
            assert!(!page.contains(word), "{word}");
        }
        let links: Vec<_> = page.split("href=\"").skip(1).collect();
        assert!(
            links.len() > 10 && links.iter().all(|link| link.starts_with('#')),
            "{links:?}"
        );
    }

    #[test]
    fn a_hostile_name_stays_text() {
        let mut report = sample::league();
        let hostile = "</title><script>alert(1)</script><img src=x onerror=\"alert(2)\">";
        for row in &mut report.view.standings {
            row.who.name = hostile.into();
        }
        for player in &mut report.view.players {
            player.who.name = hostile.into();
            player
                .against
                .iter_mut()
                .for_each(|against| against.who.name = hostile.into());
        }
        for game in report
            .view
            .rounds
            .iter_mut()
            .flat_map(|round| &mut round.matches)
        {
            game.reason = Some(hostile.into());
            game.a.name = hostile.into();
        }
        report.view.league_id = hostile.into();
        report
            .view
            .champions
            .iter_mut()
            .for_each(|champion| champion.name = hostile.into());
        let page = html(&report);
        assert!(
            !page.contains("<script") && !page.contains("<img"),
            "a name became markup"
        );
        is_well_formed(&page).unwrap();
    }

    #[test]
    fn a_league_that_is_not_over_says_so() {
        let page = html(&sample::unfinished());
        assert!(page.contains("The league is not over: "), "{page}");
        assert!(!page.contains("Champion: "));
        is_well_formed(&page).unwrap();
    }

    #[test]
    fn a_league_before_its_first_player_says_what_is_missing() {
        let page = html(&sample::before_the_first_player());
        assert!(
            page.contains("The league has not begun")
                && page.contains("No player has registered yet.")
        );
        is_well_formed(&page).unwrap();
    }

    #[test]
    fn a_store_that_was_tampered_with_is_named() {
        let page = html(&sample::tampered());
        assert!(
            page.contains("Verification failed") && page.contains("Verification failed: event "),
            "{page}"
        );
    }

    #[test]
    fn the_largest_league_stays_small_enough_to_be_mailed() {
        let report = sample::large(99);
        let page = html(&report);
        assert_eq!(report.view.matches, 4851);
        // Leaves room for longer names and reasons.
        assert!(page.len() < 4_200_000, "{} bytes", page.len());
        is_well_formed(&page).unwrap();
    }
}
