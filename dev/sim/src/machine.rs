//! A host as the world sees it, whichever agent it runs.

use super::failure::Fault;
use matchday_core::agent::Input;
use matchday_core::driver::Effects;
use matchday_core::protocol::{PlayerId, Timestamp};

/// A step whose batch has been appended, if the log had to hear of it.
#[derive(Debug)]
pub struct AppendedStep {
    /// Whether the disk has something to write or to confirm.
    pub to_disk: bool,
    /// For colocated agents.
    pub effects: Effects,
}

/// What the disk has confirmed.
#[derive(Debug, Default)]
pub struct ConfirmedBatch {
    /// How many events have become durable.
    pub events: usize,
    /// The effects that waited for these events.
    pub effects: Effects,
}

/// What the world may do with a host, whatever runs on it.
pub trait Machine {
    /// Whether its agent runs.
    fn is_up(&self) -> bool;
    /// How often it has been started.
    fn incarnation(&self) -> u32;
    /// How many steps its agent has made, over all incarnations.
    fn steps(&self) -> u64;
    /// How many events are on its disk.
    fn stored(&self) -> usize;
    /// Starts the agent. How many events come of it.
    fn start(&mut self, now: Timestamp) -> Result<usize, Fault>;
    /// Hands an input that came at `at` to the driver. How many events come of it.
    fn arrive(
        &mut self,
        now: Timestamp,
        at: Timestamp,
        input: Input,
        from_colocated: bool,
    ) -> Result<usize, Fault>;
    /// Lets the driver know that time has passed. How many events come of it.
    fn poll(&mut self, now: Timestamp) -> Result<usize, Fault>;
    /// Appends what came of the next step.
    fn append(&mut self) -> Option<AppendedStep>;
    /// Whether the oldest batch that waits has anything to store.
    fn oldest_has_events(&self) -> bool;
    /// The oldest batch that waits reaches the disk.
    fn store(&mut self) -> Result<(), Fault>;
    /// The host hears that the oldest batch which it has not heard of yet is on the disk.
    fn confirm(&mut self) -> ConfirmedBatch;
    /// Both at once.
    fn commit(&mut self) -> Result<ConfirmedBatch, Fault> {
        self.store()?;
        Ok(self.confirm())
    }
    /// The agent dies. Of the batches that wait, the first `stored` still reach the disk, but nothing of them gets out.
    fn crash(&mut self, stored: usize) -> usize;
    /// The disk forgets its last event, to show that the checkers notice.
    fn lose_last_event(&mut self);
    /// How many batches wait for the disk.
    fn waiting(&self) -> usize;
    /// When its agent is to be polled next, in the world's time; `None` while it is down.
    fn deadline(&self) -> Option<Timestamp>;
    /// The time of the last event on its disk.
    fn last_at(&self) -> Option<Timestamp>;
    /// From now on its clock is wrong by this.
    fn set_clock(&mut self, error_us: i64);
    /// Its clock stands still from then on, until it goes on.
    fn stand_still(&mut self, from: Timestamp);
    /// Its clock goes on from where it stood still.
    fn go_on(&mut self, now: Timestamp);
    /// Leaves what is on the disk to another process. What runs goes on in the machine that is returned.
    fn split_off(&mut self) -> Box<dyn Machine>;
    /// See [`DecodeHints::reads_about`](matchday_core::agent::DecodeHints::reads_about).
    fn reads_about(&self) -> Option<PlayerId>;
    /// All that the disk holds, as a store would hold it.
    fn disk(&self) -> Vec<String>;
}
