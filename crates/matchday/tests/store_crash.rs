//! Nothing that was acknowledged is lost: not by `kill -9`, not by a torn log, not by a full disk.
//!
//! The processes that are killed are this test program, run again to be a writer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod store_support;

use matchday::store::{Batch, Store};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use store_support::{append, line, number_in, stream};

const CHILD_STORE: &str = "MATCHDAY_TEST_CHILD_STORE";

/// What the other process says: one line for each event that was acknowledged, and one when no more are.
fn say(text: std::fmt::Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").unwrap();
    out.flush().unwrap();
}

/// Not a test of its own: what the other process does. It appends without waiting, up to a bound, until it is killed
/// or the store fails.
#[test]
fn child_writes_until_killed() {
    let Ok(path) = std::env::var(CHILD_STORE) else { return };
    let store = match Store::open(Path::new(&path)) {
        Ok(store) => store,
        Err(error) => return say(format_args!("refused {error}")),
    };
    let before = store.load(&stream("league")).unwrap().len();
    let deadline = Instant::now() + Duration::from_secs(60);
    for number in before.. {
        let then = Box::new(move |verdict: Result<(), _>| match verdict {
            Ok(()) => say(format_args!("stored {number}")),
            Err(error) => say(format_args!("failed {error}")),
        });
        store.append(Batch {
            stream: stream("league"),
            lines: vec![line(number)],
            exchanges: Vec::new(),
            can_wait: false,
            then,
        });
        while store.stats().queue_depth > 20 {
            std::thread::yield_now();
        }
        if Instant::now() > deadline {
            return;
        }
        if let Err(failed) = append(&store, "league", Vec::new()) {
            say(format_args!("poisoned {failed}"));
            let close = store.close().unwrap_err();
            return say(format_args!("closed {close}"));
        }
    }
}

fn spawn(mut command: Command, store: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut child = command
        .args(["child_writes_until_killed", "--exact", "--nocapture"])
        .env(CHILD_STORE, store)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

fn stored(line: &str) -> Option<usize> {
    line.split_once("stored ")?.1.parse().ok()
}

fn numbers(path: &Path) -> Vec<usize> {
    let store = Store::open(path).unwrap();
    let numbers = store.load(&stream("league")).unwrap().iter().map(|event| number_in(&event.line)).collect();
    store.close().unwrap();
    numbers
}

#[test]
fn kill_9_loses_nothing_that_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let mut seed = 12345_u64;
    for round in 0..15 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (mut child, out) = spawn(this_program(), &path);
        // Some die while they are still making the file.
        let pause = if round % 3 == 0 { seed >> 60 } else { (seed >> 57) + 20 };
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = out.lines().filter_map(|line| stored(&line.unwrap())).max();
        let kept = numbers(&path);
        assert_eq!(kept, (0..kept.len()).collect::<Vec<_>>(), "in order, once each");
        assert!(kept.len() >= acknowledged.map_or(0, |last| last + 1), "{acknowledged:?} of {}", kept.len());
    }
    assert!(!numbers(&path).is_empty(), "something was stored at all");
}

#[test]
fn a_torn_log_leaves_the_events_before_the_tear() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    let wal = dir.path().join("league.db-wal");
    let lengths: Vec<u64> = (0..30)
        .map(|number| {
            append(&store, "league", vec![line(number)]).unwrap();
            wal.metadata().unwrap().len()
        })
        .collect();
    let (whole, log) = (fs::read(&path).unwrap(), fs::read(&wal).unwrap());
    store.close().unwrap();
    let step = log.len() / 60;
    for cut in (0..log.len()).step_by(step).map(|cut| cut + cut % 7) {
        let torn = dir.path().join("torn.db");
        fs::write(&torn, &whole).unwrap();
        fs::write(dir.path().join("torn.db-wal"), &log[..cut.min(log.len())]).unwrap();
        let kept = numbers(&torn);
        assert_eq!(kept, (0..kept.len()).collect::<Vec<_>>());
        let synced = lengths.iter().filter(|length| **length <= cut as u64).count();
        assert!(kept.len() >= synced, "cut at {cut}: {} of {synced}", kept.len());
    }
}

#[test]
fn the_lock_of_a_killed_writer_dies_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let (mut child, mut out) = spawn(this_program(), &path);
    let mut first = String::new();
    while stored(first.trim()).is_none() {
        first.clear();
        out.read_line(&mut first).unwrap();
    }
    let refused = Store::open(&path).unwrap_err().to_string();
    assert!(refused.contains("in use by another Matchday"), "{refused}");
    assert!(refused.contains(&format!("(process {})", child.id())), "{refused}");
    let (_, second) = spawn(this_program(), &path);
    assert!(second.lines().any(|line| line.unwrap().contains("refused")), "another process is refused too");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!numbers(&path).is_empty());
}

/// Lets a writer run into `limit`, and gives back what it said last.
fn run_dry(command: Command, path: &Path) -> Vec<String> {
    let (mut child, out) = spawn(command, path);
    let said: Vec<String> = out.lines().map(Result::unwrap).collect();
    child.wait().unwrap();
    let acknowledged: Vec<usize> = said.iter().filter_map(|line| stored(line)).collect();
    let failures = said.iter().position(|line| line.contains("failed ")).expect("it failed in the end");
    assert!(said[failures..].iter().all(|line| stored(line).is_none()), "nothing is acknowledged afterwards");
    let reader = Store::open_read_only(path).unwrap();
    let kept = reader.load(&stream("league")).unwrap();
    assert!(kept.len() >= acknowledged.len() && !kept.is_empty(), "{} of {}", kept.len(), acknowledged.len());
    said[failures..].to_vec()
}

#[test]
fn a_full_disk_is_named_and_costs_nothing_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let mount = |arguments: &[&str]| {
        Command::new("mount").args(arguments).arg(dir.path()).stderr(Stdio::null()).status()
    };
    if !mount(&["-t", "tmpfs", "-o", "size=400k", "none"]).is_ok_and(|status| status.success()) {
        eprintln!("skipped: a small disk cannot be mounted here (it needs root)");
        return;
    }
    let path = dir.path().join("league.db");
    let said = run_dry(this_program(), &path);
    let kept = Store::open_read_only(&path).unwrap().load(&stream("league")).unwrap().len();
    fs::write(dir.path().join("filler"), []).unwrap();
    Command::new("mount").args(["-o", "remount,size=4m"]).arg(dir.path()).status().unwrap();
    let again = numbers(&path);
    Command::new("umount").arg("-l").arg(dir.path()).status().unwrap();
    for start in ["failed ", "poisoned ", "closed "] {
        let line = said.iter().find(|line| line.contains(start)).expect(start);
        assert!(line.contains("cannot grow, because its disk is full"), "{line}");
        assert!(line.contains("free space there, and start again with the same command; nothing that was acknowledged is lost"), "{line}");
    }
    assert_eq!(again, (0..kept).collect::<Vec<_>>(), "with room again, it goes on");
}

#[cfg(unix)]
#[test]
fn a_failing_write_is_named_and_costs_nothing_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    // Files cannot grow beyond 200 blocks, and a write beyond that fails instead of killing the process.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap());
    let said = run_dry(shell, &path);
    let line = said.iter().find(|line| line.contains("poisoned ")).unwrap();
    assert!(line.contains("league.db cannot be written"), "{line}");
    assert!(line.contains("nothing that was acknowledged is lost"), "{line}");
    assert!(!numbers(&path).is_empty(), "without the limit, it goes on");
}
