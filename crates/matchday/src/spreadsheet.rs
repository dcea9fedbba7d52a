//! Files as spreadsheet programs save them: with a byte order mark or not, in UTF-8, UTF-16 or Windows-1252, with lines of any
//! ending and cells divided by commas, semicolons or tabs. Pure.

/// What Windows-1252 has at 0x80 to 0x9F; the rest of it is as in Unicode.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text of a file, with lines that end as here, and whether it was taken for Windows-1252.
pub(crate) fn decode(bytes: &[u8]) -> (String, bool) {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| match pair {
            [first, second] => unit([*first, *second]),
            _ => 0,
        });
        String::from_utf16_lossy(&units.collect::<Vec<u16>>())
    };
    let (text, is_guessed) = match bytes {
        [0xff, 0xfe, rest @ ..] => (utf16(rest, u16::from_le_bytes), false),
        [0xfe, 0xff, rest @ ..] => (utf16(rest, u16::from_be_bytes), false),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => (text.trim_start_matches('\u{feff}').to_owned(), false),
            Err(_) => (bytes.iter().map(|byte| of_windows(*byte)).collect(), true),
        },
    };
    (text.replace("\r\n", "\n").replace('\r', "\n"), is_guessed)
}

fn of_windows(byte: u8) -> char {
    let high = byte.checked_sub(0x80).map(usize::from);
    let special = high.and_then(|place| WINDOWS_1252.get(place));
    special.copied().unwrap_or(char::from(byte))
}

/// What divides the cells, by the first line.
pub(crate) fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |delimiter: &u8| first.bytes().filter(|byte| byte == delimiter).count();
    // The last of those that are equally frequent wins: the comma.
    [b'\t', b';', b',']
        .into_iter()
        .max_by_key(count)
        .unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_excel_saves_it() {
        for (bytes, text) in [
            (&b"name\r\nJos\xe9\x80\r\n"[..], "name\nJosé€\n"),
            (b"\xef\xbb\xbfname\r\nJos\xc3\xa9", "name\nJosé"),
            (b"\xff\xfea\0\xe9\0\n\0", "aé\n"),
            (b"name\rAnn", "name\nAnn"),
        ] {
            assert_eq!(decode(bytes).0, text);
        }
        assert!(decode(b"Jos\xe9").1 && !decode(b"Ann").1);
    }

    #[test]
    fn cells_are_divided_by_what_the_first_line_has_most_of() {
        for (text, delimiter) in [
            ("name,section\n", b','),
            ("name;section;mail, if any\n", b';'),
            ("name\tsection\n", b'\t'),
            ("name\n", b','),
        ] {
            assert_eq!(super::delimiter(text), delimiter, "{text:?}");
        }
    }
}
