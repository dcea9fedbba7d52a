//! A history of what a process asked its database for, so that a checker can judge a run afterwards. Written only if the
//! environment names a file in `MATCHDAY_STORE_HISTORY`: one JSON object a line, one `write` each, so that several processes can
//! append to one file.
//!
//! An operation has a line when it begins (`"phase":"invoked"`) and one when it ends: `done`, `refused` (nothing of it was done)
//! or `unknown` (the connection was lost: it may have been done). Both have the same `process` and `id`. An append of several
//! streams in one transaction has a line for each of them, all under one `id`. Fields that an operation does not have are left out:
//!
//! | `op` | fields |
//! | --- | --- |
//! | `append` | `league`, `stream`, `from`, `to` (numbers of its events), `hash` (of the last), `epoch` |
//! | `read_head` | `league`, `stream`; at its end `to` and `hash`, if there are events |
//! | `take` | at its end a line for each league: `league`, `epoch`; also for one whose epoch its owner raised after a lost connection |
//! | `release` | `league`, `epoch` |
//! | `renew` | none; `refused` says that others may have taken the leagues |
//!
//! A league that an append makes has epoch 1 without a `take`. `at_us` is the time since the machine's epoch carried on by the monotonic clock, in microseconds: comparable between processes of one
//! machine whose clock was not set meanwhile. Writes the file.

use super::membership::OwnedLeague;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub(super) const VARIABLE: &str = "MATCHDAY_STORE_HISTORY";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Op {
    Append,
    ReadHead,
    Take,
    Release,
    Renew,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    Invoked,
    Done,
    Refused,
    Unknown,
}

/// What an operation is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct About {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) league: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) epoch: Option<i64>,
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    at_us: u64,
    /// As in `matchday_processes`: another one after the lease was lost.
    process: &'a str,
    id: u64,
    op: Op,
    phase: Phase,
    #[serde(flatten)]
    about: &'a About,
}

#[derive(Debug)]
struct History {
    file: Mutex<File>,
    began: Instant,
    began_us: u64,
    last: AtomicU64,
}

static HISTORY: OnceLock<Option<History>> = OnceLock::new();

fn history() -> Option<&'static History> {
    let open = || {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        let file = File::options().create(true).append(true).open(&path);
        let file = file.inspect_err(|error| {
            tracing::warn!(target: "matchday::store", %error, "no history is written to {}", path.display());
        });
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Some(History {
            file: Mutex::new(file.ok()?),
            began: Instant::now(),
            began_us: u64::try_from(since_epoch.as_micros()).unwrap_or_default(),
            last: AtomicU64::new(0),
        })
    };
    HISTORY.get_or_init(open).as_ref()
}

impl History {
    fn write(&self, process: &str, id: u64, op: Op, phase: Phase, about: &[About]) {
        let elapsed = u64::try_from(self.began.elapsed().as_micros()).unwrap_or_default();
        let nothing = [About::default()];
        let about = if about.is_empty() {
            nothing.as_slice()
        } else {
            about
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        for about in about {
            let line = Line {
                at_us: self.began_us.saturating_add(elapsed),
                process,
                id,
                op,
                phase,
                about,
            };
            let Ok(mut text) = serde_json::to_string(&line) else {
                continue;
            };
            text.push('\n');
            let _ = file.write_all(text.as_bytes());
        }
    }
}

/// An operation that has begun; without a history it costs nothing.
#[derive(Debug)]
pub(super) struct Operation {
    id: u64,
    op: Op,
    process: String,
    about: Vec<About>,
}

/// Begins an operation, if a history is written.
pub(super) fn invoke(
    process: &str,
    op: Op,
    about: impl FnOnce() -> Vec<About>,
) -> Option<Operation> {
    let history = history()?;
    let id = history.last.fetch_add(1, Ordering::Relaxed) + 1;
    let operation = Operation {
        id,
        op,
        process: process.to_owned(),
        about: about(),
    };
    history.write(process, id, op, Phase::Invoked, &operation.about);
    Some(operation)
}

/// Ends an operation; `about`: what it found, where that was not known before.
pub(super) fn end(
    operation: Option<Operation>,
    phase: Phase,
    about: impl FnOnce() -> Option<Vec<About>>,
) {
    let (Some(history), Some(operation)) = (history(), operation) else {
        return;
    };
    let about = about().unwrap_or(operation.about);
    history.write(
        &operation.process,
        operation.id,
        operation.op,
        phase,
        &about,
    );
}

/// A league with its epoch.
pub(super) fn held((league, held): (&u32, &OwnedLeague)) -> About {
    About {
        league: Some(*league),
        epoch: Some(held.epoch),
        ..About::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_its_operation_has_and_nothing_else() {
        let about = About {
            league: Some(7),
            epoch: Some(3),
            ..About::default()
        };
        let line = Line {
            at_us: 5,
            process: "ab.1",
            id: 2,
            op: Op::ReadHead,
            phase: Phase::Unknown,
            about: &about,
        };
        let expected = r#"{"at_us":5,"process":"ab.1","id":2,"op":"read_head","phase":"unknown","league":7,"epoch":3}"#;
        assert_eq!(serde_json::to_string(&line).unwrap(), expected);
    }
}
