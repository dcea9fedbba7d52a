//! Progress of a league as numbers and text. Pure.

use super::{Colour, Paint};
use matchday_audit::plural::count_of;
use matchday_core::league::League;
use matchday_core::league::fixture::{Match, Round};
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::messages::{GameStatus, Phase, StandingRow};
use matchday_core::protocol::{MatchId, PlayerId, RoundId, Timestamp};

/// Rounds with more matches are summarised.
const LISTED_RESULTS_MAX: usize = 4;

/// Counts that are cheap to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub round: u32,
    pub rounds: usize,
    pub rounds_completed: usize,
    pub decided: u32,
    pub matches: usize,
    pub paused: bool,
    pub completed: bool,
}

impl Progress {
    pub fn of(league: &League) -> Self {
        Self {
            round: league.current_round,
            rounds: usize::try_from(league.rounds_in_all()).unwrap_or(usize::MAX),
            rounds_completed: league.rounds.iter().filter(|round| round.completed).count(),
            decided: league.matches_decided,
            matches: league.matches.len(),
            paused: league.phase == Phase::Paused,
            completed: league.phase == Phase::Completed,
        }
    }
}

/// What the live view shows besides the counts.
#[derive(Debug, Clone)]
pub struct LiveState {
    pub top: Vec<StandingRow>,
    /// The total number of players.
    pub players: usize,
    /// The latest results, newest first.
    pub latest: Vec<String>,
    /// The name of the round, if it has one.
    pub title: Option<String>,
}

impl LiveState {
    pub fn of(league: &League, places: usize, results: usize, paint: Paint) -> Self {
        let rows = league.rows();
        let top = rows.iter().take(places).cloned().collect();
        let recent = usize::try_from(league.current_round).unwrap_or(0);
        let rounds = league.rounds.iter().take(recent).rev().take(2);
        let mut decided: Vec<(Timestamp, String)> = rounds
            .flat_map(|round| league.matches_of(round))
            .filter_map(|(id, game)| Some((game.decision.as_ref()?.at, result(id, game, paint)?)))
            .collect();
        decided.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let latest = decided.into_iter().map(|(_, text)| text).take(results).collect();
        let title = title(league, RoundId(league.current_round)).map(str::to_owned);
        Self { top, players: rows.len(), latest, title }
    }
}

/// A title that only repeats the number is left out.
fn title(league: &League, round_id: RoundId) -> Option<&str> {
    league.title(round_id).filter(|title| *title != format!("Round {round_id}"))
}

pub fn round_line(league: &League, round: &Round) -> String {
    let games: Vec<(&MatchId, &Match)> = league.matches_of(round).collect();
    let title = title(league, round.round_id).map_or_else(String::new, |title| format!(" ({title})"));
    let head = format!("round {} of {}{title}", round.round_id, league.rounds_in_all());
    if games.len() <= LISTED_RESULTS_MAX {
        let results: Vec<String> =
            games.iter().filter_map(|(id, game)| result(id, game, Paint::Plain)).collect();
        return format!("{head}: {}", results.join("; "));
    }
    let status = |wanted| {
        let decided = games.iter().filter_map(|(_, game)| game.decision.as_ref());
        decided.filter(|decision| decision.status == wanted).count()
    };
    format!(
        "{head}: {} matches, {} drawn, {}",
        games.len(),
        status(GameStatus::Draw),
        count_of(status(GameStatus::TechnicalLoss), "technical loss", "technical losses")
    )
}

/// `R1M1 P01 beat P04`
fn result(id: &MatchId, game: &Match, paint: Paint) -> Option<String> {
    let decision = game.decision.as_ref()?;
    let is_technical = decision.status == GameStatus::TechnicalLoss;
    let lost = if is_technical { Colour::Magenta } else { Colour::Red };
    let [won, lost, drawn] = [Colour::Green, lost, Colour::Yellow]
        .map(|colour| move |player: &PlayerId| paint.colour(colour, player.as_str()));
    let (a, b) = (&game.a, &game.b);
    let technical = if is_technical { " (technical loss)" } else { "" };
    let text = match decision.verdict(game) {
        Verdict::WonByA => format!("{} beat {}", won(a), lost(b)),
        Verdict::WonByB => format!("{} beat {}", won(b), lost(a)),
        Verdict::Drawn => format!("{} drew with {}", drawn(a), drawn(b)),
        Verdict::LostByBoth => format!("{} and {} both lost", lost(a), lost(b)),
    };
    Some(format!("{id} {text}{technical}"))
}
