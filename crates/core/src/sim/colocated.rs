//! Colocated agents: one process for several of them, with one disk that is written in one order, as `matchday run` has it.
//!
//! They hear each other as soon as a batch has its place in that order. Nobody else hears of it before the disk has it and
//! all before it, of whichever agent. When the process dies all of them die, and lose the same end of the log: so none
//! remembers what follows from something that another has lost. The checkers hear of a message between them when the
//! disk has its batch; until then it may never have been.

use super::failure::{Checker, Fault};
use super::who::Who;
use super::world::World;
use crate::driver::Effects;
use crate::protocol::messages::MatchResult;
use crate::protocol::{Message, Timestamp};
use std::collections::VecDeque;

/// The batches of all agents of the process that wait for its disk, in order.
#[derive(Debug, Default)]
pub(super) struct SharedLog {
    waiting: VecDeque<Waiting>,
    /// When the disk is done with them.
    pub(super) disk_until: Option<Timestamp>,
}

#[derive(Debug)]
struct Waiting {
    who: Who,
    sent: Vec<SentMessage>,
}

/// A message from one agent to another.
#[derive(Debug)]
pub(super) struct SentMessage {
    pub(super) from: Who,
    pub(super) to: Who,
    pub(super) message: Message,
    /// The result that it is a receipt for, if it is an answer to a report.
    pub(super) reported: Option<MatchResult>,
}

impl SharedLog {
    /// Whose batch is the oldest.
    pub(super) fn oldest(&self) -> Option<Who> {
        self.waiting.front().map(|batch| batch.who)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn push(&mut self, who: Who) {
        self.waiting.push_back(Waiting { who, sent: Vec::new() });
    }

    pub(super) fn skip(&mut self) {
        self.waiting.pop_front();
    }
}

impl World {
    /// A batch of a colocated agent has its place in the log: the others hear of it.
    pub(super) fn append_shared(&mut self, who: Who, to_disk: bool, effects: Effects) -> Result<(), Fault> {
        if to_disk {
            self.shared_log.push(who);
        }
        self.release(who, effects)
    }

    /// The checkers hear of a message when the disk has the batch that it follows from.
    pub(super) fn hold_message(&mut self, sent: SentMessage) -> Result<(), Fault> {
        match self.shared_log.waiting.back_mut() {
            Some(last) => {
                last.sent.push(sent);
                Ok(())
            }
            None => self.observe(&sent),
        }
    }

    /// The oldest batch that waits, which is this agent's, has reached the disk.
    pub(super) fn commit_shared(&mut self, who: Who) -> Result<(), Fault> {
        let Some(first) = self.shared_log.waiting.pop_front().filter(|first| first.who == who) else {
            return Err(Fault::new(
                Checker::DurableBeforeVisible,
                format!("a step of {who} reached the disk before one that was in line before it"),
            ));
        };
        first.sent.iter().try_for_each(|sent| self.observe(sent))
    }

    /// What the checkers have to say of a message.
    pub(super) fn observe(&mut self, sent: &SentMessage) -> Result<(), Fault> {
        self.overhear(sent.from, sent.to, &sent.message)?;
        self.check_receipt(&sent.message, sent.reported.as_ref())
    }

    /// How many batches wait for the same disk.
    pub(super) fn waiting_with(&self, who: Who) -> usize {
        if self.scenario.is_colocated(who) {
            return self.shared_log.waiting.len();
        }
        self.cast.machine(who).map_or(0, |machine| machine.waiting())
    }

    /// The process dies with all its agents. Of the batches that wait the first `stored` still reach the disk; the others
    /// have never been. Who was up is returned.
    pub(super) fn crash_process(&mut self, stored: usize) -> Result<Vec<Who>, Fault> {
        let SharedLog { mut waiting, .. } = std::mem::take(&mut self.shared_log);
        waiting.truncate(stored);
        let mut agents = self.cast.hosts();
        agents.retain(|who| {
            self.scenario.is_colocated(*who) && self.cast.machine(*who).is_some_and(|it| it.is_up())
        });
        for agent in &agents {
            self.stop(*agent, waiting.iter().filter(|batch| batch.who == *agent).count());
        }
        self.read_ledger()?;
        let sent = waiting.into_iter().flat_map(|batch| batch.sent);
        sent.into_iter().try_for_each(|sent| self.observe(&sent))?;
        Ok(agents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{Options, Scenario};

    fn world() -> World {
        let scenario = Scenario { colocated_players: Some(1), ..Scenario::plain(2, 1) };
        World::new(1, &Options { scenario: Some(scenario), ..Options::default() })
    }

    #[test]
    fn only_what_is_for_the_family_goes_before_the_disk_has_it() {
        let is_colocated = world().scenario.colocated_with(Who::Manager).unwrap();
        let goes = |who: Who| is_colocated(&who.endpoint());
        assert!(goes(Who::Manager) && goes(Who::Referee(1)) && goes(Who::Player(1)));
        assert!(!goes(Who::Player(2)) && !goes(Who::Outsider));
        assert!(world().scenario.colocated_with(Who::Player(2)).is_none());
    }

    #[test]
    fn a_step_that_reaches_the_disk_before_its_turn_is_noticed() {
        let mut world = world();
        world.start(Who::Manager).unwrap();
        world.start(Who::Player(1)).unwrap();
        let fault = world.commit_shared(Who::Player(1)).unwrap_err();
        assert_eq!(fault.checker, Checker::DurableBeforeVisible);
    }

    #[test]
    fn when_the_process_dies_all_forget_from_the_same_place_on() {
        let mut world = world();
        for who in [Who::Manager, Who::Referee(1), Who::Player(1), Who::Player(2)] {
            world.start(who).unwrap();
        }
        assert_eq!((world.waiting_with(Who::Manager), world.waiting_with(Who::Player(2))), (3, 1));
        let gone = world.crash_process(2).unwrap();
        assert_eq!(gone, [Who::Manager, Who::Referee(1), Who::Player(1)]);
        let stored = |who| world.cast.machine(who).map(|machine| machine.stored());
        assert!(stored(Who::Manager) > Some(0) && stored(Who::Referee(1)) > Some(0));
        assert_eq!(stored(Who::Player(1)), Some(0));
        assert_eq!(world.waiting_with(Who::Manager), 0);
        assert!(world.cast.machine(Who::Player(2)).is_some_and(|guest| guest.is_up()));
    }
}
