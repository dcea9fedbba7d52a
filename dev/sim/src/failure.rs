//! The checkers by name, and the fault that one reports.

use super::START;
use matchday_core::protocol::Timestamp;
use std::fmt;

/// The rules that every run is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Checker {
    /// Nothing of a step is seen before its events, and those before it, are durable.
    DurableBeforeVisible,
    /// The live state is exactly what the events make of a fresh agent.
    ReplayEqualsLive,
    /// Each pair of players meets once.
    EachPairOnce,
    /// Rounds that are drawn from results are such as the format asks for.
    FormatIsFollowed,
    /// A ladder pairs those who are there, within what they allow, and nobody with the same opponent again while that can be
    /// helped.
    LadderIsFollowed,
    /// A player has at most one match in a round.
    OneMatchPerRound,
    /// A finished league has exactly one result for each match.
    EveryMatchDecided,
    /// A decided match keeps its result for ever.
    ResultsNeverChange,
    /// A report that was acknowledged is on the manager's disk.
    AcknowledgedIsDurable,
    /// The table adds up: played = wins + draws + losses, and points follow from results.
    TableAddsUp,
    /// The table is in the order that an independent computation gives.
    TableInOrder,
    /// Every request is replied to, and once.
    EveryRequestReplied,
    /// An agent names each of its calls anew.
    CallsAreNew,
    /// No agent asks to be woken again and again at the same time.
    NoBusyLoop,
    /// A player that answers in time over a sound network loses no match for want of an answer.
    HonestPlayersPlay,
    /// The league ends within its bound once the faults have ended.
    EndsInTime,
    /// All who are there hear that the league is over.
    AllAreTold,
    /// Anyone can recompute a draw from what GAME_OVER reveals.
    FairDraws,
    /// Both players are told the same end of a match, and the manager too.
    OneStory,
    /// A token reaches no agent but those it is meant for.
    TokensStaySecret,
    /// The launcher and other clients get the answer that belongs to their request.
    QuestionsAnswered,
    /// A report that is not the assigned referee's is refused.
    ForgeriesRefused,
    /// Nobody loses its id, token or endpoint to one that cannot prove to be it.
    NobodyTakenOver,
    /// A player that loses without play is told why, and it is never for another's fault.
    BlameFits,
    /// A referee that runs over a sound network is never suspended for want of a report.
    HealthyRefereesStay,
    /// No player is asked by two attempts at one match that are both alive.
    OneLiveAttempt,
    /// No player is invited before it was told of the round.
    AnnouncedBeforeInvited,
    /// Both players of every match are told how it ended, and nothing of it after that.
    GameOverIsLast,
    /// A call to an agent that dials out ends with an answer only if the agent gave one.
    AbsentIsNoAnswer,
    /// The relay takes one answer to a call.
    RelayedOnce,
    /// Only the owner of a log writes to it.
    OneWriterPerEpoch,
    /// A process from which another has taken the league shows nothing any more.
    NothingSeenFromFenced,
    /// No event in a log is older than the one before it.
    TimeNeverBackwards,
    /// No recorded result differs from what the players signed and what was drawn.
    SignedIsRecorded,
}

/// A broken rule, as a checker sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which rule is broken.
    pub checker: Checker,
    /// For people: what was found.
    pub what: String,
}

impl Fault {
    /// What a checker returns.
    pub fn new(checker: Checker, what: impl Into<String>) -> Self {
        Self {
            checker,
            what: what.into(),
        }
    }
}

/// A broken rule, and where in the run it showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The broken rule.
    pub fault: Fault,
    /// In virtual time.
    pub at: Timestamp,
    /// The number of the event in the world's queue.
    pub event: u64,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} broken at {:.6} s, event {}: {}",
            self.fault.checker,
            self.at.since(START).as_secs_f64(),
            self.event,
            self.fault.what
        )
    }
}
