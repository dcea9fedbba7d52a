//! Text with its place in the order beside it, so that most ids are compared as one number. Pure.
//!
//! Shorter texts stand first, then it goes by their bytes: `P99` before `P100`, as people count. The rank is the length
//! and the first seven bytes, read as one number. What has no more than seven bytes is settled by that alone, and nearly
//! all ids of matches, players and referees are so short. Maps look for ids all the time.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

#[derive(Clone)]
pub(super) struct Ranked {
    rank: u64,
    text: SmolStr,
}

/// The least rank of a text that its rank does not hold whole.
const NOT_WHOLE: u64 = 8 << 56;

impl Ranked {
    pub(super) fn new(text: SmolStr) -> Self {
        Self { rank: rank(&text), text }
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

impl PartialEq for Ranked {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank && (self.rank < NOT_WHOLE || self.text == other.text)
    }
}

impl Eq for Ranked {}

impl Ord for Ranked {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match self.rank.cmp(&other.rank) {
            Ordering::Equal if self.rank >= NOT_WHOLE => self.beyond_rank().cmp(&other.beyond_rank()),
            order => order,
        }
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Ranked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Serialize for Ranked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Ranked {
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
                let [left, right] = [one, other].map(|text| Ranked::new(SmolStr::new(text)));
                assert_eq!(left.cmp(&right), expected, "{one:?} {other:?}");
                assert_eq!(left == right, one == other, "{one:?} {other:?}");
            }
        }
    }
}
