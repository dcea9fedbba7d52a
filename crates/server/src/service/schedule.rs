//! When the leagues of a season start: the five fields of a crontab line, or a list of times, in a time zone. Pure.
//!
//! A time that a change of clocks leaves out comes as much later as clocks are put forward; one that comes twice counts once,
//! the first time.

use cronexpr::{Crontab, MakeTimestamp};
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp as Instant};
use matchday_core::protocol::Timestamp;

const FIELDS: [&str; 5] = [
    "minute",
    "hour",
    "day of the month",
    "month",
    "day of the week",
];

/// Clocks are never put forward by more.
const CHANGE_MAX: SignedDuration = SignedDuration::from_hours(3);

#[derive(Debug, Clone)]
pub(super) struct Schedule {
    times: Times,
    zone: TimeZone,
}

/// Local times.
#[derive(Debug, Clone)]
enum Times {
    /// As if local time were UTC: the crate leaves out or repeats what a change of clocks does.
    Recurring(Box<Crontab>),
    Listed(Vec<DateTime>),
}

impl Schedule {
    /// Reads `0 22 * * mon-fri`, or times such as `2026-03-02T20:00 2026-03-09T20:00`, and the name of a time zone; says what is wrong
    /// and what to write.
    pub(super) fn parse(line: &str, zone: &str) -> Result<Self, String> {
        let zone = TimeZone::get(zone).map_err(|_| {
            format!("time_zone: there is no {zone:?}: expected a name such as Europe/Berlin or UTC")
        })?;
        if line.starts_with(|first: char| first.is_ascii_digit()) && line.contains('T') {
            let times = line
                .split_whitespace()
                .map(listed)
                .collect::<Result<_, _>>()?;
            let times = Times::Listed(times);
            return Ok(Self { times, zone });
        }
        if line.split_whitespace().count() != 5 {
            return Err(format!(
                "schedule: expected five fields (minute hour day month weekday), as in \"0 22 * * *\" for every day at 22:00, \
                 got {line:?}"
            ));
        }
        let local = cronexpr::parse_crontab(&format!("{line} UTC"))
            .map_err(|error| format!("schedule: {} in {line:?}", fault(&error.to_string())))?;
        let times = Times::Recurring(Box::new(local));
        let schedule = Self { times, zone };
        match schedule.next_run(Timestamp::EPOCH) {
            Some(_) => Ok(schedule),
            None => Err(format!(
                "schedule: {line:?} names a day that never comes: check day and month"
            )),
        }
    }

    /// The first time after this one.
    pub(super) fn next_run(&self, after: Timestamp) -> Option<Timestamp> {
        let after = Instant::from_microsecond(after.as_micros()).ok()?;
        let crontab = match &self.times {
            Times::Recurring(crontab) => crontab,
            Times::Listed(times) => {
                let times = times.iter().filter_map(|time| self.at(*time));
                let next = times.filter(|at| *at > after).min();
                return next.map(|at| Timestamp::from_micros(at.as_microsecond()));
            }
        };
        let local = self
            .zone
            .to_datetime(after)
            .to_zoned(TimeZone::UTC)
            .ok()?
            .timestamp();
        let mut local = local.checked_sub(CHANGE_MAX).ok()?;
        loop {
            local = crontab.find_next(MakeTimestamp(local)).ok()?.timestamp();
            let at = self.at(Offset::UTC.to_datetime(local))?;
            if at > after {
                return Some(Timestamp::from_micros(at.as_microsecond()));
            }
        }
    }

    fn at(&self, local: DateTime) -> Option<Instant> {
        self.zone.to_ambiguous_timestamp(local).compatible().ok()
    }
}

fn listed(time: &str) -> Result<DateTime, String> {
    time.parse().map_err(|_| {
        format!("schedule: expected local times such as 2026-03-02T20:00, or five fields as in a crontab, got {time:?}")
    })
}

/// What the crate says is wrong, and in which field: its second line is what was read, and the third a mark beneath it.
fn fault(told: &str) -> String {
    let mut lines = told.lines().skip(1);
    let read = lines.next().unwrap_or_default();
    let marked = lines.next().unwrap_or_default();
    let (before, why) = marked.split_once("^ ").unwrap_or_default();
    let place = read
        .get(..before.len())
        .unwrap_or_default()
        .matches(' ')
        .count();
    format!("{}: {why}", FIELDS.get(place).unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap().0
    }

    fn next(line: &str, zone: &str, after: &str) -> String {
        Schedule::parse(line, zone)
            .unwrap()
            .next_run(at(after))
            .unwrap()
            .to_string()
    }

    #[test]
    fn listed_times_come_one_after_the_other_and_then_no_more() {
        let times = "2026-03-27T20:00 2026-03-30T20:00";
        let next = |after| {
            let schedule = Schedule::parse(times, "Europe/Berlin").unwrap();
            schedule.next_run(at(after)).map(|at| at.to_string())
        };
        assert_eq!(
            next("2026-03-01T00:00:00Z").unwrap(),
            "2026-03-27T19:00:00Z"
        );
        assert_eq!(
            next("2026-03-27T19:00:00Z").unwrap(),
            "2026-03-30T18:00:00Z"
        );
        assert_eq!(next("2026-03-30T18:00:00Z"), None);
        let wrong = Schedule::parse("2026-03-27T20:00 2026-02-30T20:00", "UTC").unwrap_err();
        assert!(wrong.contains("got \"2026-02-30T20:00\""), "{wrong}");
    }

    #[test]
    fn every_evening_is_at_the_same_local_time_in_summer_and_winter() {
        let nightly = |after| next("0 22 * * *", "Europe/Berlin", after);
        assert_eq!(nightly("2026-01-15T12:00:00Z"), "2026-01-15T21:00:00Z");
        assert_eq!(nightly("2026-07-15T12:00:00Z"), "2026-07-15T20:00:00Z");
        assert_eq!(
            nightly("2026-07-15T20:00:00Z"),
            "2026-07-16T20:00:00Z",
            "strictly after"
        );
    }

    #[test]
    fn a_time_that_the_clocks_leave_out_comes_an_hour_later() {
        // Clocks go from 02:00 to 03:00 on 29 March 2026.
        assert_eq!(
            next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"),
            "2026-03-29T01:30:00Z"
        );
        assert_eq!(
            next("30 2 * * *", "Europe/Berlin", "2026-03-29T01:30:00Z"),
            "2026-03-30T00:30:00Z"
        );
    }

    #[test]
    fn a_time_that_comes_twice_counts_once() {
        // Clocks go back from 03:00 to 02:00 on 25 October 2026.
        assert_eq!(
            next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z"),
            "2026-10-25T00:30:00Z"
        );
        assert_eq!(
            next("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z"),
            "2026-10-26T01:30:00Z"
        );
        assert_eq!(
            next("30 2 * * *", "Europe/Berlin", "2026-10-25T01:15:00Z"),
            "2026-10-26T01:30:00Z"
        );
    }

    #[test]
    fn lists_ranges_steps_and_names() {
        assert_eq!(
            next("*/15 9-17 * * mon-fri", "UTC", "2026-11-20T17:45:00Z"),
            "2026-11-23T09:00:00Z"
        );
        assert_eq!(
            next("0 12 1,15 * *", "UTC", "2026-11-02T00:00:00Z"),
            "2026-11-15T12:00:00Z"
        );
        assert_eq!(
            next("0 0 29 feb *", "UTC", "2026-01-01T00:00:00Z"),
            "2028-02-29T00:00:00Z"
        );
        // With both days given, either of them: Friday, or the 13th. 7 is Sunday.
        assert_eq!(
            next("0 0 13 * fri", "UTC", "2026-11-08T00:00:00Z"),
            "2026-11-13T00:00:00Z"
        );
        assert_eq!(
            next("0 0 13 * fri", "UTC", "2026-11-13T00:00:00Z"),
            "2026-11-20T00:00:00Z"
        );
        assert_eq!(
            next("0 0 * * 7", "UTC", "2026-11-17T00:00:00Z"),
            "2026-11-22T00:00:00Z"
        );
    }

    #[test]
    fn what_cannot_be_is_one_line_with_what_to_write() {
        let wrong = |line: &str, zone: &str| Schedule::parse(line, zone).unwrap_err();
        insta::assert_snapshot!(wrong("0 22 * *", "UTC"), @r#"schedule: expected five fields (minute hour day month weekday), as in "0 22 * * *" for every day at 22:00, got "0 22 * *""#);
        insta::assert_snapshot!(wrong("60 22 * * *", "UTC"), @r#"schedule: minute: value must be in range 0..=59; found 60 in "60 22 * * *""#);
        insta::assert_snapshot!(wrong("0 22 * * fri-mon", "UTC"), @r#"schedule: day of the week: range must be in ascending order; found 5-1 in "0 22 * * fri-mon""#);
        insta::assert_snapshot!(wrong("0 0 31 2 *", "UTC"), @r#"schedule: "0 0 31 2 *" names a day that never comes: check day and month"#);
        insta::assert_snapshot!(wrong("0 22 * * *", "Europe/Berlni"), @r#"time_zone: there is no "Europe/Berlni": expected a name such as Europe/Berlin or UTC"#);
    }
}
