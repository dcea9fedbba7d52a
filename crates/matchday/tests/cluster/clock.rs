//! A service on a machine whose clock is wrong: its leagues go by the database's, and it says so.

use crate::fixture::Services;
use matchday_testkit::tools::require_that;
use serde_json::json;
use std::fs;

/// Where Debian's package puts the library that shows a process another time of day.
fn libfaketime() -> Option<String> {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut libraries = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    let found = libraries.find(|library| library.exists());
    let _ = require_that(found.is_some(), "libfaketime is not installed");
    found.map(|library| library.to_string_lossy().into_owned())
}

fn plays_by_the_databases_clock(offset: &str) {
    let Some(libfaketime) = libfaketime() else {
        return;
    };
    let Some(services) = Services::start() else {
        return;
    };
    let service = services.serve_with_clock_off(&libfaketime, offset);
    service
        .process
        .until(&format!("the clock of this machine is {offset}"));
    service.create("spring", &json!({"start-when": "players=3"}));
    let _players: Vec<_> = (0..3)
        .map(|_| services.player(&service, "spring"))
        .collect();
    service.until("spring", |shown| shown["phase"] == "completed");
    let off_by = services.sql(
        "SELECT abs((extract(epoch FROM now()) * 1000000)::bigint - max(at)) FROM matchday_events WHERE league = 1",
    );
    assert!(
        off_by.parse::<i64>().unwrap() < 5_000_000,
        "{off_by} us off"
    );
    assert_eq!(services.technical_losses(), "0");
    services.verify("spring");
}

#[test]
fn a_service_whose_clock_is_ahead_plays_by_the_databases() {
    plays_by_the_databases_clock("+10");
}

#[test]
fn a_service_whose_clock_is_behind_plays_by_the_databases() {
    plays_by_the_databases_clock("-10");
}
