//! Other processes, and this one.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::time::Duration;
use std::{fs, io};
use tokio::process::Command;

/// The unit of times in `/proc/self/stat` on every machine that Linux runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// Starts the program as the leader of a process group of its own, so that Ctrl-C in this terminal does not reach it.
pub fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// A process and its descendants. Killed when dropped.
#[derive(Debug)]
pub struct ProcessGroup(Pid);

impl ProcessGroup {
    pub fn of(leader: u32) -> Option<Self> {
        Pid::from_raw(i32::try_from(leader).ok()?).map(Self)
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // If all of them have ended, there is none to kill.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

/// Kills a process group, if it is still there.
pub fn kill_group(leader: u32) {
    drop(ProcessGroup::of(leader));
}

/// The resident set of all processes of a group. `None` without `/proc`.
pub fn group_rss_bytes(leader: u32) -> Option<u64> {
    let rss_pages = |stat: &str| -> Option<u64> {
        // After the name in brackets, which may itself hold spaces: state, parent, group, and the resident set as field 24.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let group: u32 = fields.nth(2)?.parse().ok()?;
        if group == leader {
            fields.nth(18)?.parse().ok()
        } else {
            None
        }
    };
    let stats = fs::read_dir("/proc").ok()?.filter_map(|entry| {
        let entry = entry.ok()?;
        let is_process = entry
            .file_name()
            .as_encoded_bytes()
            .iter()
            .all(u8::is_ascii_digit);
        // The process may have exited since it was listed.
        if is_process {
            fs::read_to_string(entry.path().join("stat")).ok()
        } else {
            None
        }
    });
    let pages: u64 = stats.filter_map(|stat| rss_pages(&stat)).sum();
    Some(pages * u64::try_from(rustix::param::page_size()).ok()?)
}

/// Asks a process to end (SIGTERM).
pub fn terminate(pid: u32) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    Ok(kill_process(
        pid.ok_or(io::ErrorKind::NotFound)?,
        Signal::TERM,
    )?)
}

/// The CPU time of all threads, from the scheduler's statistics. `None` without `/proc`.
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let mut nanos = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        // The thread may have exited since it was listed.
        let Ok(text) = fs::read_to_string(thread.ok()?.path().join("schedstat")) else {
            continue;
        };
        nanos += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanos))
}

/// The resident set. `None` without `/proc`.
pub fn rss_bytes(pid: u32) -> Option<u64> {
    kilobytes(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The proportional set: its own pages, and its part of those that it shares with others. `None` without `/proc`.
pub fn pss_bytes(pid: u32) -> Option<u64> {
    kilobytes(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

/// What the system counts of this process; `None` where it does not.
#[derive(Debug, Clone, Copy, Default)]
pub struct SelfStats {
    pub cpu_seconds: Option<f64>,
    pub rss_bytes: Option<u64>,
    pub virtual_bytes: Option<u64>,
    pub open_fds: Option<usize>,
}

/// From `/proc/self`.
pub fn self_stats() -> SelfStats {
    SelfStats {
        cpu_seconds: cpu_seconds(),
        rss_bytes: kilobytes("/proc/self/status", "VmRSS:"),
        virtual_bytes: kilobytes("/proc/self/status", "VmSize:"),
        open_fds: fs::read_dir("/proc/self/fd").ok().map(Iterator::count),
    }
}

/// The line `name  1234 kB` of a file, in bytes.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Fields 14 and 15 of the file, in ticks; after the name in brackets, which may itself hold spaces, they are 12 and 13.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) as f64 / TICKS_PER_SECOND)
}
