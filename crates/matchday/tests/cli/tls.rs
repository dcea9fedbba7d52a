//! A league of processes over TLS, with certificates on both sides.

#[path = "../certificates/mod.rs"]
mod certificates;

use crate::ground::{Done, Ground, Running, TOKEN, done, free_address};
use certificates::{Authority, Pair};
use std::path::Path;

const HERE: &[&str] = &["localhost", "127.0.0.1"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What every agent of such a league is started with.
fn flags(ground: &Ground) -> Vec<String> {
    let authority = Authority::new("league");
    let ca = authority.file(ground.path(), "ca.pem");
    let Pair { cert, key } = authority.issue(ground.path(), "agent", HERE);
    let all = [
        ("--tls-cert", &cert),
        ("--tls-key", &key),
        ("--tls-client-ca", &ca),
        ("--tls-ca", &ca),
        ("--tls-client-cert", &cert),
        ("--tls-client-key", &key),
    ];
    all.into_iter().flat_map(|(flag, path)| [flag.to_owned(), text(path).to_owned()]).collect()
}

fn start(ground: &Ground, args: &[&str], flags: &[String]) -> Running {
    let mut command = ground.command(args);
    command.args(flags);
    Running::new(command)
}

fn ask(ground: &Ground, args: &[&str], manager: &str) -> Done {
    let mut command = ground.command(args);
    let file = |name: &str| ground.path().join(name);
    command.args(["--manager", manager]);
    command.env("MATCHDAY_TLS_CA", file("ca.pem"));
    command
        .env("MATCHDAY_TLS_CLIENT_CERT", file("agent.pem"))
        .env("MATCHDAY_TLS_CLIENT_KEY", file("agent.key"));
    done(command)
}

#[test]
fn a_whole_league_is_played_over_tls_with_certificates_on_both_sides() {
    let ground = Ground::new();
    let flags = flags(&ground);
    let listen = free_address();
    let manager = format!("https://{listen}/mcp");
    let start_when = ["--start-when", "players=3,referees=1", "--seats", "on"];
    let args = ["manager", "--listen", &listen, "--operator-token", TOKEN, "--lead", "0"];
    let league = start(&ground, &[&args[..], &start_when].concat(), &flags);
    league.until(&format!("listening on https://{listen}/mcp"));
    let agents: Vec<_> = ["referee", "player", "player", "player"]
        .map(|role| {
            let agent = start(&ground, &[role, "--listen", &free_address(), "--manager", &manager], &flags);
            agent.until("registered as");
            agent
        })
        .into();
    let status = ask(&ground, &["status", "--watch", "--json"], &manager);
    assert_eq!(status.code, 0, "{status:?}");
    let last: serde_json::Value = serde_json::from_str(status.out.lines().last().unwrap()).unwrap();
    assert_eq!(last["status"], "completed", "{status:?}");
    let table = ask(&ground, &["standings"], &manager);
    assert!(table.out.contains("P01") && !league.out().contains("http://"), "{table:?}\n{}", league.out());
    drop(agents);

    let without =
        ground.run(&["status", "--manager", &manager, "--tls-ca", text(&ground.path().join("ca.pem"))]);
    assert!(without.failed(1).contains("asks callers for a certificate"), "{without:?}");
}

#[test]
fn certificates_are_read_again_when_the_process_is_told_to() {
    let ground = Ground::new();
    let authority = Authority::new("league");
    let ca = authority.file(ground.path(), "ca.pem");
    let Pair { cert, key } = authority.issue(ground.path(), "agent", HERE);
    let listen = free_address();
    let player = ground.start(&[
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
    let ground = Ground::new();
    for (args, code, words) in [
        (&["--tls-cert", "a.pem"][..], 2, "--tls-cert: name its key too, with --tls-key"),
        (&["--tls-client-key", "a.pem"], 2, "--tls-client-key: name its certificate too"),
        (&["--tls-client-ca", "a.pem"], 2, "--tls-client-ca: callers show certificates over TLS only"),
        (&["--tls-cert", "a.pem", "--tls-key", "a.key"], 1, "TLS cannot be set up: a.pem cannot be read"),
        (&["--tls-ca", "a.pem"], 1, "TLS cannot be set up: a.pem cannot be read"),
    ] {
        let done = ground.run(&[&["player"], args].concat());
        let said = done.failed(code).to_owned();
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn an_agent_behind_a_certificate_of_ones_own_can_be_checked() {
    let ground = Ground::new();
    let authority = Authority::new("league");
    let ca = authority.file(ground.path(), "ca.pem");
    let Pair { cert, key } = authority.issue(ground.path(), "agent", HERE);
    let listen = free_address();
    let tls = ["--tls-cert", text(&cert), "--tls-key", text(&key)];
    let player = ground.start(&[&["player", "--listen", &listen], &tls[..]].concat());
    player.until("listening on https://");
    let url = format!("https://{listen}/mcp");
    let check = ["check", "player", &url, "--quick", "--json"];
    let believed = ground.run(&[&check[..], &["--tls-ca", text(&ca)]].concat()).json();
    assert!(believed["stopped"].is_null(), "{believed}");
    let doubted = ground.run(&check).json();
    assert!(doubted["stopped"].as_str().is_some_and(|why| why.contains("certificate")), "{doubted}");
}
