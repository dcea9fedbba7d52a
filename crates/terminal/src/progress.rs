//! Results and progress of a league as text. Pure.

use super::{Colour, Paint};
use matchday_audit::plural::count_of;
use matchday_core::league::League;
use matchday_core::league::fixture::{Match, Round};
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::messages::query_data::ScheduledMatch;
use matchday_core::protocol::messages::{GameStatus, Phase};
use matchday_core::protocol::{MatchId, PlayerId, RoundId};
use serde::{Deserialize, Serialize};

/// Rounds with more matches are summarised.
const LISTED_RESULTS_MAX: usize = 4;

/// The fields of LEAGUE_STATUS that are shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeagueStatus {
    pub league_id: String,
    pub status: Phase,
    /// 0 before the first round is announced.
    pub current_round: u32,
    pub total_rounds: u32,
    /// Of a ladder no round is the last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ladder: bool,
    /// The name of the round, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_title: Option<String>,
    pub matches_completed: u32,
}

/// How far a league has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub round: u32,
    /// How many there will be; a ladder has no last one.
    pub rounds: Option<u32>,
    pub decided: u32,
    pub matches: usize,
    pub phase: Phase,
}

impl Progress {
    /// `matches` are those of all rounds.
    pub fn of(status: &LeagueStatus, matches: usize) -> Self {
        Self {
            round: status.current_round,
            rounds: (!status.ladder).then_some(status.total_rounds),
            decided: status.matches_completed,
            matches,
            phase: status.status,
        }
    }
}

/// A title that only repeats the number is left out.
fn title(league: &League, round_id: RoundId) -> Option<&str> {
    league
        .title(round_id)
        .filter(|title| *title != format!("Round {round_id}"))
}

pub fn round_line(league: &League, round: &Round) -> String {
    let games: Vec<(&MatchId, &Match)> = league.matches_of(round).collect();
    let title =
        title(league, round.round_id).map_or_else(String::new, |title| format!(" ({title})"));
    let all = match league.is_ladder() {
        true => String::new(),
        false => format!(" of {}", league.rounds_in_all()),
    };
    let head = format!("round {}{all}{title}", round.round_id);
    if games.len() <= LISTED_RESULTS_MAX {
        let result = |(id, game): &(&MatchId, &Match)| {
            let decision = game.decision.as_ref()?;
            let verdict = decision.verdict(game);
            Some(result(
                id,
                [&game.a, &game.b].map(ToString::to_string),
                verdict,
                decision.status,
                Paint::Plain,
            ))
        };
        let results: Vec<String> = games.iter().filter_map(result).collect();
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
        count_of(
            status(GameStatus::TechnicalLoss),
            "technical loss",
            "technical losses"
        )
    )
}

/// How a match in the schedule ended.
pub fn scheduled_result(
    game: &ScheduledMatch,
    name: impl Fn(&PlayerId) -> String,
    paint: Paint,
) -> Option<String> {
    let found = game.result.as_ref()?;
    let verdict = match &found.winner {
        Some(winner) if *winner == game.player_a_id => Verdict::WonByA,
        Some(_) => Verdict::WonByB,
        None if found.status == GameStatus::TechnicalLoss => Verdict::LostByBoth,
        None => Verdict::Drawn,
    };
    Some(result(
        &game.match_id,
        [&game.player_a_id, &game.player_b_id].map(name),
        verdict,
        found.status,
        paint,
    ))
}

/// `R1M1 P01 beat P04`
fn result(
    id: &MatchId,
    [a, b]: [String; 2],
    verdict: Verdict,
    status: GameStatus,
    paint: Paint,
) -> String {
    let is_technical = status == GameStatus::TechnicalLoss;
    let lost = if is_technical {
        Colour::Magenta
    } else {
        Colour::Red
    };
    let [won, lost, drawn] = [Colour::Green, lost, Colour::Yellow]
        .map(|colour| move |player: &str| paint.colour(colour, player));
    let technical = if is_technical {
        " (technical loss)"
    } else {
        ""
    };
    let text = match verdict {
        Verdict::WonByA => format!("{} beat {}", won(&a), lost(&b)),
        Verdict::WonByB => format!("{} beat {}", won(&b), lost(&a)),
        Verdict::Drawn => format!("{} drew with {}", drawn(&a), drawn(&b)),
        Verdict::LostByBoth => format!("{} and {} both lost", lost(&a), lost(&b)),
    };
    format!("{id} {text}{technical}")
}
