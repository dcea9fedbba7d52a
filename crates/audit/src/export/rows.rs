//! Leagues, players, matches and ratings as rows of the tables. Pure.

use crate::describe;
use crate::league_log::LeagueLog;
use crate::statistics;
use matchday_core::league::fixture::{Decision, Match};
use matchday_core::league::{DecidedBy, LeagueEvent};
use matchday_core::protocol::messages::GameDetails;
use matchday_core::protocol::{
    Attempt, DisplayName, MatchId, PlayerId, RefereeId, Timestamp, UntrustedText,
};
use matchday_stats::{Resampling, ratings_by_round};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(super) struct LeagueRow<'a> {
    league: &'a str,
    game: &'a str,
    format: &'static str,
    phase: String,
    players: usize,
    referees: usize,
    rounds: usize,
    matches: usize,
    matches_decided: u32,
    champion: Option<&'a str>,
    created_at: Option<String>,
    started_at: Option<String>,
    completed_at: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct PlayerRow<'a> {
    league: &'a str,
    player: PlayerId,
    name: DisplayName,
    strategy: Option<DisplayName>,
    version: Option<String>,
    model: Option<String>,
    rank: u32,
    played: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    points: u32,
    technical_losses: u32,
    rank_reason: UntrustedText,
    registered_at: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct MatchRow<'a> {
    league: &'a str,
    #[serde(rename = "match")]
    match_id: &'a str,
    round: u32,
    round_title: Option<&'a str>,
    game: &'a str,
    format: &'static str,
    player_a: &'a str,
    player_b: &'a str,
    status: String,
    winner: Option<&'a str>,
    points_a: Option<u32>,
    points_b: Option<u32>,
    payoff_a: Option<u32>,
    payoff_b: Option<u32>,
    drawn_number: Option<u8>,
    cause_a: Option<&'static str>,
    cause_b: Option<&'static str>,
    turns: Option<usize>,
    answer_ms_a: Option<u32>,
    answer_ms_b: Option<u32>,
    referee: Option<&'a str>,
    attempts: usize,
    proof: Option<&'static str>,
    assigned_at: Option<String>,
    decided_at: Option<String>,
    duration_ms: Option<f64>,
    reason: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct RatingRow<'a> {
    league: &'a str,
    round: u32,
    player: String,
    rating: f64,
    low: f64,
    high: f64,
}

pub(super) fn decider(decision: &Decision) -> &str {
    match &decision.by {
        DecidedBy::Referee(referee) => RefereeId::as_str(referee),
        DecidedBy::Manager => "manager",
    }
}

pub(super) fn league<'a>(name: &'a str, league_log: &'a LeagueLog) -> LeagueRow<'a> {
    let league = &league_log.league;
    let last = |wanted: fn(&LeagueEvent) -> bool| {
        let mut entries = league_log.entries.iter().rev();
        let found = entries.find(|entry| wanted(&entry.event))?;
        Some(describe::time(found.at))
    };
    LeagueRow {
        league: name,
        game: league.settings.game_type.as_str(),
        format: league.settings.competition.format.name(),
        phase: name_of(&league.phase),
        players: league.players.len(),
        referees: league.referees.len(),
        rounds: league.rounds.len(),
        matches: league.matches.len(),
        matches_decided: league.matches_decided,
        champion: league.champion.as_ref().map(PlayerId::as_str),
        created_at: created_at(league_log).map(describe::time),
        started_at: last(|event| matches!(event, LeagueEvent::LeagueStarted { .. })),
        // A voided result opens the league again.
        completed_at: league
            .champion
            .as_ref()
            .and_then(|_| last(|event| matches!(event, LeagueEvent::LeagueCompleted { .. }))),
    }
}

pub(super) fn created_at(league_log: &LeagueLog) -> Option<Timestamp> {
    league_log.entries.first().map(|entry| entry.at)
}

pub(super) fn players<'a>(
    name: &'a str,
    league_log: &'a LeagueLog,
) -> impl Iterator<Item = PlayerRow<'a>> {
    let league = &league_log.league;
    league.rows().to_vec().into_iter().map(move |row| {
        let player = league.players.get(&row.player_id);
        PlayerRow {
            league: name,
            rank: row.shown_rank(),
            strategy: player.and_then(|player| player.meta.strategy.clone()),
            model: player.and_then(|player| player.meta.model().map(str::to_owned)),
            version: player.map(|player| name_of(&player.meta.version)),
            registered_at: player.map(|player| describe::time(player.registered_at)),
            player: row.player_id,
            name: row.display_name,
            played: row.played,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            points: row.points,
            technical_losses: row.technical_losses.unwrap_or_default(),
            rank_reason: row.rank_reason.unwrap_or_default(),
        }
    })
}

pub(super) fn matches<'a>(
    name: &'a str,
    league_log: &'a LeagueLog,
) -> impl Iterator<Item = MatchRow<'a>> {
    let league = &league_log.league;
    let assigned = assigned(league_log);
    let in_order = league
        .rounds
        .iter()
        .flat_map(|round| league.matches_of(round));
    in_order.map(move |(match_id, game)| {
        let decision = game.decision.as_ref();
        let assigned_at =
            decision.and_then(|decision| assigned.get(&(match_id, decision.attempt)).copied());
        let took = decision
            .zip(assigned_at)
            .map(|(decision, from)| decision.at.since(from).as_secs_f64() * 1e3);
        MatchRow {
            league: name,
            match_id: match_id.as_str(),
            round: game.round_id.0,
            round_title: league.title(game.round_id),
            game: league.settings.game_type.as_str(),
            format: league.settings.competition.format.name(),
            attempts: game.attempts.len(),
            assigned_at: assigned_at.map(describe::time),
            duration_ms: took.map(rounded),
            ..decided(game, decision)
        }
    })
}

/// What a result says, if there is one.
fn decided<'a>(game: &'a Match, decision: Option<&'a Decision>) -> MatchRow<'a> {
    let result = decision.map(|decision| &decision.result);
    let details = result.map(|result| &result.details);
    let [a, b] = [&game.a, &game.b];
    let points = |player| result?.score.get(player).copied();
    let payoff = |player| decision?.payoff(player);
    let cause = |player| Some(decision?.blame(player)?.cause.name());
    let answer_ms = |player| details?.answer_ms.as_ref()?.get(player).copied().flatten();
    let parity = details.and_then(|details| match &details.game {
        GameDetails::Parity(details) => Some(details),
        GameDetails::Other(_) => None,
    });
    let log = details.and_then(|details| details.turn_log.as_ref());
    MatchRow {
        league: "",
        match_id: "",
        round: 0,
        round_title: None,
        game: "",
        format: "",
        player_a: a.as_str(),
        player_b: b.as_str(),
        status: decision.map_or_else(|| "OPEN".into(), |decision| name_of(&decision.status)),
        winner: result
            .and_then(|result| result.winner.as_ref())
            .map(PlayerId::as_str),
        points_a: points(a),
        points_b: points(b),
        payoff_a: payoff(a),
        payoff_b: payoff(b),
        drawn_number: parity.and_then(|details| details.drawn_number),
        cause_a: cause(a),
        cause_b: cause(b),
        turns: log.map(Vec::len).or(parity.map(|details| {
            details
                .choices
                .iter()
                .any(|(_, choice)| choice.is_some())
                .into()
        })),
        answer_ms_a: answer_ms(a),
        answer_ms_b: answer_ms(b),
        referee: decision.map(decider),
        attempts: 0,
        proof: decision.map(|decision| decision.proof.name()),
        assigned_at: None,
        decided_at: decision.map(|decision| describe::time(decision.at)),
        duration_ms: None,
        reason: result
            .and_then(|result| result.reason.as_ref())
            .map(UntrustedText::raw),
    }
}

/// When each attempt at a match was given to its referee.
fn assigned(league_log: &LeagueLog) -> BTreeMap<(&MatchId, Attempt), Timestamp> {
    let entries = league_log.entries.iter();
    let of_entry = entries.filter_map(|entry| match &entry.event {
        LeagueEvent::MatchAssigned {
            match_id, attempt, ..
        } => Some(((match_id, *attempt), entry.at)),
        _ => None,
    });
    of_entry.collect()
}

pub(super) fn ratings<'a>(
    name: &'a str,
    league_log: &LeagueLog,
) -> impl Iterator<Item = RatingRow<'a>> {
    let results = statistics::of_league(&league_log.league);
    let rounds = ratings_by_round(&results, &Resampling::default());
    let players: Vec<String> = results
        .players
        .into_iter()
        .map(|player| player.id.to_string())
        .collect();
    rounds.into_iter().flat_map(move |(round, ratings)| {
        let rows: Vec<RatingRow<'a>> = players
            .iter()
            .zip(ratings)
            .map(|(player, strength)| RatingRow {
                league: name,
                round,
                player: player.clone(),
                rating: rounded(strength.rating),
                low: rounded(strength.low),
                high: rounded(strength.high),
            })
            .collect();
        rows
    })
}

/// To three decimals: more say nothing.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// How a value calls itself on the wire.
fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
