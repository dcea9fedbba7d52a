//! Colocated agents: one process for several of them, with one disk that is written in one order, as `matchday run` has it.
//!
//! They hear each other as soon as a batch has its place in that order. Nobody else hears of it before the disk has it and
//! all before it, of whichever agent. When the process dies all of them die, and lose the same end of the log: so none
//! remembers what follows from something that another has lost. The checkers hear of a message between them when the
//! disk has its batch; until then it may never have been.

use super::World;
use crate::agent_id::AgentId;
use crate::failure::{Checker, Fault};
use crate::shared_log::{SentMessage, SharedLog};
use matchday_core::driver::Effects;

impl World {
    /// A batch of a colocated agent has its place in the log: the others hear of it.
    pub(super) fn append_shared(
        &mut self,
        who: AgentId,
        to_disk: bool,
        effects: Effects,
    ) -> Result<(), Fault> {
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
    pub(super) fn commit_shared(&mut self, who: AgentId) -> Result<(), Fault> {
        let Some(first) = self
            .shared_log
            .waiting
            .pop_front()
            .filter(|first| first.who == who)
        else {
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
    pub(super) fn waiting_with(&self, who: AgentId) -> usize {
        if self.scenario.is_colocated(who) {
            return self.shared_log.waiting.len();
        }
        self.agents
            .machine(who)
            .map_or(0, |machine| machine.waiting())
    }

    /// The process dies with all its agents. Of the batches that wait the first `stored` still reach the disk; the others
    /// have never been. Who was up is returned.
    pub(super) fn crash_process(&mut self, stored: usize) -> Result<Vec<AgentId>, Fault> {
        let SharedLog { mut waiting, .. } = std::mem::take(&mut self.shared_log);
        waiting.truncate(stored);
        let mut agents = self.agents.hosts();
        agents.retain(|who| {
            self.scenario.is_colocated(*who)
                && self.agents.machine(*who).is_some_and(|it| it.is_up())
        });
        for agent in &agents {
            self.stop(
                *agent,
                waiting.iter().filter(|batch| batch.who == *agent).count(),
            );
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
    use crate::{Options, Scenario};

    fn world() -> World {
        let scenario = Scenario {
            colocated_players: Some(1),
            ..Scenario::plain(2, 1)
        };
        World::new(
            1,
            &Options {
                scenario: Some(scenario),
                ..Options::default()
            },
        )
    }

    #[test]
    fn only_what_is_for_the_family_goes_before_the_disk_has_it() {
        let is_colocated = world().scenario.colocated_with(AgentId::Manager).unwrap();
        let goes = |who: AgentId| is_colocated(&who.endpoint());
        assert!(goes(AgentId::Manager) && goes(AgentId::Referee(1)) && goes(AgentId::Player(1)));
        assert!(!goes(AgentId::Player(2)) && !goes(AgentId::Outsider));
        assert!(
            world()
                .scenario
                .colocated_with(AgentId::Player(2))
                .is_none()
        );
    }

    #[test]
    fn a_step_that_reaches_the_disk_before_its_turn_is_noticed() {
        let mut world = world();
        world.start(AgentId::Manager).unwrap();
        world.start(AgentId::Player(1)).unwrap();
        let fault = world.commit_shared(AgentId::Player(1)).unwrap_err();
        assert_eq!(fault.checker, Checker::DurableBeforeVisible);
    }

    #[test]
    fn when_the_process_dies_all_forget_from_the_same_place_on() {
        let mut world = world();
        for who in [
            AgentId::Manager,
            AgentId::Referee(1),
            AgentId::Player(1),
            AgentId::Player(2),
        ] {
            world.start(who).unwrap();
        }
        assert_eq!(
            (
                world.waiting_with(AgentId::Manager),
                world.waiting_with(AgentId::Player(2))
            ),
            (3, 1)
        );
        let gone = world.crash_process(2).unwrap();
        assert_eq!(
            gone,
            [AgentId::Manager, AgentId::Referee(1), AgentId::Player(1)]
        );
        let stored = |who| world.agents.machine(who).map(|machine| machine.stored());
        assert!(stored(AgentId::Manager) > Some(0) && stored(AgentId::Referee(1)) > Some(0));
        assert_eq!(stored(AgentId::Player(1)), Some(0));
        assert_eq!(world.waiting_with(AgentId::Manager), 0);
        assert!(
            world
                .agents
                .machine(AgentId::Player(2))
                .is_some_and(|guest| guest.is_up())
        );
    }
}
