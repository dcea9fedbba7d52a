//! The checker of histories takes one that is right, and rejects each fault that is planted in it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_audit::verify::history::{FinalLog, HistoryReport, check_history};
use matchday_testkit::event_lines::{chained, line};
use serde_json::{Value, json};

const STREAM: &str = "league";

/// The hash of the event at a place of a log of the usual events.
fn hash(seq: u64) -> String {
    let lines: Vec<String> = (0..usize::try_from(seq).unwrap()).map(line).collect();
    hex(&chained(STREAM, &lines).last().unwrap().hash.0)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn log(events: usize) -> FinalLog {
    let lines: Vec<String> = (0..events).map(line).collect();
    let hashes = chained(STREAM, &lines)
        .iter()
        .map(|event| event.hash)
        .collect();
    FinalLog([((1, STREAM.to_owned()), hashes)].into())
}

/// A line of a history about league 1.
fn entry(at: u64, process: &str, id: u64, op: &str, phase: &str, more: Value) -> Value {
    let mut line = json!({"at_us": at, "process": process, "id": id, "op": op, "phase": phase});
    line.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    line
}

fn append(at: [u64; 2], process: &str, places: [u64; 2], epoch: i64, phase: &str) -> Vec<Value> {
    let [from, to] = places;
    let about = json!({"league": 1, "stream": STREAM, "from": from, "to": to, "hash": hash(to), "epoch": epoch});
    let id = at[0];
    let mut lines = vec![entry(
        at[0],
        process,
        id,
        "append",
        "invoked",
        about.clone(),
    )];
    if !phase.is_empty() {
        lines.push(entry(at[1], process, id, "append", phase, about));
    }
    lines
}

fn read(at: [u64; 2], process: &str, to: u64) -> Vec<Value> {
    let about = json!({"league": 1, "stream": STREAM});
    let mut found = about.clone();
    if to > 0 {
        found = json!({"league": 1, "stream": STREAM, "to": to, "hash": hash(to)});
    }
    vec![
        entry(at[0], process, at[0], "read_head", "invoked", about),
        entry(at[1], process, at[0], "read_head", "done", found),
    ]
}

fn take(at: [u64; 2], process: &str, epoch: i64) -> Vec<Value> {
    let about = json!({"league": 1, "epoch": epoch});
    vec![
        entry(at[0], process, at[0], "take", "invoked", json!({})),
        entry(at[1], process, at[0], "take", "done", about),
    ]
}

fn release(at: [u64; 2], process: &str, epoch: i64) -> Vec<Value> {
    let about = json!({"league": 1, "epoch": epoch});
    vec![
        entry(at[0], process, at[0], "release", "invoked", about.clone()),
        entry(at[1], process, at[0], "release", "done", about),
    ]
}

fn judge(lines: &[Vec<Value>], events: usize) -> HistoryReport {
    let text: Vec<String> = lines.iter().flatten().map(Value::to_string).collect();
    check_history(&text.join("\n"), &log(events))
}

/// Two events of the first owner, a take-over whose append of unknown outcome was stored, and one that was refused.
fn right() -> Vec<Vec<Value>> {
    vec![
        append([10, 20], "a", [1, 1], 1, "done"),
        append([30, 40], "a", [2, 2], 1, "done"),
        take([50, 60], "b", 2),
        append([61, 62], "a", [3, 3], 1, "refused"),
        read([70, 80], "b", 2),
        append([90, 100], "b", [3, 4], 2, "unknown"),
        read([110, 120], "b", 4),
        append([130, 140], "b", [5, 5], 2, "done"),
        append([150, 0], "b", [6, 6], 2, ""),
    ]
}

#[track_caller]
fn rejected(lines: &[Vec<Value>], events: usize, what: &str) {
    let report = judge(lines, events);
    assert!(
        report.faults.iter().any(|fault| fault.contains(what)),
        "{what}: {:#?}",
        report.faults
    );
}

#[test]
fn a_history_that_is_right_is_taken() {
    for events in [5, 6] {
        let report = judge(&right(), events);
        assert_eq!(report.faults, Vec::<String>::new());
        assert_eq!((report.appends, report.unknown, report.refused), (6, 2, 1));
        assert_eq!((report.reads, report.takes), (2, 1));
    }
}

#[test]
fn an_acknowledged_append_that_the_log_lacks_is_found() {
    rejected(&right(), 4, "lost: events 5 to 5");
}

#[test]
fn an_acknowledged_append_that_another_took_the_place_of_is_found() {
    let mut lines = right();
    lines[7][1]["hash"] = json!("00");
    rejected(&lines, 5, "lost: events 5 to 5");
}

#[test]
fn a_place_that_was_acknowledged_twice_is_found() {
    let mut lines = right();
    lines.push(append([160, 170], "b", [5, 5], 2, "done"));
    rejected(&lines, 5, "doubled: events 5 to 5");
}

#[test]
fn events_that_nobody_appended_are_found() {
    rejected(&right(), 7, "were appended by nobody");
    let mut lines = right();
    lines.remove(5);
    rejected(
        &lines,
        5,
        "events 3 to 4 of league, league 1, were appended by nobody",
    );
}

#[test]
fn a_refused_append_that_is_stored_is_found() {
    let mut lines = right();
    lines[5][1]["phase"] = json!("refused");
    rejected(
        &lines,
        5,
        "events 3 to 4 of league, league 1, were appended by nobody",
    );
}

#[test]
fn a_read_of_what_is_not_in_the_log_is_found() {
    let mut lines = right();
    lines[6][1]["hash"] = json!("00");
    rejected(&lines, 5, "that is not in the log");
}

#[test]
fn a_read_that_misses_what_was_acknowledged_before_it_is_found() {
    let mut lines = right();
    lines[4] = read([70, 80], "b", 1);
    rejected(&lines, 5, "stale: b read 1 events");
}

#[test]
fn a_read_of_what_nobody_had_begun_to_append_is_found() {
    let mut lines = right();
    lines[4] = read([70, 80], "b", 4);
    rejected(&lines, 5, "when 2 had been begun");
}

#[test]
fn two_processes_under_one_epoch_are_found() {
    let mut lines = right();
    lines.push(take([65, 66], "c", 2));
    rejected(&lines, 5, "two writers: epoch 2 of league 1");
    let mut lines = right();
    lines[7] = append([130, 140], "c", [5, 5], 2, "done");
    rejected(&lines, 5, "two writers: epoch 2 of league 1");
}

#[test]
fn epochs_that_overlap_in_the_log_are_found() {
    let mut lines = right();
    // It was begun before the take-over, and its commit came after the other's.
    lines[7] = append([55, 140], "a", [5, 5], 1, "done");
    rejected(&lines, 5, "epochs overlap: events 5 to 5");
}

#[test]
fn an_acknowledgement_under_an_epoch_that_was_superseded_is_found() {
    let mut lines = right();
    lines[3] = append([61, 62], "a", [3, 4], 1, "done");
    lines.remove(5);
    rejected(&lines, 5, "fenced: a was acknowledged");
}

#[test]
fn an_acknowledgement_under_an_epoch_that_was_released_is_found() {
    let mut lines = right();
    lines.insert(7, release([122, 124], "b", 2));
    rejected(&lines, 5, "fenced: b was acknowledged");
}

#[test]
fn what_cannot_be_read_or_never_began_is_found() {
    let report = check_history("{\"at_us\":", &FinalLog::default());
    assert!(
        report.faults[0].contains("line 1 cannot be read"),
        "{report:?}"
    );
    let mut lines = right();
    lines[7].remove(0);
    rejected(&lines, 5, "an operation ends that did not begin");
}
