//! The rules on a log that several processes may write, one at a time, each under an epoch of its own.

use crate::failure::{Checker, Fault};
use matchday_core::driver::Effects;
use matchday_core::protocol::Timestamp;

/// The events of an append that names `named` reach a log whose owner has `current`.
pub fn one_writer(named: u64, current: u64) -> Result<(), Fault> {
    if named == current {
        return Ok(());
    }
    let what = format!("the owner of epoch {named} writes to the log in epoch {current}");
    Err(Fault::new(Checker::OneWriterPerEpoch, what))
}

/// Calls and replies leave the owner of epoch `own` while the log is in epoch `current`.
pub fn nothing_from_fenced(own: u64, current: u64, effects: &Effects) -> Result<(), Fault> {
    if own == current || effects.is_empty() {
        return Ok(());
    }
    let calls = effects.calls.len();
    let replies = effects.replies.len();
    let what = format!(
        "{calls} calls and {replies} replies leave the owner of epoch {own} in epoch {current}"
    );
    Err(Fault::new(Checker::NothingSeenFromFenced, what))
}

/// An event of the time `at` follows one of the time `last` in a log.
pub fn time_goes_on(last: Option<Timestamp>, at: Timestamp) -> Result<(), Fault> {
    match last {
        Some(last) if at < last => {
            let what = format!("an event of {at:?} follows one of {last:?}");
            Err(Fault::new(Checker::TimeNeverBackwards, what))
        }
        _ => Ok(()),
    }
}
