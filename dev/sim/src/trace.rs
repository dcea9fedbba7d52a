//! The trace of a run, one line per event: always hashed, so that two runs can be compared, and kept on request.

use super::START;
use matchday_core::protocol::Timestamp;
use std::fmt::{self, Write};

#[derive(Debug)]
pub(super) struct Trace {
    hash: u64,
    line: String,
    kept: Option<Vec<String>>,
}

/// FNV-1a: a few lines, and the same on every machine.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Trace {
    pub(super) fn new(keep: bool) -> Self {
        Self {
            hash: OFFSET,
            line: String::new(),
            kept: keep.then(Vec::new),
        }
    }

    pub(super) fn note(&mut self, at: Timestamp, what: fmt::Arguments<'_>) {
        self.line.clear();
        let micros = at.as_micros() - START.as_micros();
        // Writing to a String does not fail.
        let _ = write!(
            self.line,
            "{:>6}.{:06} {what}",
            micros.div_euclid(1_000_000),
            micros.rem_euclid(1_000_000)
        );
        for byte in self.line.bytes().chain([b'\n']) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        if let Some(kept) = &mut self.kept {
            kept.push(self.line.clone());
        }
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.kept.unwrap_or_default()
    }
}
