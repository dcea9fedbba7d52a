//! Metrics of an agent: the milestones that its events are counted as, and gauges of its state. Values only: counting and
//! exposing them is the program's part.

use crate::agent::Agent;
use crate::protocol::ids::{Attempt, LeagueId, MatchId, PlayerId, RoundId};
use crate::protocol::messages::{GameStatus, Phase};
use crate::protocol::{Sender, Timestamp};
use core::net::IpAddr;

/// An agent that can be observed.
pub trait Metrics: Agent {
    /// What an event is counted as. Most are not counted.
    fn milestone(_event: &Self::Event) -> Option<Milestone<'_>> {
        None
    }

    /// Read whenever metrics are exposed; nothing is counted by it.
    fn gauges(&self) -> Gauges {
        Gauges::default()
    }
}

/// What an event is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Milestone<'a> {
    /// The first event of a league.
    LeagueCreated(&'a LeagueId),
    /// A round and its matches were told to the agents.
    RoundAnnounced {
        /// Its place in the schedule.
        round_id: RoundId,
        /// When its first match may begin.
        starts_at: Timestamp,
    },
    /// Every match of a round has its result.
    RoundCompleted,
    /// An attempt at a match has begun. Where it is not said of which league, it is the agent's own.
    MatchAssigned {
        /// Absent if it is the agent's own league.
        league_id: Option<&'a LeagueId>,
        /// The match of the attempt.
        match_id: &'a MatchId,
        /// Counted from 1.
        attempt: Attempt,
    },
    /// An attempt came to its end without a result.
    AttemptLost {
        /// The match of the attempt.
        match_id: &'a MatchId,
        /// Counted from 1.
        attempt: Attempt,
    },
    /// A match has its result.
    MatchDecided {
        /// The match of the result.
        match_id: &'a MatchId,
        /// The attempt that gave the result.
        attempt: Attempt,
        /// Win, draw or technical loss.
        status: GameStatus,
        /// Absent if nobody has won.
        winner: Option<&'a PlayerId>,
        /// Who decided it, if not the agent itself.
        by: Option<&'a str>,
    },
    /// The operator voided a result.
    MatchVoided,
    /// A report was not accepted.
    ReportRefused,
    /// An agent is taken to be absent.
    AgentSuspended {
        /// The player or referee that is suspended.
        agent: &'a Sender,
        /// A short word for a label.
        cause: &'static str,
    },
    /// A suspended agent answers again.
    AgentRecovered {
        /// The player or referee that has recovered.
        agent: &'a Sender,
    },
    /// An agent has registered for the first time.
    Registered {
        /// The id of the player or referee.
        id: &'a str,
        /// What it is called.
        name: &'a str,
        /// The address that the registration came from, if it came over a network.
        client: Option<IpAddr>,
    },
    /// An agent that was registered before has registered again.
    RegistrationRenewed {
        /// The id of the player or referee.
        id: &'a str,
        /// What showed that it is the agent that was registered before.
        by: &'static str,
        /// The address that the registration came from, if it came over a network.
        client: Option<IpAddr>,
    },
    /// The fallback strategy chose in place of the external decider.
    FellBack,
}

/// The state of an agent in figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gauges {
    /// What keeps the agent from its work, in words for people.
    pub lacks: Option<String>,
    /// Matches that it takes part in now.
    pub matches_live: usize,
    /// Matches that wait for a referee, for their time or for room.
    pub matches_waiting: usize,
    /// Of a manager.
    pub league: Option<LeagueGauges>,
}

/// The state of a league in figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeagueGauges {
    /// Which league it is.
    pub league_id: LeagueId,
    /// From registration to completion.
    pub phase: Phase,
    /// Registered players that were not withdrawn.
    pub players: usize,
    /// Registered referees.
    pub referees: usize,
    /// How many of `players` are suspended.
    pub players_suspended: usize,
    /// How many of `referees` are suspended.
    pub referees_suspended: usize,
    /// Whether it is running and none of `referees` answers.
    pub without_referee: bool,
    /// Since when no match has begun or ended, though some are due.
    pub waiting_since: Option<Timestamp>,
    /// 0 until the first is announced.
    pub round: u32,
    /// Rounds drawn so far; the number grows in formats that draw by results.
    pub rounds: usize,
    /// Matches of all rounds drawn so far.
    pub matches: usize,
    /// How many of `matches` have a result.
    pub matches_decided: u32,
}
