//! SQLite's errors as those of a store. Values only.

use super::budget::ROW_BYTES_MAX;
use crate::append::AppendError;
use crate::error::{StoreError, StoreFailed};
use crate::store_url::StoreUrl;
use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use std::io;

pub(super) fn sql(store: impl Into<StoreUrl>, error: rusqlite::Error) -> StoreError {
    let store = store.into();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotAStore(store),
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged {
            store,
            what: on_one_line(&error),
        },
        Some(ErrorCode::TooBig) => {
            let what = format!("it has a row of more than {} MiB", ROW_BYTES_MAX >> 20);
            StoreError::Damaged { store, what }
        }
        Some(ErrorCode::OperationInterrupted) => beyond(store),
        _ if is_full(&error) => StoreError::Full(store),
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly {
            store,
            why: error.to_string(),
        },
        Some(ErrorCode::PermissionDenied) => StoreError::Forbidden {
            store,
            error: io::Error::new(io::ErrorKind::PermissionDenied, error),
        },
        _ => StoreError::Database {
            store,
            error: on_one_line(&error),
        },
    }
}

/// Whoever made the file wants its readers to go on for ever, or a disk has failed.
pub(super) fn beyond(store: StoreUrl) -> StoreError {
    StoreError::Damaged {
        store,
        what: "there is more to read in it than a file of its size can hold".to_owned(),
    }
}

/// Why a transaction was rolled back: the events do not continue their stream, or the file cannot be written.
pub(super) fn rejected(store: &StoreUrl, error: &rusqlite::Error) -> AppendError {
    let failed = if is_full(error) {
        StoreFailed::full(store)
    } else {
        StoreFailed::write(store, &error.to_string())
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => AppendError::Refused(failed),
        _ => AppendError::Failed(failed),
    }
}

/// SQLite shows the statement that it could not read as it stands in the file, over several lines.
fn on_one_line(error: &rusqlite::Error) -> String {
    error
        .to_string()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Also where SQLite found no room for the file that it keeps beside the store, which it calls an error of the disk.
fn is_full(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || extended == Some(SQLITE_IOERR_SHMSIZE)
}
