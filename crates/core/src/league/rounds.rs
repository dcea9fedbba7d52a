//! The time of a round: when its matches may begin, which of them wait for their players, and when a ladder pairs again.

use super::state::League;
use crate::protocol::Timestamp;
use crate::protocol::ids::{MatchId, PlayerId};
use std::collections::BTreeMap;

/// What the open round waits for.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// When the matches of the announced round may begin, until then.
    release_at: Option<Timestamp>,
    /// The players that have not acknowledged the round's announcement, with their matches, which wait for that.
    unacknowledged: BTreeMap<PlayerId, MatchId>,
    /// When those matches stop waiting for the acknowledgement.
    announcement_deadline: Option<Timestamp>,
    /// Whether referees that begin matches on hearing of them, and have none in this round, are still to hear of it.
    has_untold: bool,
    /// When players of a ladder that have had as many matches as they allow may have another, while nobody can be paired.
    pair_at: Option<Timestamp>,
}

impl Rounds {
    /// A round is announced, and its matches may begin at this time.
    pub(super) fn open(&mut self, now: Timestamp, starts_at: Option<Timestamp>) {
        self.release_at = starts_at.filter(|at| *at > now);
        self.has_untold = true;
    }

    /// Once in each round: whether those that hear of it when its matches may begin are to be told.
    pub(super) fn take_untold(&mut self) -> bool {
        std::mem::take(&mut self.has_untold)
    }

    /// The matches of these players wait until the players have acknowledged the announcement.
    pub(super) fn await_players(&mut self, players: BTreeMap<PlayerId, MatchId>, until: Timestamp) {
        self.announcement_deadline = (!players.is_empty()).then_some(until);
        self.unacknowledged = players;
    }

    /// A player has acknowledged the announcement, or cannot be reached: its match stops waiting for it. Returns the match
    /// if it waits for nobody else.
    pub(super) fn acknowledge(&mut self, league: &League, player: &PlayerId) -> Option<MatchId> {
        let match_id = self.unacknowledged.remove(player)?;
        if self.unacknowledged.is_empty() {
            self.announcement_deadline = None;
        }
        let opponent = league
            .matches
            .get(&match_id)
            .map(|fixture| fixture.opponent(player));
        let is_free = opponent.is_none_or(|opponent| !self.unacknowledged.contains_key(opponent));
        is_free.then_some(match_id)
    }

    /// Whether a match waits for one of its players.
    pub(super) fn is_awaiting(&self, match_id: &MatchId) -> bool {
        self.unacknowledged
            .values()
            .any(|awaited| awaited == match_id)
    }

    /// Whether matches may begin.
    pub(super) fn is_released(&mut self, now: Timestamp) -> bool {
        let is_released = self.release_at.is_none_or(|at| at <= now);
        if is_released {
            self.release_at = None;
        }
        is_released
    }

    /// When a ladder is to pair again, if it is.
    pub(super) fn pair_at(&mut self, at: Option<Timestamp>) {
        self.pair_at = at;
    }

    /// The league has ended.
    pub(super) fn stop(&mut self) {
        self.release_at = None;
    }

    /// Whether something that the league waited for has come.
    pub(super) fn tick(&mut self, now: Timestamp) -> bool {
        let has_come = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        let has_waited = has_come(self.announcement_deadline);
        if has_waited {
            self.unacknowledged.clear();
            self.announcement_deadline = None;
        }
        has_waited || has_come(self.release_at) || has_come(self.pair_at)
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        [self.release_at, self.announcement_deadline, self.pair_at]
            .into_iter()
            .flatten()
            .min()
    }
}
