//! Length-prefixed hash input: each part after its own length as a big-endian 64-bit number, so that different lists never
//! give the same bytes.

use sha2::{Digest, Sha256};

/// Most lists fit into this many bytes. One update of a hash is cheaper than many small ones.
const BUFFER_BYTES: usize = 256;

pub(crate) fn feed(parts: &[&[u8]], mut update: impl FnMut(&[u8])) {
    let mut buffer = [0; BUFFER_BYTES];
    let mut free = &mut buffer[..];
    for part in parts {
        let length = (part.len() as u64).to_be_bytes();
        match free.split_at_mut_checked(length.len() + part.len()) {
            Some((place, rest)) => {
                let (head, body) = place.split_at_mut(length.len());
                head.copy_from_slice(&length);
                body.copy_from_slice(part);
                free = rest;
            }
            None => return feed_piecemeal(parts, update),
        }
    }
    let used = BUFFER_BYTES - free.len();
    update(buffer.get(..used).unwrap_or_default());
}

/// The SHA-256 of the list.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    feed(parts, |bytes| hash.update(bytes));
    hash.finalize().into()
}

/// The whole list, for a signature, which takes one slice.
pub(crate) fn bytes(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
    feed_piecemeal(parts, |some| bytes.extend_from_slice(some));
    bytes
}

fn feed_piecemeal(parts: &[&[u8]], mut update: impl FnMut(&[u8])) {
    for part in parts {
        update(&(part.len() as u64).to_be_bytes());
        update(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_the_same_however_long_it_gets() {
        let long = [7; 300];
        for lengths in [
            &[][..],
            &[0],
            &[1, 0, 2],
            &[248],
            &[249],
            &[240, 0],
            &[240, 1],
            &[300, 5],
            &[5, 300],
        ] {
            let parts: Vec<&[u8]> = lengths.iter().map(|length| &long[..*length]).collect();
            let mut fed = Vec::new();
            let mut expected = Vec::new();
            feed(&parts, |bytes| fed.extend_from_slice(bytes));
            feed_piecemeal(&parts, |bytes| expected.extend_from_slice(bytes));
            assert_eq!(fed, expected, "{lengths:?}");
        }
    }
}
