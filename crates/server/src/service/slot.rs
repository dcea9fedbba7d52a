//! Whether a league is loaded. What loads or unloads it holds the lock.

use super::running_league::RunningLeague;
use std::mem;
use std::sync::Arc;

pub(super) type Slot = tokio::sync::Mutex<SlotState>;

#[derive(Debug, Default)]
pub(super) enum SlotState {
    #[default]
    Asleep,
    Awake(Arc<RunningLeague>),
    /// It cannot be loaded, or has failed.
    Quarantined,
    /// Archived or deleted.
    Removed,
}

impl SlotState {
    /// Ends the league's agents, if it is loaded. Whether it was.
    pub(super) async fn unload(&mut self) -> bool {
        match mem::take(self) {
            Self::Awake(running) => {
                running.shutdown().await;
                true
            }
            other => {
                *self = other;
                false
            }
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Asleep => "asleep",
            Self::Awake(_) => "awake",
            Self::Quarantined => "quarantined",
            Self::Removed => "removed",
        }
    }
}
