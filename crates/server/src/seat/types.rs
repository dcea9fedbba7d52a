//! The replies of a seat's tools.

use super::one_seat::{OpenMatch, PlayerState};
use matchday_core::game::observation::{GameReport, ObservationForm};
use matchday_core::protocol::messages::{Record, Role, StandingRow};
use matchday_core::protocol::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use serde::Serialize;
use serde_json::{Map, Value};
use smol_str::SmolStr;

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
    /// How turns are shown to you.
    pub(super) observation: ObservationForm,
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
    pub(super) results: Vec<GameReport>,
    /// What an earlier reply has told: repeated until your next move shows that you have read it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier_results: Vec<GameReport>,
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
    /// Only where they have not been told before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rules: Option<&'static str>,
    /// What is to be seen of the turn, in the form of the settings.
    #[serde(flatten)]
    pub(super) observation: Map<String, Value>,
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
    pub(super) games: Vec<GameReport>,
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
