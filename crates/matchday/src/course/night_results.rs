//! A league as its students played it, from its log: who registered when and with which versions, and what they won. Pure.

use super::plan::local;
use jiff::tz::TimeZone;
use matchday_audit::league_log::LeagueLog;
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::messages::{Phase, PlayerMeta};
use matchday_core::protocol::{PlayerId, Timestamp};
use std::collections::BTreeMap;

/// One league of a section that has begun.
#[derive(Debug, Clone)]
pub(crate) struct Night {
    pub(crate) section: String,
    pub(crate) league_id: String,
    /// On which it began, where the course is.
    pub(crate) date: String,
    pub(crate) began: Timestamp,
    pub(crate) completed: bool,
    /// By the name on the roster.
    pub(crate) players: BTreeMap<String, Performance>,
}

/// What one agent did in a league.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Performance {
    pub(crate) registered_at: Option<Timestamp>,
    /// Of the agent's software, in the order in which they registered.
    pub(crate) versions: Vec<String>,
    /// How often another version or another address took the agent's place.
    pub(crate) replacements: u32,
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    pub(crate) losses: u32,
    pub(crate) technical_losses: u32,
}

impl Performance {
    /// The share of the points that could be won, of a hundred.
    pub(crate) fn score(&self) -> f64 {
        let played = self.wins + self.draws + self.losses;
        match played {
            0 => 0.0,
            played => 100.0 * f64::from(3 * self.wins + self.draws) / f64::from(3 * played),
        }
    }

    /// Whether its agent answered in any match.
    pub(crate) fn took_part(&self) -> bool {
        self.wins + self.draws + self.losses > self.technical_losses
    }

    fn register(&mut self, at: Timestamp, meta: &PlayerMeta) {
        self.registered_at = self.registered_at.or(Some(at));
        self.note_version(meta);
    }

    fn note_version(&mut self, meta: &PlayerMeta) {
        let version = meta.version.to_string();
        if self.versions.last() != Some(&version) {
            self.versions.push(version);
        }
    }
}

impl Night {
    /// `None` if the league has not begun.
    pub(crate) fn of(log: &LeagueLog, section: &str, zone: &TimeZone) -> Option<Self> {
        let league = &log.league;
        let began = log.entries.iter().find_map(|entry| {
            matches!(entry.event, LeagueEvent::LeagueStarted { .. }).then_some(entry.at)
        })?;
        let mut by_id: BTreeMap<&PlayerId, (Performance, &PlayerMeta)> = BTreeMap::new();
        for entry in &log.entries {
            match &entry.event {
                LeagueEvent::PlayerRegistered {
                    player_id, meta, ..
                }
                | LeagueEvent::PlayerCarriedOver {
                    player_id, meta, ..
                } => {
                    let (performance, known) = by_id
                        .entry(player_id)
                        .or_insert_with(|| (Performance::default(), meta));
                    performance.register(entry.at, meta);
                    *known = meta;
                }
                LeagueEvent::PlayerRejoined {
                    player_id, meta, ..
                } => {
                    if let Some((performance, known)) = by_id.get_mut(player_id) {
                        let same = known.version == meta.version
                            && known.contact_endpoint == meta.contact_endpoint;
                        performance.replacements += u32::from(!same);
                        performance.note_version(meta);
                        *known = meta;
                    }
                }
                _ => {}
            }
        }
        for place in league.standings() {
            if let Some((performance, _)) = by_id.get_mut(&place.player) {
                performance.wins = place.tally.wins;
                performance.draws = place.tally.draws;
                performance.losses = place.tally.losses;
                performance.technical_losses = place.tally.technical_losses;
            }
        }
        let players = by_id
            .into_values()
            .map(|(performance, meta)| (meta.display_name.raw().to_owned(), performance));
        Some(Self {
            section: section.to_owned(),
            league_id: league.settings.league_id.to_string(),
            date: local(began, zone).date().to_string(),
            began,
            completed: league.phase == Phase::Completed,
            players: players.collect(),
        })
    }
}
