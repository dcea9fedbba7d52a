//! What the manager tells those who ask. Nothing here changes anything.

use super::event::DecidedBy;
use super::fixture::{Match, Round};
use super::manager::{Act, Asked, Manager, Refusal};
use super::standings::Tally;
use crate::agent::{Content, Look, Reply, RequestId};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, PlayerId, RoundId};
use crate::protocol::messages::query::{
    MatchProgress, NextMatch, NextMatchData, PlayerListing, PlayerStats, PlayerStatsData, PlayersData,
    RefereeListing, RefereesData, ScheduleData, ScheduledMatch, ScheduledResult, ScheduledRound,
    StandingsData,
};
use crate::protocol::messages::{
    GameDetails, LeagueError, LeagueQuery, LeagueQueryResponse, QueryError, QueryParams, QueryType, Record,
};
use crate::protocol::{Message, Sender};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

impl Manager {
    pub(super) fn answer(
        &self,
        act: &mut Act<'_>,
        asked: &Asked,
        member: &Sender,
        query: &LeagueQuery,
    ) -> Result<(), Refusal> {
        self.check_league(&query.league_id)?;
        self.reply(act, asked, self.look_up(member, query.query_type, &query.query_params));
        Ok(())
    }

    /// For anyone, if the league is open to readers.
    pub(super) fn show(&self, act: &mut Act<'_>, to: RequestId, look: &Look) {
        let envelope = self.envelope(act.now, "conv-look");
        let message = match self.league.settings.public_reads {
            true => match look {
                Look::Standings => Message::new(envelope, self.standings()),
                Look::Status => Message::new(envelope, self.status()),
                Look::Referees => {
                    Message::new(envelope, respond(QueryType::GetReferees, data(self.referees_list())))
                }
                Look::Schedule(round_id) => {
                    let found = self.schedule(*round_id).and_then(data);
                    Message::new(envelope, respond(QueryType::GetSchedule, found))
                }
                Look::Stats(player) => {
                    let params = QueryParams { player_id: Some(player.clone()), round_id: None };
                    Message::new(
                        envelope,
                        self.look_up(&Sender::Launcher, QueryType::GetPlayerStats, &params),
                    )
                }
            },
            false => Message::new(
                envelope,
                LeagueError::new(
                    ErrorCode::TokenMissing,
                    "this league is not open to readers: ask by LEAGUE_QUERY with your auth_token",
                    None,
                    None,
                ),
            ),
        };
        act.step.replies.push(Reply { to, content: Content::Message(message) });
    }

    fn look_up(&self, member: &Sender, query_type: QueryType, params: &QueryParams) -> LeagueQueryResponse {
        let found = match query_type {
            QueryType::GetStandings => return self.standings(),
            QueryType::GetSchedule => self.schedule(params.round_id).and_then(data),
            QueryType::GetNextMatch => {
                self.subject(member, params).and_then(|player| data(self.next_match(player)))
            }
            QueryType::GetPlayerStats => {
                self.subject(member, params).and_then(|player| self.stats(player)).and_then(data)
            }
            QueryType::GetPlayers => data(self.players_list(member)),
            QueryType::GetReferees => data(self.referees_list()),
        };
        respond(query_type, found)
    }

    fn standings(&self) -> LeagueQueryResponse {
        let standings = self.league.rows();
        let found = data(StandingsData { standings: standings.clone() }).ok();
        LeagueQueryResponse { standings: Some(standings), ..response(QueryType::GetStandings, found, None) }
    }

    /// The player that a query is about: the one it names, or else the one that asks.
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
        if let Some(wanted) = only
            && !self.league.rounds.iter().any(|round| round.round_id == wanted)
        {
            let known = self.league.rounds.len();
            let message = match known {
                0 => "query_params.round_id: the rounds are drawn up when the league starts".to_owned(),
                _ => format!("query_params.round_id: expected 1 to {known}, got {wanted}"),
            };
            return Err(query_error(ErrorCode::InvalidFormat, message));
        }
        let rounds =
            self.league.rounds.iter().filter(|round| only.is_none_or(|wanted| round.round_id == wanted));
        Ok(ScheduleData { rounds: rounds.map(|round| self.scheduled_round(round)).collect() })
    }

    fn scheduled_round(&self, round: &Round) -> ScheduledRound {
        let matches =
            self.league.matches_of(round).map(|(id, game)| self.scheduled_match(id, game)).collect();
        ScheduledRound { round_id: round.round_id, matches, bye: round.bye.clone() }
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
        let mut games = self.league.rounds.iter().flat_map(|round| self.league.matches_of(round));
        let next = games.find(|(_, game)| game.decision.is_none() && game.has(player));
        let next_match = next.map(|(match_id, game)| NextMatch {
            match_id: match_id.clone(),
            round_id: game.round_id,
            opponent_id: game.opponent(player).clone(),
            referee_endpoint: game
                .planned
                .as_ref()
                .and_then(|id| self.league.referees.get(id))
                .map(|referee| referee.meta.contact_endpoint.clone()),
        });
        NextMatchData { next_match }
    }

    fn stats(&self, player: &PlayerId) -> Result<PlayerStatsData, QueryError> {
        let place = (1..).zip(self.league.table()).find(|(_, place)| place.player == *player);
        let (Some((rank, place)), Some(known)) = (place, self.league.players.get(player)) else {
            return Err(query_error(ErrorCode::PlayerNotRegistered, format!("Player ID {player} not found")));
        };
        let tally = place.tally;
        let mut conduct = Conduct::default();
        for game in self.league.matches.values().filter(|game| game.has(player)) {
            conduct.add(player, game);
        }
        let mean_answer_ms = conduct.mean_answer_ms();
        let stats = PlayerStats {
            rank,
            played: tally.played(),
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            technical_losses: tally.technical_losses,
            technical_causes: conduct.causes,
            points: tally.points(),
            win_rate: share(tally, tally.wins),
            draw_rate: share(tally, tally.draws),
            loss_rate: share(tally, tally.losses),
            mean_answer_ms,
            choices: conduct.choices,
            against: conduct.against,
            deviations: known.deviations.clone(),
        };
        let display_name = known.meta.display_name.clone();
        Ok(PlayerStatsData { player_id: player.clone(), display_name, stats })
    }

    fn players_list(&self, member: &Sender) -> PlayersData {
        let for_referee = matches!(member, Sender::Referee(_));
        let players = self.league.players.iter().map(|(id, player)| PlayerListing {
            player_id: id.clone(),
            display_name: player.meta.display_name.clone(),
            version: player.meta.version.to_string(),
            state: player.state,
            contact_endpoint: for_referee.then(|| player.meta.contact_endpoint.clone()),
        });
        PlayersData { players: players.collect() }
    }

    fn referees_list(&self) -> RefereesData {
        let decided_by = |id| {
            let by = DecidedBy::Referee(id);
            let decisions = self.league.matches.values().filter_map(|game| game.decision.as_ref());
            u32::try_from(decisions.filter(|decision| decision.by == by).count()).unwrap_or(u32::MAX)
        };
        let referees = self.league.referees.iter().map(|(id, referee)| RefereeListing {
            referee_id: id.clone(),
            display_name: referee.meta.display_name.clone(),
            version: referee.meta.version.to_string(),
            state: referee.state,
            matches_decided: decided_by(id.clone()),
            deviations: referee.deviations.clone(),
        });
        RefereesData { referees: referees.collect() }
    }
}

/// How a player has behaved in its matches.
#[derive(Default)]
struct Conduct {
    answer_ms_sum: u64,
    answers: u64,
    choices: BTreeMap<String, u32>,
    causes: BTreeMap<String, u32>,
    against: BTreeMap<PlayerId, Record>,
}

impl Conduct {
    fn add(&mut self, player: &PlayerId, game: &Match) {
        let Some(decision) = &game.decision else { return };
        let record = self.against.entry(game.opponent(player).clone()).or_default();
        let lost = decision.result.winner.is_some() || decision.result.score.get(player) == Some(&0);
        match &decision.result.winner {
            Some(winner) if winner == player => record.wins += 1,
            _ if lost => record.losses += 1,
            _ => record.draws += 1,
        }
        if let Some(blame) = decision.blame(player) {
            *self.causes.entry(blame.cause.name().to_owned()).or_default() += 1;
        }
        let details = &decision.result.details;
        let answer_ms = details.answer_ms.as_ref().and_then(|times| times.get(player).copied().flatten());
        if let Some(answer_ms) = answer_ms {
            self.answer_ms_sum = self.answer_ms_sum.saturating_add(u64::from(answer_ms));
            self.answers += 1;
        }
        if let GameDetails::Parity(details) = &details.game
            && let Some(Some(choice)) = details.choices.get(player)
        {
            *self.choices.entry(choice.to_string()).or_default() += 1;
        }
    }

    fn mean_answer_ms(&self) -> Option<u32> {
        self.answer_ms_sum.checked_div(self.answers).and_then(|mean| u32::try_from(mean).ok())
    }
}

fn share(tally: Tally, part: u32) -> Option<f64> {
    (tally.played() > 0).then(|| f64::from(part) / f64::from(tally.played()))
}

fn data(found: impl Serialize) -> Result<serde_json::Map<String, Value>, QueryError> {
    match serde_json::to_value(found) {
        Ok(Value::Object(data)) => Ok(data),
        _ => Err(query_error(ErrorCode::Internal, "the answer could not be written down")),
    }
}

fn respond(
    query_type: QueryType,
    found: Result<serde_json::Map<String, Value>, QueryError>,
) -> LeagueQueryResponse {
    match found {
        Ok(data) => response(query_type, Some(data), None),
        Err(error) => response(query_type, None, Some(error)),
    }
}

fn response(
    query_type: QueryType,
    data: Option<serde_json::Map<String, Value>>,
    error: Option<QueryError>,
) -> LeagueQueryResponse {
    LeagueQueryResponse { query_type, success: error.is_none(), data, standings: None, error }
}

fn query_error(code: ErrorCode, prose: impl Into<String>) -> QueryError {
    QueryError { error_name: code.name().to_owned(), error_code: code, error_description: prose.into() }
}
