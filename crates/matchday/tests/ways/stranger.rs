//! The stranger's way: `run`, Ctrl-C in the middle of the league, the same command again, and what can be made of the file.

use crate::matchday;
use matchday_testkit::cli::{Cli, Output, Process};
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU16, Ordering};

const PLAYERS: u16 = 16;

/// How many bases this process has asked for.
static BASES: AtomicU16 = AtomicU16::new(0);

/// A base of which every port is free, below those that the system hands out: nobody takes one while the league is down.
fn free_base() -> String {
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let own = u16::try_from(std::process::id() % 1000).unwrap() * 20
        + BASES.fetch_add(1, Ordering::Relaxed) * 200;
    let is_base = |base: &u16| {
        (0..3)
            .chain(101..101 + PLAYERS)
            .all(|place| is_free(base + place))
    };
    let base = (10_000 + own..32_000).find(is_base).unwrap();
    base.to_string()
}

fn league<'a>(base: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = ["run", "--store", "first.db", "--port-base", base];
    [&words[..], more].concat()
}

fn files(cli: &Cli) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(cli.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn broken_off(cli: &Cli, command: &[&str], signal: &str) -> Process {
    let mut slowed = cli.command(command);
    // A release plays all of it before a signal comes.
    slowed.env("MATCHDAY_PACE", "0.1");
    let mut run = Process::start(slowed);
    run.until("round 2 of 15");
    run.signal(signal);
    run.wait();
    run
}

fn is_whole(cli: &Cli, ran: &Output) {
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("first.db continues: ") && ran.out.contains("Matches   120 of 120"),
        "{ran:?}"
    );
    let verified = cli.run(&["verify", "first.db"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn a_league_that_was_stopped_goes_on_with_the_same_command() {
    let cli = Cli::new(matchday());
    let base = free_base();
    let command = league(&base, &["--players", "16"]);

    let stopped = broken_off(&cli, &command, "INT");
    assert!(
        stopped.err().contains(
            "of 120 matches are decided and stored; `matchday run --store first.db` continues"
        ),
        "{}",
        stopped.err()
    );
    assert_eq!(files(&cli), ["first.db"]);

    let others = cli.run(&league(&base, &["--players", "8", "--seed", "1"]));
    assert_eq!(
        others.failed(1),
        "the league in first.db is not over, and began with other settings than --players 8 (it has 16), --seed 1 (it has the \
         default): leave them out to continue it, or name another file with --store to begin another"
    );

    is_whole(&cli, &cli.run(&command));
    assert_eq!(files(&cli), ["first.db"]);

    let over = cli.run(&command);
    assert_eq!(
        over.failed(1),
        "the league in first.db is over: `matchday report first.db` shows how it went; name another file with --store to play \
         another"
    );
    for command in [
        &["report", "first.db"][..],
        &["replay", "first.db", "--match", "R1M1"],
        &["replay", "first.db", "--match", "R15M1"],
        &["stats", "P01", "--store", "first.db"],
    ] {
        let read = cli.run(command);
        assert_eq!(read.code, 0, "{command:?}: {read:?}");
    }
}

/// The settings that are not given again are those of the league.
#[test]
fn a_league_that_was_killed_goes_on_with_its_file_alone() {
    let cli = Cli::new(matchday());
    let base = free_base();
    let command = league(&base, &["--players", "16", "--seed", "7"]);
    broken_off(&cli, &command, "KILL");
    is_whole(&cli, &cli.run(&["run", "--store", "first.db"]));
    assert_eq!(files(&cli), ["first.db"]);
}

#[test]
fn players_that_dial_out_are_found_again() {
    let cli = Cli::new(matchday());
    let base = free_base();
    let command = league(&base, &["--players", "16", "--dial"]);
    broken_off(&cli, &command, "INT");
    is_whole(&cli, &cli.run(&command));
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let cli = Cli::new(matchday());
    let manager = cli.manager(&["--store", "first.db"]);
    cli.agent(&["player"]).until("registered as");
    drop(manager);
    let refused = cli.run(&league("0", &[]));
    assert_eq!(
        refused.failed(1),
        "first.db holds something else than a league of `matchday run`, which cannot continue it: name another file with --store"
    );
    let _again = cli.manager(&["--store", "first.db"]);
}

/// Who opens the page reads it, wherever the lines go; a browser that does not come is said.
#[test]
fn an_opened_page_stays_and_a_browser_that_fails_is_named() {
    let cli = Cli::new(matchday());
    let opener = cli.path().join("xdg-open");
    fs::write(&opener, "#!/bin/sh\nexit 3\n").unwrap();
    fs::set_permissions(&opener, Permissions::from_mode(0o755)).unwrap();
    let mut command = cli.command(&league("0", &["--players", "2", "--open"]));
    command.env("PATH", format!("{}:/usr/bin:/bin", cli.path().display()));
    let mut run = Process::start(command);
    run.until("xdg-open could not open the page (exit status: 3): open http://127.0.0.1:");
    run.until("Dashboard: http://127.0.0.1:");
    run.signal("INT");
    assert!(run.wait().success(), "{}{}", run.out(), run.err());
}
