//! How far the league has come. Pure.

use super::next::{self, Next};
use super::{Named, Versioned};
use crate::dashboard::annals::Snapshot;
use crate::dashboard::viewer::Sees;
use crate::store::words::of_time;
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::{GameStatus, Phase};
use matchday_stats::LeagueStatistics;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(in crate::dashboard) struct Page {
    league_id: String,
    game: String,
    format: &'static str,
    phase: Phase,
    live: bool,
    now: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    champion: Option<Named>,
    players: usize,
    referees: usize,
    round: Round,
    matches: Matches,
    technical_losses: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    luck: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_two: Option<String>,
    next: Vec<Next>,
    operator: bool,
}

#[derive(Debug, Serialize)]
struct Round {
    current: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    announced_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_at: Option<String>,
}

#[derive(Debug, Serialize)]
struct Matches {
    decided: u32,
    playing: usize,
    waiting: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
}

/// Where the dashboard is, beyond what the league itself knows.
#[derive(Debug, Clone)]
pub(in crate::dashboard) struct Place {
    pub(in crate::dashboard) live: bool,
    /// Where the manager is called, if there is one.
    pub(in crate::dashboard) manager: Option<String>,
    /// What its file is called.
    pub(in crate::dashboard) file: String,
}

pub(in crate::dashboard) fn page(
    snapshot: &Snapshot,
    statistics: Option<&LeagueStatistics>,
    place: &Place,
    now: Timestamp,
    sees: Sees,
) -> Versioned<Page> {
    let annals = &*snapshot.annals;
    let league = &annals.league;
    let drawn_up = !league.rounds.is_empty();
    let all_drawn = usize::try_from(league.rounds_in_all()).is_ok_and(|all| all == league.rounds.len());
    let total = league.matches.len();
    let playing = league.matches.values().filter(|game| game.in_play).count();
    let decided = league.matches.values().filter_map(|game| game.decision.as_ref());
    let technical = decided.filter(|decision| decision.status == GameStatus::TechnicalLoss).count();
    let open = league.open_round();
    let done = usize::try_from(league.matches_decided).unwrap_or(usize::MAX);
    let page = Page {
        league_id: league.settings.league_id.to_string(),
        game: league.settings.game_type.to_string(),
        format: match &league.settings.fixtures {
            Some(_) => "fixtures",
            None => league.settings.competition.format.name(),
        },
        phase: league.phase,
        live: place.live,
        now: of_time(now),
        created_at: annals.created_at.map(of_time),
        started_at: annals.started_at.map(of_time),
        completed_at: annals.completed_at.filter(|_| league.phase == Phase::Completed).map(of_time),
        champion: league.champion.as_ref().map(|id| Named::player(league, id)),
        players: league.players.len(),
        referees: league.referees.len(),
        round: Round {
            current: league.current_round,
            total: drawn_up.then(|| league.rounds_in_all()),
            announced_at: annals.announced_at.get(&league.current_round).copied().map(of_time),
            starts_at: open.and_then(|round| round.starts_at).map(of_time),
        },
        matches: Matches {
            decided: league.matches_decided,
            playing,
            waiting: total.saturating_sub(done).saturating_sub(playing),
            // Rounds that are still to be drawn have matches that nobody can count yet.
            total: (drawn_up && all_drawn).then_some(total),
        },
        technical_losses: technical,
        luck: statistics.map(|statistics| statistics.luck.sentence.clone()),
        top_two: statistics.and_then(|all| all.top_two.as_ref()).map(|top| top.sentence.clone()),
        next: next::steps(league, place),
        operator: sees.operator,
    };
    Versioned { version: snapshot.version(), page }
}
