//! Inputs that are nearly good. Random bytes alone would never get past the first brace, so half of all inputs are taken
//! as they come, and half say how to mutate a good text.

/// What breaks readers, or leads into another of their branches.
const PIECES: [&[u8]; 28] = [
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"\"\"",
    b"0",
    b"-1",
    b"-0.0",
    b"1e999",
    b"18446744073709551616",
    b"9223372036854775807",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xc3\xa9",
    b"\n",
    b"\"message_type\":",
    b"\"id\":",
    b"\"method\":\"",
    b"[[[[[[[[[[[[[[[[",
];

/// An input that begins with a byte below 128 is a text as it is: a corpus can be read, and written by hand. Any other
/// names one of the good texts and what to do to it, one edit after the other: where, how much to cut out, and what to put
/// there instead.
pub fn mutated<T: AsRef<[u8]>>(good: &[T], input: &[u8]) -> Vec<u8> {
    let [first @ 128..=255, high, low, edits @ ..] = input else {
        return input.to_vec();
    };
    let mut text = good[number(*high, *low) % good.len()].as_ref().to_vec();
    let edits_max = usize::from(first % 8) + 1;
    for edit in edits.chunks_exact(5).take(edits_max) {
        let [high, low, cut, kind, byte] = edit else {
            continue;
        };
        let from = number(*high, *low) % (text.len() + 1);
        let to = (from + usize::from(cut % 16)).min(text.len());
        let piece = match usize::from(*kind) {
            kind if kind < 2 * PIECES.len() => PIECES[kind % PIECES.len()],
            kind if kind < 3 * PIECES.len() => &[*byte],
            _ => &[],
        };
        text.splice(from..to, piece.iter().copied());
    }
    text
}

pub fn mutated_text<T: AsRef<[u8]>>(good: &[T], input: &[u8]) -> String {
    String::from_utf8_lossy(&mutated(good, input)).into_owned()
}

pub fn number(high: u8, low: u8) -> usize {
    usize::from(u16::from_be_bytes([high, low]))
}
