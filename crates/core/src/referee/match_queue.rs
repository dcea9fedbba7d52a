//! Matches that wait: for their start time or for capacity, or for the endpoints of their players.

use super::event::Assignment;
use crate::game::Seat;
use crate::protocol::{Endpoint, MatchId, PlayerId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Not durable: after a restart every open match is queued again.
#[derive(Debug, Default)]
pub(super) struct MatchQueue {
    /// Matches that wait for their start time or for capacity, in order.
    ready: BTreeSet<(Timestamp, u64, MatchId)>,
    /// Matches whose players' endpoints are not known yet.
    without_endpoint: BTreeSet<MatchId>,
    /// Endpoints of players, as far as the manager had to be queried.
    directory: BTreeMap<PlayerId, Endpoint>,
}

impl MatchQueue {
    /// The endpoint of a player, from its assignment or from the manager's answer.
    pub(super) fn endpoint(&self, assignment: &Assignment, seat: Seat) -> Option<Endpoint> {
        let player = assignment.player(seat);
        player
            .endpoint
            .clone()
            .or_else(|| self.directory.get(&player.player_id).cloned())
    }

    pub(super) fn has_endpoints(&self, assignment: &Assignment) -> bool {
        Seat::BOTH
            .iter()
            .all(|seat| self.endpoint(assignment, *seat).is_some())
    }

    /// Queues a match; false if the endpoints of its players are to be queried first.
    pub(super) fn put(&mut self, match_id: &MatchId, order: u64, assignment: &Assignment) -> bool {
        let is_ready = self.has_endpoints(assignment);
        if is_ready {
            self.without_endpoint.remove(match_id);
            self.put_at(assignment.starts_at, order, match_id.clone());
        } else {
            self.without_endpoint.insert(match_id.clone());
        }
        is_ready
    }

    /// Queues a match for another time than that of its assignment.
    pub(super) fn put_at(&mut self, at: Timestamp, order: u64, match_id: MatchId) {
        self.ready.insert((at, order, match_id));
    }

    /// The manager has told the endpoints of players.
    pub(super) fn learn(&mut self, endpoints: impl Iterator<Item = (PlayerId, Endpoint)>) {
        self.directory.extend(endpoints);
    }

    pub(super) fn without_endpoint(&self) -> Vec<MatchId> {
        self.without_endpoint.iter().cloned().collect()
    }

    /// Takes the first match whose time has come.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<MatchId> {
        self.deadline().filter(|at| *at <= now)?;
        self.ready.pop_first().map(|(_, _, match_id)| match_id)
    }

    pub(super) fn remove(&mut self, match_id: &MatchId) {
        self.ready.retain(|(_, _, queued)| queued != match_id);
        self.without_endpoint.remove(match_id);
    }

    pub(super) fn clear(&mut self) {
        self.ready.clear();
        self.without_endpoint.clear();
    }

    /// How many matches wait.
    pub(super) fn len(&self) -> usize {
        self.ready.len() + self.without_endpoint.len()
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.ready.first().map(|(at, ..)| *at)
    }
}
