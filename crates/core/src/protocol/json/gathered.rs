//! The fields of an object while it is read. Here alone it is said what becomes of a key that stands twice.

use super::{Fields, Json};
use std::borrow::Cow;

pub(super) struct Gathered<'a> {
    fields: Fields<'a>,
    /// A bit for each kind of name seen so far: only where two are of a kind can they be the same.
    kinds: u64,
}

/// Room for the fields of most objects, so that reading one does not move them again and again.
const FIELDS_USUAL: usize = 12;

impl Default for Gathered<'_> {
    fn default() -> Self {
        Self { fields: Fields(Vec::with_capacity(FIELDS_USUAL)), kinds: 0 }
    }
}

impl<'a> Gathered<'a> {
    /// Of two fields with the same name the last counts.
    #[inline(always)]
    pub(super) fn put(&mut self, name: Cow<'a, str>, value: Json<'a>) {
        let kind = kind(&name);
        if self.kinds & kind != 0 {
            self.fields.remove(&name);
        }
        self.kinds |= kind;
        self.fields.0.push((name, value));
    }

    pub(super) fn finish(self) -> Fields<'a> {
        self.fields
    }
}

/// One of 64 kinds of name, by its length and its ends.
fn kind(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let ends = bytes
        .first()
        .zip(bytes.last())
        .map_or(0, |(first, last)| usize::from(*first) * 5 + usize::from(*last));
    1 << ((ends + bytes.len() * 7) % 64)
}
