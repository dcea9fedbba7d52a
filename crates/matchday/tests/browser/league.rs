//! Leagues to look at.

use crate::ground::{Ground, Running};

/// A league in one folder, and the processes that play it. The manager is told where the referee keeps its messages.
pub(crate) struct League {
    pub(crate) ground: Ground,
    pub(crate) manager: Option<Running>,
    pub(crate) agents: Vec<Running>,
}

impl League {
    /// Nobody has registered yet.
    pub(crate) fn empty() -> Self {
        let ground = Ground::new();
        let manager = manager(&ground, &[]);
        Self { ground, manager: Some(manager), agents: Vec::new() }
    }

    /// One that is not open to readers, with a player of this name.
    pub(crate) fn closed(name: &str) -> Self {
        let ground = Ground::new();
        let manager = manager(&ground, &["--public-reads", "off"]);
        let mut league = Self { ground, manager: Some(manager), agents: Vec::new() };
        league.join(&["player", "--name", name]);
        league
    }

    /// A referee and players with these names have registered.
    pub(crate) fn of(names: &[&str]) -> Self {
        let mut league = Self::empty();
        league.join(&["referee", "--store", "referee.db"]);
        names.iter().for_each(|name| league.join(&["player", "--name", name]));
        league
    }

    /// The same, with a referee that does not wait for long.
    pub(crate) fn hurried(names: &[&str]) -> Self {
        let mut league = Self::empty();
        let referee = ["referee", "--store", "referee.db", "--join-timeout", "0.5", "--retries", "1"];
        league.join(&[&referee[..], &["--retry-delay", "0.1"]].concat());
        names.iter().for_each(|name| league.join(&["player", "--name", name]));
        league
    }

    /// As `of`, and every match has been played.
    pub(crate) fn played(names: &[&str]) -> Self {
        let league = Self::of(names);
        league.start();
        league.ground.until_status("completed");
        league
    }

    pub(crate) fn start(&self) {
        let started = self.ground.ask(&["start"]);
        assert_eq!(started.code, 0, "{started:?}");
    }

    /// The manager ends, and comes back where it was.
    pub(crate) fn kill_manager(&mut self) {
        self.manager = None;
    }

    pub(crate) fn revive_manager(&mut self) {
        self.manager = Some(manager(&self.ground, &[]));
    }

    fn join(&mut self, args: &[&str]) {
        let agent = self.ground.agent(args);
        agent.until("registered as");
        self.agents.push(agent);
    }
}

fn manager(ground: &Ground, more: &[&str]) -> Running {
    let ours = ["--lead", "0", "--endpoint-check", "off", "--dashboard-stores", "referee.db"];
    ground.manager(&[&ours[..], more].concat())
}
