//! The rounds, and one of them with its matches. Pure.

use super::one_match::MatchLine;
use super::{Named, Versioned};
use crate::dashboard::access::Access;
use crate::dashboard::projection::Snapshot;
use matchday_audit::describe;
use matchday_core::league::League;
use matchday_core::league::fixture::{Match, Round};
use matchday_core::protocol::messages::GameStatus;
use matchday_store::redact::EndpointRedactor;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct RoundsPage {
    rounds: Vec<RoundSummary>,
}

#[derive(Debug, Serialize)]
struct RoundSummary {
    round: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    matches: usize,
    decided: usize,
    technical: usize,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_at: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct RoundPage {
    round: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_at: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bye: Vec<Named>,
    total: usize,
    matches: Vec<MatchLine>,
}

pub fn all(snapshot: &Snapshot) -> Versioned<RoundsPage> {
    let league = &snapshot.projection.league;
    let rounds = league.rounds.iter().map(|round| {
        let decided = || league.matches_of(round).filter_map(|(_, game)| game.decision.as_ref());
        RoundSummary {
            round: round.round_id.0,
            title: title(league, round),
            matches: round.matches.len(),
            decided: decided().count(),
            technical: decided().filter(|decision| decision.status == GameStatus::TechnicalLoss).count(),
            state: state(league, round),
            starts_at: round.starts_at.map(describe::time),
        }
    });
    Versioned { version: snapshot.version(), page: RoundsPage { rounds: rounds.collect() } }
}

/// `None` if there is no such round.
pub fn one(
    snapshot: &Snapshot,
    number: u32,
    (offset, limit): (usize, usize),
    access: Access,
) -> Option<Versioned<RoundPage>> {
    let projection = &*snapshot.projection;
    let league = &projection.league;
    let round = league.rounds.iter().find(|round| round.round_id.0 == number)?;
    let redactor = EndpointRedactor::of(league);
    let matches = league.matches_of(round).skip(offset).take(limit);
    let byes = match &round.drawn {
        Some(drawn) => drawn.byes.as_slice(),
        None => round.bye.as_slice(),
    };
    let page = RoundPage {
        round: number,
        title: title(league, round),
        state: state(league, round),
        starts_at: round.starts_at.map(describe::time),
        bye: byes.iter().map(|id| Named::player(league, id)).collect(),
        total: round.matches.len(),
        matches: matches.map(|(id, game)| MatchLine::of(projection, id, game, &redactor, access)).collect(),
    };
    Some(Versioned { version: snapshot.version(), page })
}

/// The name of a round that has one besides its number.
fn title(league: &League, round: &Round) -> Option<String> {
    let numbered = format!("Round {}", round.round_id.0);
    league.title(round.round_id).filter(|title| *title != numbered).map(str::to_owned)
}

fn state(league: &League, round: &Round) -> &'static str {
    let is_begun = |game: &Match| game.in_play || game.decision.is_some();
    match round {
        round if round.completed => "completed",
        round if round.starts_at.is_none() => "scheduled",
        round if league.matches_of(round).any(|(_, game)| is_begun(game)) => "running",
        _ => "announced",
    }
}
