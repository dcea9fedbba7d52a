//! The log goes where it is wanted.

use matchday_testkit::cli::Cli;
use matchday_testkit::eventually::eventually;
use std::fs;

#[test]
fn a_log_file_takes_the_place_of_the_standard_output() {
    let cli = Cli::new(crate::MATCHDAY);
    let path = cli.path().join("manager.log");
    let log = || fs::read_to_string(&path).unwrap_or_default();
    let mut manager = cli.start(&["manager", "--listen", "127.0.0.1:0", "--log-file", "manager.log"]);
    eventually("the manager listens", || log().contains("listening on"));
    manager.signal("TERM");
    assert!(manager.wait().success(), "{}", manager.err());
    assert!(log().contains("listening on") && log().contains("stopped in good order"), "{}", log());
    assert!(!manager.out().contains("listening on"), "{}", manager.out());
}

#[test]
fn a_log_file_that_cannot_be_written_is_refused_before_anything_begins() {
    let done = Cli::new(crate::MATCHDAY).run(&[
        "manager",
        "--listen",
        "127.0.0.1:0",
        "--log-file",
        "nowhere/manager.log",
    ]);
    let said = done.failed(1);
    assert!(said.contains("cannot write the log to nowhere/manager.log"), "{said}");
    assert!(said.contains("--log-file"), "{said}");
}
