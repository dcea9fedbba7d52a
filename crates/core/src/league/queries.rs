//! Answers to queries. Read-only.

use super::fixture::{Match, Round};
use super::manager::{Ctx, Manager};
use super::request::{ReceivedMessage, RequestError};
use crate::agent::{Content, RequestId};
use crate::game::external::ExternalGameInfo;
use crate::game::{GAMES, GameEntry, strategy};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{GameType, MatchId, PlayerId, RoundId};
use crate::protocol::messages::query_data::{
    GameListing, GamesData, MatchProgress, NextMatch, NextMatchData, PlayerListing, PlayerStatsData,
    PlayersData, ScheduleData, ScheduledMatch, ScheduledResult, ScheduledRound, StandingData, StandingsData,
};
use crate::protocol::messages::{
    LeagueError, LeagueQuery, LeagueQueryResponse, QueryError, StandingRow, is_zero,
};
use crate::protocol::text::Endpoint;
use crate::protocol::{Body, LeagueId, Message, Query, QueryParams, QueryRequest, Sender, UntrustedText};
use serde::Serialize;
use serde_json::Value;

/// Standings that would be too large with all their fields.
#[derive(Serialize)]
struct ShortStandings {
    standings: Vec<StandingData>,
    #[serde(skip_serializing_if = "is_zero")]
    results_unproven: u32,
}

impl Manager {
    pub(super) fn answer(
        &self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        member: &Sender,
        query: &LeagueQuery,
    ) -> Result<(), RequestError> {
        self.check_league(&query.league_id)?;
        self.reply(ctx, received, self.look_up(member, query.query_type, &query.query_params));
        Ok(())
    }

    /// Answers a query without authentication, if the league allows public reads.
    pub(super) fn show(&self, ctx: &mut Ctx<'_>, to: RequestId, request: &QueryRequest) {
        let body: Body = match self.check_reader(request.league_id.as_ref()) {
            Err(error) => return self.refuse_reader(ctx, to, error),
            Ok(()) if request.query == Query::Status => self.status().into(),
            Ok(()) => self.look_up(&Sender::Launcher, request.query, &request.params).into(),
        };
        ctx.reply(to, Content::Message(Message::new(self.envelope(ctx.now, "conv-look"), body)));
    }

    pub(super) fn refuse_reader(&self, ctx: &mut Ctx<'_>, to: RequestId, error: RequestError) {
        let refusal = LeagueError::new(error.code, error.message, None, error.context);
        ctx.reply(to, Content::Message(Message::new(self.envelope(ctx.now, "conv-look"), refusal)));
    }

    /// Whether the league is this one, and open to readers.
    pub(super) fn check_reader(&self, league_id: Option<&LeagueId>) -> Result<(), RequestError> {
        league_id.map_or(Ok(()), |league_id| self.check_league(league_id))?;
        if self.league.settings.public_reads {
            return Ok(());
        }
        let message = "this league is not open to readers: ask by LEAGUE_QUERY with your auth_token";
        Err(RequestError::new(ErrorCode::TokenMissing, message))
    }

    fn look_up(&self, member: &Sender, query: Query, params: &QueryParams) -> LeagueQueryResponse {
        let found = match query {
            Query::Standings => return self.standings(params.detail == Some(true)),
            Query::Schedule => self.schedule(params.round_id).and_then(data),
            Query::NextMatch => self.subject(member, params).and_then(|player| data(self.next_match(player))),
            Query::PlayerStats => {
                self.subject(member, params).and_then(|player| self.stats(player)).and_then(data)
            }
            Query::Players => data(self.players_list(member)),
            Query::Referees => data(self.league.referee_listings()),
            Query::Games => self.games_list(params.game_type.as_ref()).and_then(data),
            Query::Status | Query::MatchState | Query::PlayerState | Query::Ping | Query::Discover => {
                Err(query_error(ErrorCode::InvalidState, "this query has a method of its own"))
            }
        };
        respond(query, found)
    }

    /// The standings, twice, because two sources expect them in two places. Our additional fields are left out if the
    /// answer would be too large.
    fn standings(&self, detail: bool) -> LeagueQueryResponse {
        let whole = self.league.rows();
        let results_unproven = self.league.results_unproven();
        let (standings, found) = match detail || whole.fits_message(2) {
            true => (whole.clone(), data(StandingsData { standings: whole, results_unproven })),
            false => {
                let short: Vec<_> = whole.iter().map(StandingData::short).collect();
                let standings = whole.iter().map(StandingRow::without_additions).collect();
                (standings, data(ShortStandings { standings: short, results_unproven }))
            }
        };
        let found = found.ok();
        LeagueQueryResponse { standings: Some(standings), ..response(Query::Standings, found, None) }
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
                return Err(query_error(ErrorCode::MissingField, "query_params.player_id: name a player"));
            }
        };
        match self.league.players.get_key_value(player) {
            Some((known, _)) => Ok(known),
            None => Err(query_error(
                ErrorCode::PlayerNotRegistered,
                format!("Player ID {player} not found in registry"),
            )),
        }
    }

    fn schedule(&self, only: Option<RoundId>) -> Result<ScheduleData, QueryError> {
        if self.league.rounds.is_empty() {
            let message = "the rounds are drawn up when the league starts";
            return Err(query_error(ErrorCode::InvalidState, message));
        }
        if let Some(wanted) = only
            && !self.league.rounds.iter().any(|round| round.round_id == wanted)
        {
            let known = self.league.rounds.len();
            let message = match wanted.0 > 0 && wanted.0 <= self.league.rounds_in_all() {
                true => format!(
                    "query_params.round_id: round {wanted} is not drawn yet, since it follows from results; expected \
                     1 to {known}"
                ),
                false => format!("query_params.round_id: expected 1 to {known}, got {wanted}"),
            };
            return Err(query_error(ErrorCode::InvalidFormat, message));
        }
        let rounds =
            self.league.rounds.iter().filter(|round| only.is_none_or(|wanted| round.round_id == wanted));
        let known = u32::try_from(self.league.rounds.len()).unwrap_or(u32::MAX);
        let to_come = self.league.rounds_in_all().saturating_sub(known);
        Ok(ScheduleData {
            rounds: rounds.map(|round| self.scheduled_round(round)).collect(),
            rounds_to_come: (to_come > 0).then_some(to_come),
        })
    }

    fn scheduled_round(&self, round: &Round) -> ScheduledRound {
        let matches =
            self.league.matches_of(round).map(|(id, game)| self.scheduled_match(id, game)).collect();
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

    fn scheduled_match(&self, match_id: &MatchId, game: &Match) -> ScheduledMatch {
        let state = match &game.decision {
            Some(_) => MatchProgress::Decided,
            None if game.in_play => MatchProgress::Playing,
            None => MatchProgress::Scheduled,
        };
        ScheduledMatch {
            match_id: match_id.clone(),
            game_type: self.league.settings.game_type.clone(),
            player_a_id: game.a.clone(),
            player_b_id: game.b.clone(),
            referee_id: game.planned.clone(),
            state,
            result: game.decision.as_ref().map(|decision| ScheduledResult {
                status: decision.status,
                winner: decision.result.winner.clone(),
                score: decision.result.score.clone(),
                reason: decision.result.reason.clone().unwrap_or_default(),
            }),
        }
    }

    fn next_match(&self, player: &PlayerId) -> NextMatchData {
        let rounds = self.league.rounds.iter();
        let mut games =
            rounds.flat_map(|round| self.league.matches_of(round).map(move |found| (round, found)));
        let next = games.find(|(_, (_, game))| game.decision.is_none() && game.has(player));
        let next_match = next.map(|(round, (match_id, game))| NextMatch {
            match_id: match_id.clone(),
            round_id: game.round_id,
            opponent_id: game.opponent(player).clone(),
            referee_endpoint: self.planned_referee(round, match_id, game),
        });
        NextMatchData { next_match }
    }

    /// The endpoint of the planned referee; before the announcement, by the plan as of now.
    fn planned_referee(&self, round: &Round, match_id: &MatchId, game: &Match) -> Option<Endpoint> {
        let planned = game.planned.clone().or_else(|| {
            let mut plan = self.plan(round).into_iter();
            plan.find(|(planned, _)| planned == match_id).map(|(_, referee)| referee)
        });
        let referee = self.league.referees.get(&planned?)?;
        Some(referee.meta.contact_endpoint.clone())
    }

    fn stats(&self, player: &PlayerId) -> Result<PlayerStatsData, QueryError> {
        let not_found =
            || query_error(ErrorCode::PlayerNotRegistered, format!("Player ID {player} not found"));
        self.league.player_stats(player).ok_or_else(not_found)
    }

    fn players_list(&self, member: &Sender) -> PlayersData {
        let for_referee = matches!(member, Sender::Referee(_));
        let players = self.league.players.iter().map(|(id, player)| PlayerListing {
            player_id: id.clone(),
            display_name: player.meta.display_name.clone(),
            version: player.meta.version.to_string(),
            state: player.state,
            left: player.left,
            contact_endpoint: for_referee.then(|| player.meta.contact_endpoint.clone()),
        });
        PlayersData { players: players.collect() }
    }
}

impl Manager {
    fn games_list(&self, only: Option<&GameType>) -> Result<GamesData, QueryError> {
        let received = |game: &&GameEntry| only.is_none_or(|only| only.as_str() == game.name);
        let mut games: Vec<_> = GAMES.iter().filter(received).map(|game| self.game_listing(game)).collect();
        let outside = self.league.settings.external_game.as_ref();
        games.extend(
            outside.filter(|game| only.is_none_or(|only| *only == game.game_type)).map(external_listing),
        );
        if let (Some(unknown), true) = (only, games.is_empty()) {
            let names: Vec<_> = GAMES.iter().map(|game| game.name).collect();
            let message =
                format!("query_params.game_type: expected one of {}, got {unknown}", names.join(", "));
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
            strategies: strategy::of(game).map(|entry| entry.name.to_owned()).collect(),
            played_here: self.league.settings.game_type.as_str() == game.name,
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
        _ => Err(query_error(ErrorCode::Internal, "the answer could not be written down")),
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
    LeagueQueryResponse { query_type, success: error.is_none(), data, standings: None, error }
}

fn query_error(code: ErrorCode, prose: impl Into<UntrustedText>) -> QueryError {
    QueryError { error_name: code.name().into(), error_code: code, error_description: prose.into() }
}
