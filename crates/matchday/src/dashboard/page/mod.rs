//! What each page of the dashboard shows: pure functions of a league, of what was recorded, and of statistics.
//!
//! - `league`: how far it has come, and what to do next (`next`); `standings`: the table; `cross`: who beat whom
//! - `rounds`: all of them, and one with its matches; `one_match`: a match as a line, and as a page
//! - `player`, `answers`: all about one player; `referees`: who they are and what they have in hand

pub(super) mod answers;
pub(super) mod cross;
pub(super) mod league;
pub(super) mod next;
pub(super) mod one_match;
pub(super) mod player;
pub(super) mod referees;
pub(super) mod rounds;
pub(super) mod standings;
#[cfg(test)]
mod tests;

use matchday_core::league::League;
use matchday_core::league::member::Member;
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::PlayerMeta;
use serde::Serialize;

/// An answer, with the version of what it shows.
#[derive(Debug, Serialize)]
pub(super) struct Versioned<T> {
    pub(super) version: u64,
    #[serde(flatten)]
    pub(super) page: T,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Named {
    pub(super) id: String,
    pub(super) name: String,
}

impl Named {
    pub(super) fn player(league: &League, id: &PlayerId) -> Self {
        let known = league.players.get(id);
        let name =
            known.map_or_else(|| id.to_string(), |player| player.meta.display_name.escaped().to_string());
        Self { id: id.to_string(), name }
    }
}

/// A rating, and between what it lies with 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Rating {
    pub(super) value: i64,
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Rating {
    pub(super) fn of(player: &matchday_stats::league::PlayerStatistics) -> Option<Self> {
        let strength = player.bradley_terry?;
        let whole = |rating: f64| rating.round() as i64;
        Some(Self { value: whole(strength.rating), low: whole(strength.low), high: whole(strength.high) })
    }
}

pub(super) fn state(player: &Member<PlayerMeta>) -> &'static str {
    match player {
        player if player.withdrawn => "withdrawn",
        player if player.revoked || player.is_suspended() => "suspended",
        _ => "active",
    }
}
