//! A match handed to a referee directly, as some managers do instead of announcing a round to it. No source defines this
//! message: it has two names, and three spellings of its fields.

#[cfg(feature = "schema")]
use super::conditions;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::text::Endpoint;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The spellings of the players' fields, ours first.
pub const PLAYER_A_ID: [&str; 3] = ["player_A_id", "player_a_id", "player1_id"];
/// As [`PLAYER_A_ID`].
pub const PLAYER_B_ID: [&str; 3] = ["player_B_id", "player_b_id", "player2_id"];
/// As [`PLAYER_A_ID`].
pub const PLAYER_A_ENDPOINT: [&str; 3] =
    ["player_A_endpoint", "player_a_endpoint", "player1_endpoint"];
/// As [`PLAYER_A_ID`].
pub const PLAYER_B_ENDPOINT: [&str; 3] =
    ["player_B_endpoint", "player_b_endpoint", "player2_endpoint"];

/// Under which name the message goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssignmentName {
    /// `MATCH_ASSIGNMENT`, method `assign_match`.
    #[default]
    MatchAssignment,
    /// `START_MATCH`, method `start_match`.
    StartMatch,
}

/// MATCH_ASSIGNMENT (or START_MATCH): a manager gives this referee a match. Ours sends it to referees that know no other way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::any_spelling))]
pub struct MatchAssignment {
    /// Which of its names it has.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub name: AssignmentName,
    /// Else that of the registration.
    pub league_id: Option<LeagueId>,
    /// Else by the match's id, else 1.
    pub round_id: Option<RoundId>,
    /// Names the match in every later message about it, whichever manager chose the id.
    pub match_id: MatchId,
    /// Else the referee's first game.
    pub game_type: Option<GameType>,
    /// The player in seat A, which begins in games of turns.
    #[cfg_attr(feature = "schema", schemars(rename = "player_A_id"))]
    pub player_a_id: PlayerId,
    /// The player in seat B.
    #[cfg_attr(feature = "schema", schemars(rename = "player_B_id"))]
    pub player_b_id: PlayerId,
    /// Where it is missing, the referee asks the manager by GET_PLAYERS.
    #[cfg_attr(feature = "schema", schemars(rename = "player_A_endpoint"))]
    pub player_a_endpoint: Option<Endpoint>,
    /// As for player A.
    #[cfg_attr(feature = "schema", schemars(rename = "player_B_endpoint"))]
    pub player_b_endpoint: Option<Endpoint>,
}

/// Written in every spelling, since each referee knows one of them.
impl Serialize for MatchAssignment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn put<M: SerializeMap>(
            map: &mut M,
            keys: &[&str],
            value: Option<&impl Serialize>,
        ) -> Result<(), M::Error> {
            match value {
                Some(value) => keys
                    .iter()
                    .try_for_each(|key| map.serialize_entry(key, value)),
                None => Ok(()),
            }
        }
        let mut map = serializer.serialize_map(None)?;
        put(&mut map, &["league_id"], self.league_id.as_ref())?;
        put(&mut map, &["round_id"], self.round_id.as_ref())?;
        put(&mut map, &["match_id"], Some(&self.match_id))?;
        put(&mut map, &["game_type"], self.game_type.as_ref())?;
        put(&mut map, &PLAYER_A_ID, Some(&self.player_a_id))?;
        put(&mut map, &PLAYER_B_ID, Some(&self.player_b_id))?;
        put(
            &mut map,
            &PLAYER_A_ENDPOINT,
            self.player_a_endpoint.as_ref(),
        )?;
        put(
            &mut map,
            &PLAYER_B_ENDPOINT,
            self.player_b_endpoint.as_ref(),
        )?;
        map.end()
    }
}
