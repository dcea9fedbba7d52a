//! Checkpoints of a real league: served, kept elsewhere, and held against stores that were tampered with.

use crate::dashboard::get;
use matchday_store::{Store, Stream};
use matchday_testkit::cli::{Cli, Output, Process, TOKEN};
use matchday_testkit::event_lines::append;
use matchday_testkit::tamper::tamper;
use std::fs;

fn play(cli: &Cli, args: &[&str]) -> Process {
    let manager = cli.manager(&[&["--lead", "0"], args].concat());
    let _agents = cli.agents(1, 2);
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    manager
}

/// Saves what the manager serves as its latest checkpoint.
fn keep(cli: &Cli, file: &str) -> String {
    let address = cli.manager.split('/').nth(2).unwrap();
    let (status, note) = get(address, "/checkpoint", "");
    assert_eq!(status, 200, "{note}");
    fs::write(cli.path().join(file), &note).unwrap();
    note
}

fn stop(mut manager: Process) {
    manager.signal("TERM");
    assert!(manager.wait().success(), "{}", manager.err());
}

/// A league that was played and stopped, and its last checkpoint in `kept.txt`.
fn played() -> Cli {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = play(&cli, &[]);
    keep(&cli, "kept.txt");
    stop(manager);
    cli
}

fn against(cli: &Cli, store: &str, checkpoint: &str) -> Output {
    cli.run(&["verify", store, "--checkpoint", checkpoint])
}

fn good(done: &Output) -> &str {
    assert_eq!(done.code, 0, "{done:?}");
    &done.out
}

/// Every line of the manager's log.
fn lines(cli: &Cli, store: &str) -> Vec<String> {
    let reader = Store::open_read_only(cli.path().join(store)).unwrap();
    reader
        .load(&Stream::league())
        .unwrap()
        .into_iter()
        .map(|event| event.line)
        .collect()
}

/// Writes a log anew, with a chain that holds.
fn write_anew(cli: &Cli, store: &str, lines: Vec<String>) {
    let store = Store::open(cli.path().join(store)).unwrap();
    append(&store, &Stream::league().0, lines).unwrap();
    store.close().unwrap();
}

fn is_about_checkpoints(line: &str) -> bool {
    line.contains("\"checkpoint_signed\"") || line.contains("\"manager_key_announced\"")
}

#[test]
fn a_manager_serves_its_latest_checkpoint_and_its_store_begins_with_what_it_covers() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--lead", "0"]);
    let address = cli.manager.split('/').nth(2).unwrap().to_owned();
    let (status, none) = get(&address, "/checkpoint", "");
    assert_eq!(
        (status, none.as_str()),
        (404, "no checkpoint has been signed yet\n")
    );
    let agents = cli.agents(1, 2);
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    let note = keep(&cli, "kept.txt");
    let parts: Vec<&str> = note.lines().collect();
    let [origin, size, _, chain, "", signature] = parts[..] else {
        panic!("{note}")
    };
    assert_eq!(
        (origin, chain),
        (
            "matchday/league_2025_even_odd/manager",
            "matchday-log-1 league"
        )
    );
    assert!(
        signature.starts_with(&format!("\u{2014} {origin} ")),
        "{note}"
    );
    drop(agents);
    stop(manager);
    let done = against(&cli, "matchday.db", "kept.txt");
    let said = good(&done);
    assert!(
        said.contains(&format!("kept     kept.txt covers {size} of ")),
        "{said}"
    );
    assert!(
        said.contains(&format!(
            "signed   2 checkpoints, the last over {size} events, with {origin}+"
        )),
        "{said}"
    );
    let shown = cli.run(&["verify", "matchday.db", "--json"]).json();
    assert_eq!(shown["last_checkpoint"]["note"], note);
}

#[test]
fn a_dropped_tail_is_found() {
    let cli = played();
    let last = "SELECT max(seq) FROM events WHERE stream = 'league'";
    let dropped = format!("DELETE FROM events WHERE stream = 'league' AND seq > ({last}) - 4");
    tamper(&cli.path().join("matchday.db"), &dropped);
    good(&cli.run(&["verify", "matchday.db"]));
    let found = against(&cli, "matchday.db", "kept.txt");
    assert!(
        found.code == 1 && found.out.contains("CONTRADICTION: a kept checkpoint: "),
        "{found:?}"
    );
    assert!(found.out.contains(" were dropped"), "{found:?}");
}

#[test]
fn a_dropped_league_is_found() {
    let cli = Cli::new(crate::MATCHDAY);
    stop(play(&cli, &["--league-id", "spring_1"]));
    let second = play(&cli, &["--league-id", "spring_2"]);
    keep(&cli, "kept.txt");
    stop(second);
    good(&against(&cli, "matchday.db", "kept.txt"));
    tamper(
        &cli.path().join("matchday.db"),
        "DELETE FROM events WHERE stream = 'league/2'",
    );
    good(&cli.run(&["verify", "matchday.db"]));
    let found = against(&cli, "matchday.db", "kept.txt");
    assert!(
        found.code == 1
            && found
                .out
                .contains("of matchday/spring_2/manager, but there is no such league"),
        "{found:?}"
    );
}

#[test]
fn a_chain_that_was_computed_anew_is_found() {
    let cli = played();
    let without: Vec<String> = lines(&cli, "matchday.db")
        .into_iter()
        .filter(|line| !is_about_checkpoints(line))
        .collect();
    write_anew(&cli, "anew.db", without.clone());
    let old = cli.run(&["verify", "anew.db"]);
    assert!(good(&old).contains("signed   no checkpoint"), "{old:?}");
    // As long as the log was, so that it does not seem cut.
    let mut padded = without;
    while padded.len() < lines(&cli, "matchday.db").len() {
        let paused = r#"{"v":1,"at":1,"event":{"type":"league_paused"}}"#;
        padded.push(paused.to_owned());
    }
    write_anew(&cli, "padded.db", padded);
    let found = against(&cli, "padded.db", "kept.txt");
    assert_eq!(found.code, 1, "{found:?}");
    let found = cli
        .run(&["verify", "padded.db", "--checkpoint", "kept.txt", "--json"])
        .json();
    let why = found["checkpoint_fault"].as_str().unwrap();
    assert!(
        why.contains("had another hash when it was signed"),
        "{found}"
    );
}

#[test]
fn a_log_that_was_changed_under_its_own_checkpoints_is_found_without_any_other() {
    let cli = played();
    let changed = lines(&cli, "matchday.db").into_iter().map(|line| {
        if line.contains("\"league_started\"") {
            line.replace("\"at\":", "\"at\": ")
        } else {
            line
        }
    });
    write_anew(&cli, "changed.db", changed.collect());
    let found = cli.run(&["verify", "changed.db"]);
    assert!(
        found.code == 1
            && found.out.contains("checkpoint_signed")
            && found.out.contains("computed anew"),
        "{found:?}"
    );
}

#[test]
fn a_checkpoint_that_somebody_else_signed_is_found() {
    let cli = played();
    let other = played();
    let forged = fs::read_to_string(other.path().join("kept.txt")).unwrap();
    let own = fs::read_to_string(cli.path().join("kept.txt")).unwrap();
    let text = own.split_once("\n\n").unwrap().0;
    let signature = forged.split_once("\n\n").unwrap().1;
    fs::write(
        cli.path().join("forged.txt"),
        format!("{text}\n\n{signature}"),
    )
    .unwrap();
    let found = against(&cli, "matchday.db", "forged.txt");
    assert!(
        found.code == 1 && found.out.contains("signed with none of the keys"),
        "{found:?}"
    );
    fs::write(cli.path().join("garbage.txt"), "hello\n").unwrap();
    let garbage = against(&cli, "matchday.db", "garbage.txt");
    assert!(
        garbage
            .failed(1)
            .contains("garbage.txt is not a checkpoint of a manager: line 1"),
        "{garbage:?}"
    );
}

#[test]
fn a_rotated_key_is_signed_by_the_one_before_and_earlier_checkpoints_still_hold() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = play(&cli, &[]);
    keep(&cli, "before.txt");
    let rotate = [
        "admin",
        "rotate",
        "checkpoint-key",
        "--operator-token",
        TOKEN,
    ];
    let rotated = cli.ask(&rotate);
    good(&rotated);
    // The league is taken up again, and ends again.
    good(&cli.ask(&["admin", "void", "R1M1", "--operator-token", TOKEN]));
    good(&cli.ask(&["admin", "end", "--operator-token", TOKEN]));
    let after = keep(&cli, "after.txt");
    assert_ne!(
        after,
        fs::read_to_string(cli.path().join("before.txt")).unwrap()
    );
    stop(manager);
    let keys = fs::read_to_string(cli.path().join("matchday.db.checkpoint-keys")).unwrap();
    assert_eq!(keys.lines().count(), 2);
    for kept in ["before.txt", "after.txt"] {
        let held = against(&cli, "matchday.db", kept);
        assert!(
            good(&held).ends_with("Verified: no contradictions.\n"),
            "{held:?}"
        );
    }
    // With the file lost, the manager goes on with a key that nobody vouches for.
    fs::remove_file(cli.path().join("matchday.db.checkpoint-keys")).unwrap();
    stop(cli.manager(&[]));
    let lost = cli.run(&["verify", "matchday.db"]);
    assert_eq!(lost.code, 3, "a signature was promised: {lost:?}");
    assert!(
        lost.out
            .contains("not checked: whether the checkpoint key of event "),
        "{lost:?}"
    );
}

#[test]
fn a_run_ends_with_a_checkpoint_that_its_store_begins_with() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&["run", "--port-base", "0", "--store", "league.db"]);
    assert!(good(&done).contains("\nLog       "), "{done:?}");
    let note =
        cli.run(&["verify", "league.db", "--json"]).json()["last_checkpoint"]["note"].clone();
    fs::write(cli.path().join("kept.txt"), note.as_str().unwrap()).unwrap();
    let held = against(&cli, "league.db", "kept.txt");
    assert!(
        good(&held).contains("kept     kept.txt covers "),
        "{held:?}"
    );
}
