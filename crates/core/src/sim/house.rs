//! One process for several agents, with one disk that is written in one line: what `matchday run` is.
//!
//! They hear each other as soon as a step is in line. Nobody else hears of a step before the disk has it and all that was in
//! line before it, whoever made it. When the process dies all of them die, and forget from the same place in line on: so
//! none remembers what follows from something that another has forgotten. The checkers hear of a step when it is on the disk;
//! until then it may never have been.

use super::exchange::{Call, Pending};
use super::failure::{Checker, Fault};
use super::host::{Early, Released};
use super::shape::Shape;
use super::who::Who;
use super::world::World;
use crate::agent::{Outgoing, Reply, RequestId};
use crate::protocol::messages::MatchResult;
use crate::protocol::{Message, Timestamp};
use std::collections::{BTreeMap, VecDeque};

/// The steps of all agents of the process that wait for its disk, in order.
#[derive(Debug, Default)]
pub(super) struct House {
    line: VecDeque<InLine>,
    /// When the disk is done with them.
    pub(super) disk_until: Option<Timestamp>,
}

#[derive(Debug)]
struct InLine {
    who: Who,
    told: Vec<Told>,
}

/// What one of the family has told another.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) to: Who,
    pub(super) message: Message,
    /// The result that it is a receipt for, if it is an answer to a report.
    pub(super) reported: Option<MatchResult>,
}

/// What may go before the disk has it: what is for the family.
struct Kin<'a> {
    shape: &'a Shape,
    calls: &'a [Call],
    requests: &'a BTreeMap<RequestId, Pending>,
}

impl Early for Kin<'_> {
    fn call(&self, outgoing: &Outgoing) -> bool {
        Who::at(&outgoing.to).is_some_and(|to| self.shape.is_kin(to))
    }

    fn reply(&self, reply: &Reply) -> bool {
        let asked = self.requests.get(&reply.to).and_then(|pending| self.calls.get(pending.call));
        asked.is_some_and(|call| call.is_from_kin(self.shape))
    }
}

impl World {
    /// A step of one of the family is in line: the others hear of it.
    pub(super) fn tell_kin(&mut self, who: Who) -> Result<(), Fault> {
        self.house.line.push_back(InLine { who, told: Vec::new() });
        let early = Kin { shape: &self.shape, calls: &self.calls, requests: &self.requests };
        let Some(machine) = self.cast.machine_mut(who) else { return Ok(()) };
        let Released { outbox, replies, .. } = machine.take_early(&early);
        for outgoing in outbox {
            self.send(who, outgoing)?;
        }
        for reply in replies {
            self.reply(who, reply)?;
        }
        Ok(())
    }

    /// The checkers hear of it when it is certain to have been.
    pub(super) fn remember_told(&mut self, told: Told) {
        if let Some(last) = self.house.line.back_mut() {
            last.told.push(told);
        }
    }

    /// The oldest step in line, which is this agent's, has reached the disk.
    pub(super) fn leave_line(&mut self, who: Who) -> Result<(), Fault> {
        let Some(first) = self.house.line.pop_front().filter(|first| first.who == who) else {
            return Err(Fault::new(
                Checker::DurableBeforeVisible,
                format!("a step of {who} reached the disk before one that was in line before it"),
            ));
        };
        first.told.into_iter().try_for_each(|told| self.hear(who, &told))
    }

    /// What the checkers have to say of it.
    pub(super) fn hear(&mut self, from: Who, told: &Told) -> Result<(), Fault> {
        self.overhear(from, told.to, &told.message)?;
        self.check_receipt(&told.message, told.reported.as_ref())
    }

    /// How many steps wait for the same disk.
    pub(super) fn in_line(&self, who: Who) -> usize {
        if self.shape.is_kin(who) {
            return self.house.line.len();
        }
        self.cast.machine(who).map_or(0, |machine| machine.waiting())
    }

    /// The process dies with all who live in it. Of the steps in line the first `stored` still reach the disk; the others have
    /// never been. Who was up is returned.
    pub(super) fn fall(&mut self, stored: usize) -> Result<Vec<Who>, Fault> {
        let House { mut line, .. } = std::mem::take(&mut self.house);
        line.truncate(stored);
        let mut family = self.cast.hosts();
        family.retain(|who| self.shape.is_kin(*who) && self.cast.machine(*who).is_some_and(|it| it.is_up()));
        for member in &family {
            self.stop(*member, line.iter().filter(|step| step.who == *member).count());
        }
        self.read_ledger()?;
        for InLine { who, told } in line {
            told.iter().try_for_each(|told| self.hear(who, told))?;
        }
        Ok(family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{CallId, Parcel};
    use crate::protocol::dialect::Dialect;
    use crate::sim::{Options, START};

    fn world() -> World {
        let shape = Shape { house: Some(1), ..Shape::plain(2, 1) };
        World::new(1, &Options { shape: Some(shape), ..Options::default() })
    }

    #[test]
    fn only_what_is_for_the_family_goes_before_the_disk_has_it() {
        let world = world();
        let early = Kin { shape: &world.shape, calls: &world.calls, requests: &world.requests };
        let goes = |who: Who| {
            early.call(&Outgoing {
                call: CallId(1),
                to: who.endpoint(),
                dialect: Dialect::Standard,
                parcel: Parcel::Probe,
                deadline: START,
            })
        };
        assert!(goes(Who::Manager) && goes(Who::Referee(1)) && goes(Who::Player(1)));
        assert!(!goes(Who::Player(2)) && !goes(Who::Outsider));
    }

    #[test]
    fn a_step_that_reaches_the_disk_before_its_turn_is_noticed() {
        let mut world = world();
        world.start(Who::Manager).unwrap();
        world.start(Who::Player(1)).unwrap();
        let fault = world.leave_line(Who::Player(1)).unwrap_err();
        assert_eq!(fault.checker, Checker::DurableBeforeVisible);
    }

    #[test]
    fn when_the_process_dies_all_forget_from_the_same_place_on() {
        let mut world = world();
        for who in [Who::Manager, Who::Referee(1), Who::Player(1), Who::Player(2)] {
            world.start(who).unwrap();
        }
        assert_eq!((world.in_line(Who::Manager), world.in_line(Who::Player(2))), (3, 1));
        let gone = world.fall(2).unwrap();
        assert_eq!(gone, [Who::Manager, Who::Referee(1), Who::Player(1)]);
        let stored = |who| world.cast.machine(who).map(|machine| machine.stored());
        assert!(stored(Who::Manager) > Some(0) && stored(Who::Referee(1)) > Some(0));
        assert_eq!(stored(Who::Player(1)), Some(0));
        assert_eq!(world.in_line(Who::Manager), 0);
        assert!(world.cast.machine(Who::Player(2)).is_some_and(|guest| guest.is_up()));
    }
}
