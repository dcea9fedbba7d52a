//! LEAGUE_QUERY and its response.

#[cfg(feature = "schema")]
use super::conditions;
use super::result::StandingRow;
use super::shared::Shared;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::LeagueId;
use crate::protocol::methods::{Query, QueryParams};
use crate::protocol::untrusted::UntrustedText;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// LEAGUE_QUERY: an agent asks the manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeagueQuery {
    /// Must be the league of the manager, else E007.
    pub league_id: LeagueId,
    /// What is asked: it decides which parameters count and what `data` holds.
    pub query_type: Query,
    /// May be left out.
    #[cfg_attr(feature = "schema", schemars(with = "Option<QueryParams>"))]
    pub query_params: QueryParams,
}

/// LEAGUE_QUERY_RESPONSE: what the manager knows, or why it cannot say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = conditions::data_or_error))]
pub struct LeagueQueryResponse {
    /// As in the query.
    pub query_type: Query,
    /// Whether there is `data`; otherwise there is `error`.
    pub success: bool,
    /// By the kind of question. It is kept as it came, since other managers answer with less or more than ours; ours
    /// answers with the types below.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(
            description = "Required on success. What is in it depends on `query_type`: see the schemas of the data of each query."
        )
    )]
    pub data: Option<Map<String, Value>>,
    /// For GET_STANDINGS the table once more, where another source looks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standings: Option<Shared<StandingRow>>,
    /// Required if there is no success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<QueryError>,
}

/// Why a query has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryError {
    /// What programs decide by.
    pub error_code: ErrorCode,
    /// The name of the error in capitals.
    pub error_name: UntrustedText,
    /// Prose, here alone: LEAGUE_ERROR's field of this name holds the name.
    pub error_description: UntrustedText,
}

/// Where an agent is in its life with the league.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Lifecycle {
    /// Running, not yet registered.
    Init,
    /// The manager knows it; no match has begun for it yet.
    Registered,
    /// Taking part in a running league.
    Active,
    /// Not answering: its matches are forfeited without waiting, until it answers again.
    Suspended,
    /// The league is over, or the operator withdrew the player.
    Shutdown,
}
