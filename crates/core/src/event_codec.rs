//! Encodes an event as a line of JSON with its form and time, and decodes it.

use crate::protocol::Timestamp;
use crate::protocol::time::exact;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The form of the encoding.
pub const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Line<E> {
    v: u32,
    #[serde(with = "exact")]
    at: Timestamp,
    event: E,
}

/// Why a line of a log is not an event, or an event no line.
#[derive(Debug, thiserror::Error)]
pub enum EventCodecError {
    /// It is no JSON, or not the JSON of an event.
    #[error("not an event: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// It was written by another version of this program.
    #[error(
        "the event has form {found}, and this program reads form {VERSION}: use the version of matchday that wrote it"
    )]
    OtherForm {
        /// The form in the line.
        found: u32,
    },
}

/// One line of JSON, without a newline.
pub fn encode<E: Serialize>(at: Timestamp, event: &E) -> Result<String, EventCodecError> {
    Ok(serde_json::to_string(&Line {
        v: VERSION,
        at,
        event,
    })?)
}

/// Decodes a line.
pub fn decode<E: DeserializeOwned>(line: &str) -> Result<(Timestamp, E), EventCodecError> {
    #[derive(Deserialize)]
    struct Head {
        v: u32,
    }
    let Head { v } = serde_json::from_str(line)?;
    if v != VERSION {
        return Err(EventCodecError::OtherForm { found: v });
    }
    let Line { at, event, .. } = serde_json::from_str(line)?;
    Ok((at, event))
}
