//! An id with a sort key, so that most comparisons are one of integers.
//!
//! Ids sort by length, then by bytes: `P99` before `P100`. The sort key is the length and the first seven bytes as one
//! integer, which is all there is to most ids of matches, players and referees.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

#[derive(Clone)]
pub(super) struct ShortId {
    rank: u64,
    text: SmolStr,
}

/// The least key of a text that the key does not contain completely.
const NOT_WHOLE: u64 = 8 << 56;

impl ShortId {
    pub(super) fn new(text: SmolStr) -> Self {
        Self {
            rank: rank(&text),
            text,
        }
    }

    pub(super) fn as_str(&self) -> &str {
        self.text.as_str()
    }

    fn beyond_rank(&self) -> (usize, &[u8]) {
        (self.text.len(), self.text.as_bytes())
    }
}

fn rank(text: &str) -> u64 {
    let mut word = [0; 8];
    let [length, head @ ..] = &mut word;
    *length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    for (place, byte) in head.iter_mut().zip(text.bytes()) {
        *place = byte;
    }
    u64::from_be_bytes(word)
}

impl PartialEq for ShortId {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank && (self.rank < NOT_WHOLE || self.text == other.text)
    }
}

impl Eq for ShortId {}

impl Ord for ShortId {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match self.rank.cmp(&other.rank) {
            Ordering::Equal if self.rank >= NOT_WHOLE => {
                self.beyond_rank().cmp(&other.beyond_rank())
            }
            order => order,
        }
    }
}

impl PartialOrd for ShortId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for ShortId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Serialize for ShortId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ShortId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SmolStr::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_orders_as_length_and_bytes_do() {
        let long = "x".repeat(300);
        let longer = "x".repeat(301);
        let texts = [
            "",
            "\0",
            "a",
            "b",
            "é",
            "P1",
            "P2",
            "\0\0",
            "P99",
            "P100",
            "R10M12",
            "R10M120",
            "R100M120",
            "R100M121",
            "conv-r1m1-001",
            "conv-r1m1-002",
            "conv-r1m1\0",
            &long,
            &longer,
        ];
        for one in texts {
            for other in texts {
                let expected = (one.len(), one.as_bytes()).cmp(&(other.len(), other.as_bytes()));
                let [left, right] = [one, other].map(|text| ShortId::new(SmolStr::new(text)));
                assert_eq!(left.cmp(&right), expected, "{one:?} {other:?}");
                assert_eq!(left == right, one == other, "{one:?} {other:?}");
            }
        }
    }
}
