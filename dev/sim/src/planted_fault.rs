//! Faults that break a promise on purpose, to show that the checkers notice.

/// A fault that no manager can withstand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedFault {
    /// The outsider's registrations come from the address of their victim, so that one without a key is renewed without
    /// proof.
    SharedAddress,
    /// The manager's timeouts are lost on their way to the referees, which then use their own.
    TimeoutsLost,
    /// The manager gives matches of players with keys to referees that do not prove, and takes what those report.
    ProofOptional,
    /// The relay answers in the stead of an agent that is not connected.
    RelayAnswersForAbsent,
    /// The relay takes every answer that comes.
    RelayTakesAnswersTwice,
    /// Appends to a shared store do not name the epoch.
    NoEpochInAppend,
    /// A transaction checks the epoch without keeping another process from taking the league before it commits, as FOR KEY SHARE
    /// would.
    TakerNotExcluded,
    /// A process answers whether its lease holds or not.
    AnswersWithoutLease,
    /// A process that takes a league goes by the wall clock of its machine.
    ClockOfTheMachine,
}
