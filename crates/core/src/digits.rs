//! Bytes as hexadecimal digits in lower case, and back, without a detour through the heap. Pure.

use smol_str::SmolStr;

/// The longest text that is put together here; longer ones take the long way.
const ROOM: usize = 256;

/// `prefix` in lower case and the digits of `bytes`, as one text.
pub(crate) fn after(prefix: &[&str], bytes: &[u8]) -> SmolStr {
    let mut room = [0; ROOM];
    match write(&mut room, prefix, bytes) {
        Some(text) => SmolStr::new(text),
        None => SmolStr::from(prefix.concat().to_ascii_lowercase() + &hex::encode(bytes)),
    }
}

/// The digits of `bytes`.
pub(crate) fn of(bytes: &[u8]) -> SmolStr {
    after(&[], bytes)
}

fn write<'a>(room: &'a mut [u8; ROOM], prefix: &[&str], bytes: &[u8]) -> Option<&'a str> {
    let mut used = 0;
    for part in prefix {
        let end = used + part.len();
        let place = room.get_mut(used..end)?;
        place.copy_from_slice(part.as_bytes());
        place.make_ascii_lowercase();
        used = end;
    }
    let end = used + 2 * bytes.len();
    let (pairs, _) = room.get_mut(used..end)?.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    std::str::from_utf8(room.get(..end)?).ok()
}

/// Without a branch or a table, so that many are made at once.
fn digit(value: u8) -> u8 {
    value + if value < 10 { b'0' } else { b'a' - 10 }
}

/// The bytes behind so many digits, if they are digits in lower case and nothing else.
pub(crate) fn read<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let (mut bytes, mut wrong) = ([0; N], 0);
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (value(*high), value(*low));
        wrong |= high | low;
        *byte = high << 4 | low & 15;
    }
    (wrong < 16).then_some(bytes)
}

/// 16 or more if it is no digit in lower case.
fn value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => u8::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_however_long_it_gets() {
        for length in [0, 1, 23, 64, 127, 128, 129, 300] {
            let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
            for prefix in [&[][..], &["tok_", "P01", "_"]] {
                let expected = prefix.concat().to_ascii_lowercase() + &hex::encode(&bytes);
                assert_eq!(after(prefix, &bytes), expected, "{length} bytes");
            }
        }
    }

    #[test]
    fn digits_are_read_as_they_are_written() {
        let bytes: [u8; 256] = std::array::from_fn(|n| n as u8);
        for part in bytes.as_chunks::<32>().0 {
            assert_eq!(read(&of(part)).as_ref(), Some(part));
        }
        assert_eq!(read("00ff"), Some([0, 255]));
        for wrong in ["", "00f", "00f0f", "00ff00", "00fF", "00fg", "00f/", "00f:", "00f`", "+0ff", "0é0"] {
            assert_eq!(read::<2>(wrong), None, "{wrong:?}");
        }
    }
}
