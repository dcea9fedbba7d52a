//! The time of a database, measured at renewals of the lease and carried on by the monotonic clock. Does no I/O.

use matchday_core::protocol::Timestamp;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A measurement with a longer round trip tells too little to correct the time by.
const ROUND_TRIP_MAX: Duration = Duration::from_millis(50);

/// What the database's clock showed during a round trip of this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measurement {
    pub(super) sent: Instant,
    pub(super) received: Instant,
    pub(super) database: Timestamp,
}

impl Measurement {
    /// The database's time at the end of the round trip, if it was read in the middle of it.
    fn at_end(&self) -> Timestamp {
        self.database + self.received.saturating_duration_since(self.sent) / 2
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct StoreTime {
    known: Timestamp,
    at: Instant,
    /// By how much this machine's clock was ahead.
    pub(super) offset_us: i64,
}

impl StoreTime {
    pub(super) fn starting(first: Measurement) -> Self {
        Self {
            known: first.at_end(),
            at: first.received,
            offset_us: offset(first, system_time()),
        }
    }

    pub(super) fn at(&self, instant: Instant) -> Timestamp {
        self.known + instant.saturating_duration_since(self.at)
    }

    /// Corrects it, forward only: what was shown is never taken back.
    pub(super) fn measured(&mut self, measurement: Measurement) {
        let exact = measurement
            .received
            .saturating_duration_since(measurement.sent)
            <= ROUND_TRIP_MAX;
        if !exact {
            return;
        }
        self.offset_us = offset(measurement, system_time());
        let now = measurement.at_end();
        if now > self.at(measurement.received) {
            (self.known, self.at) = (now, measurement.received);
        }
    }
}

fn offset(measurement: Measurement, system: Timestamp) -> i64 {
    // The system's clock was read a moment after the end of the round trip.
    let since = i64::try_from(measurement.received.elapsed().as_micros()).unwrap_or_default();
    system
        .as_micros()
        .saturating_sub(since)
        .saturating_sub(measurement.at_end().as_micros())
}

fn system_time() -> Timestamp {
    Timestamp::EPOCH
        + SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(sent: Instant, trip_ms: u64, database: Timestamp) -> Measurement {
        Measurement {
            sent,
            received: sent + Duration::from_millis(trip_ms),
            database,
        }
    }

    #[test]
    fn it_is_corrected_forward_and_never_back() {
        let start = Instant::now();
        let noon = Timestamp::from_micros(1_736_937_000_000_000);
        let second = |number: u64| {
            (
                start + Duration::from_secs(number),
                noon + Duration::from_secs(number),
            )
        };
        let mut time = StoreTime::starting(measured(start, 20, noon));
        assert_eq!(
            time.at(start + Duration::from_millis(20)),
            noon + Duration::from_millis(10)
        );
        let (instant, expected) = second(5);
        time.measured(measured(instant, 0, expected + Duration::from_millis(30)));
        assert_eq!(time.at(instant), expected + Duration::from_millis(30));
        let (instant, expected) = second(6);
        let before = time.at(instant);
        time.measured(measured(instant, 0, expected));
        assert_eq!(
            time.at(instant),
            before,
            "the database's clock was set back"
        );
        time.measured(measured(instant, 4000, expected + Duration::from_secs(60)));
        assert_eq!(
            time.at(instant),
            before,
            "a round trip of four seconds says little"
        );
    }
}
