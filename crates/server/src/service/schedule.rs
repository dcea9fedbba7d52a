//! When the leagues of a season start: the five fields of a crontab line, in a time zone. Pure.
//!
//! A time that a change of clocks leaves out comes as much later as clocks are put forward; one that comes twice counts once,
//! the first time.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use matchday_core::protocol::Timestamp;

/// The 29th of February comes within eight years.
const DAYS_AHEAD: usize = 8 * 366 + 1;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A field of the line: its name, its range, and names for its values from the lowest on.
struct Field {
    name: &'static str,
    least: u8,
    most: u8,
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", least: 0, most: 59, names: &[] },
    Field { name: "hour", least: 0, most: 23, names: &[] },
    Field { name: "day of the month", least: 1, most: 31, names: &[] },
    Field { name: "month", least: 1, most: 12, names: &MONTHS },
    // 7 is Sunday too.
    Field { name: "day of the week", least: 0, most: 7, names: &WEEKDAYS },
];

#[derive(Debug, Clone)]
pub struct Schedule {
    minutes: Vec<u8>,
    hours: Vec<u8>,
    days: Vec<u8>,
    months: Vec<u8>,
    weekdays: Vec<u8>,
    /// Whether one of the two fields of days is `*`. Otherwise a day that fits either of them fits.
    both_days: bool,
    zone: TimeZone,
}

impl Schedule {
    /// Reads `0 22 * * mon-fri` and the name of a time zone; says what is wrong and what to write.
    pub fn parse(line: &str, zone: &str) -> Result<Self, String> {
        let zone = TimeZone::get(zone).map_err(|_| {
            format!("time_zone: there is no {zone:?}: expected a name such as Europe/Berlin or UTC")
        })?;
        let texts: Vec<&str> = line.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = texts.as_slice() else {
            return Err(format!(
                "schedule: expected five fields (minute hour day month weekday), as in \"0 22 * * *\" for every day at 22:00, \
                 got {line:?}"
            ));
        };
        let [minute, hour, day, month, weekday] = &FIELDS;
        let mut schedule = Self {
            minutes: minute.read(minutes)?,
            hours: hour.read(hours)?,
            days: day.read(days)?,
            months: month.read(months)?,
            weekdays: weekday.read(weekdays)?,
            both_days: days.starts_with('*') || weekdays.starts_with('*'),
            zone,
        };
        if schedule.weekdays.contains(&7) {
            schedule.weekdays.push(0);
        }
        match schedule.next_run(Timestamp::EPOCH) {
            Some(_) => Ok(schedule),
            None => Err(format!("schedule: {line:?} names a day that never comes: check day and month")),
        }
    }

    /// The first time after this one.
    pub fn next_run(&self, after: Timestamp) -> Option<Timestamp> {
        let start = jiff::Timestamp::from_microsecond(after.as_micros()).ok()?;
        let mut date = self.zone.to_datetime(start).date();
        for _ in 0..DAYS_AHEAD {
            if self.has_day(date)
                && let Some(at) = self.first_of_day(date, after)
            {
                return Some(at);
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn has_day(&self, date: Date) -> bool {
        let has = |values: &[u8], value: i8| u8::try_from(value).is_ok_and(|value| values.contains(&value));
        let day = has(&self.days, date.day());
        let weekday = has(&self.weekdays, date.weekday().to_sunday_zero_offset());
        let fits = if self.both_days { day && weekday } else { day || weekday };
        fits && has(&self.months, date.month())
    }

    fn first_of_day(&self, date: Date, after: Timestamp) -> Option<Timestamp> {
        let times =
            self.hours.iter().flat_map(|hour| self.minutes.iter().map(move |minute| (*hour, *minute)));
        let instants = times.filter_map(|(hour, minute)| {
            let at = date.at(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0);
            let at = self.zone.to_ambiguous_timestamp(at).compatible().ok()?;
            Some(Timestamp::from_micros(at.as_microsecond()))
        });
        instants.filter(|at| *at > after).min()
    }
}

impl Field {
    fn read(&self, text: &str) -> Result<Vec<u8>, String> {
        let mut values = Vec::new();
        for part in text.split(',') {
            let (range, step) = part.split_once('/').map_or((part, "1"), |(range, step)| (range, step));
            let step: u8 = step.parse().ok().filter(|step| *step > 0).ok_or_else(|| self.wrong(part))?;
            let (first, last) = match range.split_once('-') {
                _ if range == "*" => (self.least, self.most),
                Some((first, last)) => (self.value(first, part)?, self.value(last, part)?),
                None if part.contains('/') => (self.value(range, part)?, self.most),
                None => (self.value(range, part)?, self.value(range, part)?),
            };
            if first > last {
                return Err(self.wrong(part));
            }
            values.extend((first..=last).step_by(usize::from(step)));
        }
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }

    fn value(&self, text: &str, part: &str) -> Result<u8, String> {
        let named = self.names.iter().position(|name| text.eq_ignore_ascii_case(name));
        let named = named.and_then(|place| u8::try_from(place).ok()).map(|place| place + self.least);
        let value = named.or_else(|| text.parse().ok());
        value.filter(|value| (self.least..=self.most).contains(value)).ok_or_else(|| self.wrong(part))
    }

    fn wrong(&self, part: &str) -> String {
        let Self { name, least, most, .. } = self;
        format!(
            "schedule: expected {least} to {most} as {name}, or *, lists, ranges and steps of them, got {part:?}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap().0
    }

    fn next(line: &str, zone: &str, after: &str) -> String {
        Schedule::parse(line, zone).unwrap().next_run(at(after)).unwrap().to_string()
    }

    #[test]
    fn every_evening_is_at_the_same_local_time_in_summer_and_winter() {
        let nightly = |after| next("0 22 * * *", "Europe/Berlin", after);
        assert_eq!(nightly("2026-01-15T12:00:00Z"), "2026-01-15T21:00:00Z");
        assert_eq!(nightly("2026-07-15T12:00:00Z"), "2026-07-15T20:00:00Z");
        assert_eq!(nightly("2026-07-15T20:00:00Z"), "2026-07-16T20:00:00Z", "strictly after");
    }

    #[test]
    fn a_time_that_the_clocks_leave_out_comes_an_hour_later() {
        // Clocks go from 02:00 to 03:00 on 29 March 2026.
        assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"), "2026-03-29T01:30:00Z");
        assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-03-29T01:30:00Z"), "2026-03-30T00:30:00Z");
    }

    #[test]
    fn a_time_that_comes_twice_counts_once() {
        // Clocks go back from 03:00 to 02:00 on 25 October 2026.
        assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z"), "2026-10-25T00:30:00Z");
        assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z"), "2026-10-26T01:30:00Z");
        assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-10-25T01:15:00Z"), "2026-10-26T01:30:00Z");
    }

    #[test]
    fn lists_ranges_steps_and_names() {
        assert_eq!(next("*/15 9-17 * * mon-fri", "UTC", "2026-11-20T17:45:00Z"), "2026-11-23T09:00:00Z");
        assert_eq!(next("0 12 1,15 * *", "UTC", "2026-11-02T00:00:00Z"), "2026-11-15T12:00:00Z");
        assert_eq!(next("0 0 29 feb *", "UTC", "2026-01-01T00:00:00Z"), "2028-02-29T00:00:00Z");
        // With both days given, either of them: Friday, or the 13th. 7 is Sunday.
        assert_eq!(next("0 0 13 * fri", "UTC", "2026-11-08T00:00:00Z"), "2026-11-13T00:00:00Z");
        assert_eq!(next("0 0 13 * fri", "UTC", "2026-11-13T00:00:00Z"), "2026-11-20T00:00:00Z");
        assert_eq!(next("0 0 * * 7", "UTC", "2026-11-17T00:00:00Z"), "2026-11-22T00:00:00Z");
    }

    #[test]
    fn what_cannot_be_is_one_line_with_what_to_write() {
        let wrong = |line: &str, zone: &str| Schedule::parse(line, zone).unwrap_err();
        insta::assert_snapshot!(wrong("0 22 * *", "UTC"), @r#"schedule: expected five fields (minute hour day month weekday), as in "0 22 * * *" for every day at 22:00, got "0 22 * *""#);
        insta::assert_snapshot!(wrong("60 22 * * *", "UTC"), @r#"schedule: expected 0 to 59 as minute, or *, lists, ranges and steps of them, got "60""#);
        insta::assert_snapshot!(wrong("0 22 * * fri-mon", "UTC"), @r#"schedule: expected 0 to 7 as day of the week, or *, lists, ranges and steps of them, got "fri-mon""#);
        insta::assert_snapshot!(wrong("0 0 31 2 *", "UTC"), @r#"schedule: "0 0 31 2 *" names a day that never comes: check day and month"#);
        insta::assert_snapshot!(wrong("0 22 * * *", "Europe/Berlni"), @r#"time_zone: there is no "Europe/Berlni": expected a name such as Europe/Berlin or UTC"#);
    }
}
