//! The events of the simulated world, each scheduled at its time.

use super::who::Who;
use super::wire::{Payload, Response};
use crate::agent::{ExternalId, ExternalResult};
use crate::mailbox::CallNumber;
use std::time::Duration;

#[derive(Debug)]
pub(super) enum WorldEvent {
    /// A host's agent is started, or started again.
    Start(Who),
    Crash {
        who: Who,
        /// How long until it is started again, if it ever is.
        down: Option<Duration>,
    },
    /// A host's oldest waiting batch reaches its disk.
    Commit {
        who: Who,
        incarnation: u32,
    },
    /// A driver may have asked to be polled now.
    Poll {
        who: Who,
        incarnation: u32,
    },
    /// A call, or a copy of one, reaches its host.
    Arrive {
        call: usize,
        payload: Box<Payload>,
    },
    /// A player that dials out connects to the relay.
    Connect(Who),
    /// Its stream is cut.
    Cut(Who),
    /// A call may have waited long enough in a mailbox.
    MailboxDue {
        who: Who,
        number: CallNumber,
    },
    /// The answer of a player that dials out reaches the relay.
    Relayed {
        who: Who,
        call: usize,
        back: Box<Response>,
    },
    Answered {
        call: usize,
        back: Box<Response>,
    },
    GiveUp {
        call: usize,
    },
    /// An external decider has decided for a player.
    Decided {
        who: Who,
        incarnation: u32,
        inquiry: ExternalId,
        decision: Box<ExternalResult>,
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
