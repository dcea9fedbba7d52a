//! A referee's durable state: a fold over its events. `Durable::apply` is the only place where it changes.

use super::event::{Assignment, RefereeEvent};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{GameStatus, Lifecycle, MatchResult};
use crate::protocol::{Attempt, Endpoint, MatchId, PlayerId, RefereeId, RoundId};
use crate::registration::{Application, Identity};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that the events of a referee say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Durable {
    /// How it registers.
    applied: Option<Application>,
    identity: Option<Identity<RefereeId>>,
    matches: BTreeMap<MatchId, AssignedMatch>,
    /// The endings of matches of completed rounds, as far as known, until the league ends.
    finished: BTreeMap<MatchId, Option<Ending>>,
    /// The number of assignments: matches with the same start time begin in the order of assignment.
    assigned: u64,
    /// Rounds up to this one are completed: their announcements are outdated duplicates.
    closed: Option<RoundId>,
    /// Learned dialects by endpoint, with the dialect that had been assigned.
    dialects: BTreeMap<Endpoint, LearnedDialect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LearnedDialect {
    told: Dialect,
    dialect: Dialect,
}

/// A match that this referee was assigned.
#[derive(Debug, Clone, PartialEq)]
pub enum AssignedMatch {
    /// To be played, or being played.
    Open {
        /// Matches with the same start time begin in this order.
        order: u64,
        /// The attempt to run.
        assignment: Arc<Assignment>,
    },
    /// Decided; the manager has not acknowledged the report yet.
    Decided {
        /// The attempt that was run.
        assignment: Arc<Assignment>,
        /// What is reported until the manager acknowledges it.
        result: Arc<MatchResult>,
    },
    /// Done. Enough is kept to recognise a duplicate announcement.
    Closed {
        /// When this round is over, the match is dropped.
        round_id: RoundId,
        /// A later attempt would be a new assignment.
        attempt: Attempt,
        /// Whether the manager recorded this referee's result. If not, it may assign the match again.
        recorded: bool,
        /// The result, if there is one.
        ending: Option<Ending>,
    },
}

/// How a match ended, for `get_match_state`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// Win, draw or technical loss.
    pub status: GameStatus,
    /// Absent if nobody has won.
    pub winner: Option<PlayerId>,
}

impl Ending {
    pub(super) fn of(result: &MatchResult) -> Option<Self> {
        Some(Self {
            status: result.status?,
            winner: result.winner.clone(),
        })
    }
}

impl AssignedMatch {
    /// The latest attempt at this match here.
    pub fn attempt(&self) -> Attempt {
        match self {
            Self::Open { assignment, .. } | Self::Decided { assignment, .. } => assignment.attempt,
            Self::Closed { attempt, .. } => *attempt,
        }
    }

    fn round_id(&self) -> RoundId {
        match self {
            Self::Open { assignment, .. } | Self::Decided { assignment, .. } => assignment.round_id,
            Self::Closed { round_id, .. } => *round_id,
        }
    }
}

impl Durable {
    /// `None` until the manager has accepted the registration.
    pub fn identity(&self) -> Option<&Identity<RefereeId>> {
        self.identity.as_ref()
    }

    /// The keys of the registration; `None` until the first try.
    pub fn applied(&self) -> Option<&Application> {
        self.applied.as_ref()
    }

    /// The matches of rounds that are not over.
    pub fn matches(&self) -> &BTreeMap<MatchId, AssignedMatch> {
        &self.matches
    }

    /// Matches of rounds that are over.
    pub fn finished(&self) -> &BTreeMap<MatchId, Option<Ending>> {
        &self.finished
    }

    /// The referee's lifecycle state.
    pub fn lifecycle(&self) -> Lifecycle {
        match &self.identity {
            _ if self.closed == Some(RoundId(u32::MAX)) => Lifecycle::Shutdown,
            None => Lifecycle::Init,
            Some(_) if self.assigned > 0 => Lifecycle::Active,
            Some(_) => Lifecycle::Registered,
        }
    }

    /// The assignment of a match that is still to be decided.
    pub fn open(&self, match_id: &MatchId) -> Option<&Arc<Assignment>> {
        match self.matches.get(match_id)? {
            AssignedMatch::Open { assignment, .. } => Some(assignment),
            AssignedMatch::Decided { .. } | AssignedMatch::Closed { .. } => None,
        }
    }

    /// The dialect for a player that was assigned with `told`. A learned dialect counts as long as the assigned one is
    /// unchanged.
    pub fn dialect(&self, endpoint: &Endpoint, told: Dialect) -> Dialect {
        match self.dialects.get(endpoint) {
            Some(learnt) if learnt.told == told => learnt.dialect,
            _ => told,
        }
    }

    /// Whether the manager has told that this round, or a later one, is completed.
    pub fn is_closed(&self, round_id: RoundId) -> bool {
        self.closed.is_some_and(|closed| round_id <= closed)
    }

    pub(super) fn apply(&mut self, event: &RefereeEvent) {
        match event {
            RefereeEvent::Applied(application) => self.applied = Some(application.clone()),
            RefereeEvent::Registered { identity } => self.register(identity),
            RefereeEvent::Assigned { assignment } => {
                self.assigned = self.assigned.saturating_add(1);
                let open = AssignedMatch::Open {
                    order: self.assigned,
                    assignment: assignment.clone(),
                };
                self.matches.insert(assignment.match_id.clone(), open);
            }
            RefereeEvent::Decided {
                match_id, result, ..
            } => self.decide(match_id, result),
            RefereeEvent::Reported { match_id, .. } => self.close(match_id, true),
            RefereeEvent::ReportRefused { match_id, .. }
            | RefereeEvent::HandedBack { match_id, .. }
            | RefereeEvent::Abandoned { match_id, .. } => self.close(match_id, false),
            RefereeEvent::DialectLearned {
                endpoint,
                told,
                dialect,
            } => {
                let learnt = LearnedDialect {
                    told: *told,
                    dialect: *dialect,
                };
                self.dialects.insert(endpoint.clone(), learnt);
            }
            RefereeEvent::RoundClosed { round_id } => {
                self.closed = self.closed.max(Some(*round_id));
                self.matches.retain(|match_id, held| match held {
                    AssignedMatch::Closed {
                        round_id: of,
                        ending,
                        ..
                    } if *of <= *round_id => {
                        let ending = ending.take();
                        self.finished.insert(match_id.clone(), ending);
                        false
                    }
                    _ => true,
                });
            }
            RefereeEvent::LeagueClosed => {
                self.closed = Some(RoundId(u32::MAX));
                self.matches.clear();
                self.finished.clear();
            }
        }
    }

    /// Another id or token means another league, or the same one restarted: old matches are dropped, because their ids
    /// may be reused.
    fn register(&mut self, identity: &Identity<RefereeId>) {
        if !self
            .identity
            .as_ref()
            .is_some_and(|known| known.is_of_same_registration(identity))
        {
            self.matches.clear();
            self.finished.clear();
            self.dialects.clear();
            self.closed = None;
        }
        self.identity = Some(identity.clone());
    }

    fn decide(&mut self, match_id: &MatchId, result: &Arc<MatchResult>) {
        let Some(assignment) = self.open(match_id).cloned() else {
            return;
        };
        let result = result.clone();
        self.matches.insert(
            match_id.clone(),
            AssignedMatch::Decided { assignment, result },
        );
    }

    fn close(&mut self, match_id: &MatchId, recorded: bool) {
        let Some(held) = self.matches.get_mut(match_id) else {
            return;
        };
        let ending = match held {
            AssignedMatch::Decided { result, .. } => Ending::of(result),
            AssignedMatch::Open { .. } | AssignedMatch::Closed { .. } => None,
        };
        *held = AssignedMatch::Closed {
            round_id: held.round_id(),
            attempt: held.attempt(),
            recorded,
            ending,
        };
    }
}
