//! The page of `matchday run`: how long it stays, who opens it, and that it gets the end of the league.

use crate::dashboard::get;
use matchday_testkit::cli::{Cli, Process, output};
use matchday_testkit::eventually::eventually;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

const SMALL: [&str; 9] = [
    "run",
    "--players",
    "2",
    "--referees",
    "1",
    "--port-base",
    "0",
    "--store",
    "league.db",
];

fn page_of(run: &Process) -> String {
    run.until("see it at http://");
    let said = run.out();
    said.split("see it at http://")
        .nth(1)
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn the_page_stays_until_it_is_told_to_end() {
    let cli = Cli::new(crate::MATCHDAY);
    let mut run = cli.start(&[&SMALL[..], &["--stay"]].concat());
    run.until("Dashboard: http://");
    assert!(run.out().contains("Champion"), "{}", run.out());
    let (status, body) = get(&page_of(&run), "/api/league", "");
    assert!(
        status == 200 && body.contains("\"phase\":\"completed\""),
        "{body}"
    );
    run.signal("INT");
    assert!(run.wait().success(), "{}{}", run.out(), run.err());
    assert_eq!(cli.run(&["verify", "--store", "league.db"]).code, 0);
}

#[test]
fn in_a_pipe_it_ends_with_the_league() {
    let cli = Cli::new(crate::MATCHDAY);
    for more in [
        &[][..],
        &["--no-stay"],
        &["--stay=off"],
        &["--stay", "--dashboard", "off"],
    ] {
        let store = format!("{}.db", more.len() + more.concat().len());
        let args = [&SMALL[..8], &[store.as_str()], more].concat();
        let done = cli.run(&args);
        assert_eq!(done.code, 0, "{more:?}: {done:?}");
        assert!(!done.out.contains("The page stays"), "{more:?}: {done:?}");
    }
}

#[test]
fn a_page_that_follows_gets_the_end_before_the_server_goes() {
    let cli = Cli::new(crate::MATCHDAY);
    let mut run = cli.start(&[&SMALL[..], &["--no-stay", "--pace", "1"]].concat());
    let address = page_of(&run);
    // The manager is opening the league at first.
    while get(&address, "/api/league", "").0 != 200 {}
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "GET /api/events HTTP/1.1\r\nhost: {address}\r\n\r\n"
    )
    .unwrap();
    // As the page does: it asks for the league whenever something has changed.
    let mut ended = false;
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if line.starts_with("data: ") && !ended {
            ended = get(&address, "/api/league", "")
                .1
                .contains("\"phase\":\"completed\"");
        }
    }
    assert!(ended, "the server went before the page knew: {}", run.out());
    assert!(run.wait().success());
}

#[test]
fn the_page_is_opened_if_that_is_wanted() {
    let cli = Cli::new(crate::MATCHDAY);
    let opener = cli.path().join("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\necho \"$1\" > opened\n").unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = cli.command(&[&SMALL[..], &["--open", "--no-stay"]].concat());
    command.env("PATH", format!("{}:/usr/bin:/bin", cli.path().display()));
    let done = output(command);
    assert_eq!(done.code, 0, "{done:?}");
    let opened = eventually("the page is opened", || {
        std::fs::read_to_string(cli.path().join("opened"))
            .ok()
            .filter(|page| page.ends_with('\n'))
    });
    assert!(
        done.out.contains(&format!("see it at {}", opened.trim())),
        "{opened}: {done:?}"
    );
    let none = cli.run(&["run", "--open", "--dashboard", "off"]);
    assert_eq!(
        none.failed(2),
        "--open: there is no page to open with --dashboard off"
    );
}

#[test]
fn a_pace_that_no_deadline_allows_is_refused() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&["run", "--pace", "11"]);
    assert_eq!(
        done.failed(2),
        "--pace: expected at most 10 seconds, got 11"
    );
}

#[test]
fn level_players_share_the_title_and_a_play_off_is_verified() {
    let cli = Cli::new(crate::MATCHDAY);
    // Who looks ahead never loses tic_tac_toe: all matches are drawn.
    let drawn = [
        "run",
        "--game",
        "tic_tac_toe",
        "--players",
        "2",
        "--referees",
        "1",
        "--strategies",
        "perfect",
        "--port-base",
        "0",
    ];
    let shared = cli.run(&[&drawn[..], &["--store", "shared.db"]].concat());
    assert!(
        shared.out.contains("Champions P01") && shared.out.contains("share the title"),
        "{shared:?}"
    );
    let played = cli.run(
        &[
            &drawn[..],
            &["--store", "played.db", "--play-off", "--replays", "1"],
        ]
        .concat(),
    );
    assert!(played.out.contains("Play-off 2"), "{played:?}");
    let verified = cli.run(&["verify", "played.db"]);
    assert!(
        verified.code == 0 && verified.out.contains("joint champions P01, P02"),
        "{verified:?}"
    );
    let replayed = cli.run(&["replay", "played.db", "--match", "R1M1"]);
    assert!(
        replayed.out.contains("start") && replayed.out.contains("ply 9"),
        "{replayed:?}"
    );
    let told = cli.run(&["replay", "played.db"]);
    assert!(
        told.out.contains("P01, P02 are level and share the title"),
        "{told:?}"
    );
    let stats = cli.run(&["stats", "P01", "--store", "shared.db"]);
    let choices = stats
        .out
        .lines()
        .find(|line| line.starts_with("choices"))
        .unwrap();
    assert!(
        choices.split_whitespace().count() > 2,
        "its moves are counted: {stats:?}"
    );
}
