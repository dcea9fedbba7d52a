//! What the manager sends, and what for.

use super::state::League;
use crate::outbox::{Delivery, Tries};
use crate::protocol::Sender;
use crate::protocol::ids::MatchId;

/// What a delivery is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A notice from the agent's queue.
    Notice(Sender),
    /// An assignment of matches to a referee.
    Assignment(Vec<MatchId>, Sender),
    /// A liveness probe.
    Probe(Sender),
    /// A probe of a player that its referees report as unreachable.
    VerifyReachability(Sender),
    /// A probe of an agent that registers.
    Registration,
}

impl Purpose {
    /// The member that it is sent to.
    pub(super) fn agent(&self) -> Option<&Sender> {
        match self {
            Self::Notice(agent)
            | Self::Assignment(_, agent)
            | Self::Probe(agent)
            | Self::VerifyReachability(agent) => Some(agent),
            Self::Registration => None,
        }
    }
}

/// A probe of a member.
pub(super) fn probe(
    league: &League,
    agent: &Sender,
    purpose: impl FnOnce(Sender) -> Purpose,
    tries: Tries,
) -> Option<Delivery<Purpose>> {
    let member = league.member(agent)?;
    Some(Delivery {
        to: member.meta.contact_endpoint().clone(),
        dialect: member.dialect,
        payload: member.meta.probe(),
        purpose: purpose(agent.clone()),
        timeout: league.settings.probe_timeout,
        tries,
    })
}
