//! One player: record, opponents, choices, response times, matches. Pure.

use super::Versioned;
use super::answer_times::{self, AnswerTimes};
use super::cross_table::Meetings;
use super::losses::{self, Loss, LossRecords};
use super::one_match::match_line;
use super::race::points_by_round;
use crate::dashboard::access::Access;
use crate::dashboard::projection::Snapshot;
use matchday_audit::fix;
use matchday_audit::league_view::standings::{forms, letters, state, statistics_of};
use matchday_audit::league_view::{MatchView, PlayerName, Rating};
use matchday_core::league::League;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{GameType, PlayerId};
use matchday_stats::LeagueStatistics;
use matchday_stats::league::{AfterRound, PlayerStatistics};
use matchday_store::messages::Call;
use matchday_store::redact::EndpointRedactor;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Serialize)]
pub(crate) struct PlayerPage {
    id: String,
    name: String,
    state: &'static str,
    rank: u32,
    points: u32,
    played: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    technical_losses: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<Rating>,
    #[serde(skip_serializing_if = "Option::is_none")]
    luck: Option<String>,
    /// How likely so many points or more are by chance alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_chance: Option<f64>,
    agent: Agent,
    form: Vec<char>,
    points_by_round: Vec<u32>,
    /// What a ladder pairs it by, and after each round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pairing_rating: Option<PairingRating>,
    against: Vec<Against>,
    choices: Vec<Choice>,
    answers: AnswerTimes,
    deviations: Vec<Deviation>,
    technical_causes: Vec<TechnicalCause>,
    /// The newest losses, explained.
    why_lost: Vec<Loss>,
    matches: Vec<MatchView>,
}

#[derive(Debug, Serialize)]
struct PairingRating {
    now: i64,
    by_round: Vec<PairingRatingAfter>,
}

#[derive(Debug, Serialize)]
struct PairingRatingAfter {
    round: u32,
    value: i64,
}

#[derive(Debug, Serialize)]
struct Agent {
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
    version: String,
    dialect: Dialect,
    game_types: Vec<GameType>,
}

#[derive(Debug, Serialize)]
struct Against {
    #[serde(flatten)]
    who: PlayerName,
    #[serde(flatten)]
    record: Meetings,
}

#[derive(Debug, Serialize)]
struct Choice {
    choice: String,
    count: u32,
}

#[derive(Debug, Serialize)]
struct Deviation {
    what: String,
    count: u32,
    /// How to fix it, as `check` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct TechnicalCause {
    cause: String,
    count: u32,
}

/// `None` if there is no such player. `calls` are those that were made to it in its matches, `records` those of its losses.
pub(crate) fn page(
    snapshot: &Snapshot,
    id: &PlayerId,
    calls: &[Call],
    records: &LossRecords,
    statistics: Option<&LeagueStatistics>,
    access: Access,
) -> Option<Versioned<PlayerPage>> {
    let projection = &*snapshot.projection;
    let league = &projection.league;
    let player = league.players.get(id)?;
    let stats = league.player_stats(id)?.stats;
    let redactor = EndpointRedactor::of(league);
    let mine = statistics_of(statistics, id);
    let own = league
        .rounds
        .iter()
        .rev()
        .flat_map(|round| league.matches_of(round));
    let own = own.filter(|(_, game)| game.has(id));
    let page = PlayerPage {
        id: id.to_string(),
        name: player.meta.display_name.escaped().to_string(),
        state: state(player),
        rank: stats.rank,
        points: stats.points,
        played: stats.played,
        wins: stats.wins,
        draws: stats.draws,
        losses: stats.losses,
        technical_losses: stats.technical_losses,
        rating: mine.and_then(Rating::of),
        luck: mine.map(|mine| mine.sentence.clone()),
        by_chance: mine
            .filter(|mine| mine.record.total() > 0)
            .map(|mine| mine.as_good_by_chance),
        agent: Agent {
            strategy: PlayerName::of(league, id).strategy,
            version: player.meta.version.to_string(),
            dialect: player.dialect,
            game_types: player.meta.game_types.clone(),
        },
        form: forms(league).remove(id).unwrap_or_default(),
        points_by_round: points_by_round(league, id),
        pairing_rating: mine.and_then(pairing_rating),
        against: against(league, id),
        choices: counted(stats.choices, |choice, count| Choice { choice, count }),
        answers: answer_times::of(league, id, calls),
        deviations: counted(stats.deviations, |what, count| Deviation {
            fix: fix::of_deviation(&what),
            what: redactor.redact(&what),
            count,
        }),
        technical_causes: counted(stats.technical_causes, |cause, count| TechnicalCause {
            cause,
            count,
        }),
        why_lost: losses::of(projection, id, records, access),
        matches: own
            .map(|(id, game)| match_line(projection, id, game, &redactor, access))
            .collect(),
    };
    Some(Versioned {
        version: snapshot.version(),
        page,
    })
}

fn counted<T>(counts: BTreeMap<String, u32>, make: impl Fn(String, u32) -> T) -> Vec<T> {
    counts
        .into_iter()
        .map(|(what, count)| make(what, count))
        .collect()
}

fn pairing_rating(player: &PlayerStatistics) -> Option<PairingRating> {
    let pairing = player.pairing_rating.as_ref()?;
    let after = |after: &AfterRound| PairingRatingAfter {
        round: after.round,
        value: after.rating.round() as i64,
    };
    Some(PairingRating {
        now: pairing.now.rating.round() as i64,
        by_round: pairing.history.iter().map(after).collect(),
    })
}

fn against(league: &League, player: &PlayerId) -> Vec<Against> {
    let mut records: BTreeMap<&PlayerId, Meetings> = BTreeMap::new();
    for (id, game) in league
        .rounds
        .iter()
        .flat_map(|round| league.matches_of(round))
    {
        let Some(decision) = game.decision.as_ref().filter(|_| game.has(player)) else {
            continue;
        };
        let [a, b] = letters(
            decision.verdict(game),
            decision.status == GameStatus::TechnicalLoss,
        );
        let letter = if game.a == *player { a } else { b };
        records
            .entry(game.opponent(player))
            .or_default()
            .add(letter, id.as_str());
    }
    let named = |(id, record): (&PlayerId, Meetings)| Against {
        who: PlayerName::of(league, id),
        record,
    };
    records.into_iter().map(named).collect()
}
