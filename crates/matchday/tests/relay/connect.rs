//! `matchday connect` beside an agent that knows nothing of it.

use crate::MATCHDAY;
use matchday_testkit::cli::{Cli, Process, free_address};

/// The side-car, and where the agent registers.
fn side_car(cli: &Cli, to: &str, args: &[&str]) -> (Process, String) {
    let listen = free_address();
    let process = cli.start(
        &[
            &["connect", &cli.manager, "--listen", &listen, "--to", to],
            args,
        ]
        .concat(),
    );
    (process, format!("http://{listen}/mcp"))
}

#[test]
fn an_unmodified_agent_plays_a_league() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&[
        "--relay",
        "on",
        "--lead",
        "0",
        "--start-when",
        "players=2,referees=1",
    ]);
    let agent = free_address();
    let (connect, registers_at) = side_car(&cli, &format!("http://{agent}/mcp"), &[]);
    connect.until("connected to the league");
    let _agents = [
        cli.start(&["player", "--listen", &agent, "--manager", &registers_at]),
        cli.agent(&["player"]),
        cli.agent(&["referee"]),
    ];
    cli.until_status("completed");
    let schedule = cli.ask(&["schedule", "--json"]);
    assert!(
        !schedule.out.to_lowercase().contains("technical"),
        "{schedule:?}"
    );
}

#[test]
fn the_agent_is_started_and_started_again() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&["--relay", "on"]);
    let agent = free_address();
    let listen = free_address();
    let to = format!(
        "command:{MATCHDAY} player --listen {agent} --manager http://{listen}/mcp --log json"
    );
    let connect = cli.start(&["connect", &cli.manager, "--listen", &listen, "--to", &to]);
    connect.until("registered");
    let pid = pid_listening(&agent);
    assert!(
        std::process::Command::new("kill")
            .args(["-9", &pid])
            .status()
            .unwrap()
            .success()
    );
    connect.until("it is started again");
}

/// The process that runs with this address among its arguments, but for the side-car.
fn pid_listening(agent: &str) -> String {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<_> = arguments
            .split(|byte| *byte == 0)
            .map(String::from_utf8_lossy)
            .collect();
        if words.iter().any(|word| word == agent) && words.iter().any(|word| word == "player") {
            return entry.file_name().into_string().unwrap();
        }
    }
    panic!("no agent at {agent}");
}

#[test]
fn it_says_in_one_line_what_is_wrong() {
    let cli = Cli::new(MATCHDAY);
    std::fs::write(
        cli.path().join("roster.csv"),
        "name,role,mail\nAnn,player,ann@example.org\n",
    )
    .unwrap();
    let _manager = cli.manager(&["--relay", "on", "--roster", "roster.csv"]);
    let listen = free_address();
    let refused = cli.run(&[
        "connect",
        &cli.manager,
        "--listen",
        &listen,
        "--code",
        "tok_join_0123456789abcdef",
    ]);
    let none = cli.run(&["connect", &cli.manager, "--listen", &listen]);
    let without = Cli::new(MATCHDAY);
    let _plain = without.manager(&[]);
    let no_relay = cli.run(&["connect", &without.manager, "--listen", &listen]);
    let wrong = cli.run(&["connect", &cli.manager, "--to", "localhost:8101"]);
    assert_eq!(
        (refused.code, none.code, no_relay.code, wrong.code),
        (1, 1, 1, 2)
    );
    let said = [
        refused.err,
        none.err,
        no_relay.err.replace(&without.listen, "HOST:PORT"),
        wrong.err,
    ]
    .concat();
    insta::assert_snapshot!(said);
}

#[test]
fn an_agent_that_does_not_listen_is_told_of() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&["--relay", "on"]);
    let (connect, _) = side_car(&cli, &format!("http://{}/mcp", free_address()), &[]);
    connect.until("connected to the league");
    let mut saved = std::fs::read_dir(cli.path())
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let saved = saved
        .find(|path| path.extension().is_some_and(|ext| ext == "json"))
        .unwrap();
    let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(saved).unwrap()).unwrap();
    let path = format!("/relay/{}/mcp", saved["mailbox"].as_str().unwrap());
    let answer = crate::http::call(&cli.listen, "POST", &path, None, "{}");
    assert_eq!(crate::http::absence(answer), "absent");
    connect.until("the agent is not listening");
}
