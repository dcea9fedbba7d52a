//! External deciders of players, sound and unsound: late, silent, repeating and contradicting themselves, choosing illegal
//! moves.

use super::event::WorldEvent;
use super::failure::Fault;
use super::faults::pick;
use super::who::Who;
use super::world::World;
use crate::agent::{DecisionRequest, ExternalId, ExternalResult, Input};
use crate::entropy::Entropy;
use crate::protocol::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

/// Who decides for a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    /// The player itself, by its strategy.
    Own,
    /// An external decider, which answers this percentage of requests soundly.
    External {
        /// From 0 to 100.
        sound_percent: u64,
    },
}

impl Decider {
    /// A random decider: `Own` in most cases.
    pub fn drawn(chance: &mut Entropy) -> Self {
        if chance.chance(60) {
            return Self::Own;
        }
        Self::External { sound_percent: pick(chance, &[0, 50, 90, 100]).copied().unwrap_or(50) }
    }
}

/// The unsound way in which a request is answered.
#[derive(Debug, Clone, Copy)]
enum Habit {
    Late,
    Never,
    Twice,
    NoMove,
    Fails,
}

const HABITS: [Habit; 5] = [Habit::Late, Habit::Never, Habit::Twice, Habit::NoMove, Habit::Fails];

impl World {
    /// Sends a decision request to its external decider.
    pub(super) fn inquire(&mut self, who: Who, inquiry: DecisionRequest) {
        let Decider::External { sound_percent } = self.scenario.decider(who) else {
            return;
        };
        self.stats.inquiries += 1;
        let left = inquiry.until.since(self.now);
        let moment = |chance: &mut Entropy, most: Duration| {
            Duration::from_micros(chance.below(u64::try_from(most.as_micros()).unwrap_or(0)))
        };
        let at = self.now + moment(&mut self.chance, left);
        let habit = match self.chance.chance(sound_percent) {
            true => None,
            false => pick(&mut self.chance, &HABITS).copied(),
        };
        let decision = self.any_move(&inquiry);
        match habit {
            None => self.decide(who, inquiry.id, at, decision),
            Some(Habit::Never) => {}
            Some(Habit::Late) => {
                let late = inquiry.until + moment(&mut self.chance, left + left);
                self.decide(who, inquiry.id, late, decision);
            }
            Some(Habit::Twice) => {
                self.decide(who, inquiry.id, at, decision);
                let other = self.any_move(&inquiry);
                let again = at + moment(&mut self.chance, left);
                self.decide(who, inquiry.id, again, other);
            }
            Some(Habit::NoMove) => self.decide(who, inquiry.id, at, Ok(json!("EVEN?"))),
            Some(Habit::Fails) => self.decide(who, inquiry.id, at, Err("a headache".to_owned())),
        }
    }

    fn any_move(&mut self, inquiry: &DecisionRequest) -> ExternalResult {
        Ok(pick(&mut self.chance, &inquiry.turn.options).cloned().unwrap_or(Value::Null))
    }

    fn decide(&mut self, who: Who, inquiry: ExternalId, at: Timestamp, decision: ExternalResult) {
        let incarnation = self.cast.machine(who).map_or(0, |machine| machine.incarnation());
        let decided = WorldEvent::Decided { who, incarnation, inquiry, decision: Box::new(decision) };
        self.queue.plan(at, decided);
    }

    /// The external decider has decided. A request does not outlive the process that asked it.
    pub(super) fn decided(
        &mut self,
        who: Who,
        incarnation: u32,
        inquiry: ExternalId,
        decision: ExternalResult,
    ) -> Result<(), Fault> {
        let machine = self.cast.machine(who);
        if machine.is_none_or(|machine| !machine.is_up() || machine.incarnation() != incarnation) {
            let input = Input::External { id: inquiry, result: decision, usage: None };
            return self.drive_fenced(who, incarnation, Some(input));
        }
        let label = format!("{who} is told {decision:?} for inquiry {}", inquiry.0);
        self.deliver(who, Input::External { id: inquiry, result: decision, usage: None }, false, &label)
    }
}
