//! Agents of ours that dial out: no socket of their own, and a whole league.

use crate::MATCHDAY;
use matchday_testkit::cli::{Cli, Process};

pub(crate) fn dialling(cli: &Cli, args: &[&str]) -> Process {
    let mut command = cli.command(args);
    command.args(["--dial", "on", "--manager", &cli.manager]);
    Process::start(command)
}

/// Nobody has lost by default.
pub(crate) fn assert_no_technical_loss(cli: &Cli) {
    let schedule = cli.ask(&["schedule", "--json"]);
    assert_eq!(schedule.code, 0, "{schedule:?}");
    let text = schedule.out.to_lowercase();
    assert!(!text.contains("technical"), "{text}");
}

#[test]
fn a_league_is_played_by_agents_that_dial_out() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&[
        "--relay",
        "on",
        "--lead",
        "0",
        "--start-when",
        "players=3,referees=1",
    ]);
    let agents = [
        dialling(&cli, &["referee", "--store", "r.db"]),
        dialling(&cli, &["player", "--store", "p1.db"]),
        dialling(&cli, &["player", "--store", "p2.db"]),
        // One that is called directly plays with them.
        cli.agent(&["player"]),
    ];
    cli.until_status("completed");
    assert_no_technical_loss(&cli);
    assert_eq!(
        listening_sockets(agents[1].pid()),
        0,
        "an agent that dials out listens nowhere"
    );
    assert!(listening_sockets(agents[3].pid()) > 0);
}

/// How many listening sockets a process has.
pub(crate) fn listening_sockets(pid: u32) -> usize {
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
    let inodes: Vec<&str> = table
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields[3] == "0A")
        .map(|fields| fields[9])
        .collect();
    let links = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .flatten();
    let targets =
        links.filter_map(|link| Some(std::fs::read_link(link.path()).ok()?.to_str()?.to_owned()));
    targets
        .filter(|target| {
            inodes
                .iter()
                .any(|inode| *target == format!("socket:[{inode}]"))
        })
        .count()
}

#[test]
fn agents_come_back_after_a_restart_of_the_manager() {
    let cli = Cli::new(MATCHDAY);
    let args = ["--relay", "on", "--lead", "0", "--store", "league.db"];
    let mut manager = cli.manager(&args);
    let agents = [
        dialling(&cli, &["referee", "--store", "r.db"]),
        dialling(&cli, &["player", "--store", "p1.db"]),
        dialling(&cli, &["player", "--store", "p2.db"]),
    ];
    agents.iter().for_each(|agent| agent.until("registered as"));
    manager.signal("KILL");
    manager.wait();
    let _manager = cli.manager(&args);
    let started = cli.ask(&["start", "--operator-token", "none"]);
    let started = if started.code == 0 {
        started
    } else {
        cli.ask(&["start"])
    };
    assert_eq!(started.code, 0, "{started:?}");
    cli.until_status("completed");
    assert_no_technical_loss(&cli);
}

#[test]
fn it_is_shown_who_is_connected_how() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&["--relay", "on", "--dashboard", "on"]);
    let dialled = dialling(&cli, &["player", "--store", "p1.db"]);
    dialled.until("registered as");
    dialled.until("connected to the league");
    let direct = cli.agent(&["player"]);
    direct.until("registered as");
    let shown = crate::http::call(&cli.listen, "GET", "/api/connections", None, "")
        .unwrap()
        .json();
    let listed = crate::http::call(&cli.listen, "GET", "/relay", None, "")
        .unwrap()
        .json();
    assert_eq!(shown["agents"][0], listed["agents"][0]);
    // Before the start the page tells as well whether a direct one can be reached.
    assert_eq!(shown["agents"][1]["connected"], true, "{shown}");
    let agent = |number: usize| listed["agents"][number].clone();
    assert_eq!(
        (&agent(0)["via"], &agent(0)["transport"]),
        (&"relay".into(), &"stream".into()),
        "{listed}"
    );
    assert_eq!(agent(0)["connected"], true, "{listed}");
    assert_eq!(
        (&agent(1)["via"], agent(1).get("connected")),
        (&"direct".into(), None),
        "{listed}"
    );
    assert!(
        agent(0)["since"].is_string() && agent(1)["since"].is_string(),
        "{listed}"
    );
    let status = cli.ask(&["status"]).out;
    assert!(
        status.contains("relay, stream") && status.contains("direct"),
        "{status}"
    );
}
