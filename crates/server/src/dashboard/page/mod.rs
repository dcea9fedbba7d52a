//! The pages of the dashboard: pure functions of a league, of stored records, and of statistics.
//!
//! - `league`: progress of the league, with `next_steps`; `standings`: the table; `cross_table`: who beat whom
//! - `rounds`: all rounds, and one with its matches; `one_match`: a match as a line, and as a page, with its
//!   `positions`
//! - `player`, `answer_times`, `losses`: one player; `referees`: the referees and their load
//! - `featured`: the boards of the front page; `race`: points by round; `latency`: answer times of all; `awards`

pub(super) mod answer_times;
pub(super) mod awards;
pub(super) mod cross_table;
pub(super) mod featured;
pub(super) mod latency;
pub(super) mod league;
pub(super) mod losses;
pub(super) mod next_steps;
pub(super) mod one_match;
pub(super) mod player;
mod positions;
pub(super) mod race;
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

/// A page with the version of the snapshot that it shows.
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

/// A rating with its 95 % interval.
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

impl From<matchday_core::league::Rating> for Rating {
    fn from(rating: matchday_core::league::Rating) -> Self {
        let [low, high] = rating.interval().map(|end| end.round() as i64);
        Self { value: rating.rating.round() as i64, low, high }
    }
}

pub(super) fn state(player: &Member<PlayerMeta>) -> &'static str {
    match player {
        player if player.withdrawn || player.away => "withdrawn",
        player if player.revoked || player.is_suspended() => "suspended",
        _ => "active",
    }
}
