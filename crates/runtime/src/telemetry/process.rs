//! The process metrics that every Prometheus client has, under their usual names, as far as the operating system tells them.

use super::exposition::Exposition;
use matchday_os::fd_limit;
use matchday_os::process::self_stats;
use std::time::{SystemTime, UNIX_EPOCH};

/// `began` is when the process did: a service that sees no more of `/proc` than itself could not work it out.
pub(super) fn write(out: &mut Exposition, began: SystemTime) {
    let stats = self_stats();
    if let Some(seconds) = stats.cpu_seconds {
        out.counter(
            "process_cpu_seconds_total",
            "Processor time used, in seconds.",
        )
        .value(&[], seconds);
    }
    if let Some(bytes) = stats.rss_bytes {
        out.gauge("process_resident_memory_bytes", "Memory in use, in bytes.")
            .value(&[], bytes);
    }
    if let Some(bytes) = stats.virtual_bytes {
        out.gauge(
            "process_virtual_memory_bytes",
            "Address space taken, in bytes.",
        )
        .value(&[], bytes);
    }
    if let Some(open) = stats.open_fds {
        out.gauge("process_open_fds", "Files and sockets that are open.")
            .value(&[], open);
        out.gauge("process_max_fds", "Files and sockets that may be open.")
            .value(&[], fd_limit::get());
    }
    out.gauge(
        "process_start_time_seconds",
        "When the process began, in seconds since 1970.",
    )
    .value(
        &[],
        began
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs_f64(),
    );
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
            let value = text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
            assert!(value.is_some_and(|value| value >= 0.0), "{name}: {text}");
        }
    }
}
