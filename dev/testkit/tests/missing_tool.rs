//! A missing tool is a skip that standard error shows, and a failure in the gate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use matchday_testkit::tools;
use std::process::{Command, Output};

/// What the other tests run as a process of its own, whose environment they choose.
#[test]
#[ignore = "a part of the tests below"]
fn needs_a_tool_that_nobody_has() {
    assert!(!tools::require("no-such-tool"));
}

fn run_with(variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "needs_a_tool_that_nobody_has",
        "--ignored",
        "--nocapture",
    ]);
    command
        .env_remove("CI")
        .env_remove("MATCHDAY_TEST_GATE")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn elsewhere_it_is_skipped_and_said() {
    let output = run_with(&[]);
    assert!(output.status.success(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("skipped: no-such-tool is not installed")
    );
}

#[test]
fn in_the_gate_it_fails() {
    for variable in ["CI", "MATCHDAY_TEST_GATE"] {
        let output = run_with(&[(variable, "1")]);
        assert!(!output.status.success(), "{output:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("no-such-tool is not installed"),
            "{output:?}"
        );
    }
}
