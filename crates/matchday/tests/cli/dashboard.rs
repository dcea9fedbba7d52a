//! The dashboard as it is started: beside a manager, and over a file.

use matchday_testkit::cli::{Cli, Process, TOKEN, free_address};
use matchday_testkit::eventually::eventually;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Status and body of what an address answers.
pub(crate) fn get(address: &str, path: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// Where a process says that the league can be seen.
fn seen_at(running: &Process) -> String {
    running.until("can be seen at http://");
    let said = running.out() + &running.err();
    let address = said.split("can be seen at http://").nth(1).unwrap();
    address.split('/').next().unwrap().to_owned()
}

fn phase(address: &str) -> Value {
    let (_, body) = get(address, "/api/league", "");
    serde_json::from_str::<Value>(&body).unwrap_or_default()["phase"].clone()
}

#[test]
fn a_manager_says_where_its_league_can_be_seen() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&[]);
    let address = seen_at(&manager);
    assert!(cli.manager.contains(&address), "{address}");
    while phase(&address) != "registration" {}
    let token = format!("authorization: Bearer {TOKEN}\r\n");
    let (_, body) = get(&address, "/api/league", &token);
    assert!(body.contains("\"operator\":true"), "{body}");
}

#[test]
fn a_manager_shows_nothing_if_it_is_not_to() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--dashboard", "off"]);
    let address = cli.manager.split('/').nth(2).unwrap().to_owned();
    assert_eq!(get(&address, "/api/league", "").0, 404);
    assert!(!(manager.out() + &manager.err()).contains("can be seen"));
}

#[test]
fn what_others_can_reach_shows_nothing_unless_it_is_to() {
    let cli = Cli::new(crate::MATCHDAY);
    for (more, shown) in [(&["--dashboard", "on"][..], true), (&[][..], false)] {
        let port = free_address().rsplit_once(':').unwrap().1.to_owned();
        let listen = format!("0.0.0.0:{port}");
        let store = format!("{port}.db");
        let mut args = vec![
            "manager",
            "--listen",
            &listen,
            "--store",
            &store,
            "--operator-token",
            TOKEN,
        ];
        args.extend(more);
        let manager = cli.start(&args);
        manager.until("listening on");
        let status = get(&format!("127.0.0.1:{port}"), "/api/orders", "").0;
        assert_eq!(status, if shown { 405 } else { 404 }, "{more:?}");
    }
}

#[test]
fn a_league_that_was_run_can_be_looked_at_afterwards() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&["run", "--port-base", "0", "--store", "league.db"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("matchday report league.db"), "{done:?}");
    assert!(done.out.contains("see it at http://127.0.0.1:"), "{done:?}");
    let mut shown = cli.start(&["dashboard", "league.db"]);
    let address = seen_at(&shown);
    assert_eq!(phase(&address), "completed");
    let (status, body) = get(&address, "/api/matches/R1M1", "");
    assert!(status == 200 && body.contains("\"holds\":true"), "{body}");
    shown.signal("TERM");
    assert!(shown.wait().success());
}

/// Asks until the page says so; a page is at most some tenths of a second old.
fn until(address: &str, path: &str, wanted: impl Fn(&Value) -> bool) {
    eventually(path, || {
        let (_, body) = get(address, path, "");
        let is_wanted = wanted(&serde_json::from_str(&body).unwrap_or_default());
        if is_wanted { Ok(()) } else { Err(body) }
    });
}

#[test]
fn the_dashboard_of_a_store_that_is_written_to_later_shows_what_is_there_now() {
    let cli = Cli::new(crate::MATCHDAY);
    let play = |league_id: &str| {
        let mut manager = cli.manager(&["--lead", "0", "--league-id", league_id]);
        let shown = cli.start(&["dashboard", "matchday.db"]);
        let address = seen_at(&shown);
        until(&address, "/api/league", |league| {
            league["league_id"] == league_id
        });
        let _agents = cli.agents(1, 2);
        assert_eq!(cli.ask(&["start"]).code, 0);
        until(&address, "/api/league", |league| {
            league["phase"] == "completed"
        });
        manager.signal("TERM");
        assert!(manager.wait().success());
        (shown, address)
    };
    let (_shown, address) = play("spring_1");
    // The first dashboard has its league still open when the store goes on with another.
    play("spring_2");
    until(&address, "/api/league", |league| {
        league["league_id"] == "spring_2" && league["phase"] == "completed"
    });
    until(&address, "/api/standings", |table| {
        table["rows"].as_array().is_some_and(|rows| rows.len() == 2)
    });
}

#[test]
fn what_is_no_league_is_refused_in_one_line() {
    let cli = Cli::new(crate::MATCHDAY);
    assert!(
        cli.run(&["dashboard", "nowhere.db"])
            .failed(1)
            .contains("nowhere.db")
    );
    let taken = cli.manager(&[]);
    let listen = cli.manager.split('/').nth(2).unwrap().to_owned();
    let refused = cli.run(&["dashboard", "matchday.db", "--listen", &listen]);
    assert!(
        refused
            .failed(1)
            .contains("choose another address with --listen"),
        "{refused:?}"
    );
    drop(taken);
    let folder = cli.run(&[
        "manager",
        "--listen",
        "127.0.0.1:0",
        "--dashboard-stores",
        ".",
    ]);
    assert_eq!(folder.code, 2, "{folder:?}");
    assert!(
        folder.err.contains("--dashboard-stores: . is a folder"),
        "{folder:?}"
    );
}
