//! Minds outside the players that they decide for: they take their time, forget, repeat and contradict themselves, and
//! name moves that are none.

use super::failure::Fault;
use super::faults::pick;
use super::happening::Happening;
use super::who::Who;
use super::world::World;
use crate::agent::{Decision, Input, Inquiry, InquiryId};
use crate::entropy::Entropy;
use crate::protocol::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

/// Who decides for a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mind {
    /// The player itself, by its strategy.
    Own,
    /// Someone outside, who answers so many of a hundred inquiries as one should.
    Outside { sound_percent: u64 },
}

impl Mind {
    pub fn drawn(chance: &mut Entropy) -> Self {
        if chance.chance(60) {
            return Self::Own;
        }
        Self::Outside { sound_percent: pick(chance, &[0, 50, 90, 100]).copied().unwrap_or(50) }
    }
}

/// How one inquiry is answered.
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
    /// An inquiry leaves its host for the mind outside.
    pub(super) fn inquire(&mut self, who: Who, inquiry: Inquiry) {
        let Mind::Outside { sound_percent } = self.shape.mind(who) else {
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

    fn any_move(&mut self, inquiry: &Inquiry) -> Decision {
        Ok(pick(&mut self.chance, &inquiry.turn.options).cloned().unwrap_or(Value::Null))
    }

    fn decide(&mut self, who: Who, inquiry: InquiryId, at: Timestamp, decision: Decision) {
        let incarnation = self.cast.machine(who).map_or(0, |machine| machine.incarnation());
        let decided = Happening::Decided { who, incarnation, inquiry, decision: Box::new(decision) };
        self.queue.plan(at, decided);
    }

    /// The mind outside has come to a decision. It does not outlive the process that asked it.
    pub(super) fn decided(
        &mut self,
        who: Who,
        incarnation: u32,
        inquiry: InquiryId,
        decision: Decision,
    ) -> Result<(), Fault> {
        let machine = self.cast.machine(who);
        if machine.is_none_or(|machine| !machine.is_up() || machine.incarnation() != incarnation) {
            return Ok(());
        }
        let label = format!("{who} is told {decision:?} for inquiry {}", inquiry.0);
        self.deliver(who, Input::Decided { inquiry, decision }, &label)
    }
}
