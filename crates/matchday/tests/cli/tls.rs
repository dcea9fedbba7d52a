//! A league of processes over TLS, with certificates on both sides.

use matchday_testkit::certificates::{Authority, Pair};
use matchday_testkit::cli::{Cli, Output, Process, TOKEN, free_address, output};
use matchday_testkit::seat_client::SeatClient;
use serde_json::json;
use std::path::Path;

const HERE: &[&str] = &["localhost", "127.0.0.1"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What every agent of such a league is started with.
fn flags(cli: &Cli) -> Vec<String> {
    let authority = Authority::new("league");
    let ca = authority.file(cli.path(), "ca.pem");
    let Pair { cert, key } = authority.issue(cli.path(), "agent", HERE);
    let all = [
        ("--tls-cert", &cert),
        ("--tls-key", &key),
        ("--tls-client-ca", &ca),
        ("--tls-ca", &ca),
        ("--tls-client-cert", &cert),
        ("--tls-client-key", &key),
    ];
    all.into_iter()
        .flat_map(|(flag, path)| [flag.to_owned(), text(path).to_owned()])
        .collect()
}

fn start(cli: &Cli, args: &[&str], flags: &[String]) -> Process {
    let mut command = cli.command(args);
    command.args(flags);
    Process::start(command)
}

fn ask(cli: &Cli, args: &[&str], manager: &str) -> Output {
    let mut command = cli.command(args);
    let file = |name: &str| cli.path().join(name);
    command.args(["--manager", manager]);
    command.env("MATCHDAY_TLS_CA", file("ca.pem"));
    command
        .env("MATCHDAY_TLS_CLIENT_CERT", file("agent.pem"))
        .env("MATCHDAY_TLS_CLIENT_KEY", file("agent.key"));
    output(command)
}

#[test]
fn a_whole_league_is_played_over_tls_with_certificates_on_both_sides() {
    let cli = Cli::new(crate::MATCHDAY);
    let flags = flags(&cli);
    let listen = free_address();
    let manager = format!("https://{listen}/mcp");
    let start_when = ["--start-when", "players=3,referees=1", "--seats", "on"];
    let args = [
        "manager",
        "--listen",
        &listen,
        "--operator-token",
        TOKEN,
        "--lead",
        "0",
    ];
    let league = start(&cli, &[&args[..], &start_when].concat(), &flags);
    league.until(&format!("listening on https://{listen}/mcp"));
    let agents: Vec<_> = ["referee", "player", "player", "player"]
        .map(|role| {
            let agent = start(
                &cli,
                &[role, "--listen", &free_address(), "--manager", &manager],
                &flags,
            );
            agent.until("registered as");
            agent
        })
        .into();
    let status = ask(&cli, &["watch", "--json"], &manager);
    assert_eq!(status.code, 0, "{status:?}");
    let last: serde_json::Value = serde_json::from_str(status.out.lines().last().unwrap()).unwrap();
    assert_eq!(last["status"]["status"], "completed", "{status:?}");
    let table = ask(&cli, &["standings"], &manager);
    assert!(
        table.out.contains("P01") && !league.out().contains("http://"),
        "{table:?}\n{}",
        league.out()
    );
    drop(agents);

    let without = cli.run(&[
        "status",
        "--manager",
        &manager,
        "--tls-ca",
        text(&cli.path().join("ca.pem")),
    ]);
    assert!(
        without.failed(1).contains("asks callers for a certificate"),
        "{without:?}"
    );
}

#[test]
fn a_seat_at_standard_input_plays_a_league_over_tls() {
    let cli = Cli::new(crate::MATCHDAY);
    let flags = flags(&cli);
    let listen = free_address();
    let manager = format!("https://{listen}/mcp");
    let of_manager = [
        "manager",
        "--listen",
        &listen,
        "--operator-token",
        TOKEN,
        "--lead",
        "0",
        "--start-when",
        "players=2,referees=1",
    ];
    let _league = start(&cli, &of_manager, &flags);
    let of_seat = [
        "seat",
        "--stdio",
        "--fallback",
        "none",
        "--manager",
        &manager,
    ];
    let mut command = cli.command(&of_seat);
    command.args(&flags);
    let mut client = SeatClient::start(command);
    let seat = client.call("join_league", &json!({"name": "Ann"}))["seat"].clone();
    let _agents = ["referee", "player"].map(|role| {
        let listen = free_address();
        start(
            &cli,
            &[role, "--listen", &listen, "--manager", &manager],
            &flags,
        )
    });
    assert_eq!(client.play(&seat), 1);
    let table = ask(&cli, &["standings", "--json"], &manager);
    let standings: serde_json::Value = serde_json::from_str(&table.out).unwrap();
    for row in standings["standings"].as_array().unwrap() {
        assert!(
            row["technical_losses"].as_u64().unwrap_or(0) == 0,
            "{table:?}"
        );
    }
}

#[test]
fn certificates_are_read_again_when_the_process_is_told_to() {
    let cli = Cli::new(crate::MATCHDAY);
    let authority = Authority::new("league");
    let ca = authority.file(cli.path(), "ca.pem");
    let Pair { cert, key } = authority.issue(cli.path(), "agent", HERE);
    let listen = free_address();
    let player = cli.start(&[
        "player",
        "--listen",
        &listen,
        "--tls-cert",
        text(&cert),
        "--tls-key",
        text(&key),
        "--tls-ca",
        text(&ca),
    ]);
    player.until("listening on https://");
    player.signal("HUP");
    player.until("the certificate has been read again");
    std::fs::write(&cert, "").unwrap();
    player.signal("HUP");
    player.until("the certificate stays as it is");
}

#[test]
fn what_is_wrong_with_tls_is_told_at_the_start() {
    let cli = Cli::new(crate::MATCHDAY);
    for (args, code, words) in [
        (
            &["--tls-cert", "a.pem"][..],
            2,
            "--tls-cert: name its key too, with --tls-key",
        ),
        (
            &["--tls-client-key", "a.pem"],
            2,
            "--tls-client-key: name its certificate too",
        ),
        (
            &["--tls-client-ca", "a.pem"],
            2,
            "--tls-client-ca: callers show certificates over TLS only",
        ),
        (
            &["--tls-cert", "a.pem", "--tls-key", "a.key"],
            1,
            "TLS cannot be set up: a.pem cannot be read",
        ),
        (
            &["--tls-ca", "a.pem"],
            1,
            "TLS cannot be set up: a.pem cannot be read",
        ),
    ] {
        let done = cli.run(&[&["player"], args].concat());
        let said = done.failed(code).to_owned();
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn an_agent_behind_a_certificate_of_ones_own_can_be_checked() {
    let cli = Cli::new(crate::MATCHDAY);
    let authority = Authority::new("league");
    let ca = authority.file(cli.path(), "ca.pem");
    let Pair { cert, key } = authority.issue(cli.path(), "agent", HERE);
    let listen = free_address();
    let tls = ["--tls-cert", text(&cert), "--tls-key", text(&key)];
    let player = cli.start(&[&["player", "--listen", &listen], &tls[..]].concat());
    player.until("listening on https://");
    let url = format!("https://{listen}/mcp");
    let check = ["check", "player", &url, "--quick", "--json"];
    let believed = cli
        .run(&[&check[..], &["--tls-ca", text(&ca)]].concat())
        .json();
    assert!(believed["stopped"].is_null(), "{believed}");
    let doubted = cli.run(&check).json();
    assert!(
        doubted["stopped"]
            .as_str()
            .is_some_and(|why| why.contains("certificate")),
        "{doubted}"
    );
}
