//! What is handed to the writer thread, and the groups in which it takes it. Values only.

use crate::append::NO_LEAGUE;
use crate::batch::{Batch, Completion};
use crate::error::StoreFailed;
use crate::exchange_buffer::TaggedExchange;
use crate::ownership::Owned;
use matchday_core::driver::Durability;
use matchday_core::protocol::Timestamp;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Debug)]
pub(super) enum Command {
    Append {
        league: u32,
        batch: Batch,
    },
    /// Brings to disk everything before it, recorded exchanges included.
    Flush {
        league: u32,
        then: OnComplete,
    },
    /// When a league is to be loaded again.
    SetWakeAt {
        league: u32,
        wake_at: Option<Timestamp>,
    },
    /// Removes a league's rows.
    Remove {
        league: u32,
        then: OnComplete,
    },
    /// This process has taken leagues, which another may have written to before: nothing that is known of them holds.
    Taken {
        leagues: Vec<Owned>,
        then: OnComplete,
    },
}

pub(super) struct OnComplete(pub(super) Completion);

impl std::fmt::Debug for OnComplete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnComplete")
    }
}

impl Command {
    pub(super) fn league(&self) -> u32 {
        match self {
            Self::Append { league, .. }
            | Self::Flush { league, .. }
            | Self::SetWakeAt { league, .. }
            | Self::Remove { league, .. } => *league,
            Self::Taken { .. } => NO_LEAGUE,
        }
    }

    pub(super) fn needs_fsync(&self) -> bool {
        match self {
            Self::Append { batch, .. } => batch.durability == Durability::Fsynced,
            Self::Flush { .. } | Self::Remove { .. } => true,
            Self::SetWakeAt { .. } | Self::Taken { .. } => false,
        }
    }

    pub(super) fn is_awaited(&self) -> bool {
        match self {
            Self::Append { batch, .. } => batch.awaited,
            Self::Flush { .. } | Self::Remove { .. } | Self::Taken { .. } => true,
            Self::SetWakeAt { .. } => false,
        }
    }

    /// Whether its group has nothing else in it.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self, Self::Taken { .. })
    }

    /// Whether the transaction of its group has something to do for it.
    pub(super) fn changes_rows(&self) -> bool {
        match self {
            Self::Append { batch, .. } => !batch.lines.is_empty(),
            Self::SetWakeAt { .. } => true,
            Self::Flush { .. } | Self::Remove { .. } | Self::Taken { .. } => false,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Append { batch, .. } => batch.lines.iter().map(String::len).sum(),
            _ => 0,
        }
    }

    /// The panic of a completion has been reported, and must not stop the writer.
    pub(super) fn complete(self, outcome: Result<(), StoreFailed>) {
        let then = match self {
            Self::Append { batch, .. } => batch.then,
            Self::Flush { then, .. } | Self::Remove { then, .. } | Self::Taken { then, .. } => {
                then.0
            }
            Self::SetWakeAt { .. } => return,
        };
        let _ = catch_unwind(AssertUnwindSafe(|| then(outcome)));
    }
}

/// What goes into one commit.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) commands: Vec<Command>,
    pub(super) exchanges: Vec<TaggedExchange>,
}

impl Group {
    pub(super) fn is_awaited(&self) -> bool {
        self.commands.iter().any(Command::is_awaited)
    }

    pub(super) fn needs_fsync(&self) -> bool {
        self.commands.iter().any(Command::needs_fsync)
    }
}
