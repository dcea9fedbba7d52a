//! All that can happen in the world, each at its time.

use super::who::Who;
use super::wire::{Back, Freight};
use crate::agent::{Decision, InquiryId};
use std::time::Duration;

#[derive(Debug)]
pub(super) enum Happening {
    /// A host's agent is started, or started again.
    Start(Who),
    Crash {
        who: Who,
        /// How long until it is started again, if it ever is.
        down: Option<Duration>,
    },
    /// A host's oldest waiting step reaches its disk.
    Commit {
        who: Who,
        incarnation: u32,
    },
    /// An agent may have asked to be woken now.
    Tick {
        who: Who,
        incarnation: u32,
    },
    /// A call, or a copy of one, reaches its host.
    Arrive {
        call: usize,
        freight: Box<Freight>,
    },
    Answered {
        call: usize,
        back: Box<Back>,
    },
    GiveUp {
        call: usize,
    },
    /// A mind outside has decided for an agent.
    Decided {
        who: Who,
        incarnation: u32,
        inquiry: InquiryId,
        decision: Box<Decision>,
    },
    /// The launcher looks whether the league can be started.
    Launch,
    /// Outsiders ask, repeat and forge.
    Meddle,
    /// By now the league must be over.
    Limit,
    /// The league is over, and everybody has had time to hear of it.
    End,
}
