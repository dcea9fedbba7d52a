//! By which names, and from which pages, an agent may be called.

use matchday_testkit::cli::{Cli, free_address};
use std::io::{Read, Write};
use std::net::TcpStream;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn status(address: &str, header: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = PING.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\n{header}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{PING}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_league_answers_to_the_names_and_pages_that_it_was_given() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[
        "--allowed-hosts",
        "league.example, other.example:9000",
        "--allowed-origins",
        "https://app.example",
    ]);
    let address = cli
        .manager
        .trim_start_matches("http://")
        .trim_end_matches("/mcp");
    for (header, expected) in [
        ("Host: localhost", "200"),
        ("Host: league.example:1234", "200"),
        ("Host: other.example:9000", "200"),
        ("Host: other.example", "403"),
        ("Host: evil.example", "403"),
        ("Host: localhost\r\nOrigin: https://app.example", "200"),
        ("Host: localhost\r\nOrigin: https://evil.example", "403"),
        ("X-No: host", "400"),
    ] {
        assert_eq!(status(address, header), expected, "{header}");
    }
}

#[test]
fn an_agent_answers_to_the_name_that_it_advertises() {
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address();
    let player = cli.start(&[
        "player",
        "--listen",
        &listen,
        "--advertise",
        "http://player.example:8101/mcp",
    ]);
    player.until("listening on");
    assert_eq!(status(&listen, "Host: player.example:8101"), "200");
    assert_eq!(status(&listen, "Host: referee.example:8101"), "403");
}

#[test]
fn names_and_pages_that_cannot_be_are_refused_at_the_start() {
    let cli = Cli::new(crate::MATCHDAY);
    for (flag, value) in [
        ("--allowed-hosts", "league.example,,"),
        ("--allowed-hosts", "http://league.example"),
        ("--allowed-origins", "app.example"),
        ("--allowed-origins", "https://app.example/page"),
    ] {
        let done = cli.run(&["player", flag, value]);
        let said = done.failed(2).to_owned();
        assert!(
            said.starts_with(flag) && said.contains("with commas"),
            "{said}"
        );
    }
}
