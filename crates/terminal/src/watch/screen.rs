//! Draws the state of the screen: headline, tabs, one pane, key help. Tables are laid out by the same code as those
//! of other commands.

use super::app::{App, Pane};
use super::exchanges::{ExchangeRow, HEADERS as MESSAGE_HEADERS};
use super::{Board, Messages, Update};
use crate::colours::{self, Part};
use crate::live::headline;
use crate::progress::Progress;
use crate::{Colour, schedule_table, standings_table, table_that_fits};
use matchday_audit::plural::count_of;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::untrusted::escape_line;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use std::collections::BTreeMap;

pub fn render(app: &mut App, frame: &mut Frame<'_>) {
    let error = app.error.as_deref().map(|why| error(why, app.update.is_some()));
    let lines = error.as_ref().map_or(0, |text| lines_of(text, frame.area().width));
    let parts = [
        Constraint::Length(2),
        Constraint::Length(2),
        Constraint::Min(1),
        Constraint::Length(lines),
        Constraint::Length(1),
    ];
    let [head, tabs, body, below, foot] = Layout::vertical(parts).areas(frame.area());
    frame.render_widget(Paragraph::new(heading(app, head.width)), head);
    frame.render_widget(Paragraph::new(titles(app, tabs.width)), tabs);
    let seen = if app.help {
        frame.render_widget(Paragraph::new(HELP.join("\n")).wrap(Wrap { trim: false }), body);
        String::new()
    } else if body.width >= TWO_PANES_COLUMNS {
        let halves = [Constraint::Percentage(50), Constraint::Length(2), Constraint::Min(1)];
        let [left, _, right] = Layout::horizontal(halves).areas(body);
        beside(app, frame, right);
        pane(app, frame, left)
    } else {
        pane(app, frame, body)
    };
    if let Some(text) = error {
        let red = Style::new().fg(Color::Red);
        frame.render_widget(Paragraph::new(Span::styled(text, red)).wrap(Wrap { trim: true }), below);
    }
    frame.render_widget(Paragraph::new(footer(&seen, foot.width)), foot);
}

fn error(why: &str, has_update: bool) -> String {
    let stale = if has_update { "this is how it was; " } else { "" };
    format!("{why} - {stale}trying again every second")
}

/// Lines needed with word wrap: one more than the text fills exactly, up to a maximum.
fn lines_of(text: &str, columns: u16) -> u16 {
    let filled = text.chars().count().div_ceil(usize::from(columns.max(1)));
    u16::try_from(filled + usize::from(filled > 1)).unwrap_or(ERROR_LINES_MAX).min(ERROR_LINES_MAX)
}

const ERROR_LINES_MAX: u16 = 5;

fn heading(app: &App, columns: u16) -> Vec<Line<'static>> {
    let Some(update) = &app.update else {
        return vec![Line::styled("asking the manager ...", Modifier::BOLD)];
    };
    let status = &update.status;
    let phase = match status.status {
        Phase::Registration => "registration: `matchday start` begins it",
        Phase::Running => "running",
        Phase::Paused => "paused by its operator",
        Phase::Completed => "completed",
    };
    let name = Line::from(vec![
        Span::styled(status.league_id.clone(), Modifier::BOLD),
        Span::raw(format!("  {phase}")),
    ]);
    if status.status == Phase::Registration {
        let registered = count_of(update.standings.len(), "player has", "players have");
        return vec![name, Line::raw(format!("{registered} registered"))];
    }
    let progress = Progress {
        round: status.current_round,
        rounds: status.total_rounds as usize,
        rounds_completed: 0,
        decided: status.matches_completed,
        matches: update.matches,
        paused: status.status == Phase::Paused,
        completed: status.status == Phase::Completed,
    };
    vec![name, Line::raw(headline(&progress, status.round_title.as_deref(), None, columns.into()))]
}

/// The tabs, and the selected round.
fn titles(app: &App, columns: u16) -> Vec<Line<'static>> {
    let shows_matches = app.pane == Pane::Matches || columns >= TWO_PANES_COLUMNS;
    let title = |(number, pane): (usize, Pane)| {
        let style = if pane == app.pane { Modifier::REVERSED | Modifier::BOLD } else { Modifier::empty() };
        [Span::styled(format!(" {number} {} ", pane.title()), style), Span::raw(" ")]
    };
    let round = match &app.update {
        Some(update) if shows_matches && !app.help && update.round.is_some() => {
            let now = if app.round.is_some() { "" } else { ", the current one" };
            let title = update.round.as_ref().and_then(|round| round.title.as_ref());
            let title = title.map_or_else(String::new, |title| format!(" ({})", title.escaped()));
            format!("round {} of {}{title}{now}", app.round_shown(), update.status.total_rounds)
        }
        _ => String::new(),
    };
    vec![Line::from((1..).zip(Pane::ALL).flat_map(title).collect::<Vec<_>>()), Line::raw(round)]
}

/// From so many columns on there are two panes.
const TWO_PANES_COLUMNS: u16 = 120;

/// What is shown beside a pane: the matches, or beside these the table; as far as there is room.
fn beside(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let other = if app.pane == Pane::Matches { Pane::Table } else { Pane::Matches };
    let area = if other == Pane::Matches { above_the_board(app, frame, area) } else { area };
    let text = text_of(app, other, area.width.into());
    frame.render_widget(Paragraph::new(coloured(&text)).wrap(Wrap { trim: false }), area);
}

fn text_of(app: &App, pane: Pane, columns: usize) -> String {
    match (&app.update, pane) {
        (None, _) => String::new(),
        (Some(update), Pane::Table) => table(app, update, columns),
        (Some(update), Pane::Matches) => matches(app, update, columns),
        (Some(update), Pane::Messages) => messages(&update.messages, columns),
    }
}

/// The lines of a table, its headers in bold and its results in colour. One line alone is a sentence.
fn coloured(text: &str) -> Vec<Line<'static>> {
    if text.lines().count() < 2 {
        return vec![Line::raw(text.to_owned())];
    }
    let line = |(number, (line, parts)): (usize, (&str, Vec<Part>))| {
        let mut spans = Vec::new();
        let mut rest = 0;
        let raw = |from: usize, to: usize| Span::raw(line.get(from..to).unwrap_or_default().to_owned());
        for (part, colour) in parts {
            spans.push(raw(rest, part.start));
            spans.push(raw(part.start, part.end).fg(terminal_colour(colour)));
            rest = part.end;
        }
        spans.push(raw(rest, line.len()));
        let line = Line::from(spans);
        if number == 0 { line.bold() } else { line }
    };
    text.lines().zip(colours::parts(text)).enumerate().map(line).collect()
}

fn terminal_colour(colour: Colour) -> Color {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match colour {
        _ if plain => Color::Reset,
        Colour::Red => Color::Red,
        Colour::Green => Color::Green,
        Colour::Yellow => Color::Yellow,
        Colour::Magenta => Color::Magenta,
        Colour::Grey => Color::DarkGray,
    }
}

/// Draws the board at the bottom of the area, if there is one and room for it. Returns what is left.
fn above_the_board(app: &App, frame: &mut Frame<'_>, area: Rect) -> Rect {
    let board = app.update.as_ref().and_then(|update| update.board.as_ref());
    let Some(Board { match_id, players: [a, b], position }) = board else { return area };
    let mut lines = vec![Line::from(format!("{match_id}: {a} (A) against {b} (B)")).bold()];
    lines.extend(position.to_string().lines().map(|line| Line::raw(escape_line(line).into_owned())));
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    if area.height < height.saturating_add(MATCHES_LEAST) {
        return area;
    }
    let parts = [Constraint::Min(1), Constraint::Length(1), Constraint::Length(height)];
    let [above, _, below] = Layout::vertical(parts).areas(area);
    frame.render_widget(Paragraph::new(lines), below);
    above
}

/// How many lines the list of matches needs beside a board.
const MATCHES_LEAST: u16 = 5;

/// Draws a pane. Returns which of its lines are visible.
fn pane(app: &mut App, frame: &mut Frame<'_>, area: Rect) -> String {
    let area = if app.pane == Pane::Matches { above_the_board(app, frame, area) } else { area };
    let text = text_of(app, app.pane, area.width.into());
    let mut rest = coloured(&text);
    if rest.len() < 2 {
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        return String::new();
    }
    let first = rest.remove(0);
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame.render_widget(Paragraph::new(first), head);
    let room = usize::from(body.height);
    let above = app.scrolled(rest.len(), room);
    let shown: Vec<Line<'_>> = rest.iter().skip(above).take(room).cloned().collect();
    let last = above + shown.len();
    frame.render_widget(Paragraph::new(shown), body);
    if rest.len() > room { format!("{}-{last} of {}", above + 1, rest.len()) } else { String::new() }
}

fn table(app: &App, update: &Update, columns: usize) -> String {
    if update.standings.is_empty() {
        return "No player has registered yet: `matchday player --manager URL` is one way to begin."
            .to_owned();
    }
    let rows = standings_table::rows(&update.standings, &app.changes, usize::MAX);
    table_that_fits(&standings_table::HEADERS, &rows, standings_table::COLUMN_SETS, columns)
}

fn matches(app: &App, update: &Update, columns: usize) -> String {
    let Some(round) = &update.round else {
        return "The rounds are drawn up when the league starts.".to_owned();
    };
    let shown = app.round_shown();
    if round.round_id.0 != shown {
        return format!("asking for round {shown} ...");
    }
    let names: BTreeMap<String, _> =
        update.standings.iter().map(|row| (row.player_id.to_string(), row.display_name.escaped())).collect();
    let with_name = |id: &String| match names.get(id) {
        Some(name) => format!("{id} {name}"),
        None => id.clone(),
    };
    let mut rows = schedule_table::rows(round);
    for row in &mut rows {
        let named: Vec<String> = row.iter().skip(1).take(2).map(with_name).collect();
        row.extend(named);
    }
    let [id, a, b, referee, result, why] = schedule_table::HEADERS;
    table_that_fits(&[id, a, b, referee, result, why, a, b], &rows, MATCH_COLUMN_SETS, columns)
}

/// Sets of columns, widest first: players by name, by id, or only the result.
const MATCH_COLUMN_SETS: &[&[usize]] =
    &[&[0, 6, 7, 3, 4, 5], &[0, 6, 7, 3, 4], &[0, 6, 7, 4], &[0, 1, 2, 3, 4], &[0, 1, 2, 4], &[0, 4]];

fn messages(messages: &Messages, columns: usize) -> String {
    match messages {
        Messages::NotAsked => "asking for messages ...".to_owned(),
        Messages::Withheld(why) => why.clone(),
        Messages::Listed(rows) if rows.is_empty() => "No message has been recorded yet.".to_owned(),
        Messages::Listed(rows) => {
            let rows: Vec<_> = rows.iter().map(ExchangeRow::cells).collect();
            table_that_fits(&MESSAGE_HEADERS, &rows, MESSAGE_COLUMN_SETS, columns)
        }
    }
}

/// Sets of columns, widest first.
const MESSAGE_COLUMN_SETS: &[&[usize]] =
    &[&[0, 1, 2, 3, 4, 5, 6], &[0, 1, 2, 3, 5, 6], &[0, 1, 2, 3, 5], &[2, 3, 6]];

const HELP: [&str; 13] = [
    "1 2 3        table, matches, messages",
    "Tab          the next of them",
    "up, down     a line (also k, j)",
    "PgUp, PgDn   a page (also space)",
    "Home, End    to an end (also g, G)",
    "left, right  another round (also h, l)",
    "c            the current round again",
    "b            the board of another match",
    "?            this help",
    "q, Ctrl-C    leave; the league goes on",
    "",
    "It is asked for every second.",
    "A manager that is away is waited for.",
];

fn footer(seen: &str, columns: u16) -> Line<'static> {
    let columns = usize::from(columns);
    let wordings = ["1 2 3 panes  up/down scroll  left/right round  ? help  q quit", "? help  q quit"];
    let room = columns.saturating_sub(seen.len() + 2);
    let text = wordings.iter().find(|text| text.len() <= room).copied().unwrap_or_default();
    let gap = columns.saturating_sub(text.len() + seen.len());
    Line::styled(format!("{text}{}{seen}", " ".repeat(gap)), Modifier::DIM)
}
