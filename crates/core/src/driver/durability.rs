//! What an event must survive before anything that follows from it may be seen outside.

use crate::agent::Agent;

/// How far an appended batch must have come before its append is confirmed. A log confirms batches in the order in which
/// they were appended, so a batch that is `Fsynced` takes those before it to the disk.
///
/// A batch that nobody waits for has a durability as well: its group commit may be delayed by milliseconds, but no batch
/// after it is confirmed before it has reached its own durability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Written to the log: it survives the death of the process, and the next fsync, within half a second, covers it.
    Written,
    /// Written and fsynced: it survives a failure of the machine.
    Fsynced,
}

/// The durability class of each event of an agent.
pub trait EventDurability: Agent {
    /// The strongest class unless the agent says that a weaker one does.
    fn durability(_event: &Self::Event) -> Durability {
        Durability::Fsynced
    }
}
