//! How a league is set going, and how far it has come.

use crate::protocol::ids::{LeagueId, MatchId, PlayerId};
use crate::protocol::schema::{Word, conditions};
use crate::protocol::text::DisplayName;
use crate::protocol::untrusted::UntrustedText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// START_LEAGUE: the launcher closes registration and begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StartLeague {
    pub league_id: LeagueId,
}

/// LEAGUE_ORDER: the operator steps in. A message of our own: the sources end where a league needs help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = conditions::order_has_its_object)]
pub struct LeagueOrder {
    pub league_id: LeagueId,
    pub order: Order,
    /// Whom to withdraw; required for WITHDRAW.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// Which result to strike; required for VOID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_id: Option<MatchId>,
    /// Whose token; required for ROTATE and REVOKE: a player, a referee, or `operator`. For INVITE and ROTATE_CODE a name
    /// on the roster, with `player:` or `referee:` before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Word>")]
    pub agent_id: Option<SmolStr>,
}

/// What the operator wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Order {
    /// Begin no more matches; those being played are played out.
    Pause,
    /// Go on.
    Resume,
    /// Take a player out: it forfeits every match that it has not finished.
    Withdraw,
    /// Strike a result, and have the match played again.
    Void,
    /// Finish now, with the table as it stands.
    End,
    /// Make an agent, or the operator, a new token. The answer shows it in `auth_token`, this once.
    Rotate,
    /// Take an agent's token away: it is out until it is given another.
    Revoke,
    /// Tell who is on the roster, and who of them has registered.
    Roster,
    /// Put a name on the roster. The answer shows its join code in `auth_token`, this once.
    Invite,
    /// Make a new join code for a name on the roster, or for `referees`, the code that they share. The answer shows it in
    /// `auth_token`, this once; with it another agent can take over the place.
    RotateCode,
}

/// What an agent is in a league.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentRole {
    Player,
    Referee,
}

impl AgentRole {
    pub const ALL: [Self; 2] = [Self::Player, Self::Referee];

    pub fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Referee => "referee",
        }
    }
}

/// A place on the roster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RosterPlace {
    pub role: AgentRole,
    /// Null for the code that referees share.
    pub display_name: Option<DisplayName>,
    pub state: PlaceState,
    /// Who has registered for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Word>")]
    pub agent_id: Option<SmolStr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlaceState {
    /// Nobody has registered for it.
    Open,
    Registered,
    Withdrawn,
    /// Any number of agents may register with its code.
    Shared,
}

/// LEAGUE_STATUS: how far the league has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeagueStatus {
    pub league_id: LeagueId,
    pub status: Phase,
    /// 0 before the league starts.
    pub current_round: u32,
    /// Where rounds follow from results: as many as there will be at least.
    pub total_rounds: u32,
    /// What people call the current round, where it has a name of its own: `Semifinals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Word>")]
    pub round_title: Option<UntrustedText>,
    /// In the whole league.
    pub matches_completed: u32,
    /// The answer to ROSTER.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<Vec<RosterPlace>>,
}

/// How far a league has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Registration,
    Running,
    Paused,
    Completed,
}
