//! Network namespaces of the test's own, with cables between them. They need root and iproute2.

use crate::cli::{Process, command};
use crate::tools::require_that;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Forwards TCP connections to another address, or to a socket in the file system.
const FORWARD: &str = r#"
import socket, sys, threading
def address(text):
    host, port = text.split(":")
    return host, int(port)
def connect(to):
    if not to.startswith("/"): return socket.create_connection(address(to))
    far = socket.socket(socket.AF_UNIX)
    far.connect(to)
    return far
def copy(a, b):
    try:
        while data := a.recv(65536): b.sendall(data)
    except OSError: pass
    for s in (a, b):
        try: s.shutdown(socket.SHUT_RDWR)
        except OSError: pass
listener = socket.create_server(address(sys.argv[1]))
print("forwarding", flush=True)
while True:
    near, _ = listener.accept()
    far = connect(sys.argv[2])
    threading.Thread(target=copy, args=(near, far), daemon=True).start()
    threading.Thread(target=copy, args=(far, near), daemon=True).start()
"#;

static MADE: AtomicU32 = AtomicU32::new(0);

/// Deleted with all that runs in them.
pub struct Namespaces(Vec<String>);

fn ip(args: &[&str]) -> bool {
    Command::new("ip")
        .args(args)
        .output()
        .is_ok_and(|output| output.status.success())
}

impl Namespaces {
    /// One for each name. `None` where they cannot be made: the test returns. In the gate that is a failure.
    pub fn new(names: &[&str]) -> Option<Self> {
        let process = std::process::id();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let namespaces = Self(
            names
                .iter()
                .map(|name| format!("md-{name}-{process}-{number}"))
                .collect(),
        );
        let add = |name: &String| {
            ip(&["netns", "add", name]) && ip(&["-n", name, "link", "set", "lo", "up"])
        };
        let made = namespaces.0.iter().all(add);
        require_that(
            made,
            "network namespaces cannot be made here (they need root and iproute2)",
        )
        .then_some(namespaces)
    }

    fn name(&self, place: usize) -> &str {
        &self.0[place]
    }

    /// A cable between two of them, with an address at each end.
    pub fn cable(&self, ends: [usize; 2], name: &str, addresses: [&str; 2]) {
        let [one, other] = ends.map(|end| self.name(end));
        assert!(ip(&[
            "-n", one, "link", "add", name, "type", "veth", "peer", "name", name, "netns", other
        ]));
        for (namespace, address) in [one, other].iter().zip(addresses) {
            assert!(ip(&["-n", namespace, "addr", "add", address, "dev", name]));
            assert!(ip(&["-n", namespace, "link", "set", name, "up"]));
        }
    }

    /// Starts a program inside one of them.
    pub fn exec(&self, inside: usize, program: &Command) -> Process {
        let mut command = command("ip");
        command.args(["netns", "exec", self.name(inside)]);
        command.arg(program.get_program()).args(program.get_args());
        program
            .get_current_dir()
            .map(|folder| command.current_dir(folder));
        for (name, value) in program.get_envs() {
            value.map(|value| command.env(name, value));
        }
        Process::start(command)
    }

    /// Forwards what connects to an address inside one of them; needs python3.
    pub fn forward(&self, inside: usize, from: &str, to: &str) -> Process {
        let mut python = command("python3");
        python.args(["-c", FORWARD, from, to]);
        let process = self.exec(inside, &python);
        process.until("forwarding");
        process
    }

    /// What is sent from one of them to an address is lost from now on; what comes from there arrives.
    pub fn lose_packets_to(&self, from: usize, address: &str) {
        assert!(ip(&[
            "-n",
            self.name(from),
            "route",
            "add",
            "blackhole",
            address
        ]));
    }

    pub fn deliver_packets_to(&self, from: usize, address: &str) {
        assert!(ip(&[
            "-n",
            self.name(from),
            "route",
            "del",
            "blackhole",
            address
        ]));
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for namespace in &self.0 {
            let pids = Command::new("ip")
                .args(["netns", "pids", namespace])
                .output();
            for pid in
                String::from_utf8_lossy(&pids.map(|output| output.stdout).unwrap_or_default())
                    .lines()
            {
                let _ = Command::new("kill").args(["-9", pid]).status();
            }
            ip(&["netns", "del", namespace]);
        }
    }
}
