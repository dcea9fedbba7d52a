//! Every message of league.v2, one type each. They are decoded in `decode`.

pub mod assignment;
pub mod blame;
#[cfg(feature = "schema")]
mod conditions;
mod error;
pub mod game;
pub mod launch;
pub mod moves;
pub mod parity;
pub mod query;
pub mod query_data;
mod record;
pub mod registration;
pub mod result;
pub mod round;
pub mod shared;
pub mod timeouts;

pub use super::by_player::ByPlayer;
pub use super::methods::{Query, QueryParams};
pub use super::token::MatchTokens;
pub use assignment::{
    AssignmentName, MatchAssignment, PLAYER_A_ENDPOINT, PLAYER_A_ID, PLAYER_B_ENDPOINT, PLAYER_B_ID,
};
pub use blame::{Blame, Cause, Culprit};
pub use error::{GameError, LeagueError, RetryInfo, Seconds};
pub use game::{GameDetails, GameInvitation, GameJoinAck, GameOver, GameResult, GameStatus, Role};
pub(crate) use launch::is_zero;
pub use launch::{
    AgentRole, LeagueOrder, LeagueStatus, Order, Phase, PlaceState, RosterPlace, StartLeague,
};
pub use moves::{GameMoveCall, GameMoveResponse, MoveData, MoveRequest};
pub use parity::{ChoiceContext, ChooseParityCall, ChooseParityResponse, Parity, ParityDetails};
pub use query::{LeagueQuery, LeagueQueryResponse, Lifecycle, QueryError};
pub use registration::{
    BRIEFING, DRAW_2, LeagueRegisterRequest, LeagueRegisterResponse, MATCH_TOKENS, PING,
    PlayerMeta, RefereeMeta, RefereeRegisterRequest, RefereeRegisterResponse, RegisterAnswer,
    RegisterStatus, TURNS_TOLD_MAX,
};
pub use result::{
    AckStatus, LeagueStandingsUpdate, MatchResult, MatchResultAck, MatchResultReport, Record,
    ResultDetails, StandingRow,
};
pub use round::{
    AnnouncedMatch, Briefing, Champion, FinalStanding, LeagueCompleted, RoundAnnouncement,
    RoundCompleted, RoundSummary,
};
pub use shared::Shared;
pub use timeouts::Timeouts;
