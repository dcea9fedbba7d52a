//! Which process writes which league, where several share one store. A process holds a lease that it renews; a league has one
//! owner under an epoch, which every append names. Types and the trait; a store that one process alone can open has no need of it.

use crate::error::StoreError;
use matchday_core::protocol::Timestamp;
use std::fmt::Debug;
use std::time::Duration;

/// A process that shares a store, as the others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// 128 random bits in hexadecimal digits, new at every start.
    pub id: String,
    /// For people: host and process id.
    pub name: String,
    /// Where the other processes reach it.
    pub url: String,
    /// The certificate that it shows there, in DER: the others trust this one and no other.
    pub certificate: Vec<u8>,
    /// Of the program.
    pub version: String,
    /// The newest form of events that it can read.
    pub event_form: u32,
}

/// A process with the state of its lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub process: Process,
    pub started_at: Timestamp,
    /// Zero once the lease has expired.
    pub lease_left: Duration,
    pub leagues: u32,
    /// The sum of its leagues' weights: those that are loaded or due soon weigh more.
    pub weight: u64,
    /// How many leagues it took from processes whose lease had expired.
    pub takeovers: u64,
}

/// A league that this process owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owned {
    pub number: u32,
    /// Counts its owners.
    pub epoch: i64,
    pub wake_at: Option<Timestamp>,
    /// Whether its last owner's lease had expired, and did not release it.
    pub taken_over: bool,
    /// How many bytes of requests and answers are kept of it.
    pub exchange_bytes: u64,
}

/// Who owns a league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    Own {
        epoch: i64,
    },
    Other(Process),
    /// Nobody, or a process whose lease has expired.
    Nobody,
    /// No league has this number.
    NoLeague,
}

/// The ownership of leagues in a shared store. All of it blocks.
pub trait Ownership: Debug + Send + Sync {
    fn process(&self) -> &Process;

    /// Takes leagues that nobody owns, or whose owner's lease has expired: the earliest due first, up to this process's fair
    /// share by weight, and none whose events it cannot read. To be called about once a second. A handle on a league is to be
    /// made (`Store::in_league`) after the league was taken: one from before that can append nothing more.
    fn take(&self) -> Result<Vec<Owned>, StoreError>;

    /// Leagues beyond the fair share, which are to be unloaded and released; the least active first.
    fn surplus(&self) -> Result<Vec<u32>, StoreError>;

    /// Leagues that others may have taken from this process since the last call, because its lease had expired: they are to be
    /// unloaded. Nothing of them is stored or answered any more, and what is appended to them fails as fenced.
    fn lost(&self) -> Vec<u32>;

    /// Gives leagues back, whose events are all stored. Nothing of them is answered from now on.
    fn release(&self, leagues: &[u32]) -> Result<(), StoreError>;

    fn owner(&self, league: u32) -> Result<Owner, StoreError>;

    /// Every process, also those whose lease expired not long ago.
    fn members(&self) -> Result<Vec<Member>, StoreError>;

    /// How much of the own lease is left by the monotonic clock, counted from before its last renewal was sent. At zero nothing
    /// may be answered any more.
    fn lease_left(&self) -> Duration;

    /// The time of the store's own clock, carried on by the monotonic clock: never runs backwards.
    fn now(&self) -> Timestamp;

    /// By how much this machine's clock is ahead of the store's, in microseconds.
    fn clock_offset_us(&self) -> i64;
}
