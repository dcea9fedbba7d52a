//! The matches and the table of a league as rows for a spreadsheet. Pure.

use crate::describe;
use crate::league_log::LeagueLog;
use crate::verify::draw_proof;
use matchday_core::league::DecidedBy;
use matchday_core::league::fixture::Decision;
use matchday_core::protocol::messages::GameDetails;
use matchday_core::protocol::{DisplayName, PlayerId, RefereeId, UntrustedText};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct MatchRow<'a> {
    match_id: &'a str,
    round: u32,
    player_a: &'a str,
    player_b: &'a str,
    status: String,
    winner: Option<&'a str>,
    score_a: Option<u32>,
    score_b: Option<u32>,
    choice_a: Option<&'static str>,
    choice_b: Option<&'static str>,
    drawn_number: Option<u8>,
    draw: Option<String>,
    answer_ms_a: Option<u32>,
    answer_ms_b: Option<u32>,
    decided_by: Option<&'a str>,
    attempts: usize,
    decided_at: Option<String>,
    reason: Option<&'a str>,
    /// `P01 silent`: who lost without play, and why.
    blame: Option<String>,
    /// What people call the round, where it has a name of its own.
    round_title: Option<&'a str>,
}

pub(super) fn decider(decision: &Decision) -> &str {
    match &decision.by {
        DecidedBy::Referee(referee) => RefereeId::as_str(referee),
        DecidedBy::Manager => "manager",
    }
}

pub(super) fn matches(league_log: &LeagueLog) -> impl Iterator<Item = MatchRow<'_>> {
    let rounds = league_log.league.rounds.iter();
    let in_order = rounds.flat_map(|round| league_log.league.matches_of(round));
    in_order.map(|(match_id, game)| {
        let decision = game.decision.as_ref();
        let result = decision.map(|decision| &decision.result);
        let parity = result.and_then(|result| match &result.details.game {
            GameDetails::Parity(details) => Some(details),
            GameDetails::Other(_) => None,
        });
        let score = |player| result?.score.get(player).copied();
        let choice = |player| {
            parity?
                .choices
                .get(player)
                .copied()
                .flatten()
                .map(|parity| parity.as_str())
        };
        let answer_ms = |player| {
            result?
                .details
                .answer_ms
                .as_ref()?
                .get(player)
                .copied()
                .flatten()
        };
        let a = &game.a;
        let b = &game.b;
        MatchRow {
            match_id: match_id.as_str(),
            round: game.round_id.0,
            player_a: a.as_str(),
            player_b: b.as_str(),
            status: decision.map_or_else(|| "OPEN".into(), |decision| name_of(&decision.status)),
            winner: result
                .and_then(|result| result.winner.as_ref())
                .map(PlayerId::as_str),
            score_a: score(a),
            score_b: score(b),
            choice_a: choice(a),
            choice_b: choice(b),
            drawn_number: parity.and_then(|details| details.drawn_number),
            draw: draw_proof(&league_log.league, match_id),
            answer_ms_a: answer_ms(a),
            answer_ms_b: answer_ms(b),
            decided_by: decision.map(decider),
            attempts: game.attempts.len(),
            decided_at: decision.map(|decision| describe::time(decision.at)),
            reason: result
                .and_then(|result| result.reason.as_ref())
                .map(UntrustedText::raw),
            blame: decision.and_then(|decision| blame(decision, [a, b])),
            round_title: league_log.league.title(game.round_id),
        }
    })
}

fn blame(decision: &Decision, players: [&PlayerId; 2]) -> Option<String> {
    let of = |player: &PlayerId| Some(format!("{player} {}", decision.blame(player)?.cause.name()));
    let all: Vec<_> = players.into_iter().filter_map(of).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// How a value calls itself on the wire.
fn name_of(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// A row of the standings as the manager tells them, and what the player says that it plays by.
#[derive(Debug, Serialize)]
pub(super) struct StandingLine {
    rank: u32,
    player_id: PlayerId,
    display_name: DisplayName,
    played: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    points: u32,
    technical_losses: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating_deviation: Option<u32>,
    /// A row has all its columns, also where there is nothing to say.
    rank_reason: UntrustedText,
    strategy: Option<DisplayName>,
}

pub(super) fn standings(league_log: &LeagueLog) -> impl Iterator<Item = StandingLine> {
    let players = &league_log.league.players;
    league_log
        .league
        .rows()
        .to_vec()
        .into_iter()
        .map(|row| StandingLine {
            rank: row.shown_rank(),
            strategy: players
                .get(&row.player_id)
                .and_then(|player| player.meta.strategy.clone()),
            player_id: row.player_id,
            display_name: row.display_name,
            played: row.played,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            points: row.points,
            technical_losses: row.technical_losses.unwrap_or_default(),
            rating: row.rating,
            rating_deviation: row.rating_deviation,
            rank_reason: row.rank_reason.unwrap_or_default(),
        })
}
