//! The network between the hosts: slow, lossy, repeating itself, and at times cut in two.

use super::agent_id::AgentId;
use super::faults::Faults;
use matchday_core::agent::Failure;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Network {
    faults: Faults,
    chance: Entropy,
    heals_at: Timestamp,
    partitions: Vec<Partition>,
}

/// For a while, those inside and those outside cannot reach each other.
#[derive(Debug)]
struct Partition {
    from: Timestamp,
    until: Timestamp,
    inside: BTreeSet<AgentId>,
    /// Whether the sender is told so, or hears nothing.
    refuses: bool,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transmission {
    Arrives {
        after: Duration,
        /// When it arrives a second time, if it does.
        again: Option<Duration>,
    },
    Lost,
    /// The caller learns that it failed, and how.
    Failed {
        after: Duration,
        how: Failure,
    },
}

impl Network {
    pub(super) fn new(
        faults: &Faults,
        mut chance: Entropy,
        hosts: &[AgentId],
        start: Timestamp,
    ) -> Self {
        let heals_at = start + faults.heal_after;
        let partitions = (0..faults.partitions)
            .map(|_| {
                let span = u64::try_from(faults.heal_after.as_micros()).unwrap_or(0);
                let from = start + Duration::from_micros(chance.below(span));
                let length = Duration::from_micros(chance.below(faults.outage_us_max));
                Partition {
                    from,
                    until: (from + length).min(heals_at),
                    inside: hosts
                        .iter()
                        .copied()
                        .filter(|_| chance.chance(40))
                        .collect(),
                    refuses: chance.chance(50),
                }
            })
            .collect();
        Self {
            faults: faults.clone(),
            chance,
            heals_at,
            partitions,
        }
    }

    /// Whether the faults of the network are over.
    fn has_healed(&self, now: Timestamp) -> bool {
        now >= self.heals_at
    }

    pub(super) fn latency(&mut self, now: Timestamp) -> Duration {
        let (least, most) = self.faults.latency_us;
        let mut micros = least + self.chance.below(most.saturating_sub(least) + 1);
        if !self.has_healed(now) && self.chance.chance(self.faults.spike_percent) {
            micros += self.chance.below(self.faults.spike_us_max);
        }
        Duration::from_micros(micros)
    }

    fn partition(&self, now: Timestamp, from: AgentId, to: AgentId) -> Option<&Partition> {
        self.partitions.iter().find(|partition| {
            (partition.from..partition.until).contains(&now)
                && partition.inside.contains(&from) != partition.inside.contains(&to)
        })
    }

    pub(super) fn request(&mut self, now: Timestamp, from: AgentId, to: AgentId) -> Transmission {
        let after = self.latency(now);
        if let Some(partition) = self.partition(now, from, to) {
            return if partition.refuses {
                Transmission::Failed {
                    after,
                    how: Failure::NoRoute,
                }
            } else {
                Transmission::Lost
            };
        }
        if self.has_healed(now) {
            return Transmission::Arrives { after, again: None };
        }
        if let Some(how) = self.own_fault(from, to) {
            return Transmission::Failed { after, how };
        }
        if self.chance.chance(self.faults.refuse_percent) {
            return Transmission::Failed {
                after,
                how: Failure::NoConnection,
            };
        }
        if self.chance.chance(self.faults.loss_percent) {
            return Transmission::Lost;
        }
        let again = self
            .chance
            .chance(self.faults.duplicate_percent)
            .then(|| self.latency(now).saturating_mul(2));
        Transmission::Arrives { after, again }
    }

    /// What keeps a call from leaving the machine of a manager or a referee.
    fn own_fault(&mut self, from: AgentId, to: AgentId) -> Option<Failure> {
        match (from, to) {
            (AgentId::Referee(number), AgentId::Player(_))
                if u64::from(number) <= self.faults.cut_off =>
            {
                Some(Failure::NoRoute)
            }
            (AgentId::Referee(_) | AgentId::Manager, _) if self.faults.our_fault_percent > 0 => {
                self.chance
                    .chance(self.faults.our_fault_percent)
                    .then_some(Failure::Ours)
            }
            _ => None,
        }
    }

    /// How long an answer takes; `None` if it never arrives.
    pub(super) fn answer(
        &mut self,
        now: Timestamp,
        from: AgentId,
        to: AgentId,
    ) -> Option<Duration> {
        let after = self.latency(now);
        let lost = self.partition(now, from, to).is_some()
            || (!self.has_healed(now) && self.chance.chance(self.faults.loss_percent));
        (!lost).then_some(after)
    }
}
