//! START_LEAGUE, the operator's orders, and LEAGUE_STATUS.

#[cfg(feature = "schema")]
use super::conditions;
use crate::protocol::ids::{LeagueId, MatchId, PlayerId};
#[cfg(feature = "schema")]
use crate::protocol::schema_words::Word;
use crate::protocol::text::DisplayName;
use crate::protocol::time::Timestamp;
use crate::protocol::token::Token;
use crate::protocol::untrusted::UntrustedText;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// START_LEAGUE: the launcher closes registration and begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartLeague {
    /// Must be the league of the manager, else E007.
    pub league_id: LeagueId,
}

/// LEAGUE_ORDER: the operator steps in. A message of our own: the sources end where a league needs help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::order_has_its_object))]
pub struct LeagueOrder {
    /// Must be the league of the manager, else E007.
    pub league_id: LeagueId,
    /// What to do; some orders need one of the fields that follow.
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
    #[cfg_attr(feature = "schema", schemars(with = "Option<Word>"))]
    pub agent_id: Option<SmolStr>,
    /// For INVITE and ROTATE_CODE: the code that was handed out already. Without it one is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_code: Option<Token>,
}

/// What the operator wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Order {
    /// Begin no more matches; running matches are finished.
    Pause,
    /// Go on.
    Resume,
    /// Withdraw a player: it forfeits every match that it has not finished.
    Withdraw,
    /// Void a result; the match is played again.
    Void,
    /// End the league now, with its current standings.
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
    /// Give every match to every referee from now on, also where a player has a key and the referee does not prove.
    AllowUnproven,
}

/// What an agent is in a league.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentRole {
    /// Plays matches.
    Player,
    /// Runs matches and reports their results.
    Referee,
}

impl AgentRole {
    /// Every role, to find one by its name.
    pub const ALL: [Self; 2] = [Self::Player, Self::Referee];

    /// As it is written on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Referee => "referee",
        }
    }
}

/// A place on the roster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RosterPlace {
    /// What the agent that takes the place will be.
    pub role: AgentRole,
    /// Null for the code that referees share.
    pub display_name: Option<DisplayName>,
    /// Whether the place is taken.
    pub state: PlaceState,
    /// Who has registered for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Word>"))]
    pub agent_id: Option<SmolStr>,
}

/// Whether a place on the roster is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PlaceState {
    /// Nobody has registered for it.
    Open,
    /// An agent has registered for it.
    Registered,
    /// Its player has been withdrawn from the league.
    Withdrawn,
    /// Any number of agents may register with its code.
    Shared,
}

/// LEAGUE_STATUS: how far the league has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeagueStatus {
    /// The league of the manager that answers.
    pub league_id: LeagueId,
    /// Whether the league takes registrations, plays, pauses or is over.
    pub status: Phase,
    /// 0 before the league starts.
    pub current_round: u32,
    /// Where rounds follow from results: as many as there will be at least.
    pub total_rounds: u32,
    /// Whether it is a ladder: `total_rounds` counts those until now then, and none of them is the last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<bool>"))]
    pub ladder: bool,
    /// What people call the current round, where it has a name of its own: `Semifinals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Word>"))]
    pub round_title: Option<UntrustedText>,
    /// When the first match of the current round may begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
    /// In the whole league.
    pub matches_completed: u32,
    /// Results that stand on a referee's word alone, although a player of the match had a key.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub results_unproven: u32,
    /// Matches that wait because no referee that proves is there. They wait until one is back, or for ALLOW_UNPROVEN.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    pub matches_awaiting_prover: u32,
    /// The answer to ROSTER.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<Vec<RosterPlace>>,
}

/// Counts that are left out where they are 0.
pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How far a league has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Agents may register; no match is played yet.
    Registration,
    /// Rounds are being played; an agent that was not registered before comes too late.
    Running,
    /// By the operator's order no new match begins; those being played are played out.
    Paused,
    /// The last round is over, or the operator ended the league: the table is final.
    Completed,
}
