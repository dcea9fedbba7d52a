//! The live view of a league, of `run` and of `watch`: redrawn in place on a terminal, plain lines otherwise.

use super::progress::{LeagueStatus, Progress, scheduled_result};
use super::rank_changes::RankChanges;
use super::schedule_table::schedule_table;
use super::screen::{Screen, Size, width};
use super::standings_table::standings_table;
use super::wrap::wrapped;
use super::{Colour, Paint, flush, show};
use matchday_audit::league_view::Standing;
use matchday_audit::plural::count_of;
use matchday_core::game::Seat;
use matchday_core::game::analysis::Outlook;
use matchday_core::game::view::View as Position;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::messages::query_data::{ScheduledMatch, ScheduledRound};
use matchday_core::protocol::untrusted::escape_line;
use matchday_core::protocol::{MatchId, PlayerId};
use serde::Serialize;
use std::time::{Duration, Instant};

/// What the live view shows, as a manager tells it.
#[derive(Debug, Clone, Serialize)]
pub struct LiveLeague {
    pub status: LeagueStatus,
    /// Of all rounds.
    pub matches: usize,
    pub standings: Vec<Standing>,
    /// The current one.
    pub round: Option<ScheduledRound>,
    /// The matches that were decided last, the newest last, also of rounds before.
    #[serde(skip)]
    pub recent: Vec<ScheduledMatch>,
    pub board: Option<Board>,
}

/// The position of a match.
#[derive(Debug, Clone, Serialize)]
pub struct Board {
    pub match_id: MatchId,
    pub players: [PlayerId; 2],
    pub position: Position,
    /// Who would win from there, if the manager says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outlook: Option<Outlook>,
}

#[derive(Debug)]
pub enum View {
    Live(Box<Live>),
    Lines,
    Silent,
}

impl View {
    pub fn new(silent: bool) -> Self {
        if silent {
            Self::Silent
        } else if Size::of_terminal().is_some() {
            Self::Live(Box::default())
        } else {
            Self::Lines
        }
    }

    pub fn say(&mut self, line: &str) {
        match self {
            Self::Live(live) => {
                live.clear();
                let columns = Size::of_terminal().map_or(usize::MAX, |size| size.columns);
                let text = wrapped(line, columns);
                live.said += text.lines().count();
                show(format!("{text}\n"));
            }
            Self::Lines => show(format!("{line}\n")),
            Self::Silent => {}
        }
    }

    /// Clears the view.
    pub fn finish(&mut self) {
        if let Self::Live(live) = self {
            live.clear();
        }
    }
}

#[derive(Debug, Default)]
pub struct Live {
    screen: Screen,
    /// When the view began, and how many matches were decided then.
    began: Option<(Instant, u32)>,
    changes: RankChanges,
    last: Option<LiveLeague>,
    /// Why the league could not be asked.
    error: Option<String>,
    /// How many rows stand above the view and are to stay there.
    said: usize,
}

impl Live {
    pub fn draw(&mut self, mut seen: LiveLeague) {
        self.changes
            .mark(seen.status.current_round, &mut seen.standings);
        self.began
            .get_or_insert((Instant::now(), seen.status.matches_completed));
        (self.last, self.error) = (Some(seen), None);
        self.redraw();
    }

    /// Says what keeps the next frame from coming, below the last one.
    pub fn draw_error(&mut self, why: String) {
        self.error = Some(why);
        self.redraw();
    }

    /// Leaves the last frame, without what the terminal has written for Ctrl-C.
    pub fn leave(self) {
        show("\r\x1b[K".to_owned());
        flush();
    }

    fn redraw(&mut self) {
        let Some(mut size) = Size::of_terminal() else {
            return;
        };
        size.rows = size
            .rows
            .saturating_sub(self.said)
            .max(ROWS_MIN.min(size.rows));
        let mut lines = match (&self.last, self.began) {
            (Some(seen), Some((began, decided))) => {
                frame(seen, (began.elapsed(), decided), size, Paint::of_stdout())
            }
            _ => Vec::new(),
        };
        if let Some(why) = &self.error {
            let why = wrapped(&format!("{why} - trying again every second"), size.columns);
            let why: Vec<String> = why.lines().map(str::to_owned).collect();
            lines.truncate(size.rows.saturating_sub(why.len() + 2));
            lines.extend(why);
        }
        show(self.screen.draw(&lines, size));
    }

    fn clear(&mut self) {
        if let Some(size) = Size::of_terminal() {
            show(self.screen.clear(size));
        }
    }
}

/// The view has so many rows, whatever was said above it.
const ROWS_MIN: usize = 16;
const RESULTS_MAX: usize = 4;
/// The columns before a result.
const LABEL: usize = 6;
const BAR_MAX: usize = 40;
const BAR_MIN: usize = 8;
/// From so many columns on, the matches and the board stand beside the standings.
const TWO_PANES_COLUMNS: usize = 120;
/// How many places of the standings are worth more than a board below them.
const PLACES_MIN: usize = 4;

/// All lines of the view: progress, the standings as far as they fit, results, a board.
fn frame(seen: &LiveLeague, pace: (Duration, u32), size: Size, paint: Paint) -> Vec<String> {
    let mut lines = heading(seen, pace, size.columns, paint);
    if seen.standings.is_empty() {
        return lines;
    }
    lines.push(String::new());
    // One row for the cursor.
    let room = size.rows.saturating_sub(lines.len() + 1);
    if size.columns >= TWO_PANES_COLUMNS {
        let columns = size.columns / 2 - 1;
        lines.extend(beside(
            &standings(seen, room, columns, paint),
            &matches(seen, room, columns, paint),
            columns,
        ));
    } else {
        lines.extend(below_each_other(seen, room, size.columns, paint));
    }
    lines.truncate(size.rows.saturating_sub(1));
    lines
}

fn heading(seen: &LiveLeague, pace: (Duration, u32), columns: usize, paint: Paint) -> Vec<String> {
    let status = &seen.status;
    let name = paint.bold(&status.league_id);
    if status.status == Phase::Registration {
        let registered = count_of(seen.standings.len(), "player has", "players have");
        return vec![format!(
            "{name}  {registered} registered: `matchday start` begins it"
        )];
    }
    let progress = Progress::of(status, seen.matches);
    vec![
        name,
        headline(
            &progress,
            status.round_title.as_deref(),
            Some(pace),
            Some(columns),
        ),
    ]
}

/// The standings, the latest results, and the board of a match, as far as there is room.
fn below_each_other(seen: &LiveLeague, room: usize, columns: usize, paint: Paint) -> Vec<String> {
    let mut results = latest_results(seen, (room / 4).min(RESULTS_MAX), columns, paint);
    if !results.is_empty() {
        results.insert(0, String::new());
    }
    let mut board = seen
        .board
        .as_ref()
        .map_or_else(Vec::new, |board| board_lines(seen, board, paint));
    board.insert(0, String::new());
    let left = room.saturating_sub(results.len());
    if board.len() < 2 || left < board.len() + PLACES_MIN.min(seen.standings.len()) + 1 {
        board.clear();
    }
    let mut lines = standings(seen, left.saturating_sub(board.len()), columns, paint);
    lines.extend(results.into_iter().chain(board));
    lines
}

/// Two blocks of lines beside each other.
fn beside(left: &[String], right: &[String], columns: usize) -> Vec<String> {
    let line = |place: usize| {
        let text = |lines: &[String]| lines.get(place).cloned().unwrap_or_default();
        let left = text(left);
        let right = text(right);
        let gap = " ".repeat((columns + 2).saturating_sub(width(&left)));
        format!("{left}{gap}{right}").trim_end().to_owned()
    };
    (0..left.len().max(right.len())).map(line).collect()
}

/// The standings, with as many columns and rows as fit.
fn standings(seen: &LiveLeague, room: usize, columns: usize, paint: Paint) -> Vec<String> {
    let places = room.saturating_sub(1);
    let players = seen.standings.len();
    if places == 0 {
        return Vec::new();
    }
    let shown = if players > places {
        places.saturating_sub(1)
    } else {
        players
    };
    let mut lines = standings_table(&seen.standings, shown)
        .fitted(columns)
        .lines(paint);
    if shown < players {
        lines.push(format!("... and {} more", players - shown));
    }
    lines
}

/// The matches of the round, and below them the board of one.
fn matches(seen: &LiveLeague, room: usize, columns: usize, paint: Paint) -> Vec<String> {
    let Some(round) = &seen.round else {
        return Vec::new();
    };
    let names = seen
        .standings
        .iter()
        .map(|row| (PlayerId::new(&row.who.id), row.who.name.clone()))
        .collect();
    let mut lines = schedule_table(std::slice::from_ref(round), &names)
        .fitted(columns)
        .lines(paint);
    let board = seen
        .board
        .as_ref()
        .map_or_else(Vec::new, |board| board_lines(seen, board, paint));
    let for_board = if board.is_empty() { 0 } else { board.len() + 1 };
    let left = room.saturating_sub(for_board).max(room / 3);
    if lines.len() > left {
        let more = lines.len() - left + 1;
        lines.truncate(left.saturating_sub(1));
        lines.push(format!("... and {more} more"));
    }
    if for_board > 0 && lines.len() + for_board <= room {
        lines.push(String::new());
        lines.extend(board);
    }
    lines
}

/// With what decided them, where there is room for it.
fn latest_results(seen: &LiveLeague, most: usize, columns: usize, paint: Paint) -> Vec<String> {
    let name = |id: &PlayerId| name_of(seen, id);
    let results = seen.recent.iter().rev().filter_map(|game| {
        let result = scheduled_result(game, name, paint)?;
        let why = game.result.as_ref()?.reason.escaped().to_string();
        let why = [&game.player_a_id, &game.player_b_id]
            .iter()
            .fold(why, |why, id| why.replace(id.as_str(), &name(id)));
        let told = format!("{result}: {}", paint.colour(Colour::Grey, &why));
        let is_whole = LABEL + width(&told) <= columns;
        Some(if is_whole { told } else { result })
    });
    let results = results.take(most);
    let label =
        |(number, result)| format!("{:LABEL$}{result}", if number == 0 { "last" } else { "" });
    results.enumerate().map(label).collect()
}

/// The match whose board is shown: the first that is being played, or else the last that is decided.
pub fn featured(round: &ScheduledRound) -> Option<&ScheduledMatch> {
    use matchday_core::protocol::messages::query_data::MatchProgress::{Decided, Playing};
    let playing = round.matches.iter().find(|game| game.state == Playing);
    playing.or_else(|| round.matches.iter().rfind(|game| game.state == Decided))
}

fn name_of(seen: &LiveLeague, id: &PlayerId) -> String {
    let known = seen.standings.iter().find(|row| row.who.id == id.as_str());
    known.map_or_else(|| id.to_string(), |row| row.who.name.clone())
}

fn board_lines(
    seen: &LiveLeague,
    Board {
        match_id,
        players: [a, b],
        position,
        outlook,
    }: &Board,
    paint: Paint,
) -> Vec<String> {
    let [red, green] =
        [Colour::Red, Colour::Green].map(|colour| move |text: &str| paint.colour(colour, text));
    // On the line that is there in any case: a screen of 24 rows has none for it.
    let outlook = match outlook {
        Some(Outlook::A) => format!(", {}", green("A can force a win")),
        Some(Outlook::B) => format!(", {}", red("B can force a win")),
        Some(Outlook::Level) => ", neither can force a win".to_owned(),
        Some(Outlook::Open) | None => String::new(),
    };
    let mut lines = vec![format!(
        "{match_id}: {} (A) against {} (B){outlook}",
        green(&name_of(seen, a)),
        red(&name_of(seen, b))
    )];
    match position {
        Position::Grid(grid) => lines.extend(grid.lines(|owner, mark| match owner {
            Some(Seat::A) => green(mark),
            Some(Seat::B) => red(mark),
            None => escape_line(mark).into_owned(),
        })),
        Position::Strip(_) => {
            lines.extend(
                position
                    .to_string()
                    .lines()
                    .map(|line| escape_line(line).into_owned()),
            );
        }
    }
    lines
}

/// `████████░░░░  4 of 6 matches, round 2 of 3, 0.4 s left`, shorter where it does not fit. The remaining time is shown if the
/// pace is known: how long it took from so many decided matches to now. Without a bar where there is no screen to fill.
pub fn headline(
    progress: &Progress,
    title: Option<&str>,
    pace: Option<(Duration, u32)>,
    columns: Option<usize>,
) -> String {
    let Progress {
        decided,
        matches,
        round,
        rounds,
        phase,
    } = progress;
    let rest = match phase {
        Phase::Paused => ", paused".to_owned(),
        Phase::Completed => ", over".to_owned(),
        Phase::Registration | Phase::Running => {
            let left = pace.and_then(|pace| time_left(progress, pace));
            left.map_or_else(String::new, |left| format!(", {} left", seconds(left)))
        }
    };
    // Of a ladder only what is behind it can be counted, and its rounds have no names but their numbers.
    let (done, round) = match rounds {
        Some(rounds) => (
            format!("{decided} of {matches}"),
            format!("round {round} of {rounds}"),
        ),
        None => (decided.to_string(), format!("round {round}")),
    };
    let title = title
        .filter(|_| rounds.is_some())
        .map_or_else(String::new, |title| format!(" ({title})"));
    let wordings = [
        format!("{done} matches, {round}{title}{rest}"),
        format!("{done} matches, {round}{rest}"),
        format!("{done}, {round}{rest}"),
        format!("{done}{rest}"),
    ];
    let [longest, .., shortest] = &wordings;
    let Some(columns) = columns else {
        return longest.clone();
    };
    let words = wordings
        .iter()
        .find(|words| width(words) <= columns)
        .unwrap_or(shortest);
    let bar = columns.saturating_sub(width(words) + 2).min(BAR_MAX);
    if bar < BAR_MIN || rounds.is_none() {
        words.clone()
    } else {
        format!("{}  {words}", drawn_bar(progress, bar))
    }
}

fn drawn_bar(progress: &Progress, columns: usize) -> String {
    let decided = usize::try_from(progress.decided).unwrap_or(usize::MAX);
    let full = decided
        .saturating_mul(columns)
        .checked_div(progress.matches)
        .unwrap_or(0)
        .min(columns);
    "█".repeat(full) + &"░".repeat(columns - full)
}

/// Extrapolated from the pace so far.
fn time_left(progress: &Progress, (elapsed, decided): (Duration, u32)) -> Option<Duration> {
    progress.rounds?;
    let matches = u32::try_from(progress.matches).ok()?;
    let each = elapsed.checked_div(progress.decided.saturating_sub(decided))?;
    each.checked_mul(matches.saturating_sub(progress.decided))
}

/// `0.4 s`, `2 min 10 s`.
pub fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        whole => format!("{} min {} s", whole / 60, whole % 60),
    }
}

#[cfg(test)]
mod tests;
