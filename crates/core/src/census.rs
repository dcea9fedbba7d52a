//! What can be counted of an agent, for whoever watches over it: what an event counts as, and how the agent stands. Values
//! only; who counts, and what is shown of it, is the driver's part.

use crate::enrol::Enrolment;
use crate::league::Renewal;
use crate::protocol::Sender;
use crate::protocol::ids::{Attempt, LeagueId, MatchId, PlayerId};
use crate::protocol::messages::{GameStatus, Phase};

/// What an event counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Milestone<'a> {
    LeagueCreated(&'a LeagueId),
    RoundAnnounced,
    RoundCompleted,
    /// An attempt at a match has begun. Where it is not said of which league, it is the agent's own.
    MatchAssigned {
        league_id: Option<&'a LeagueId>,
        match_id: &'a MatchId,
        attempt: Attempt,
    },
    /// An attempt came to its end without a result.
    AttemptLost {
        match_id: &'a MatchId,
        attempt: Attempt,
    },
    MatchDecided {
        match_id: &'a MatchId,
        attempt: Attempt,
        status: GameStatus,
        winner: Option<&'a PlayerId>,
        /// Who decided it, if not the agent itself.
        by: Option<&'a str>,
    },
    MatchVoided,
    /// A report was not accepted.
    ReportRefused,
    AgentSuspended {
        agent: &'a Sender,
        cause: &'static str,
    },
    AgentRecovered {
        agent: &'a Sender,
    },
    /// An agent that was registered before has registered again.
    RegistrationRenewed(Renewal<'a>),
    /// The fallback chose in place of the mind outside.
    FellBack,
}

/// How an agent stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Census {
    /// What keeps the agent from its work, in words for people.
    pub lacks: Option<String>,
    /// Matches that it takes part in now.
    pub matches_live: usize,
    /// Matches that wait for a referee, for their time or for room.
    pub matches_waiting: usize,
    /// Of a manager.
    pub league: Option<LeagueCensus>,
}

/// How a league stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeagueCensus {
    pub phase: Phase,
    pub players: usize,
    pub referees: usize,
    pub players_suspended: usize,
    pub referees_suspended: usize,
    /// 0 until the first is announced.
    pub round: u32,
    pub rounds: usize,
    pub matches: usize,
    pub matches_decided: u32,
}

impl Enrolment {
    /// Why an agent cannot take part yet, in words for people; `None` once it is registered.
    pub fn lacks(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Idle => Some("it has not asked the manager to register it yet".to_owned()),
            Self::Asking(_) => Some("the manager has not answered its registration yet".to_owned()),
            Self::Waiting { why, .. } => {
                Some(format!("it is not registered with the manager yet: {}", why.escaped()))
            }
            Self::Refused { reason, .. } => {
                Some(format!("the manager refuses its registration: {}", reason.escaped()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Timestamp;

    #[test]
    fn only_a_registered_agent_lacks_nothing() {
        let waiting = Enrolment::Waiting { until: Timestamp::EPOCH, why: "no connection".into() };
        assert_eq!(Enrolment::Done.lacks(), None);
        assert_eq!(waiting.lacks().unwrap(), "it is not registered with the manager yet: no connection");
        let refused = Enrolment::Refused { reason: "the league is full".into(), code: None };
        for not_yet in [Enrolment::Idle, Enrolment::Asking(crate::agent::CallId(1)), refused] {
            assert!(not_yet.lacks().is_some(), "{not_yet:?}");
        }
    }
}
