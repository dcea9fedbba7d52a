//! The part of a referee that survives a crash: a fold over its events. `Durable::apply` is the only thing that
//! changes it.

use super::event::{Assignment, RefereeEvent};
use crate::enrol::{Application, Identity};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{GameStatus, Lifecycle, MatchResult};
use crate::protocol::{Attempt, Endpoint, MatchId, PlayerId, RefereeId, RoundId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Durable {
    /// How it registers.
    applied: Option<Application>,
    identity: Option<Identity<RefereeId>>,
    matches: BTreeMap<MatchId, Held>,
    /// How matches of rounds that are over ended, as far as that is known, until the league ends.
    finished: BTreeMap<MatchId, Option<Ending>>,
    /// How many assignments there were, so that matches that start together start in the order of their assignment.
    assigned: u64,
    /// Rounds up to this one are over: an announcement of theirs that still comes is an old copy.
    closed: Option<RoundId>,
    /// What the players at these endpoints understand, and what had been said of them.
    dialects: BTreeMap<Endpoint, Learnt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Learnt {
    told: Dialect,
    dialect: Dialect,
}

/// A match, as far as it concerns this referee.
#[derive(Debug, Clone, PartialEq)]
pub enum Held {
    /// To be played, or being played.
    Open { order: u64, assignment: Arc<Assignment> },
    /// Decided, and the manager has not yet answered the report.
    Decided { assignment: Arc<Assignment>, result: Arc<MatchResult> },
    /// Done with. What is left is enough to know an old announcement when it comes again.
    Settled {
        round_id: RoundId,
        attempt: Attempt,
        /// Whether the manager recorded a result from here. If it did not, it may assign the match here anew.
        recorded: bool,
        /// How it ended here, if it did.
        ending: Option<Ending>,
    },
}

/// How a match ended, for who asks for its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ending {
    pub status: GameStatus,
    pub winner: Option<PlayerId>,
}

impl Ending {
    pub(super) fn of(result: &MatchResult) -> Option<Self> {
        Some(Self { status: result.status?, winner: result.winner.clone() })
    }
}

impl Held {
    pub fn attempt(&self) -> Attempt {
        match self {
            Self::Open { assignment, .. } | Self::Decided { assignment, .. } => assignment.attempt,
            Self::Settled { attempt, .. } => *attempt,
        }
    }

    fn round_id(&self) -> RoundId {
        match self {
            Self::Open { assignment, .. } | Self::Decided { assignment, .. } => assignment.round_id,
            Self::Settled { round_id, .. } => *round_id,
        }
    }
}

impl Durable {
    pub fn identity(&self) -> Option<&Identity<RefereeId>> {
        self.identity.as_ref()
    }

    pub fn applied(&self) -> Option<&Application> {
        self.applied.as_ref()
    }

    pub fn matches(&self) -> &BTreeMap<MatchId, Held> {
        &self.matches
    }

    /// Matches of rounds that are over.
    pub fn finished(&self) -> &BTreeMap<MatchId, Option<Ending>> {
        &self.finished
    }

    /// Where this referee is in its life with the league.
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
            Held::Open { assignment, .. } => Some(assignment),
            Held::Decided { .. } | Held::Settled { .. } => None,
        }
    }

    /// In which dialect to speak to a player of which `told` is said. What it has taught us counts for as long as nothing
    /// else is said of it.
    pub fn dialect(&self, endpoint: &Endpoint, told: Dialect) -> Dialect {
        match self.dialects.get(endpoint) {
            Some(learnt) if learnt.told == told => learnt.dialect,
            _ => told,
        }
    }

    pub fn is_closed(&self, round_id: RoundId) -> bool {
        self.closed.is_some_and(|closed| round_id <= closed)
    }

    pub(super) fn apply(&mut self, event: &RefereeEvent) {
        match event {
            RefereeEvent::Applied(application) => self.applied = Some(application.clone()),
            RefereeEvent::Enrolled { identity } => self.enrol(identity),
            RefereeEvent::Assigned { assignment } => {
                self.assigned = self.assigned.saturating_add(1);
                let open = Held::Open { order: self.assigned, assignment: assignment.clone() };
                self.matches.insert(assignment.match_id.clone(), open);
            }
            RefereeEvent::Decided { match_id, result, .. } => self.decide(match_id, result),
            RefereeEvent::Reported { match_id, .. } => self.settle(match_id, true),
            RefereeEvent::ReportRefused { match_id, .. }
            | RefereeEvent::HandedBack { match_id, .. }
            | RefereeEvent::Abandoned { match_id, .. } => self.settle(match_id, false),
            RefereeEvent::DialectLearned { endpoint, told, dialect } => {
                let learnt = Learnt { told: *told, dialect: *dialect };
                self.dialects.insert(endpoint.clone(), learnt);
            }
            RefereeEvent::RoundClosed { round_id } => {
                self.closed = self.closed.max(Some(*round_id));
                self.matches.retain(|match_id, held| match held {
                    Held::Settled { round_id: of, ending, .. } if *of <= *round_id => {
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

    /// Under another name or with another token this is another league, or the same begun anew: the matches of the old
    /// one are nobody's business any more, and may have the very ids of the new one's.
    fn enrol(&mut self, identity: &Identity<RefereeId>) {
        if self.identity.as_ref() != Some(identity) {
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
        self.matches.insert(match_id.clone(), Held::Decided { assignment, result });
    }

    fn settle(&mut self, match_id: &MatchId, recorded: bool) {
        let Some(held) = self.matches.get_mut(match_id) else {
            return;
        };
        let ending = match held {
            Held::Decided { result, .. } => Ending::of(result),
            Held::Open { .. } | Held::Settled { .. } => None,
        };
        *held = Held::Settled { round_id: held.round_id(), attempt: held.attempt(), recorded, ending };
    }
}
