//! What listens on loopback and is advertised elsewhere is reached by everybody, through a proxy or a tunnel on this machine.

use crate::wire::post_with;
use matchday_testkit::cli::{Cli, TOKEN, free_address, registration};
use matchday_testkit::mcp_client::modern;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;

const ELSEWHERE: &str = "https://league.example/mcp";

fn status(address: &str, path: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// What a client of seats is answered that shows no code.
fn join(url: &str) -> u16 {
    let body = modern(
        "tools/call",
        json!({"name": "join_league", "arguments": {"name": "Ann"}}),
    );
    let headers =
        "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: join_league\r\n";
    post_with(url, headers, &serde_json::from_str(&body).unwrap()).status
}

#[test]
fn a_manager_that_is_advertised_elsewhere_takes_no_caller_for_its_operator() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--seats", "on", "--advertise", ELSEWHERE]);
    let said = manager.out() + &manager.err();
    assert!(
        said.contains("join code for referees") && said.contains("code for seats"),
        "{said}"
    );
    let refused = cli.ask(&["start"]);
    assert!(
        refused.failed(1).contains("E003") || refused.err.contains("operator token"),
        "{refused:?}"
    );
    let known = cli.ask(&["start", "--operator-token", TOKEN]);
    assert!(
        !known.failed(1).contains("operator token"),
        "it is not full yet: {known:?}"
    );
    assert_eq!(join(&cli.manager), 403);
    assert_eq!(
        (
            status(&cli.listen, "/metrics"),
            status(&cli.listen, "/api/league")
        ),
        (404, 404)
    );
}

#[test]
fn nobody_who_comes_from_elsewhere_has_this_machine_call_itself() {
    for own in [
        ["--advertise", ELSEWHERE],
        ["--trusted-proxies", "127.0.0.1"],
    ] {
        let cli = Cli::new(crate::MATCHDAY);
        let _manager = cli.manager(&own);
        let answer = post_with(&cli.manager, "", &registration()).json();
        assert_eq!(answer["status"], "REJECTED", "{answer}");
        assert!(
            answer["reason"].as_str().unwrap().contains("loopback"),
            "{answer}"
        );
    }
}

#[test]
fn a_manager_that_is_advertised_on_this_machine_needs_no_tokens_there() {
    for here in [
        "http://localhost:8000/mcp",
        "http://127.0.0.1:8000/mcp",
        "http://league.localhost/mcp",
    ] {
        let cli = Cli::new(crate::MATCHDAY);
        let manager = cli.manager(&["--seats", "on", "--advertise", here]);
        let said = manager.out() + &manager.err();
        assert!(!said.contains("code for"), "{said}");
        assert!(!cli.ask(&["start"]).failed(1).contains("operator token"));
        assert_eq!(status(&cli.listen, "/metrics"), 200);
    }
}

#[test]
fn seats_that_are_advertised_elsewhere_ask_for_a_code_even_beside_a_client_at_the_standard_input() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[]);
    for own in [
        &["--advertise", ELSEWHERE][..],
        &["--advertise", ELSEWHERE, "--stdio"],
    ] {
        let listen = free_address();
        let args = [
            "seat",
            "--listen",
            &listen,
            "--manager",
            &cli.manager,
            "--store",
            "seats.db",
        ];
        let mut command = cli.command(&[&args[..], own].concat());
        command.stdin(std::process::Stdio::piped());
        let seats = matchday_testkit::cli::Process::start(command);
        seats.until("code for seats");
        assert_eq!(join(&format!("http://{listen}/mcp")), 403);
    }
}

#[test]
fn a_league_of_a_service_that_is_advertised_elsewhere_has_a_code_for_its_seats() {
    let cli = Cli::new(crate::MATCHDAY);
    let service = cli.start(&[
        "serve",
        "--listen",
        &cli.listen,
        "--public-url",
        "https://leagues.example",
        "--service-token",
        TOKEN,
    ]);
    service.until("leagues are served at");
    let at = [
        "--service",
        &format!("http://{}", cli.listen),
        "--service-token",
        TOKEN,
        "--json",
    ];
    let made = cli.run(&[&["league", "create", "spring", "--seats", "on"], &at[..]].concat());
    let code = made.json()["leagues"][0]["seat_code"].clone();
    assert!(
        code.as_str()
            .is_some_and(|code| code.starts_with("tok_join_")),
        "{made:?}"
    );
}

#[test]
fn a_token_that_can_be_guessed_is_refused_where_it_is_set() {
    let cli = Cli::new(crate::MATCHDAY);
    for (command, flag) in [
        ("manager", "--operator-token"),
        ("serve", "--service-token"),
    ] {
        let done = cli.run(&[command, "--listen", "127.0.0.1:0", flag, "hunter2"]);
        let line = done.err.lines().last().unwrap_or_default();
        assert_eq!(done.code, 2, "{done:?}");
        assert!(
            line.contains(&format!("{flag}: expected at least 16 characters")),
            "{line}"
        );
        assert!(
            line.contains("openssl rand -hex 32") && !done.err.contains("hunter2"),
            "{line}"
        );
    }
}
