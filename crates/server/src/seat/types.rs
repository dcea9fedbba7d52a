//! The replies of a seat's tools.

use super::one_seat::{OpenMatch, PlayerState};
use super::open_turns::OpenTurn;
use matchday_core::game::past::{GameSummary, Outcome, PastGame};
use matchday_core::protocol::messages::{Parity, Record, Role, StandingRow};
use matchday_core::protocol::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use serde::Serialize;
use serde_json::{Map, Value};
use smol_str::SmolStr;
use tokio::time::Instant;

/// How many of the games with an opponent are shown with a turn.
const GAMES_SHOWN_MAX: usize = 10;

/// A seat, and who sits in it.
#[derive(Debug, Serialize)]
pub(super) struct JoinReply {
    /// The key of your seat. Pass it as `seat` with every other call, and show it to nobody. It is told once only:
    /// absent if you showed it yourself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seat: Option<String>,
    /// Your id in the league; absent while the manager has not answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) player_id: Option<PlayerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) league_id: Option<LeagueId>,
    pub(super) display_name: SmolStr,
    /// What this league plays.
    pub(super) games: Vec<GameRules>,
    /// What happens when you do not choose in time.
    pub(super) if_you_do_not_move: String,
    /// What to do next.
    pub(super) next: String,
}

/// A game of the league.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct GameRules {
    pub(super) game_type: GameType,
    pub(super) about: String,
    pub(super) rules: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Happened {
    /// Choose now: see `turn`.
    YourTurn,
    /// A match of yours has begun and was accepted for you: see `invitation`. The turn comes next.
    Invitation,
    /// One or more matches of yours are decided: see `results`.
    Result,
    /// Nothing, in the time that you waited.
    NothingYet,
    /// The manager of the league has not answered yet.
    WaitingForManager,
    /// There is nothing more to play: see `final_table`.
    LeagueOver,
}

/// What there is to know, and to do.
#[derive(Debug, Serialize)]
pub(super) struct WaitReply {
    pub(super) happened: Happened,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn: Option<Turn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) invitation: Option<Invitation>,
    /// Matches of yours that were decided and that no reply has told before, oldest first.
    pub(super) results: Vec<Game>,
    /// What an earlier reply has told: repeated until your next move shows that you have read it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier_results: Vec<Game>,
    /// The table at the end of the league, first place first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) final_table: Option<Vec<StandingRow>>,
    /// Your id in the league.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) player_id: Option<PlayerId>,
    /// What to do next.
    pub(super) next: String,
}

/// A choice to make.
#[derive(Debug, Serialize)]
pub(super) struct Turn {
    /// The name of this choice, for make_move.
    pub(super) turn: SmolStr,
    pub(super) match_id: MatchId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) round_id: Option<RoundId>,
    pub(super) game_type: GameType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rules: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) opponent_id: Option<PlayerId>,
    /// Every choice that the rules allow. Pass one of them to make_move as `choice`.
    pub(super) options: Vec<Value>,
    /// What the referee shows of the game.
    pub(super) context: Map<String, Value>,
    /// Until when you must have chosen, in UTC.
    pub(super) deadline: String,
    /// How many seconds are left until then.
    pub(super) seconds_left: f64,
    /// Your record so far.
    pub(super) record: Record,
    /// Your last games with this opponent, oldest first.
    pub(super) games_with_opponent: Vec<Game>,
}

/// A match that was accepted for you.
#[derive(Debug, Serialize)]
pub(super) struct Invitation {
    pub(super) match_id: MatchId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) round_id: Option<RoundId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) game_type: Option<GameType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) opponent_id: Option<PlayerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<Role>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MatchResult {
    Win,
    Draw,
    Loss,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Score {
    pub(super) you: u32,
    pub(super) opponent: u32,
}

/// A match of yours that is decided.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Game {
    pub(super) match_id: MatchId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) round_id: Option<RoundId>,
    pub(super) game_type: GameType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) opponent_id: Option<PlayerId>,
    /// How it ended for you.
    pub(super) outcome: MatchResult,
    /// The points that the match gave, where the log has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score: Option<Score>,
    /// Why it ended so, in the referee's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// The moves and the final position.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) details: Map<String, Value>,
    /// True if someone forfeited: this match was not played out.
    pub(super) forfeited: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) your_choice: Option<Parity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) opponent_choice: Option<Parity>,
    /// What was drawn, in a game of even or odd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) drawn_parity: Option<Parity>,
    /// If you did not choose (all of) your moves yourself: that the fallback chose, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chosen_for_you: Option<String>,
}

/// A move is made.
#[derive(Debug, Serialize)]
pub(super) struct MoveReply {
    pub(super) turn: SmolStr,
    /// The option that was taken.
    pub(super) choice: Value,
    /// True if this very move had been made before: it counts once.
    pub(super) already_made: bool,
    /// What to do next.
    pub(super) next: String,
}

/// The table.
#[derive(Debug, Serialize)]
pub(super) struct StandingsReply {
    /// Which row is yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) player_id: Option<PlayerId>,
    /// All players, first place first.
    pub(super) standings: Vec<StandingRow>,
}

/// Your games.
#[derive(Debug, Serialize)]
pub(super) struct HistoryReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) player_id: Option<PlayerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) league_id: Option<LeagueId>,
    /// How many games there were. Only the last 100 are told one by one.
    pub(super) played: u32,
    pub(super) record: Record,
    /// How many moves the fallback made for you because you did not make them in time.
    pub(super) moves_made_for_you: u32,
    /// Oldest first.
    pub(super) games: Vec<Game>,
}

impl Game {
    pub(super) fn of(game: &PastGame, fallback: Option<&String>) -> Self {
        let summary = game.summary.as_deref();
        Self {
            score: summary.map(
                |GameSummary {
                     score: [you, opponent],
                     ..
                 }| Score {
                    you: *you,
                    opponent: *opponent,
                },
            ),
            reason: summary.and_then(|summary| summary.reason.clone()),
            details: summary
                .map(|summary| summary.details.clone())
                .unwrap_or_default(),
            match_id: game.match_id.clone(),
            round_id: game.round_id,
            game_type: game.game_type.clone(),
            opponent_id: game.opponent_id.clone(),
            outcome: match game.outcome {
                Outcome::Win => MatchResult::Win,
                Outcome::Draw => MatchResult::Draw,
                Outcome::Loss => MatchResult::Loss,
            },
            forfeited: game.technical,
            your_choice: game.own_choice,
            opponent_choice: game.opponent_choice,
            drawn_parity: game.drawn_parity,
            chosen_for_you: fallback.map(|why| format!("the fallback chose for you: {why}")),
        }
    }
}

impl Turn {
    pub(super) fn of(OpenTurn { id, sheet, until }: OpenTurn) -> Self {
        let left = until
            .saturating_duration_since(Instant::now())
            .as_secs_f64();
        let known = sheet.history.len().saturating_sub(GAMES_SHOWN_MAX);
        Self {
            turn: id,
            match_id: sheet.match_id,
            round_id: sheet.round_id,
            game_type: sheet.game_type,
            rules: sheet.rules,
            opponent_id: sheet.opponent_id,
            options: sheet.options,
            context: sheet.context,
            deadline: sheet.deadline.to_string(),
            seconds_left: (left * 10.0).round() / 10.0,
            record: sheet.record,
            games_with_opponent: sheet
                .history
                .iter()
                .skip(known)
                .map(|game| Game::of(game, None))
                .collect(),
        }
    }
}

impl From<OpenMatch> for Invitation {
    fn from(invited: OpenMatch) -> Self {
        let OpenMatch {
            match_id,
            round_id,
            game_type,
            opponent_id,
            role,
        } = invited;
        Self {
            match_id,
            round_id,
            game_type,
            opponent_id,
            role,
        }
    }
}

impl From<PlayerState> for HistoryReply {
    fn from(state: PlayerState) -> Self {
        let identity = state.identity;
        Self {
            league_id: identity
                .as_ref()
                .and_then(|identity| identity.league_id.clone()),
            player_id: identity.map(|identity| identity.id),
            played: state.played,
            record: state.record,
            moves_made_for_you: state.fallbacks,
            games: state.games,
        }
    }
}
