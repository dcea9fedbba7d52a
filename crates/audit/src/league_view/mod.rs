//! The read model of a league: what dashboard, report, terminal and CSV show, each in its own way. Serialisable and pure.
//!
//! # Layout
//! - here: a whole league; [`standings`]: the rows of the standings; [`columns`]: the columns that every rendering takes of them
//! - [`mod@matches`]: matches and rounds; [`players`]: a player's record

pub mod columns;
pub mod matches;
pub mod players;
pub mod standings;

pub use columns::{Kind, STANDINGS, Tone};
pub use matches::{MatchView, RoundView};
pub use players::PlayerView;
pub use standings::{Rating, Standing};

use crate::league_log::LeagueLog;
use crate::plural::count_of;
use crate::sides;
use crate::statistics;
use matchday_core::league::{League, LeagueEvent};
use matchday_core::protocol::messages::{GameStatus, Phase};
use matchday_core::protocol::{PlayerId, Timestamp};
use matchday_stats::{LeagueStatistics, Resampling};
use serde::Serialize;
use std::collections::BTreeMap;

/// A player, and what it calls itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlayerName {
    pub id: String,
    pub name: String,
    /// What it says that it plays by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
}

impl PlayerName {
    pub fn of(league: &League, id: &PlayerId) -> Self {
        let meta = league.players.get(id).map(|player| &player.meta);
        let name = meta.map(|meta| meta.display_name.escaped().to_string());
        let strategy = meta.and_then(|meta| meta.strategy.as_ref());
        Self {
            id: id.to_string(),
            name: name.unwrap_or_else(|| id.to_string()),
            strategy: strategy.map(|strategy| strategy.escaped().to_string()),
        }
    }
}

/// A league as far as it is.
#[derive(Debug, Clone, Serialize)]
pub struct LeagueView {
    pub league_id: String,
    pub game: String,
    /// `round_robin`, `swiss`.
    pub format: &'static str,
    pub phase: Phase,
    /// If the league is not over, how far it is.
    pub unfinished: Option<String>,
    /// All who share the title, if more than one does.
    pub champions: Vec<PlayerName>,
    pub created_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// The time of the last event.
    pub as_of: Option<Timestamp>,
    pub matches: usize,
    pub matches_decided: u32,
    pub technical_matches: usize,
    /// The timeout of a choice or move.
    pub deadline_ms: u64,
    /// Who is on one side in all matches, where that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sides: Option<String>,
    pub tie_breaks: Vec<&'static str>,
    pub standings: Vec<Standing>,
    /// In the order of the standings.
    pub players: Vec<PlayerView>,
    pub referees: Vec<RefereeView>,
    pub rounds: Vec<RoundView>,
    pub statistics: LeagueStatistics,
}

#[derive(Debug, Clone, Serialize)]
pub struct RefereeView {
    #[serde(flatten)]
    pub who: PlayerName,
    pub matches_decided: u32,
    /// Attempts that were assigned, and those of them that were lost after they had begun.
    pub attempts: u32,
    pub attempts_lost: u32,
    pub deviations: BTreeMap<String, u32>,
}

impl LeagueView {
    pub fn of(history: &LeagueLog, settings: &Resampling) -> Self {
        let league = &history.league;
        let statistics = statistics::statistics(league, settings);
        let decided = || {
            league
                .matches
                .values()
                .filter_map(|game| game.decision.as_ref())
        };
        let when = |wanted: fn(&LeagueEvent) -> bool| {
            history
                .entries
                .iter()
                .find(|entry| wanted(&entry.event))
                .map(|entry| entry.at)
        };
        let champions = match league.joint_champions() {
            joint if joint.is_empty() => league.champion.iter().cloned().collect(),
            joint => joint,
        };
        Self {
            league_id: league.settings.league_id.to_string(),
            game: league.settings.game_type.to_string(),
            format: format_name(league),
            phase: league.phase,
            unfinished: unfinished(league),
            champions: champions
                .iter()
                .map(|id| PlayerName::of(league, id))
                .collect(),
            created_at: when(|event| matches!(event, LeagueEvent::LeagueCreated { .. })),
            started_at: when(|event| matches!(event, LeagueEvent::LeagueStarted { .. })),
            completed_at: when(|event| matches!(event, LeagueEvent::LeagueCompleted { .. })),
            as_of: history.entries.last().map(|entry| entry.at),
            matches: league.matches.len(),
            matches_decided: league.matches_decided,
            technical_matches: decided()
                .filter(|decision| decision.status == GameStatus::TechnicalLoss)
                .count(),
            deadline_ms: u64::try_from(league.settings.timing.choice.as_millis())
                .unwrap_or(u64::MAX),
            sides: sides::note(league),
            tie_breaks: league
                .settings
                .tie_breaks
                .iter()
                .map(|rule| rule.name())
                .collect(),
            standings: standings::of(league, Some(&statistics), &BTreeMap::new()),
            players: players::of(history),
            referees: referees(league),
            rounds: league
                .rounds
                .iter()
                .map(|round| RoundView::whole(league, round))
                .collect(),
            statistics,
        }
    }

    /// Each row of the standings with the record of its player.
    pub fn ranked(&self) -> impl Iterator<Item = (&Standing, &PlayerView)> {
        self.standings.iter().zip(&self.players)
    }
}

/// `round_robin`, `swiss`; `fixtures` where the matches were given.
pub fn format_name(league: &League) -> &'static str {
    match &league.settings.fixtures {
        Some(_) => "fixtures",
        None => league.settings.competition.format.name(),
    }
}

fn unfinished(league: &League) -> Option<String> {
    let decided = league.matches_decided;
    let matches = league.matches.len();
    let rounds = league.rounds.len();
    let so_far = format!(
        "{decided} of {matches} matches are decided, in round {} of {rounds}",
        league.current_round
    );
    match league.phase {
        Phase::Completed => None,
        Phase::Registration => Some(format!(
            "The league has not begun: {}.",
            count_of(
                league.players.len(),
                "player has registered",
                "players have registered"
            )
        )),
        Phase::Running => Some(format!("The league is not over: {so_far}.")),
        Phase::Paused => Some(format!(
            "The league is not over, and paused by its operator: {so_far}."
        )),
    }
}

fn referees(league: &League) -> Vec<RefereeView> {
    let listed = league
        .referee_listings()
        .referees
        .into_iter()
        .map(|referee| RefereeView {
            who: PlayerName {
                id: referee.referee_id.to_string(),
                name: referee.display_name.escaped().to_string(),
                ..PlayerName::default()
            },
            matches_decided: referee.matches_decided,
            attempts: referee.attempts,
            attempts_lost: referee.attempts_lost,
            deviations: referee.deviations,
        });
    listed.collect()
}
