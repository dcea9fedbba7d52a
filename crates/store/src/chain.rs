//! The chain of hashes that ties each event of a stream to all before it. Pure arithmetic.
//!
//! # The scheme `matchday-log-1`
//! A *list* is hashed part by part, each part after its own length in bytes as a big-endian 64-bit number, so that no
//! two lists read alike. Texts are UTF-8, sequence numbers big-endian 64-bit numbers. Events are counted from 1.
//!
//! - `hash 0 = SHA-256(list("matchday-log-1/genesis", stream))`, which is not stored;
//! - `hash n = SHA-256(list("matchday-log-1/event", hash n-1, stream, n, line n))`, with the line as it is stored, to the
//!   byte.
//!
//! Nothing can be changed, inserted, left out or moved without every later hash changing. The last hash stands for the
//! whole stream: compared with a copy kept elsewhere, it shows that the log was neither truncated nor rewritten.

use crate::stream::Stream;
use sha2::{Digest, Sha256};
use std::fmt;

/// What the scheme is called.
pub const SCHEME: &str = "matchday-log-1";

/// One link of the chain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What the first event of a stream is tied to.
pub fn genesis(stream: &Stream) -> Hash {
    list([b"matchday-log-1/genesis", stream.0.as_bytes()])
}

/// The hash of event `seq` of a stream, after the one before it.
pub fn link(before: &Hash, stream: &Stream, seq: u64, line: &str) -> Hash {
    list([
        b"matchday-log-1/event",
        &before.0,
        stream.0.as_bytes(),
        &seq.to_be_bytes(),
        line.as_bytes(),
    ])
}

fn list<const N: usize>(parts: [&[u8]; N]) -> Hash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    Hash(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(name: &str) -> Stream {
        Stream(name.into())
    }

    #[test]
    fn the_scheme_is_fixed() {
        let genesis = genesis(&stream("league"));
        let first = link(&genesis, &stream("league"), 1, "{}");
        insta::assert_snapshot!(format!("{genesis}\n{first}"));
    }

    #[test]
    fn every_part_counts() {
        let zero = genesis(&stream("league"));
        let plain = link(&zero, &stream("league"), 1, "ab");
        for other in [
            link(&plain, &stream("league"), 1, "ab"),
            link(&zero, &stream("leagu"), 1, "eab"),
            link(&zero, &stream("league"), 2, "ab"),
            link(&zero, &stream("league"), 1, "ac"),
            genesis(&stream("player/8101")),
        ] {
            assert_ne!(plain, other);
        }
    }
}
