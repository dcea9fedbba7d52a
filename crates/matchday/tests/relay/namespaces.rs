//! Network namespaces: a league in one, agents in another, and a gateway between them that only lets connections out. There is
//! no route to the agents at all.

use crate::MATCHDAY;
use matchday_testkit::cli::{Cli, Process, command};
use matchday_testkit::starter::Starter;
use matchday_testkit::tools::{require, require_that};
use std::process::Command;

/// The starters that dial out.
const LANGUAGES: [&str; 4] = ["python", "typescript", "rust", "go"];
/// Where the agents find the league: at the gateway.
const OUTSIDE: &str = "10.78.0.1:8000";
/// Forwards connections from the agents' side to the league.
const GATEWAY: &str = r#"
import socket, threading
def copy(a, b):
    try:
        while data := a.recv(65536): b.sendall(data)
    except OSError: pass
    for s in (a, b):
        try: s.shutdown(socket.SHUT_RDWR)
        except OSError: pass
listener = socket.create_server(("10.78.0.1", 8000))
print("gateway is open", flush=True)
while True:
    near, _ = listener.accept()
    far = socket.create_connection(("10.77.0.1", 8000))
    threading.Thread(target=copy, args=(near, far), daemon=True).start()
    threading.Thread(target=copy, args=(far, near), daemon=True).start()
"#;

/// League, gateway and agents.
struct Network([String; 3]);

fn ip(args: &[&str]) -> bool {
    Command::new("ip").args(args).output().is_ok_and(|output| output.status.success())
}

/// A cable between two namespaces, with an address at each end.
fn cable(one: &str, other: &str, name: &str, addresses: [&str; 2]) -> bool {
    ip(&["-n", one, "link", "add", name, "type", "veth", "peer", "name", name, "netns", other])
        && [one, other].iter().zip(addresses).all(|(namespace, address)| {
            ip(&["-n", namespace, "addr", "add", address, "dev", name])
                && ip(&["-n", namespace, "link", "set", name, "up"])
        })
}

impl Network {
    /// `None` where namespaces cannot be made.
    fn new() -> Option<Self> {
        let id = std::process::id();
        let network = Self(["league", "gateway", "agents"].map(|name| format!("md-{name}-{id}")));
        let [league, gateway, agents] = &network.0;
        let made = network
            .0
            .iter()
            .all(|name| ip(&["netns", "add", name]) && ip(&["-n", name, "link", "set", "lo", "up"]))
            && cable(league, gateway, "out", ["10.77.0.1/30", "10.77.0.2/30"])
            && cable(gateway, agents, "in", ["10.78.0.1/30", "10.78.0.2/30"]);
        made.then_some(network)
    }

    fn run(&self, inside: usize, cli: &Cli, program: &[&str]) -> Process {
        let mut command = command(program[0]);
        command.args(&program[1..]).current_dir(cli.path());
        self.exec(inside, &command)
    }

    fn exec(&self, inside: usize, program: &Command) -> Process {
        let mut command = command("ip");
        command.args(["netns", "exec", &self.0[inside]]);
        command.arg(program.get_program()).args(program.get_args());
        command.current_dir(program.get_current_dir().unwrap());
        for (name, value) in program.get_envs() {
            value.map(|value| command.env(name, value));
        }
        Process::start(command)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for namespace in &self.0 {
            let pids = Command::new("ip").args(["netns", "pids", namespace]).output();
            for pid in String::from_utf8_lossy(&pids.map(|output| output.stdout).unwrap_or_default()).lines()
            {
                let _ = Command::new("kill").args(["-9", pid]).status();
            }
            ip(&["netns", "del", namespace]);
        }
    }
}

#[test]
fn agents_without_an_inbound_route_play_a_whole_league() {
    const LEAGUE: usize = 0;
    const AGENTS: usize = 2;
    if !require("python3") {
        return;
    }
    let network = Network::new();
    if !require_that(
        network.is_some(),
        "network namespaces cannot be made here (they need root and iproute2)",
    ) {
        return;
    }
    let (network, cli) = (network.unwrap(), Cli::new(MATCHDAY));
    let homes = LANGUAGES.map(|language| (language, Cli::new(MATCHDAY)));
    let starters: Vec<_> =
        homes.iter().filter_map(|(language, home)| Starter::write(home, language)).collect();
    if starters.len() < LANGUAGES.len() {
        return;
    }
    let inside = "http://10.77.0.1:8000/mcp";
    let manager = network.run(
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
    let gateway = network.run(1, &cli, &["python3", "-c", GATEWAY]);
    gateway.until("gateway is open");
    let _referee =
        network.run(LEAGUE, &cli, &[MATCHDAY, "referee", "--listen", "10.77.0.1:8001", "--manager", inside]);
    let league = format!("http://{OUTSIDE}/mcp");
    let ping = network.run(
        LEAGUE,
        &cli,
        &["python3", "-c", "import socket; socket.create_connection(('10.78.0.2', 8101), 3)"],
    );
    ping.until("Network is unreachable");
    let written = cli.run(&["new", "player", "--lang", "python", "unmodified", "--name", "Unmodified"]);
    assert_eq!(written.code, 0, "{written:?}");
    let connect =
        network.run(AGENTS, &cli, &[MATCHDAY, "connect", &league, "--to", "http://127.0.0.1:8101/mcp"]);
    connect.until("connected to the league");
    let listening = ["python3", "unmodified/agent.py", "--listen", "127.0.0.1:8101"];
    let _unmodified =
        network.run(AGENTS, &cli, &[&listening[..], &["--manager", "http://127.0.0.1:8000/mcp"]].concat());
    let _dialled = network.run(
        AGENTS,
        &cli,
        &[MATCHDAY, "player", "--dial", "on", "--store", "p1.db", "--manager", &league],
    );
    let _starters: Vec<_> =
        starters.iter().map(|starter| network.exec(AGENTS, &starter.dial(&league))).collect();
    manager.until("LEAGUE_COMPLETED to");
    assert!(!manager.out().contains("technical"), "{}", manager.out());
}
