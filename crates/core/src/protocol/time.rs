//! Timestamps. The core reads no clock: a [`Timestamp`] is always an argument.
//!
//! Parsing accepts the sources' UTC forms and nothing else; formatting always gives whole seconds and `Z`.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::{SmolStr, format_smolstr};
use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// Microseconds since 1970 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The form of a parsed timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeForm {
    /// `2025-01-15T10:30:00Z`, with or without a fraction, or `+00:00`; and `20250115T10:30:00Z`, as one source writes it.
    Standard,
    /// `20250115T103000Z` or `...+00:00Z`: unambiguous, but only lenient decoding accepts it.
    Sloppy,
}

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// From microseconds since 1970 in UTC; negative before.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// In microseconds since 1970 in UTC; negative before.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Without its fraction, as on the wire.
    pub const fn whole_second(self) -> Self {
        Self(self.0.saturating_sub(self.0.rem_euclid(1_000_000)))
    }

    /// The duration since `earlier`; zero if it is not later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Parses any accepted form; `None` is E021.
    pub fn parse(text: &str) -> Option<(Self, TimeForm)> {
        let (body, sloppy_zone) = match text.strip_suffix('Z') {
            Some(rest) => match rest.strip_suffix("+00:00") {
                Some(body) => (body, true),
                None => (rest, false),
            },
            None => (text.strip_suffix("+00:00")?, false),
        };
        let (date, time) = body.split_once('T')?;
        let (year, month, day, compact_date) = parse_date(date)?;
        let compact_time = compact_date && !time.contains(':');
        let (hour, minute, second, micros) = if compact_time {
            parse_compact_time(time)?
        } else {
            parse_time(time)?
        };
        let civil = DateTime::new(
            year,
            month,
            day,
            hour,
            minute,
            second,
            micros.checked_mul(1000)?,
        )
        .ok()?;
        let micros = civil
            .to_zoned(TimeZone::UTC)
            .ok()?
            .timestamp()
            .as_microsecond();
        // The one form with a compact date that a source uses.
        let printed = text.len() == "20250115T10:30:00Z".len();
        let sloppy = sloppy_zone || compact_time || (compact_date && !printed);
        let form = if sloppy {
            TimeForm::Sloppy
        } else {
            TimeForm::Standard
        };
        Some((Self(micros), form))
    }

    /// `2025-01-15T10:30:00.049Z`, for people and logs.
    pub fn with_millis(self) -> String {
        let millis = self.0.rem_euclid(1_000_000) / 1000;
        format!("{}.{millis:03}Z", self.text().trim_end_matches('Z'))
    }

    /// `2025-01-15T10:30:00Z`. Formatted by hand for speed, because every message has at least one.
    fn text(self) -> SmolStr {
        let instant = jiff::Timestamp::from_microsecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        let civil = TimeZone::UTC.to_datetime(instant);
        let date = civil.date();
        let time = civil.time();
        let year = date.year();
        let [c, y] = [year.div_euclid(100), year.rem_euclid(100)]
            .map(|part| pair(part.unsigned_abs() as u8));
        let [m, d, h, min, s] = [
            date.month(),
            date.day(),
            time.hour(),
            time.minute(),
            time.second(),
        ]
        .map(|part| pair(part.unsigned_abs()));
        let digits = [
            c[0], c[1], y[0], y[1], b'-', m[0], m[1], b'-', d[0], d[1], b'T', h[0], h[1], b':',
            min[0], min[1], b':', s[0], s[1], b'Z',
        ];
        let text = std::str::from_utf8(&digits).unwrap_or_default();
        match year {
            0.. => SmolStr::new(text),
            before => format_smolstr!("{before:04}{}", text.get(4..).unwrap_or_default()),
        }
    }
}

/// The two digits of a number below 100.
fn pair(number: u8) -> [u8; 2] {
    [b'0' + number / 10, b'0' + number % 10]
}

fn parse_date(date: &str) -> Option<(i16, i8, i8, bool)> {
    let bytes = date.as_bytes();
    let (digits, compact) = match (bytes.len(), bytes.get(4), bytes.get(7)) {
        (10, Some(b'-'), Some(b'-')) => {
            ([date.get(0..4)?, date.get(5..7)?, date.get(8..10)?], false)
        }
        (8, ..) => ([date.get(0..4)?, date.get(4..6)?, date.get(6..8)?], true),
        _ => return None,
    };
    let [year, month, day] = digits;
    Some((
        number(year)?,
        i8::try_from(number(month)?).ok()?,
        i8::try_from(number(day)?).ok()?,
        compact,
    ))
}

/// `103000`, without a fraction.
fn parse_compact_time(time: &str) -> Option<(i8, i8, i8, i32)> {
    let part = |range| -> Option<i8> { i8::try_from(number(time.get(range)?)?).ok() };
    (time.len() == 6).then_some((part(0..2)?, part(2..4)?, part(4..6)?, 0))
}

fn parse_time(time: &str) -> Option<(i8, i8, i8, i32)> {
    let (clock, fraction) = match time.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (time, None),
    };
    let bytes = clock.as_bytes();
    if bytes.len() != 8 || bytes.get(2) != Some(&b':') || bytes.get(5) != Some(&b':') {
        return None;
    }
    let part = |range| -> Option<i8> { i8::try_from(number(clock.get(range)?)?).ok() };
    let micros = match fraction {
        None => 0,
        Some(digits)
            if (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            digits
                .bytes()
                .chain(std::iter::repeat(b'0'))
                .take(6)
                .fold(0, |n, b| n * 10 + i32::from(b - b'0'))
        }
        Some(_) => return None,
    };
    Some((part(0..2)?, part(3..5)?, part(6..8)?, micros))
}

/// Digits only, and four at most: `str::parse` would let a sign through.
fn number(digits: &str) -> Option<i16> {
    digits.bytes().try_fold(0, |n, b| {
        b.is_ascii_digit().then(|| n * 10 + i16::from(b - b'0'))
    })
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}+{:06}us", self.0.rem_euclid(1_000_000))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        )
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        )
    }
}

/// On the wire: whole seconds and `Z`, because some agents match exactly that.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// [`TimeForm::Standard`] as a pattern.
#[cfg(feature = "schema")]
const PATTERN: &str = concat!(
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|\+00:00)$",
);

/// With a compact date, which the format `date-time` does not allow.
#[cfg(feature = "schema")]
const COMPACT_DATE_PATTERN: &str = concat!(
    "^[0-9]{4}(((0[13578]|1[02])(0[1-9]|[12][0-9]|3[01]))|((0[469]|11)(0[1-9]|[12][0-9]|30))|(02(0[1-9]|[12][0-9])))",
    "T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$",
);

#[cfg(feature = "schema")]
impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "anyOf": [{ "format": "date-time", "pattern": PATTERN }, { "pattern": COMPACT_DATE_PATTERN }],
            "description": "A time in UTC. We write whole seconds and `Z`; fractions, `+00:00` and `20260302T09:00:00Z` are read too.",
            "examples": ["2026-03-02T09:00:00Z"],
        })
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = SmolStr::deserialize(deserializer)?;
        match Self::parse(&text) {
            Some((timestamp, _)) => Ok(timestamp),
            None => Err(serde::de::Error::custom("not a UTC timestamp")),
        }
    }
}

/// In a stored event: exact, as a number of microseconds. Use as `#[serde(with = "exact")]`.
pub mod exact {
    use super::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the microseconds since 1970.
    pub fn serialize<S: Serializer>(
        timestamp: &Timestamp,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        timestamp.as_micros().serialize(serializer)
    }

    /// Reads the microseconds since 1970.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, TimeForm)> {
        Timestamp::parse(text).map(|(t, form)| (format!("{t:?}"), form))
    }

    #[test]
    fn every_utc_form_of_the_sources_is_read() {
        let plain = "2025-01-15T10:30:00Z+000000us".to_owned();
        for (text, form) in [
            ("2025-01-15T10:30:00Z", TimeForm::Standard),
            ("2025-01-15T10:30:00+00:00", TimeForm::Standard),
            ("2025-01-15T10:30:00.000Z", TimeForm::Standard),
            ("20250115T10:30:00Z", TimeForm::Standard),
            ("20250115T103000Z", TimeForm::Sloppy),
            ("20250115T10:30:00+00:00", TimeForm::Sloppy),
            ("20250115T10:30:00.000Z", TimeForm::Sloppy),
            ("2025-01-15T10:30:00+00:00Z", TimeForm::Sloppy),
        ] {
            assert_eq!(read(text), Some((plain.clone(), form)), "{text}");
        }
        assert_eq!(
            read("2025-01-15T10:30:00.123Z").unwrap().0,
            "2025-01-15T10:30:00Z+123000us"
        );
        assert_eq!(
            read("2025-01-15T10:30:00.123456789Z").unwrap().0,
            "2025-01-15T10:30:00Z+123456us"
        );
        assert!(read("2024-02-29T23:59:59Z").is_some(), "a leap day");
    }

    #[test]
    fn anything_else_is_not_a_timestamp() {
        for text in [
            "",
            "Z",
            "now",
            "2025-01-15",
            "2025-01-15T10:30:00",
            "2025-01-15T10:30:00+02:00",
            "2025-01-15T10:30:00-05:00",
            "2025-01-15T10:30:00-00:00",
            "2025-01-15 10:30:00Z",
            "2025-01-15t10:30:00z",
            "2025-1-15T10:30:00Z",
            "2025-01-15T10:30Z",
            "2025-01-15T103000Z",
            "20250115T1030Z",
            "20250115T103000.5Z",
            "20250115T10:3000Z",
            "20250115103000Z",
            "2025-01-15T1:30:00Z",
            "2025-01-15T10:30:00.Z",
            "2025-01-15T10:30:00.12x4Z",
            "2025-01-15T10:30:00.0000000001Z",
            "2025-02-30T10:30:00Z",
            "2023-02-29T10:30:00Z",
            "2025-13-01T10:30:00Z",
            "2025-01-15T24:30:00Z",
            "2025-01-15T10:60:00Z",
            "2025-01-15T10:30:60Z",
            "+025-01-15T10:30:00Z",
            "-025-01-15T10:30:00Z",
            "2025-01-15T+1:30:00Z",
            "2025-01-15T10:30:00ZZ",
            "2025-01-15T10:30:00Z ",
            " 2025-01-15T10:30:00Z",
            "1736937000",
            "２０２５-01-15T10:30:00Z",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_whole_seconds_in_utc() {
        let (t, _) = Timestamp::parse("2025-01-15T10:30:00.999Z").unwrap();
        assert_eq!(t.to_string(), "2025-01-15T10:30:00Z");
        for (micros, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00Z"),
            (-62_198_755_200_000_000, "-001-01-01T00:00:00Z"),
            (i64::MAX, "9999-12-30T22:00:00Z"),
        ] {
            assert_eq!(Timestamp::from_micros(micros).to_string(), text);
        }
    }
}
