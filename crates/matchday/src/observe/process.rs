//! What the system counts of this process, under the names that Prometheus has for it everywhere. Reads `/proc/self`;
//! where there is none, nothing is told.

use super::exposition::Exposition;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// In which unit Linux tells times in `/proc`, on every machine that this program is built for.
const TICKS_PER_SECOND: f64 = 100.0;

/// `began` is when the process did: a service that sees no more of `/proc` than itself could not work it out.
pub(super) fn write(out: &mut Exposition, began: SystemTime) {
    if let Some(seconds) = cpu_seconds() {
        out.counter("process_cpu_seconds_total", "Processor time used, in seconds.").value(&[], seconds);
    }
    if let Some(status) = fs::read_to_string("/proc/self/status").ok().as_deref() {
        if let Some(bytes) = kilobytes(status, "VmRSS:") {
            out.gauge("process_resident_memory_bytes", "Memory in use, in bytes.").value(&[], bytes * 1024);
        }
        if let Some(bytes) = kilobytes(status, "VmSize:") {
            out.gauge("process_virtual_memory_bytes", "Address space taken, in bytes.")
                .value(&[], bytes * 1024);
        }
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        out.gauge("process_open_fds", "Files and sockets that are open.").value(&[], open.count());
    }
    if let Some(most) = open_max() {
        out.gauge("process_max_fds", "Files and sockets that may be open.").value(&[], most);
    }
    out.gauge("process_start_time_seconds", "When the process began, in seconds since 1970.")
        .value(&[], began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
}

fn kilobytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Fields 14 and 15 of the file, in ticks; after the name in brackets, which may itself hold spaces, they are 12 and 13.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) as f64 / TICKS_PER_SECOND)
}

fn open_max() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn this_very_process_is_measured() {
        let mut out = Exposition::default();
        write(&mut out, SystemTime::now());
        let text = out.into_text();
        for name in [
            "process_cpu_seconds_total",
            "process_resident_memory_bytes",
            "process_open_fds",
            "process_max_fds",
            "process_start_time_seconds",
        ] {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
            assert!(value.is_some_and(|value| value >= 0.0), "{name}: {text}");
        }
    }
}
