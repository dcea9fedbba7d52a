//! Network namespaces: a league in one, agents in another, and a gateway between them that only lets connections out. There is
//! no route to the agents at all.

use crate::MATCHDAY;
use matchday_testkit::cli::{Cli, Process, command};
use matchday_testkit::namespaces::Namespaces;
use matchday_testkit::starter::Starter;
use matchday_testkit::tools::require;

/// The starters that dial out.
const LANGUAGES: [&str; 4] = ["python", "typescript", "rust", "go"];
/// Where the agents find the league: at the gateway.
const OUTSIDE: &str = "10.78.0.1:8000";

fn run(network: &Namespaces, inside: usize, cli: &Cli, program: &[&str]) -> Process {
    let mut command = command(program[0]);
    command.args(&program[1..]).current_dir(cli.path());
    network.exec(inside, &command)
}

#[test]
fn agents_without_an_inbound_route_play_a_whole_league() {
    const LEAGUE: usize = 0;
    const GATE: usize = 1;
    const AGENTS: usize = 2;
    if !require("python3") {
        return;
    }
    let Some(network) = Namespaces::new(&["league", "gateway", "agents"]) else {
        return;
    };
    network.cable([LEAGUE, GATE], "out", ["10.77.0.1/30", "10.77.0.2/30"]);
    network.cable([GATE, AGENTS], "in", ["10.78.0.1/30", "10.78.0.2/30"]);
    let cli = Cli::new(MATCHDAY);
    let homes = LANGUAGES.map(|language| (language, Cli::new(MATCHDAY)));
    let starters: Vec<_> = homes
        .iter()
        .filter_map(|(language, home)| Starter::write(home, language))
        .collect();
    if starters.len() < LANGUAGES.len() {
        return;
    }
    let inside = "http://10.77.0.1:8000/mcp";
    let manager = run(
        &network,
        LEAGUE,
        &cli,
        &[
            MATCHDAY,
            "manager",
            "--listen",
            "10.77.0.1:8000",
            "--allowed-hosts",
            OUTSIDE,
            "--relay",
            "on",
            "--lead",
            "0",
            "--referee-code",
            "off",
            "--start-when",
            "players=6,referees=1",
            "--operator-token",
            "tok_operator_here",
        ],
    );
    manager.until("listening on");
    let _gateway = network.forward(GATE, OUTSIDE, "10.77.0.1:8000");
    let _referee = run(
        &network,
        LEAGUE,
        &cli,
        &[
            MATCHDAY,
            "referee",
            "--listen",
            "10.77.0.1:8001",
            "--manager",
            inside,
        ],
    );
    let league = format!("http://{OUTSIDE}/mcp");
    let ping = run(
        &network,
        LEAGUE,
        &cli,
        &[
            "python3",
            "-c",
            "import socket; socket.create_connection(('10.78.0.2', 8101), 3)",
        ],
    );
    ping.until("Network is unreachable");
    let written = cli.run(&[
        "new",
        "player",
        "--lang",
        "python",
        "unmodified",
        "--name",
        "Unmodified",
    ]);
    assert_eq!(written.code, 0, "{written:?}");
    let connect = run(
        &network,
        AGENTS,
        &cli,
        &[
            MATCHDAY,
            "connect",
            &league,
            "--to",
            "http://127.0.0.1:8101/mcp",
        ],
    );
    connect.until("connected to the league");
    let listening = [
        "python3",
        "unmodified/agent.py",
        "--listen",
        "127.0.0.1:8101",
    ];
    let _unmodified = run(
        &network,
        AGENTS,
        &cli,
        &[&listening[..], &["--manager", "http://127.0.0.1:8000/mcp"]].concat(),
    );
    let _dialled = run(
        &network,
        AGENTS,
        &cli,
        &[
            MATCHDAY,
            "player",
            "--dial",
            "on",
            "--store",
            "p1.db",
            "--manager",
            &league,
        ],
    );
    let _starters: Vec<_> = starters
        .iter()
        .map(|starter| network.exec(AGENTS, &starter.dial(&league)))
        .collect();
    manager.until("LEAGUE_COMPLETED to");
    assert!(!manager.out().contains("technical"), "{}", manager.out());
}
