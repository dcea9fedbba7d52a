//! Bytes as hexadecimal digits in lower case, without a detour through the heap. Pure.

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
    hex::encode_to_slice(bytes, room.get_mut(used..end)?).ok()?;
    std::str::from_utf8(room.get(..end)?).ok()
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
}
