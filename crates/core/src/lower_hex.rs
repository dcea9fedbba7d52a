//! Hexadecimal text in lower case only, so that each value has exactly one text form.

use smol_str::SmolStr;

pub(crate) fn encode(bytes: &[u8]) -> SmolStr {
    hex::encode(bytes).into()
}

/// `None` unless the text is exactly `2 * N` digits in lower case.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    let mut bytes = [0; N];
    if pairs.len() != N {
        return None;
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_as_they_are_written() {
        let bytes: [u8; 256] = std::array::from_fn(|n| n as u8);
        for part in bytes.as_chunks::<32>().0 {
            assert_eq!(decode(&encode(part)).as_ref(), Some(part));
        }
        assert_eq!(decode("00ff"), Some([0, 255]));
        for wrong in [
            "", "00f", "00f0f", "00ff00", "00fF", "00fg", "00f/", "00f:", "00f`", "+0ff", "0é0",
        ] {
            assert_eq!(decode::<2>(wrong), None, "{wrong:?}");
        }
    }
}
