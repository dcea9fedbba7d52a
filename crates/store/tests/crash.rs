//! Nothing that was acknowledged is lost: not by `kill -9`, not by a torn log, not by a full disk.
//!
//! The processes that are killed are this test program, run again to be a writer.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_core::protocol::Timestamp;
use matchday_store::{Batch, Durability, Store, chain};
use matchday_testkit::event_lines::{append, line, number_in, stream};
use matchday_testkit::tools;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

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
    let Ok(path) = std::env::var(CHILD_STORE) else {
        return;
    };
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
            at: Timestamp::EPOCH,
            stream: stream("league"),
            lines: vec![line(number)],
            durability: Durability::Fsynced,
            awaited: true,
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
    let numbers = store
        .load(&stream("league"))
        .unwrap()
        .iter()
        .map(|event| number_in(&event.line))
        .collect();
    store.close().unwrap();
    numbers
}

#[test]
fn kill_9_loses_nothing_that_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let mut seed = 12345_u64;
    for round in 0..15 {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (mut child, out) = spawn(this_program(), &path);
        // Some die while they are still making the file.
        let pause = if round % 3 == 0 {
            seed >> 60
        } else {
            (seed >> 57) + 20
        };
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = out.lines().filter_map(|line| stored(&line.unwrap())).max();
        let kept = numbers(&path);
        assert_eq!(
            kept,
            (0..kept.len()).collect::<Vec<_>>(),
            "in order, once each"
        );
        assert!(
            kept.len() >= acknowledged.map_or(0, |last| last + 1),
            "{acknowledged:?} of {}",
            kept.len()
        );
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
    let whole = fs::read(&path).unwrap();
    let log = fs::read(&wal).unwrap();
    store.close().unwrap();
    let step = log.len() / 60;
    for cut in (0..log.len()).step_by(step).map(|cut| cut + cut % 7) {
        let torn = dir.path().join("torn.db");
        fs::write(&torn, &whole).unwrap();
        fs::write(dir.path().join("torn.db-wal"), &log[..cut.min(log.len())]).unwrap();
        let kept = numbers(&torn);
        assert_eq!(kept, (0..kept.len()).collect::<Vec<_>>());
        let synced = lengths
            .iter()
            .filter(|length| **length <= cut as u64)
            .count();
        assert!(
            kept.len() >= synced,
            "cut at {cut}: {} of {synced}",
            kept.len()
        );
    }
}

/// The store that is left when a machine fails: a file and the log beside it, each with as many bytes as reached the disk.
fn left(dir: &Path, file: &[u8], log: Option<&[u8]>) -> std::path::PathBuf {
    let torn = dir.join("torn.db");
    fs::write(&torn, file).unwrap();
    match log {
        Some(log) => fs::write(dir.join("torn.db-wal"), log).unwrap(),
        None => drop(fs::remove_file(dir.join("torn.db-wal"))),
    }
    drop(fs::remove_file(dir.join("torn.db-shm")));
    torn
}

fn read(path: &Path) -> Result<Vec<usize>, String> {
    let reader = Store::open_read_only(path).map_err(|error| error.to_string())?;
    let events = reader
        .load(&stream("league"))
        .map_err(|error| error.to_string())?;
    let mut before = chain::genesis(&stream("league"));
    for event in &events {
        if event.hash != chain::link(&before, &stream("league"), event.seq, &event.line) {
            return Err(format!("event {} is not what was stored", event.seq));
        }
        before = event.hash;
    }
    Ok(events.iter().map(|event| number_in(&event.line)).collect())
}

const PAGE: usize = 4096;
/// A page in the log, with what stands before it.
const FRAME: usize = PAGE + 24;

#[test]
fn a_last_write_to_the_log_that_is_torn_at_any_byte_loses_that_write_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let wal = dir.path().join("league.db-wal");
    let store = Store::open(&path).unwrap();
    append(&store, "league", (0..5).map(line).collect()).unwrap();
    append(&store, "league", vec![line(5)]).unwrap();
    let whole = fs::read(&path).unwrap();
    let log = fs::read(&wal).unwrap();
    store.close().unwrap();
    let torn = left(dir.path(), &whole, Some(&log));
    assert_eq!(read(&torn), Ok((0..6).collect()));
    let file = fs::OpenOptions::new()
        .write(true)
        .open(dir.path().join("torn.db-wal"))
        .unwrap();
    for cut in (log.len() - FRAME..log.len()).rev() {
        file.set_len(cut as u64).unwrap();
        assert_eq!(
            read(&torn),
            Ok((0..5).collect()),
            "cut at {cut} of {}",
            log.len()
        );
    }
    // The next writer appends after what is left.
    let torn = left(dir.path(), &whole, Some(&log[..log.len() - 1]));
    let store = Store::open(&torn).unwrap();
    append(&store, "league", vec![line(5), line(6)]).unwrap();
    store.close().unwrap();
    assert_eq!(read(&torn), Ok((0..7).collect()));
}

#[test]
fn a_last_page_of_the_file_that_is_torn_at_any_byte_is_noticed_or_holds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append(&store, "league", (0..40).map(line).collect()).unwrap();
    store.close().unwrap();
    let whole = fs::read(&path).unwrap();
    let all: Vec<usize> = (0..40).collect();
    assert_eq!(read(&path), Ok(all.clone()));
    let torn = left(dir.path(), &whole, None);
    let file = fs::OpenOptions::new().write(true).open(&torn).unwrap();
    let mut noticed = 0;
    for cut in (whole.len() - PAGE..whole.len()).rev() {
        file.set_len(cut as u64).unwrap();
        match read(&torn) {
            Ok(numbers) => assert_eq!(numbers, all, "cut at {cut} of {}", whole.len()),
            Err(_) => noticed += 1,
        }
    }
    assert!(noticed > 0);
}

#[test]
fn a_disk_that_can_only_be_read_is_named_and_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let mount = |arguments: &[&str]| {
        Command::new("mount")
            .args(arguments)
            .arg(dir.path())
            .stderr(Stdio::null())
            .status()
    };
    if !tools::require_mount(
        mount(&["-t", "tmpfs", "-o", "size=4m", "none"]).is_ok_and(|status| status.success()),
    ) {
        return;
    }
    let path = dir.path().join("league.db");
    let store = Store::open(&path).unwrap();
    append(&store, "league", (0..5).map(line).collect()).unwrap();
    store.close().unwrap();
    let only_read = mount(&["-o", "remount,ro"]).is_ok_and(|status| status.success());
    let refused = Store::open(&path)
        .map(|_| ())
        .map_err(|error| error.to_string());
    let kept = read(&path);
    Command::new("umount")
        .arg("-l")
        .arg(dir.path())
        .status()
        .unwrap();
    assert!(only_read);
    let refused = refused.unwrap_err();
    assert!(
        refused.contains("can only be read") && !refused.contains('\n'),
        "{refused}"
    );
    assert_eq!(kept, Ok((0..5).collect()));
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
    assert!(
        refused.contains(&format!("(process {})", child.id())),
        "{refused}"
    );
    let (_, second) = spawn(this_program(), &path);
    assert!(
        second.lines().any(|line| line.unwrap().contains("refused")),
        "another process is refused too"
    );
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
    let failures = said
        .iter()
        .position(|line| line.contains("failed "))
        .expect("it failed in the end");
    assert!(
        said[failures..].iter().all(|line| stored(line).is_none()),
        "nothing is acknowledged afterwards"
    );
    let reader = Store::open_read_only(path).unwrap();
    let kept = reader.load(&stream("league")).unwrap();
    assert!(
        kept.len() >= acknowledged.len() && !kept.is_empty(),
        "{} of {}",
        kept.len(),
        acknowledged.len()
    );
    said[failures..].to_vec()
}

#[test]
fn a_full_disk_is_named_and_costs_nothing_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let mount = |arguments: &[&str]| {
        Command::new("mount")
            .args(arguments)
            .arg(dir.path())
            .stderr(Stdio::null())
            .status()
    };
    if !tools::require_mount(
        mount(&["-t", "tmpfs", "-o", "size=400k", "none"]).is_ok_and(|status| status.success()),
    ) {
        return;
    }
    let path = dir.path().join("league.db");
    let said = run_dry(this_program(), &path);
    let kept = Store::open_read_only(&path)
        .unwrap()
        .load(&stream("league"))
        .unwrap()
        .len();
    fs::write(dir.path().join("filler"), []).unwrap();
    Command::new("mount")
        .args(["-o", "remount,size=4m"])
        .arg(dir.path())
        .status()
        .unwrap();
    let again = numbers(&path);
    Command::new("umount")
        .arg("-l")
        .arg(dir.path())
        .status()
        .unwrap();
    for start in ["failed ", "poisoned ", "closed "] {
        let line = said.iter().find(|line| line.contains(start)).expect(start);
        assert!(
            line.contains("cannot grow, because its disk is full"),
            "{line}"
        );
        assert!(line.contains("free space there, and start again with the same command; nothing that was acknowledged is lost"), "{line}");
    }
    assert_eq!(
        again,
        (0..kept).collect::<Vec<_>>(),
        "with room again, it goes on"
    );
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
    assert!(
        line.contains("nothing that was acknowledged is lost"),
        "{line}"
    );
    assert!(!numbers(&path).is_empty(), "without the limit, it goes on");
}
