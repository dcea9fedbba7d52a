//! Which agents answer: probes of suspended ones, and the roll call before the first round.

use super::deliveries::{Purpose, probe};
use super::settings::{EndpointCheck, LeagueSettings};
use super::state::League;
use crate::outbox::{Delivery, Tries};
use crate::protocol::{Sender, Timestamp};
use crate::retry::Backoff;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long after a refused connection the roll call tries again.
const REFUSED_PROBE_PAUSE: Duration = Duration::from_millis(500);

/// How often the time of a suspension doubles, at most.
const DOUBLINGS_MAX: u32 = 8;

/// What is known of endpoints since the manager started.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    /// Agents whose endpoint has answered anything since they were suspended last.
    answered: BTreeSet<Sender>,
    /// When suspended agents are probed next.
    probe_at: Option<Timestamp>,
    /// Agents that were suspended again and again: until when no sign of life lifts the suspension.
    held_until: BTreeMap<Sender, Timestamp>,
    /// Whether the roll call before the first round is running.
    in_roll_call: bool,
    /// Agents whose probe failed for a local reason, so that nothing is known of them.
    unprobed: BTreeSet<Sender>,
}

impl Liveness {
    pub(super) fn record_answer(&mut self, agent: &Sender) {
        if !self.answered.contains(agent) {
            self.answered.insert(agent.clone());
        }
    }

    /// An agent is suspended: it is probed until it answers.
    pub(super) fn forget_answer(&mut self, agent: &Sender) {
        self.answered.remove(agent);
    }

    /// An agent was suspended so often in a row: after the first time, each suspension lasts twice as long as the one
    /// before, so that an agent that is there and does nothing costs little.
    pub(super) fn hold(
        &mut self,
        settings: &LeagueSettings,
        now: Timestamp,
        agent: &Sender,
        times: u32,
    ) {
        let doublings = times.saturating_sub(1).min(DOUBLINGS_MAX);
        if doublings > 0 {
            let wait = settings.probe_every.saturating_mul(1 << doublings);
            self.held_until.insert(agent.clone(), now + wait);
        }
    }

    /// Whether a sign of life lifts the suspension of an agent.
    pub(super) fn may_recover(&self, now: Timestamp, agent: &Sender) -> bool {
        self.held_until.get(agent).is_none_or(|until| *until <= now)
    }

    pub(super) fn release(&mut self, agent: &Sender) {
        self.held_until.remove(agent);
    }

    pub(super) fn schedule_probes(&mut self, at: Timestamp) {
        self.probe_at.get_or_insert(at);
    }

    pub(super) fn stop_probes(&mut self) {
        self.probe_at = None;
    }

    /// The probes of suspended agents, if they are due.
    pub(super) fn probes_due(&mut self, league: &League, now: Timestamp) -> Vec<Delivery<Purpose>> {
        if self.probe_at.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let suspended = league.members().filter(|(_, member)| member.is_suspended());
        let suspended: Vec<Sender> = suspended.map(|(agent, _)| agent).collect();
        self.probe_at = (!suspended.is_empty()).then(|| now + league.settings.probe_every);
        suspended
            .iter()
            .filter(|agent| self.may_recover(now, agent))
            .filter_map(|agent| probe(league, agent, Purpose::Probe, Tries::Once))
            .collect()
    }

    pub(super) fn is_in_roll_call(&self) -> bool {
        self.in_roll_call
    }

    /// Begins the roll call: the probes of every agent that has not answered yet.
    pub(super) fn begin_roll_call(&mut self, league: &League) -> Vec<Delivery<Purpose>> {
        self.in_roll_call = true;
        if league.settings.endpoint_check != EndpointCheck::AtStart {
            return Vec::new();
        }
        let tries = roll_call_tries(&league.settings);
        let agents = self.unresponsive(league).into_iter();
        agents
            .filter_map(|agent| probe(league, &agent, Purpose::Probe, tries))
            .collect()
    }

    /// Ends the roll call: the agents that have not answered their probe.
    pub(super) fn end_roll_call(&mut self, league: &League) -> Vec<Sender> {
        self.in_roll_call = false;
        let unprobed = std::mem::take(&mut self.unprobed);
        if league.settings.endpoint_check != EndpointCheck::AtStart {
            return Vec::new();
        }
        self.unresponsive(league)
            .into_iter()
            .filter(|agent| !unprobed.contains(agent))
            .collect()
    }

    pub(super) fn cancel_roll_call(&mut self) {
        self.in_roll_call = false;
    }

    /// A probe has failed for a local reason.
    pub(super) fn record_unprobed(&mut self, agent: Sender) {
        self.unprobed.insert(agent);
    }

    fn unresponsive(&self, league: &League) -> Vec<Sender> {
        league
            .members()
            .map(|(agent, _)| agent)
            .filter(|agent| !self.answered.contains(agent))
            .collect()
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.probe_at
    }
}

/// An agent that is just being started refuses connections at first: it has as long to listen as a probe has to be answered.
fn roll_call_tries(settings: &LeagueSettings) -> Tries {
    let retries = settings.probe_timeout.as_millis() / REFUSED_PROBE_PAUSE.as_millis();
    let backoff = Backoff::Fixed {
        delay: REFUSED_PROBE_PAUSE,
    };
    Tries::Retry(u32::try_from(retries).unwrap_or(u32::MAX), backoff)
}
