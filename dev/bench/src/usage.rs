//! CPU time and memory of processes. `None` where the system does not tell them.

use matchday_core::protocol::Timestamp;
use matchday_os::process::{cpu_time, rss_bytes};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seldom enough to cost the sampled league less than one percent.
const SAMPLE_EVERY: Duration = Duration::from_millis(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) at: Timestamp,
    pub(crate) cpu: Duration,
    pub(crate) rss_bytes: u64,
}

impl Usage {
    /// The sum over these processes. `None` if one has exited or cannot be read.
    pub(crate) fn of(pids: &[u32]) -> Option<Self> {
        let mut usage = Self {
            at: now(),
            cpu: Duration::ZERO,
            rss_bytes: 0,
        };
        for &pid in pids {
            usage.cpu += cpu_time(pid)?;
            usage.rss_bytes += rss_bytes(pid)?;
        }
        Some(usage)
    }

    pub(crate) fn of_this_process() -> Option<Self> {
        Self::of(&[std::process::id()])
    }
}

pub(crate) fn now() -> Timestamp {
    Timestamp::EPOCH
        + SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
}

#[derive(Debug, Clone, Default)]
pub(crate) struct UsageSeries(pub(crate) Vec<Usage>);

impl UsageSeries {
    pub(crate) fn cpu(&self, from: Timestamp, to: Timestamp) -> Option<Duration> {
        Some(self.at(to)?.0.saturating_sub(self.at(from)?.0))
    }

    pub(crate) fn rss_bytes(&self, at: Timestamp) -> Option<u64> {
        self.at(at).map(|(_, rss_bytes)| rss_bytes)
    }

    pub(crate) fn rss_bytes_max(&self, from: Timestamp, to: Timestamp) -> Option<u64> {
        let between = self
            .0
            .iter()
            .filter(|usage| from <= usage.at && usage.at <= to);
        between.map(|usage| usage.rss_bytes).max()
    }

    /// Linear interpolation between samples; constant before the first and after the last.
    fn at(&self, at: Timestamp) -> Option<(Duration, u64)> {
        let after = self.0.partition_point(|usage| usage.at < at);
        let next = self.0.get(after);
        let Some(before) = after.checked_sub(1).and_then(|place| self.0.get(place)) else {
            return next.map(|next| (next.cpu, next.rss_bytes));
        };
        let Some(next) = next else {
            return Some((before.cpu, before.rss_bytes));
        };
        let gap = next.at.since(before.at).as_secs_f64();
        let gone = at.since(before.at).as_secs_f64();
        let share = if gap > 0.0 { gone / gap } else { 0.0 };
        let cpu = before.cpu + next.cpu.saturating_sub(before.cpu).mul_f64(share);
        Some((cpu, next.rss_bytes))
    }
}

/// Samples a process periodically, in a separate thread.
#[derive(Debug)]
pub(crate) struct UsageSampler {
    end: Sender<()>,
    thread: JoinHandle<UsageSeries>,
}

impl UsageSampler {
    pub(crate) fn begin(pid: u32) -> Self {
        let (end, ended) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut series = UsageSeries::default();
            while let Some(usage) = Usage::of(&[pid]) {
                series.0.push(usage);
                match ended.recv_timeout(SAMPLE_EVERY) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            series
        });
        Self { end, thread }
    }

    pub(crate) fn end(self) -> UsageSeries {
        let _ = self.end.send(());
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(at_ms: i64, cpu_ms: u64, rss_bytes: u64) -> Usage {
        let at = Timestamp::from_micros(at_ms * 1000);
        Usage {
            at,
            cpu: Duration::from_millis(cpu_ms),
            rss_bytes,
        }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_micros(ms * 1000)
    }

    #[test]
    fn time_between_two_samples_is_shared_out_evenly() {
        let usage = UsageSeries(vec![usage(0, 10, 1), usage(10, 20, 2), usage(20, 40, 3)]);
        assert_eq!(usage.cpu(at(5), at(15)), Some(Duration::from_millis(15)));
        assert_eq!(usage.cpu(at(-5), at(100)), Some(Duration::from_millis(30)));
        assert_eq!(usage.rss_bytes_max(at(5), at(15)), Some(2));
    }

    #[test]
    fn a_process_that_is_gone_has_no_course() {
        assert_eq!(UsageSeries::default().cpu(at(0), at(1)), None);
        assert_eq!(UsageSampler::begin(u32::MAX).end().0, []);
    }
}
