//! What the operator's commands say: who has registered, what an order has done; and a reader that has seen enough.

use matchday_testkit::cli::{Cli, TOKEN};
use matchday_testkit::eventually::eventually;
use std::process::{Command, Stdio};

#[test]
fn status_names_who_has_registered_and_the_log_who_registers() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--log-level", "info"]);
    let nobody = cli.ask(&["status"]).out;
    assert!(nobody.contains("nobody has registered yet"), "{nobody}");
    let _agents = cli.agents(1, 2);
    eventually("all have registered", || {
        let status = cli.ask(&["status"]).out;
        let names = ["P01", "P02", "REF01"].map(|id| status.contains(id));
        if names == [true; 3] {
            assert!(!status.contains("0 of 0"), "{status}");
            Ok(())
        } else {
            Err(status)
        }
    });
    manager.until("REF01 Referee ");
    assert!(
        manager.out().contains(" registered from 127.0.0.1"),
        "{}",
        manager.out()
    );
    assert!(
        !manager.out().contains("LEAGUE_REGISTER_REQUEST"),
        "{}",
        manager.out()
    );
}

#[test]
fn an_order_says_what_it_has_done() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "600"]);
    let _agents = cli.agents(1, 2);
    eventually("the league starts", || {
        let started = cli.ask(&["start"]);
        if started.code == 0 {
            Ok(())
        } else {
            Err(started)
        }
    });
    for (order, done) in [
        (&["pause"][..], "The league is paused"),
        (&["resume"], "The league continues."),
        (
            &["withdraw", "P01"],
            "P01 is withdrawn: it forfeits its remaining matches.",
        ),
        (&["revoke", "REF01"], "The token of REF01 is revoked"),
    ] {
        let words = [&["admin"], order, &["--operator-token", TOKEN]].concat();
        let said = cli.ask(&words);
        assert!(
            said.code == 0 && said.out.starts_with(done),
            "{order:?}: {said:?}"
        );
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for words in [&["completions", "bash"][..], &["man", "run"]] {
        let mut command = Command::new(crate::MATCHDAY);
        let command = command
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert!(
            ended.status.success() && ended.stderr.is_empty(),
            "{words:?}: {ended:?}"
        );
    }
}
