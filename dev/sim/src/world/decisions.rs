//! Requests to external deciders, and what comes of them.

use super::World;
use crate::agent_id::AgentId;
use crate::event::WorldEvent;
use crate::external_deciders::{Decider, UNSOUND_ANSWERS, UnsoundAnswer};
use crate::failure::Fault;
use crate::faults::pick;
use matchday_core::agent::{DecisionRequest, ExternalId, ExternalResult, Input};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

impl World {
    /// Sends a decision request to its external decider.
    pub(super) fn inquire(&mut self, who: AgentId, inquiry: DecisionRequest) {
        let Decider::External { sound_percent } = self.scenario.decider(who) else {
            return;
        };
        self.stats.inquiries += 1;
        let left = inquiry.until.since(self.now);
        let moment = |chance: &mut Entropy, most: Duration| {
            Duration::from_micros(chance.below(u64::try_from(most.as_micros()).unwrap_or(0)))
        };
        let at = self.now + moment(&mut self.chance, left);
        let habit = if self.chance.chance(sound_percent) {
            None
        } else {
            pick(&mut self.chance, &UNSOUND_ANSWERS).copied()
        };
        let decision = self.any_move(&inquiry);
        match habit {
            None => self.decide(who, inquiry.id, at, decision),
            Some(UnsoundAnswer::Never) => {}
            Some(UnsoundAnswer::Late) => {
                let late = inquiry.until + moment(&mut self.chance, left + left);
                self.decide(who, inquiry.id, late, decision);
            }
            Some(UnsoundAnswer::Twice) => {
                self.decide(who, inquiry.id, at, decision);
                let other = self.any_move(&inquiry);
                let again = at + moment(&mut self.chance, left);
                self.decide(who, inquiry.id, again, other);
            }
            Some(UnsoundAnswer::NoMove) => self.decide(who, inquiry.id, at, Ok(json!("EVEN?"))),
            Some(UnsoundAnswer::Fails) => {
                self.decide(who, inquiry.id, at, Err("a headache".to_owned()))
            }
        }
    }

    fn any_move(&mut self, inquiry: &DecisionRequest) -> ExternalResult {
        Ok(pick(&mut self.chance, &inquiry.turn.options)
            .cloned()
            .unwrap_or(Value::Null))
    }

    fn decide(
        &mut self,
        who: AgentId,
        inquiry: ExternalId,
        at: Timestamp,
        decision: ExternalResult,
    ) {
        let incarnation = self
            .agents
            .machine(who)
            .map_or(0, |machine| machine.incarnation());
        let decided = WorldEvent::Decided {
            who,
            incarnation,
            inquiry,
            decision: Box::new(decision),
        };
        self.queue.plan(at, decided);
    }

    /// The external decider has decided. A request does not outlive the process that asked it.
    pub(super) fn decided(
        &mut self,
        who: AgentId,
        incarnation: u32,
        inquiry: ExternalId,
        decision: ExternalResult,
    ) -> Result<(), Fault> {
        let machine = self.agents.machine(who);
        if machine.is_none_or(|machine| !machine.is_up() || machine.incarnation() != incarnation) {
            let input = Input::External {
                id: inquiry,
                result: decision,
                usage: None,
            };
            return self.drive_fenced(who, incarnation, Some(input));
        }
        let label = format!("{who} is told {decision:?} for inquiry {}", inquiry.0);
        self.deliver(
            who,
            Input::External {
                id: inquiry,
                result: decision,
                usage: None,
            },
            false,
            &label,
        )
    }
}
