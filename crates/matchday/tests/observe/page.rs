//! Asks a process for a page, and reads figures out of it.

use matchday_testkit::cli::{Cli, Process};
use matchday_testkit::eventually::eventually;
pub(crate) use matchday_testkit::page::{ask, get, value};
use std::io::Write;
use std::process::{Command, Stdio};

/// Where a process says that it listens.
pub(crate) fn address(running: &Process) -> String {
    running.until("http://127.0.0.1:");
    let said = running.out() + &running.err();
    let after = said
        .split("http://")
        .find(|part| part.starts_with("127.0.0.1:") && part.contains("/mcp"));
    after.unwrap().split('/').next().unwrap().to_owned()
}

pub(crate) fn figures(address: &str) -> String {
    let page = get(address, "/metrics");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(
        page.head
            .contains("content-type: text/plain; version=0.0.4"),
        "{page:?}"
    );
    page.body
}

/// All series of a metric with all of these labels, added up.
pub(crate) fn sum(page: &str, name: &str, labels: &[&str]) -> f64 {
    let rows = page.lines().filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let (found, given) = series.split_once('{').unwrap_or((series, ""));
        (found == name && labels.iter().all(|label| given.contains(label)))
            .then(|| value.parse::<f64>().unwrap())
    });
    rows.sum()
}

/// Waits until a series has this value: a process may know a moment later than another.
pub(crate) fn until_value(address: &str, series: &str, wanted: f64) {
    eventually(series, || {
        let page = figures(address);
        let found = page
            .lines()
            .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        if found.is_some_and(|text| text.parse() == Ok(wanted)) {
            Ok(())
        } else {
            Err(found.map(str::to_owned))
        }
    });
}

/// Runs a tool over a text; what it says, and whether it is content.
pub(crate) fn tool(command: &mut Command, input: &str) -> (bool, String) {
    let spawned = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned
        .unwrap_or_else(|error| panic!("{command:?}: {error}; ./test installs what it needs"));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), said.concat())
}

/// A league that has been played, with a player that was gone when it began. Its processes still run.
pub(crate) struct Played {
    pub(crate) cli: Cli,
    pub(crate) manager: Process,
    pub(crate) referee: Process,
    pub(crate) players: Vec<Process>,
}

impl Played {
    pub(crate) fn new() -> Self {
        let cli = Cli::new(crate::MATCHDAY);
        let settings = [
            "--lead",
            "0",
            "--endpoint-check",
            "off",
            "--suspend-after",
            "99",
        ];
        let manager = cli.manager(&settings);
        let referee = cli.agent(&["referee", "--retries", "0"]);
        let mut players: Vec<_> = (0..4).map(|_| cli.agent(&["player"])).collect();
        players
            .iter()
            .chain([&referee])
            .for_each(|agent| agent.until("registered as"));
        drop(players.pop());
        assert_eq!(cli.ask(&["start"]).code, 0);
        cli.until_status("completed");
        Self {
            cli,
            manager,
            referee,
            players,
        }
    }
}
