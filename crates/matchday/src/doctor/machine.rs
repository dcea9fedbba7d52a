//! The clock, the disk, and the limit on open files.

use super::Finding;
use matchday_core::protocol::Timestamp;
use matchday_os::fd_limit;
use matchday_os::file::{free_bytes, is_readable_by_all};
use matchday_store::StoreUrl;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MEGABYTE: u64 = 1 << 20;
/// With less the store soon cannot grow.
const FREE_BYTES_MIN: u64 = 100 * MEGABYTE;
/// The messages of a long league fill as much.
const FREE_BYTES_ADVISED: u64 = 1024 * MEGABYTE;
/// Beside its connections an agent has its store, its log and its own calls open.
const OTHER_FILES: usize = 64;
/// HTTP tells the time in whole seconds, and the answer takes a moment.
const CLOCK_DIFFERENCE_MAX: Duration = Duration::from_secs(3);
/// 2025-01-01: before the first version of this program.
const EARLIEST_MICROS: i64 = 1_735_689_600_000_000;

/// `newest`: the time of the store's last event; `other`: what the manager's clock says.
pub(super) fn clock(
    now: Timestamp,
    newest: Option<Timestamp>,
    other: Option<Timestamp>,
) -> Finding {
    let advice = "set this machine's clock, and keep it synchronised: `timedatectl set-ntp true`";
    if now < Timestamp::from_micros(EARLIEST_MICROS) {
        return Finding::failed("clock", format!("it says {now}"), advice);
    }
    if let Some(newest) = newest.filter(|newest| newest.since(now) > CLOCK_DIFFERENCE_MAX) {
        let finding = format!("it says {now}, and the store's last event is of {newest}");
        return Finding::failed("clock", finding, advice);
    }
    match other {
        Some(other) if other.since(now).max(now.since(other)) > CLOCK_DIFFERENCE_MAX => {
            let finding = format!("it says {now}, and the manager's says {other}");
            Finding::warning("clock", finding, advice)
        }
        Some(_) => Finding::ok("clock", format!("it says {now}, as the manager's does")),
        None => Finding::ok("clock", format!("it says {now}")),
    }
}

/// The file system of the store.
pub(super) fn disk(store: &StoreUrl) -> Finding {
    let folder = match store.file().and_then(Path::parent) {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let shown = folder.display();
    if !folder.is_dir() {
        return Finding::failed(
            "disk",
            format!("there is no folder {shown}"),
            "make it, or name another --store",
        );
    }
    if let Err(error) = tempfile::tempfile_in(folder) {
        let advice = "give the folder to the user that runs the agent, or name another --store";
        return Finding::failed(
            "disk",
            format!("nothing can be written in {shown}: {error}"),
            advice,
        );
    }
    let Some(free) = free_bytes(folder) else {
        return Finding::ok("disk", format!("{shown} can be written to"));
    };
    let finding = format!("{} MB are free in {shown}", free / MEGABYTE);
    match free {
        free if free < FREE_BYTES_MIN => {
            Finding::failed("disk", finding, "free some, or name another --store")
        }
        free if free < FREE_BYTES_ADVISED => Finding::warning(
            "disk",
            finding,
            "free some, or keep fewer messages with --exchanges-bytes-max",
        ),
        _ => Finding::ok("disk", finding),
    }
}

/// One for each file that others can read, and could act with what is in it.
pub(super) fn secrets(files: &[PathBuf]) -> Vec<Finding> {
    let open = files.iter().filter(|file| is_readable_by_all(file));
    open.map(|file| {
        let shown = file.display();
        Finding::warning(
            "secrets",
            format!("{shown} holds a secret, and everyone on this machine can read it"),
            format!("`chmod 600 {shown}`, and give it to the user that runs the agent"),
        )
    })
    .collect()
}

pub(super) fn limits(connections_max: usize) -> Finding {
    files_for(fd_limit::get(), connections_max)
}

fn files_for(limit: usize, connections_max: usize) -> Finding {
    let wanted = connections_max.saturating_add(OTHER_FILES);
    match limit {
        usize::MAX => Finding::ok("limits", "any number of files can be open"),
        limit if limit >= wanted => Finding::ok("limits", format!("{limit} files can be open")),
        limit => {
            let finding = format!(
                "{limit} files can be open, and {connections_max} connections need {wanted}"
            );
            let advice =
                "raise it with `ulimit -n` or LimitNOFILE= of the unit, or lower --connections-max";
            Finding::warning("limits", finding, advice)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap().0
    }

    #[test]
    fn a_clock_that_is_behind_the_store_fails() {
        let now = at("2026-03-02T09:00:00Z");
        let severity = |newest: Option<&str>, other: Option<&str>| {
            clock(now, newest.map(at), other.map(at)).severity
        };
        assert_eq!(severity(None, None), Severity::Ok);
        assert_eq!(
            severity(Some("2026-03-02T08:00:00Z"), Some("2026-03-02T09:00:02Z")),
            Severity::Ok
        );
        assert_eq!(
            severity(Some("2026-03-02T09:10:00Z"), None),
            Severity::Failed
        );
        assert_eq!(
            severity(None, Some("2026-03-02T09:01:00Z")),
            Severity::Warning
        );
        assert_eq!(
            severity(None, Some("2026-03-02T08:59:00Z")),
            Severity::Warning
        );
        assert_eq!(
            clock(at("1970-01-02T00:00:00Z"), None, None).severity,
            Severity::Failed
        );
    }

    #[test]
    fn too_few_files_for_the_connections_are_a_warning() {
        assert_eq!(files_for(1024, 4096).severity, Severity::Warning);
        assert_eq!(files_for(4160, 4096).severity, Severity::Ok);
        assert_eq!(files_for(usize::MAX, 4096).severity, Severity::Ok);
    }

    #[test]
    fn a_folder_that_is_not_there_fails() {
        assert_eq!(
            disk(&"/nowhere/at/all/league.db".into()).severity,
            Severity::Failed
        );
    }
}
