//! Whether a league is loaded. What loads or unloads it holds the lock.

use super::api::types::LeagueState;
use super::hosted_league::HostedLeague;
use std::mem;
use std::sync::Arc;

pub(super) type Slot = tokio::sync::Mutex<SlotState>;

#[derive(Debug, Default)]
pub(super) enum SlotState {
    #[default]
    Asleep,
    Awake(Arc<HostedLeague>),
    /// It cannot be loaded, or has failed.
    Quarantined,
    /// Archived or deleted.
    Removed,
}

impl SlotState {
    /// Ends the league's agents, if it is loaded. Whether it was.
    pub(super) async fn unload(&mut self) -> bool {
        match mem::take(self) {
            Self::Awake(hosted) => {
                hosted.shutdown().await;
                true
            }
            other => {
                *self = other;
                false
            }
        }
    }

    /// What the API shows. One that is removed is not listed for long.
    pub(super) fn shown(&self) -> LeagueState {
        match self {
            Self::Asleep | Self::Removed => LeagueState::Asleep,
            Self::Awake(_) => LeagueState::Awake,
            Self::Quarantined => LeagueState::Quarantined,
        }
    }
}
