//! The queries: what an agent can be asked without changing anything. Decoding, methods, schemas, tools, metrics and labels
//! read this one table; agents answer by [`Query`].

use super::MethodResult::{Alive, Document, Message, State};
use super::Party::{Manager, Player, Referee};
use super::{Method, MethodParams, MethodResult, Party};
use crate::protocol::envelope::id_fits;
use crate::protocol::ids::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::json::Json;
use crate::protocol::message::MessageType as M;
use crate::protocol::messages::query_data::{
    GamesData, NextMatchData, PlayerStatsData, PlayersData, RefereesData, ScheduleData,
    StandingsData,
};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

/// A query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Query {
    /// The standings of the league.
    Standings,
    /// The rounds, their matches and results.
    Schedule,
    /// A player's first match that is not decided.
    NextMatch,
    /// How far the league has come.
    Status,
    /// A player's record in numbers.
    PlayerStats,
    /// The registered players.
    Players,
    /// The registered referees.
    Referees,
    /// The games and their rules.
    Games,
    /// A referee's matches, for debugging.
    MatchState,
    /// A player's state, for debugging.
    PlayerState,
    /// The liveness probe.
    Ping,
    /// What the agent serves.
    Discover,
}

/// What there is to know about a query.
#[derive(Debug, Clone, Copy)]
pub struct QuerySpec {
    /// The `query_type` by which a member of the league asks in LEAGUE_QUERY.
    pub query_type: Option<&'static str>,
    /// The JSON-RPC method by which anyone asks, without a token.
    pub method: Option<&'static str>,
    /// The kinds of agent that answer it.
    pub served_by: &'static [Party],
    /// The parameters that count.
    pub params: &'static [QueryParam],
    /// All that may come back from the method.
    pub results: &'static [MethodResult],
    /// The schema of `data` in LEAGUE_QUERY_RESPONSE, as our manager sends it.
    pub data: DataSchema,
    /// What the answer tells, for people and models.
    pub about: &'static str,
    /// The title of the tool as which it is offered by the Model Context Protocol.
    pub tool: Option<&'static str>,
    /// Name and JSON type of each field of an answer that is no league message.
    pub fields: &'static [(&'static str, &'static str)],
}

/// Makes the schema of a query's data; `None` for none, and without the feature `schema`.
pub type DataSchema = Option<fn() -> Value>;

#[cfg(feature = "schema")]
const fn data<T: schemars::JsonSchema>() -> DataSchema {
    Some(crate::protocol::schema_words::sent::<T>)
}

#[cfg(not(feature = "schema"))]
const fn data<T>() -> DataSchema {
    None
}

/// The common part of what a manager answers.
const LEAGUE: QuerySpec = QuerySpec {
    query_type: None,
    method: None,
    served_by: &[Manager],
    params: &[],
    results: &[Message(M::LeagueQueryResponse), Message(M::LeagueError)],
    data: None,
    about: "",
    tool: None,
    fields: &[],
};

impl Query {
    /// In the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Standings,
        Self::Schedule,
        Self::NextMatch,
        Self::Status,
        Self::PlayerStats,
        Self::Players,
        Self::Referees,
        Self::Games,
        Self::MatchState,
        Self::PlayerState,
        Self::Ping,
        Self::Discover,
    ];

    /// The table.
    pub const fn spec(self) -> QuerySpec {
        match self {
            Self::Standings => QuerySpec {
                query_type: Some("GET_STANDINGS"),
                method: Some("get_standings"),
                params: &[QueryParam::Detail],
                data: data::<StandingsData>(),
                about: "The current standings: rank, points and results of every player.",
                tool: Some("Standings"),
                ..LEAGUE
            },
            Self::Schedule => QuerySpec {
                query_type: Some("GET_SCHEDULE"),
                method: Some("get_schedule"),
                params: &[QueryParam::RoundId],
                data: data::<ScheduleData>(),
                about: "Every round with its matches, and the results of those that are decided. Empty until the league \
                        starts.",
                tool: Some("Schedule"),
                ..LEAGUE
            },
            Self::NextMatch => QuerySpec {
                query_type: Some("GET_NEXT_MATCH"),
                params: &[QueryParam::PlayerId],
                data: data::<NextMatchData>(),
                about: "A player's first match that is not decided.",
                ..LEAGUE
            },
            Self::Status => QuerySpec {
                method: Some("get_status"),
                results: &[Message(M::LeagueStatus), Message(M::LeagueError)],
                about: "Whether the league is registering, running, paused or completed, and how far it has come.",
                tool: Some("Status"),
                ..LEAGUE
            },
            Self::PlayerStats => QuerySpec {
                query_type: Some("GET_PLAYER_STATS"),
                method: Some("get_player_stats"),
                params: &[QueryParam::PlayerId],
                data: data::<PlayerStatsData>(),
                about: "How one player has done: results, rates, answer times, and its record against each opponent.",
                tool: Some("Statistics of a player"),
                ..LEAGUE
            },
            Self::Players => QuerySpec {
                query_type: Some("GET_PLAYERS"),
                data: data::<PlayersData>(),
                about: "The registered players; referees also see where they listen.",
                ..LEAGUE
            },
            Self::Referees => QuerySpec {
                query_type: Some("GET_REFEREES"),
                method: Some("get_referees"),
                data: data::<RefereesData>(),
                about: "The referees, how many matches each has decided, and the deviations of each.",
                tool: Some("Referees"),
                ..LEAGUE
            },
            Self::Games => QuerySpec {
                query_type: Some("GET_GAMES"),
                method: Some("get_games"),
                params: &[QueryParam::GameType],
                data: data::<GamesData>(),
                about: "The games that can be played, the rules of each in words, and which of them this league plays.",
                tool: Some("Games"),
                ..LEAGUE
            },
            Self::MatchState => QuerySpec {
                method: Some("get_match_state"),
                served_by: &[Referee],
                params: &[QueryParam::MatchId],
                results: &[State, Message(M::LeagueError)],
                about: "Which matches are being played here, how far they are, and what is owed. Never choices or secrets.",
                tool: Some("State of the matches"),
                fields: &[
                    ("matches", "array"),
                    ("waiting", "integer"),
                    ("match_id", "string"),
                    ("phase", "string"),
                    ("game_type", "string"),
                    ("players", "array"),
                ],
                ..LEAGUE
            },
            Self::PlayerState => QuerySpec {
                method: Some("get_player_state"),
                served_by: &[Player],
                results: &[State, Message(M::LeagueError)],
                about: "Who this player is, how it has done, and which matches it has open. Nothing of a match still being \
                        played.",
                tool: Some("State of the player"),
                fields: &[
                    ("display_name", "string"),
                    ("registration", "string"),
                    ("totals", "object"),
                    ("opponents", "object"),
                    ("open_matches", "array"),
                    ("history", "array"),
                ],
                ..LEAGUE
            },
            Self::Ping => QuerySpec {
                method: Some("ping"),
                served_by: &Party::ALL,
                results: &[Alive],
                about: "A health check: answers at once and changes nothing.",
                tool: Some("Ping"),
                fields: &[("status", "string")],
                ..LEAGUE
            },
            Self::Discover => QuerySpec {
                method: Some("rpc.discover"),
                served_by: &Party::ALL,
                results: &[Document],
                about: "What this agent serves, as an OpenRPC document.",
                ..LEAGUE
            },
        }
    }

    /// The queries of LEAGUE_QUERY, each with its `query_type`.
    pub fn types() -> impl Iterator<Item = (Self, &'static str)> {
        Self::ALL
            .into_iter()
            .filter_map(|query| Some((query, query.spec().query_type?)))
    }

    /// The method, or the `query_type` of a query that has none: its one name in logs.
    pub fn name(self) -> &'static str {
        let QuerySpec {
            method, query_type, ..
        } = self.spec();
        method.or(query_type).unwrap_or_default()
    }

    /// As a method of the table of all methods.
    pub(super) fn method(self) -> Option<Method> {
        let QuerySpec {
            method,
            served_by,
            results,
            about,
            ..
        } = self.spec();
        Some(Method {
            name: method?,
            also: &[],
            served_by,
            params: MethodParams::Query(self),
            results,
            summary: about,
        })
    }
}

/// As `query_type` has it.
impl Serialize for Query {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.spec().query_type.unwrap_or(self.name()))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Query {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "QueryType".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let each = |(query, name): (Self, _)| serde_json::json!({ "description": query.spec().about, "type": "string", "const": name });
        schemars::json_schema!({
            "description": "What an agent can ask the manager.",
            "oneOf": Self::types().map(each).collect::<Vec<_>>(),
        })
    }
}

/// A parameter of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryParam {
    /// Whether to keep our additional fields even where they make the answer large.
    Detail,
    /// One round only.
    RoundId,
    /// Whom it is about.
    PlayerId,
    /// One game only.
    GameType,
    /// One match only.
    MatchId,
}

impl QueryParam {
    /// As it is called in `params` and in `query_params`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Detail => "detail",
            Self::RoundId => "round_id",
            Self::PlayerId => "player_id",
            Self::GameType => "game_type",
            Self::MatchId => "match_id",
        }
    }

    /// The JSON type of the value.
    pub fn json_type(self) -> &'static str {
        match self {
            Self::Detail => "boolean",
            Self::RoundId => "integer",
            Self::PlayerId | Self::GameType | Self::MatchId => "string",
        }
    }

    /// What it does, for people and models.
    pub fn about(self) -> &'static str {
        match self {
            Self::Detail => {
                "True to get Matchday's additional fields in each row, also if the answer is then larger than 10 KB."
            }
            Self::RoundId => "One round only, by its number from 1 on",
            Self::PlayerId => "The player's id, such as P01",
            Self::GameType => "One game only, such as connect_four",
            Self::MatchId => "One match only, by its id, such as R1M1",
        }
    }

    /// What its value must be, to complete "must be ...".
    pub fn expected(self) -> &'static str {
        match self {
            Self::Detail => "true or false",
            Self::RoundId => "a round's number",
            Self::PlayerId => "a player's id, such as \"P01\"",
            Self::GameType => "a game, such as \"even_odd\"",
            Self::MatchId => "a match's id, such as \"R1M1\"",
        }
    }

    /// Whether a method that takes it needs it: who asks without a token is no player itself.
    pub fn is_required(self) -> bool {
        self == Self::PlayerId
    }
}

/// The parameters of a query; each query uses those that its [`QuerySpec`] names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryParams {
    /// GET_NEXT_MATCH and GET_PLAYER_STATS: whom they are about. Left out, it is the player that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// GET_SCHEDULE: this round only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// GET_GAMES: this game only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<GameType>,
    /// GET_STANDINGS: true to be told our additions to each row also where they make the answer larger than 10 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<bool>,
    /// `get_match_state`: this match only. LEAGUE_QUERY does not have it.
    #[serde(skip)]
    pub match_id: Option<MatchId>,
}

/// A query that came by its method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRequest {
    /// What is asked.
    pub query: Query,
    /// With these parameters.
    pub params: QueryParams,
    /// The league that it is meant for, if it says so.
    pub league_id: Option<LeagueId>,
}

impl QueryParams {
    /// Takes the value of one parameter. Returns whether it is valid.
    pub(in crate::protocol) fn set(&mut self, param: QueryParam, value: &Json) -> bool {
        let id = value.as_str().filter(|id| id_fits(id));
        match param {
            // A form of ours: any other value asks for nothing.
            QueryParam::Detail => {
                self.detail = value.as_bool();
                return true;
            }
            QueryParam::RoundId => {
                self.round_id = value
                    .as_number()
                    .and_then(Number::as_u64)
                    .and_then(|number| u32::try_from(number).ok())
                    .map(RoundId);
                return self.round_id.is_some();
            }
            QueryParam::PlayerId => self.player_id = id.map(PlayerId::new),
            QueryParam::GameType => self.game_type = id.map(GameType::new),
            QueryParam::MatchId => self.match_id = id.map(MatchId::new),
        }
        id.is_some()
    }
}

impl QueryRequest {
    /// For whatever league the agent is in.
    pub fn new(query: Query, params: QueryParams) -> Self {
        Self {
            query,
            params,
            league_id: None,
        }
    }
}

impl From<Query> for QueryRequest {
    fn from(query: Query) -> Self {
        Self::new(query, QueryParams::default())
    }
}
