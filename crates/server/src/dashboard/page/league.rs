//! The progress of the league. Pure.

use super::Versioned;
use super::awards::{self, Award};
use super::next_steps::{self, NextStep};
use crate::dashboard::access::Access;
use crate::dashboard::projection::Snapshot;
use matchday_audit::describe;
use matchday_audit::league_view::{PlayerName, format_name};
use matchday_core::league::{League, Registration};
use matchday_core::protocol::Timestamp;
use matchday_core::protocol::messages::{AgentRole, GameStatus, Phase};
use matchday_stats::LeagueStatistics;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize)]
pub(crate) struct LeaguePage {
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
    champion: Option<PlayerName>,
    /// All who hold the title, if several share it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    joint_champions: Vec<PlayerName>,
    /// When it is over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    awards: Vec<Award>,
    players: usize,
    referees: usize,
    round: Round,
    matches: Matches,
    technical_losses: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    luck: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_two: Option<String>,
    next: Vec<NextStep>,
    /// Which players may register, if not everyone may.
    #[serde(skip_serializing_if = "Option::is_none")]
    roster: Option<Roster>,
    /// Whether it is one of the leagues of a service, which has a list of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    in_service: bool,
    /// How agents join, while they can.
    #[serde(skip_serializing_if = "Option::is_none")]
    join: Option<Joining>,
    /// Whether nobody else can join before its operator opens registration.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    registration_closed: bool,
    /// Whether agents need no tokens, so that results are unproven.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tokens_optional: bool,
    operator: bool,
}

#[derive(Debug, Serialize)]
struct Roster {
    places: usize,
    taken: usize,
    /// Names of people who are not here yet, for the operator alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<String>>,
}

impl Roster {
    fn of(league: &League, access: Access) -> Option<Self> {
        let named: Vec<_> = league
            .roster
            .iter()
            .filter(|place| place.invitation.role == AgentRole::Player)
            .filter_map(|place| Some((place.invitation.name.as_ref()?, place.holder.is_some())))
            .collect();
        let missing = named.iter().filter(|(_, taken)| !taken);
        (!named.is_empty()).then(|| Self {
            places: named.len(),
            taken: named.iter().filter(|(_, taken)| *taken).count(),
            missing: access
                .operator
                .then(|| missing.map(|(name, _)| name.raw().to_owned()).collect()),
        })
    }
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

/// Where the league runs and is stored, for the commands that are suggested.
#[derive(Debug, Clone)]
pub(crate) struct LeagueLocation {
    pub live: bool,
    /// The URL of the manager, if it runs.
    pub manager: Option<String>,
    /// The file name of the store.
    pub file: String,
    /// Whether agents can dial out.
    pub has_relay: bool,
    /// Whether its operator lets others register.
    pub registration: Registration,
}

impl LeagueLocation {
    /// Whether it is one of many at an address, all of which are steered with tokens.
    pub(super) fn is_of_a_service(&self) -> bool {
        let manager = self.manager.as_deref().unwrap_or_default();
        manager.contains("/leagues/")
    }
}

/// How an agent joins a league.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Joining {
    /// Where it registers.
    pub url: String,
    /// Whether it can dial out, so that nobody needs to reach it.
    pub dial: bool,
    /// Whether it needs a join code, which stands in the URL.
    pub needs_code: bool,
}

/// Whether players can register now.
fn is_open(league: &League) -> bool {
    match league.phase {
        Phase::Registration => true,
        Phase::Running | Phase::Paused => league.is_ladder(),
        Phase::Completed => false,
    }
}

pub(crate) fn page(
    snapshot: &Snapshot,
    statistics: Option<&LeagueStatistics>,
    location: &LeagueLocation,
    now: Timestamp,
    access: Access,
) -> Versioned<LeaguePage> {
    let projection = &*snapshot.projection;
    let league = &projection.league;
    let drawn_up = !league.rounds.is_empty();
    let all_drawn =
        usize::try_from(league.rounds_in_all()).is_ok_and(|all| all == league.rounds.len());
    let total = league.matches.len();
    let playing = league.matches.values().filter(|game| game.in_play).count();
    let decided = league
        .matches
        .values()
        .filter_map(|game| game.decision.as_ref());
    let technical = decided
        .filter(|decision| decision.status == GameStatus::TechnicalLoss)
        .count();
    let open = league.open_round();
    let done = usize::try_from(league.matches_decided).unwrap_or(usize::MAX);
    let page = LeaguePage {
        league_id: league.settings.league_id.to_string(),
        game: league.settings.game_type.to_string(),
        format: format_name(league),
        phase: league.phase,
        live: location.live,
        now: describe::time(now),
        created_at: projection.created_at.map(describe::time),
        started_at: projection.started_at.map(describe::time),
        completed_at: projection
            .completed_at
            .filter(|_| league.phase == Phase::Completed)
            .map(describe::time),
        champion: league
            .champion
            .as_ref()
            .map(|id| PlayerName::of(league, id)),
        joint_champions: league
            .joint_champions()
            .iter()
            .map(|id| PlayerName::of(league, id))
            .collect(),
        awards: match league.phase {
            Phase::Completed => awards::of(projection),
            _ => Vec::new(),
        },
        players: league.players.len(),
        referees: league.referees.len(),
        round: Round {
            current: league.current_round,
            // A ladder has no last round.
            total: (drawn_up && !league.is_ladder()).then(|| league.rounds_in_all()),
            announced_at: projection
                .announced_at
                .get(&league.current_round)
                .copied()
                .map(describe::time),
            starts_at: open.and_then(|round| round.starts_at).map(describe::time),
        },
        matches: Matches {
            decided: league.matches_decided,
            playing,
            waiting: total.saturating_sub(done).saturating_sub(playing),
            // Rounds that are still to be drawn have matches that nobody can count yet.
            total: (drawn_up && all_drawn && !league.is_ladder()).then_some(total),
        },
        roster: Roster::of(league, access),
        in_service: location.is_of_a_service(),
        join: location
            .manager
            .clone()
            .filter(|_| is_open(league) && location.registration.is_open())
            .map(|url| Joining {
                url,
                dial: location.has_relay,
                needs_code: league.needs_code(AgentRole::Player),
            }),
        registration_closed: is_open(league) && !location.registration.is_open(),
        tokens_optional: !league.settings.tokens.is_required(),
        technical_losses: technical,
        luck: statistics.map(|statistics| statistics.luck.sentence.clone()),
        top_two: statistics
            .and_then(|all| all.top_two.as_ref())
            .map(|top| top.sentence.clone()),
        next: next_steps::steps(league, location, access),
        operator: access.operator,
    };
    Versioned {
        version: snapshot.version(),
        page,
    }
}
