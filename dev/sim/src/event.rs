//! The events of the simulated world, each scheduled at its time.

use super::agent_id::AgentId;
use super::shared_store::Verdict;
use super::wire::{Packet, Response};
use matchday_core::agent::{ExternalId, ExternalResult};
use matchday_core::mailbox::CallNumber;
use matchday_core::protocol::Timestamp;
use std::time::Duration;

#[derive(Debug)]
pub(super) enum WorldEvent {
    /// A host's agent is started, or started again.
    Start(AgentId),
    Crash {
        who: AgentId,
        /// How long until it is started again, if it ever is.
        down: Option<Duration>,
    },
    /// A host's oldest waiting batch reaches its disk.
    Commit {
        who: AgentId,
        incarnation: u32,
    },
    /// A driver may have asked to be polled now.
    Poll {
        who: AgentId,
        incarnation: u32,
    },
    /// A call, or a copy of one, reaches its host.
    Arrive {
        call: usize,
        packet: Box<Packet>,
    },
    /// A player that dials out connects to the relay.
    Connect(AgentId),
    /// Its stream is cut.
    Cut(AgentId),
    /// A call may have waited long enough in a mailbox.
    MailboxDue {
        who: AgentId,
        number: CallNumber,
    },
    /// The answer of a player that dials out reaches the relay.
    Relayed {
        who: AgentId,
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
        who: AgentId,
        incarnation: u32,
        inquiry: ExternalId,
        decision: Box<ExternalResult>,
    },
    /// Something about a store that several processes share.
    Store(StoreEvent),
    /// What reached a machine at that time, while the process there stood still.
    Delayed {
        since: Timestamp,
        machine: usize,
        event: Box<WorldEvent>,
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

/// What happens to a shared store and the processes that share it, each named by its epoch.
#[derive(Debug, Clone, Copy)]
pub(super) enum StoreEvent {
    /// A process looks whether it can take the league.
    Take,
    /// The owner is stopped for so long.
    Pause(Duration),
    /// The owner's machine, or all of them, cannot reach the store for so long.
    Cut { all: bool, length: Duration },
    /// The owner hands the league over, unless it cannot until then.
    HandOver { until: Timestamp },
    /// What ails a machine may be over.
    Recover { machine: usize },
    /// A process hears that its lease is renewed, or that it has lost the league.
    Renewed { epoch: u64 },
    /// The store comes to the end of a transaction.
    Land { epoch: u64 },
    /// A process hears what came of its transaction.
    Heard { epoch: u64, verdict: Verdict },
    /// A process that has lost sight of the store tries to reach it again.
    Reconnect { epoch: u64 },
}
