//! How events are written down: each with the version of its form and the time it happened, so that an old log stays
//! readable. Text in, text out; where it is kept is not known here.

use crate::protocol::Timestamp;
use crate::protocol::time::exact;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the form in which events are written now.
pub const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Line<E> {
    v: u32,
    #[serde(with = "exact")]
    at: Timestamp,
    event: E,
}

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("not an event: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error(
        "the event has version {found}, and this program knows versions up to {VERSION}: use a newer program"
    )]
    Newer { found: u32 },
}

/// One line of JSON, without the line's end.
pub fn write<E: Serialize>(at: Timestamp, event: &E) -> Result<String, LogError> {
    Ok(serde_json::to_string(&Line { v: VERSION, at, event })?)
}

/// Reads what [`write()`] has written, or any version of this program before it.
pub fn read<E: DeserializeOwned>(line: &str) -> Result<(Timestamp, E), LogError> {
    #[derive(Deserialize)]
    struct Head {
        v: u32,
    }
    let Head { v } = serde_json::from_str(line)?;
    if v > VERSION {
        return Err(LogError::Newer { found: v });
    }
    let Line { at, event, .. } = serde_json::from_str(line)?;
    Ok((at, event))
}
