//! When an event happened, read from its line. Pure.

use crate::error::StoreFailed;
use crate::stream::Stream;
use matchday_core::protocol::Timestamp;
use serde::Deserialize;

/// The times of all lines of a batch; an error if one of them is not an event.
pub(super) fn of_batch(stream: &Stream, lines: &[String]) -> Result<Vec<Timestamp>, StoreFailed> {
    let times = lines.iter().map(|line| of_own_line(line)).collect::<Result<_, _>>();
    times.map_err(|error| StoreFailed::unreadable(&stream.0, &error))
}

/// Our own writer puts the time in a fixed place: the rest of the line need not be parsed.
fn of_own_line(line: &str) -> Result<Timestamp, serde_json::Error> {
    let head = line.strip_prefix("{\"v\":1,\"at\":").and_then(|rest| rest.split_once(",\"event\":"));
    match head.and_then(|(micros, _)| micros.parse().ok()) {
        Some(micros) => Ok(Timestamp::from_micros(micros)),
        None => of_line(line),
    }
}

pub fn of_line(line: &str) -> Result<Timestamp, serde_json::Error> {
    #[derive(Deserialize)]
    struct Line {
        #[serde(with = "matchday_core::protocol::time::exact")]
        at: Timestamp,
    }
    serde_json::from_str(line).map(|Line { at }| at)
}
