//! Which endpoints of agents a manager calls, as its operator says.

use matchday_testkit::cli::{Cli, free_address};

#[test]
fn an_agent_that_may_not_be_called_is_refused_and_told_what_to_do() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[]);
    let player = |advertise: &str| {
        let listen = free_address();
        let at = [
            "player",
            "--listen",
            &listen,
            "--advertise",
            advertise,
            "--manager",
            &cli.manager,
        ];
        cli.run(&at).failed(1).to_owned()
    };
    let said = player("http://10.0.0.7:8101/mcp");
    assert!(
        said.contains("10.0.0.7 is a private address, and only loopback addresses may be called"),
        "{said}"
    );
    assert!(
        said.contains("--endpoints private or --allow-endpoints 10.0.0.7:8101"),
        "{said}"
    );
    let said = player("http://169.254.169.254/mcp");
    assert!(
        said.contains("the metadata service of a cloud, which is never called"),
        "{said}"
    );
}

#[test]
fn what_the_operator_lists_may_be_called_besides() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[
        "--endpoints",
        "private",
        "--allow-endpoints",
        "localhost,127.0.0.0/8",
    ]);
    let _agents = cli.agents(1, 1);
}

#[test]
fn rules_that_cannot_be_are_refused_at_the_start() {
    let cli = Cli::new(crate::MATCHDAY);
    for (args, words) in [
        (
            &["--endpoints", "everything"][..],
            "--endpoints: expected loopback, private, public",
        ),
        (
            &["--allow-endpoints", "http://a.example"],
            "--allow-endpoints: expected hosts such as",
        ),
        (
            &["--endpoints", "listed"],
            "--endpoints: no endpoint is listed",
        ),
    ] {
        for command in ["manager", "referee"] {
            let at = [command, "--listen", "127.0.0.1:0"];
            let done = cli.run(&[&at[..], args].concat());
            let last = done.err.lines().last().unwrap_or_default();
            assert!(done.code == 2 && last.contains(words), "{done:?}");
        }
    }
}
