//! Leagues to look at.

use matchday_testkit::cli::{Cli, Process};

/// A league in one folder, and the processes that play it. The manager is told where the referee keeps its messages.
pub(crate) struct League {
    pub(crate) cli: Cli,
    pub(crate) manager: Option<Process>,
    pub(crate) agents: Vec<Process>,
}

impl League {
    /// Nobody has registered yet.
    pub(crate) fn empty() -> Self {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = manager(&cli, &[]);
        Self {
            cli,
            manager: Some(manager),
            agents: Vec::new(),
        }
    }

    /// One that is not open to readers, with a player of this name.
    pub(crate) fn closed(name: &str) -> Self {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = manager(&cli, &["--public-reads", "off"]);
        let mut league = Self {
            cli,
            manager: Some(manager),
            agents: Vec::new(),
        };
        league.join(&["player", "--name", name]);
        league
    }

    /// A referee and players with these names have registered.
    pub(crate) fn of(names: &[&str]) -> Self {
        let mut league = Self::empty();
        league.join(&["referee", "--store", "referee.db"]);
        names
            .iter()
            .for_each(|name| league.join(&["player", "--name", name]));
        league
    }

    /// Played, with a referee that does not wait for long and a player that has stopped.
    pub(crate) fn with_a_technical_loss() -> Self {
        let mut league = Self::empty();
        let referee = [
            "referee",
            "--store",
            "referee.db",
            "--join-timeout",
            "0.5",
            "--retries",
            "1",
        ];
        league.join(&[&referee[..], &["--retry-delay", "0.1"]].concat());
        ["Ada", "Sleeper"]
            .iter()
            .for_each(|name| league.join(&["player", "--name", name]));
        league.agents.last().unwrap().signal("STOP");
        league.start();
        league.cli.until_status("completed");
        league
    }

    /// One with a relay: a player called Direct, and one called Dialled that dials out.
    pub(crate) fn with_relay() -> Self {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = manager(&cli, &["--relay", "on"]);
        let mut league = Self {
            cli,
            manager: Some(manager),
            agents: Vec::new(),
        };
        league.join(&["referee", "--store", "referee.db"]);
        league.join(&["player", "--name", "Direct"]);
        league.join(&["player", "--name", "Dialled", "--dial", "on"]);
        league
    }

    /// One with seats.
    pub(crate) fn with_seats(names: &[&str]) -> Self {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = manager(&cli, &["--seats", "on"]);
        let mut league = Self {
            cli,
            manager: Some(manager),
            agents: Vec::new(),
        };
        league.join(&["referee", "--store", "referee.db"]);
        names
            .iter()
            .for_each(|name| league.join(&["player", "--name", name]));
        league
    }

    /// As `of`, and every match has been played.
    pub(crate) fn played(names: &[&str]) -> Self {
        let league = Self::of(names);
        league.start();
        league.cli.until_status("completed");
        league
    }

    /// One of this game, with seats.
    pub(crate) fn with_seats_of(game: &str, names: &[&str]) -> Self {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = manager(&cli, &["--seats", "on", "--game", game]);
        let mut league = Self {
            cli,
            manager: Some(manager),
            agents: Vec::new(),
        };
        league.join(&["referee", "--store", "referee.db"]);
        names
            .iter()
            .for_each(|name| league.join(&["player", "--name", name]));
        league
    }

    /// Players of this game with these strategies, and every match has been played.
    pub(crate) fn of_strategies(game: &str, settings: &[&str], strategies: &[&str]) -> Self {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = manager(&cli, &[&["--game", game], settings].concat());
        let mut league = Self {
            cli,
            manager: Some(manager),
            agents: Vec::new(),
        };
        league.join(&["referee", "--store", "referee.db"]);
        for (strategy, number) in strategies.iter().zip(1..) {
            let name = format!("Player {number}");
            league.join(&["player", "--name", &name, "--strategy", strategy]);
        }
        league.start();
        league.cli.until_status("completed");
        league
    }

    /// Two players of this game, and every match has been played.
    pub(crate) fn of_game(game: &str) -> Self {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = manager(&cli, &["--game", game]);
        let mut league = Self {
            cli,
            manager: Some(manager),
            agents: Vec::new(),
        };
        league.join(&["referee", "--store", "referee.db"]);
        ["Ada", "Basho"]
            .iter()
            .for_each(|name| league.join(&["player", "--name", name]));
        league.start();
        league.cli.until_status("completed");
        league
    }

    pub(crate) fn start(&self) {
        let started = self.cli.ask(&["start"]);
        assert_eq!(started.code, 0, "{started:?}");
    }

    /// The manager ends, and comes back where it was.
    pub(crate) fn kill_manager(&mut self) {
        self.manager = None;
    }

    pub(crate) fn revive_manager(&mut self) {
        self.manager = Some(manager(&self.cli, &[]));
    }

    fn join(&mut self, args: &[&str]) {
        let agent = self.cli.agent(args);
        agent.until("registered as");
        self.agents.push(agent);
    }
}

fn manager(cli: &Cli, more: &[&str]) -> Process {
    let ours = [
        "--lead",
        "0",
        "--endpoint-check",
        "off",
        "--dashboard-stores",
        "referee.db",
    ];
    cli.manager(&[&ours[..], more].concat())
}
