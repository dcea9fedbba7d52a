//! Answers to queries.

use super::League;
use crate::game::external::ExternalGameInfo;
use crate::game::{GAMES, GameEntry, strategy};
use crate::league::fixture::{Match, Round};
use crate::league::request::RequestError;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{GameType, MatchId, PlayerId, RoundId};
use crate::protocol::messages::query_data::{
    GameListing, GamesData, MatchProgress, NextMatch, NextMatchData, PlayerListing,
    PlayerStatsData, PlayersData, ScheduleData, ScheduledMatch, ScheduledResult, ScheduledRound,
    StandingData, StandingsData,
};
use crate::protocol::messages::{
    LeagueError, LeagueQueryResponse, QueryError, StandingRow, is_zero,
};
use crate::protocol::text::Endpoint;
use crate::protocol::{Body, LeagueId, Query, QueryParams, QueryRequest, Sender, UntrustedText};
use serde::Serialize;
use serde_json::Value;

/// Standings that would be too large with all their fields.
#[derive(Serialize)]
struct ShortStandings {
    standings: Vec<StandingData>,
    #[serde(skip_serializing_if = "is_zero")]
    results_unproven: u32,
}

impl League {
    /// Whether a message is meant for this league.
    pub(crate) fn check_id(&self, league_id: &LeagueId) -> Result<(), RequestError> {
        let own = &self.settings.league_id;
        if league_id == own {
            return Ok(());
        }
        let message = format!("league_id: expected {own}, got {league_id}");
        Err(RequestError::new(ErrorCode::LeagueNotFound, message).with("league_id", own.as_str()))
    }

    /// Whether the league is open to readers: if not, the refusal.
    pub(crate) fn check_reader(&self) -> Result<(), LeagueError> {
        if self.settings.public_reads {
            return Ok(());
        }
        let message =
            "this league is not open to readers: ask by LEAGUE_QUERY with your auth_token";
        Err(LeagueError::new(
            ErrorCode::TokenMissing,
            message,
            None,
            None,
        ))
    }

    /// The answer to a query without authentication, if the league allows public reads.
    pub(crate) fn public_answer(&self, request: &QueryRequest) -> Body {
        if let Some(Err(wrong)) = request
            .league_id
            .as_ref()
            .map(|league_id| self.check_id(league_id))
        {
            return LeagueError::new(wrong.code, wrong.message, None, wrong.context).into();
        }
        match self.check_reader() {
            Err(refusal) => refusal.into(),
            Ok(()) if request.query == Query::Status => self.status().into(),
            Ok(()) => self
                .answer(&Sender::Launcher, request.query, &request.params)
                .into(),
        }
    }

    /// The answer to a member's query.
    pub(crate) fn answer(
        &self,
        member: &Sender,
        query: Query,
        params: &QueryParams,
    ) -> LeagueQueryResponse {
        let found = match query {
            Query::Standings => return self.standings_answer(params.detail == Some(true)),
            Query::Schedule => {
                let knows_agents = matches!(member, Sender::Player(_) | Sender::Referee(_));
                self.schedule(params.round_id, knows_agents).and_then(data)
            }
            Query::NextMatch => self
                .subject(member, params)
                .and_then(|player| data(self.next_match(player))),
            Query::PlayerStats => self
                .subject(member, params)
                .and_then(|player| self.stats(player))
                .and_then(data),
            Query::Players => data(self.players_list(member)),
            Query::Referees => data(self.referee_listings()),
            Query::Games => self.games_list(params.game_type.as_ref()).and_then(data),
            Query::Status
            | Query::MatchState
            | Query::PlayerState
            | Query::Ping
            | Query::Discover => Err(query_error(
                ErrorCode::InvalidState,
                "this query has a method of its own",
            )),
        };
        respond(query, found)
    }

    /// The standings, twice, because two sources expect them in two places. Our additional fields are left out if the
    /// answer would be too large.
    fn standings_answer(&self, detail: bool) -> LeagueQueryResponse {
        let whole = self.rows();
        let results_unproven = self.results_unproven();
        let (standings, found) = if detail || whole.fits_message(2) {
            (
                whole.clone(),
                data(StandingsData {
                    standings: whole,
                    results_unproven,
                }),
            )
        } else {
            let short: Vec<_> = whole.iter().map(StandingData::short).collect();
            let standings = whole.iter().map(StandingRow::without_additions).collect();
            (
                standings,
                data(ShortStandings {
                    standings: short,
                    results_unproven,
                }),
            )
        };
        let found = found.ok();
        LeagueQueryResponse {
            standings: Some(standings),
            ..response(Query::Standings, found, None)
        }
    }

    /// The player that a query names, or else the one that sent it.
    fn subject<'a>(
        &'a self,
        member: &'a Sender,
        params: &'a QueryParams,
    ) -> Result<&'a PlayerId, QueryError> {
        let player = match (&params.player_id, member) {
            (Some(named), _) => named,
            (None, Sender::Player(asking)) => asking,
            (None, _) => {
                return Err(query_error(
                    ErrorCode::MissingField,
                    "query_params.player_id: name a player",
                ));
            }
        };
        match self.players.get_key_value(player) {
            Some((known, _)) => Ok(known),
            None => Err(query_error(
                ErrorCode::PlayerNotRegistered,
                format!("Player ID {player} not found in registry"),
            )),
        }
    }

    fn schedule(
        &self,
        only: Option<RoundId>,
        knows_agents: bool,
    ) -> Result<ScheduleData, QueryError> {
        if self.rounds.is_empty() {
            let message = "the rounds are scheduled when the league starts";
            return Err(query_error(ErrorCode::InvalidState, message));
        }
        if let Some(wanted) = only
            && !self.rounds.iter().any(|round| round.round_id == wanted)
        {
            let known = self.rounds.len();
            let message = if wanted.0 > 0 && wanted.0 <= self.rounds_in_all() {
                format!(
                    "query_params.round_id: round {wanted} is not paired yet, since it follows from results; expected \
                     1 to {known}"
                )
            } else {
                format!("query_params.round_id: expected 1 to {known}, got {wanted}")
            };
            return Err(query_error(ErrorCode::InvalidFormat, message));
        }
        let rounds = self
            .rounds
            .iter()
            .filter(|round| only.is_none_or(|wanted| round.round_id == wanted));
        let known = u32::try_from(self.rounds.len()).unwrap_or(u32::MAX);
        let to_come = self.rounds_in_all().saturating_sub(known);
        Ok(ScheduleData {
            rounds: rounds
                .map(|round| self.scheduled_round(round, knows_agents))
                .collect(),
            rounds_to_come: (to_come > 0).then_some(to_come),
        })
    }

    fn scheduled_round(&self, round: &Round, knows_agents: bool) -> ScheduledRound {
        let matches = self
            .matches_of(round)
            .map(|(id, fixture)| self.scheduled_match(id, fixture, knows_agents))
            .collect();
        let drawn = round.drawn.as_ref();
        ScheduledRound {
            round_id: round.round_id,
            title: drawn.map(|drawn| drawn.title.as_str().into()),
            matches,
            bye: round.bye.clone(),
            byes: drawn
                .filter(|drawn| drawn.byes.len() > 1)
                .map(|drawn| drawn.byes.clone())
                .unwrap_or_default(),
        }
    }

    /// Where agents listen is told to agents alone.
    fn scheduled_match(
        &self,
        match_id: &MatchId,
        fixture: &Match,
        knows_agents: bool,
    ) -> ScheduledMatch {
        let state = match &fixture.decision {
            Some(_) => MatchProgress::Decided,
            None if fixture.in_play => MatchProgress::Playing,
            None => MatchProgress::Scheduled,
        };
        ScheduledMatch {
            match_id: match_id.clone(),
            game_type: self.settings.game_type.clone(),
            player_a_id: fixture.a.clone(),
            player_b_id: fixture.b.clone(),
            referee_id: fixture.planned.clone(),
            referee_endpoint: fixture
                .planned
                .as_ref()
                .filter(|_| knows_agents)
                .and_then(|id| Some(self.referees.get(id)?.meta.contact_endpoint.clone())),
            state,
            result: fixture.decision.as_ref().map(|decision| ScheduledResult {
                status: decision.status,
                winner: decision.result.winner.clone(),
                score: decision.result.score.clone(),
                reason: decision.result.reason.clone().unwrap_or_default(),
            }),
        }
    }

    fn next_match(&self, player: &PlayerId) -> NextMatchData {
        let rounds = self.rounds.iter();
        let mut fixtures =
            rounds.flat_map(|round| self.matches_of(round).map(move |found| (round, found)));
        let next =
            fixtures.find(|(_, (_, fixture))| fixture.decision.is_none() && fixture.has(player));
        let next_match = next.map(|(round, (match_id, fixture))| NextMatch {
            match_id: match_id.clone(),
            round_id: fixture.round_id,
            opponent_id: fixture.opponent(player).clone(),
            referee_endpoint: self.planned_referee(round, match_id, fixture),
        });
        NextMatchData { next_match }
    }

    /// The endpoint of the planned referee; before the announcement, by the plan as of now.
    fn planned_referee(
        &self,
        round: &Round,
        match_id: &MatchId,
        fixture: &Match,
    ) -> Option<Endpoint> {
        let planned = fixture.planned.clone().or_else(|| {
            let mut plan = self.plan(round).into_iter();
            plan.find(|(planned, _)| planned == match_id)
                .map(|(_, referee)| referee)
        });
        let referee = self.referees.get(&planned?)?;
        Some(referee.meta.contact_endpoint.clone())
    }

    fn stats(&self, player: &PlayerId) -> Result<PlayerStatsData, QueryError> {
        let not_found = || {
            query_error(
                ErrorCode::PlayerNotRegistered,
                format!("Player ID {player} not found"),
            )
        };
        self.player_stats(player).ok_or_else(not_found)
    }

    fn players_list(&self, member: &Sender) -> PlayersData {
        let for_referee = matches!(member, Sender::Referee(_));
        let players = self.players.iter().map(|(id, player)| PlayerListing {
            player_id: id.clone(),
            display_name: player.meta.display_name.clone(),
            version: player.meta.version.to_string(),
            state: player.state,
            left: player.left,
            contact_endpoint: for_referee.then(|| player.meta.contact_endpoint.clone()),
        });
        PlayersData {
            players: players.collect(),
        }
    }

    fn games_list(&self, only: Option<&GameType>) -> Result<GamesData, QueryError> {
        let received = |game: &&GameEntry| only.is_none_or(|only| only.as_str() == game.name);
        let mut games: Vec<_> = GAMES
            .iter()
            .filter(received)
            .map(|game| self.game_listing(game))
            .collect();
        let outside = self.settings.external_game.as_ref();
        games.extend(
            outside
                .filter(|game| only.is_none_or(|only| *only == game.game_type))
                .map(external_listing),
        );
        if let (Some(unknown), true) = (only, games.is_empty()) {
            let names: Vec<_> = GAMES.iter().map(|game| game.name).collect();
            let message = format!(
                "query_params.game_type: expected one of {}, got {unknown}",
                names.join(", ")
            );
            return Err(query_error(ErrorCode::InvalidFormat, message));
        }
        Ok(GamesData { games })
    }

    fn game_listing(&self, game: &GameEntry) -> GameListing {
        GameListing {
            game_type: GameType::new(game.name),
            about: game.about.to_owned(),
            rules: game.rules_with_messages(),
            turns_max: game.turns_max,
            strategies: strategy::of(game)
                .map(|entry| entry.name.to_owned())
                .collect(),
            played_here: self.settings.game_type.as_str() == game.name,
        }
    }
}

/// A game with external rules is listed only in the league that plays it.
fn external_listing(game: &ExternalGameInfo) -> GameListing {
    GameListing {
        game_type: game.game_type.clone(),
        about: game.about.clone(),
        rules: game.rules.clone(),
        turns_max: game.turns_max,
        strategies: vec![strategy::RANDOM.name.to_owned()],
        played_here: true,
    }
}

fn data(found: impl Serialize) -> Result<serde_json::Map<String, Value>, QueryError> {
    match serde_json::to_value(found) {
        Ok(Value::Object(data)) => Ok(data),
        _ => Err(query_error(
            ErrorCode::Internal,
            "the answer could not be stored",
        )),
    }
}

fn respond(
    query_type: Query,
    found: Result<serde_json::Map<String, Value>, QueryError>,
) -> LeagueQueryResponse {
    match found {
        Ok(data) => response(query_type, Some(data), None),
        Err(error) => response(query_type, None, Some(error)),
    }
}

fn response(
    query_type: Query,
    data: Option<serde_json::Map<String, Value>>,
    error: Option<QueryError>,
) -> LeagueQueryResponse {
    LeagueQueryResponse {
        query_type,
        success: error.is_none(),
        data,
        standings: None,
        error,
    }
}

fn query_error(code: ErrorCode, prose: impl Into<UntrustedText>) -> QueryError {
    QueryError {
        error_name: code.name().into(),
        error_code: code,
        error_description: prose.into(),
    }
}
