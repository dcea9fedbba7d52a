//! Reads JSON as it nearly always comes, in fewer steps than the usual reader takes for any JSON. What this one does not
//! understand, be it wrong or only rare, it leaves to the other: it never errs, and never has a word about errors.

use super::gathered::Gathered;
use super::{Fields, Json};
use serde_json::Number;
use std::borrow::Cow;

/// The tree of a text; `None` if the usual reader has to look at it.
pub(super) fn read(text: &str) -> Option<Json<'_>> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(DEPTH_MAX)?;
    reader.skip_space();
    (reader.at == text.len()).then_some(value)
}

/// Less than what the usual reader allows, and far more than any message has.
const DEPTH_MAX: u32 = 64;

/// So many digits are a number that surely fits.
const DIGITS_MAX: usize = 18;

struct Reader<'a> {
    text: &'a str,
    /// How far it has been read.
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Takes this byte, if it is the next.
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// The next byte that is not space.
    fn next(&mut self) -> Option<u8> {
        match self.peek()? {
            byte @ b'!'.. => Some(byte),
            _ => {
                self.skip_space();
                self.peek()
            }
        }
    }

    /// Whether another part follows in a list or an object that ends so.
    fn goes_on(&mut self, end: u8) -> Option<bool> {
        let byte = self.next()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            byte => (byte == end).then_some(false),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Option<Json<'a>> {
        let end = self.at + word.len();
        (self.text.as_bytes().get(self.at..end)? == word.as_bytes()).then(|| {
            self.at = end;
            value
        })
    }

    fn value(&mut self, depth: u32) -> Option<Json<'a>> {
        match self.next()? {
            b'"' => self.string().map(Json::String),
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b'-' | b'0'..=b'9' => self.number(),
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            _ => None,
        }
    }

    fn array(&mut self, depth: u32) -> Option<Json<'a>> {
        self.take(b'[')?;
        let mut items = Vec::new();
        if self.next()? == b']' {
            self.at += 1;
            return Some(Json::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if !self.goes_on(b']')? {
                return Some(Json::Array(items));
            }
        }
    }

    fn object(&mut self, depth: u32) -> Option<Json<'a>> {
        self.take(b'{')?;
        if self.next()? == b'}' {
            self.at += 1;
            return Some(Json::Object(Fields::default()));
        }
        let mut fields = Gathered::default();
        loop {
            self.next()?;
            let name = self.string()?;
            self.next()?;
            self.take(b':')?;
            // Most are texts, and go straight to their place: to hand on a value by way of memory takes the processor
            // longer than to read it.
            match self.next()? {
                b'"' => fields.put(name, Json::String(self.string()?)),
                _ => fields.put(name, self.value(depth)?),
            }
            if !self.goes_on(b'}')? {
                return Some(Json::Object(fields.finish()));
            }
        }
    }

    #[inline(always)]
    fn string(&mut self) -> Option<Cow<'a, str>> {
        match self.plain() {
            Some(text) => Some(Cow::Borrowed(text)),
            None => self.escaped(),
        }
    }

    /// A text without escapes, as nearly all are. What it returns fits into registers.
    fn plain(&mut self) -> Option<&'a str> {
        let begin = self.at + 1;
        let end = begin + plain_len(self.text.as_bytes().get(begin..)?);
        let text = self.text.get(begin..end)?;
        let quotes = (self.peek(), self.text.as_bytes().get(end));
        (quotes == (Some(b'"'), Some(&b'"'))).then(|| {
            self.at = end + 1;
            text
        })
    }

    /// A text with an escape, most likely. To read those is the other's business, but for this text alone.
    #[cold]
    fn escaped(&mut self) -> Option<Cow<'a, str>> {
        let begin = self.at;
        self.take(b'"')?;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_str::<String>(self.text.get(begin..self.at)?).ok().map(Cow::Owned)
    }

    /// Whole numbers that are neither large nor written in an odd way. The others are the other's business.
    fn number(&mut self) -> Option<Json<'a>> {
        let begin = self.at;
        let negative = self.take(b'-').is_some();
        let digits = self.at;
        let mut number = 0_i64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
            self.at += 1;
        }
        let (count, first) = (self.at - digits, self.text.as_bytes().get(digits)?);
        if let Some(b'.' | b'e' | b'E') = self.peek() {
            while let Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            return serde_json::from_str(self.text.get(begin..self.at)?).ok();
        }
        let plain = (1..=DIGITS_MAX).contains(&count) && (*first != b'0' || (count == 1 && !negative));
        let number = if negative { Number::from(-number) } else { Number::from(number) };
        plain.then_some(Json::Number(number))
    }
}

/// How many bytes there are before the first that ends a text, begins an escape, or must not stand in one.
fn plain_len(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return place * 8 + marks.trailing_zeros() as usize / 8;
        }
    }
    let is_plain = |&&byte: &&u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    words.len() * 8 + rest.iter().take_while(is_plain).count()
}

/// Marks, with their highest bit, the first of eight bytes that is a quote, a backslash or a control character; of what
/// comes after the first, it may mark too much.
fn marks(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zeros(word ^ (ONES * u64::from(b'"')));
    let backslashes = zeros(word ^ (ONES * u64::from(b'\\')));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_ends_at_its_first_mark_wherever_that_stands() {
        for mark in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for place in 0..20 {
                let mut bytes = vec![b'a'; 24];
                bytes[place] = mark;
                bytes[place + 1] = b'"';
                assert_eq!(plain_len(&bytes), place, "{mark} at {place}");
            }
        }
        assert_eq!(plain_len("é ü \u{7f} ~ € 🎲 zz".as_bytes()), "é ü \u{7f} ~ € 🎲 zz".len());
    }

    #[test]
    fn what_is_common_is_read_here_and_what_is_odd_is_left_to_the_other() {
        for good in [r#" {"a" : [1, -2, "b\"c", true, null, 1.5e3, {}], "d":[]} "#, "0", "\"\""] {
            assert!(read(good).is_some(), "{good}");
        }
        for odd in [
            "",
            "-0",
            "01",
            "-",
            "1.",
            "--1",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "nul",
            "\"a\nb\"",
            "\"a",
            "\"\\",
            "1 2",
            "12345678901234567890",
            "\"\\x\"",
            "[1",
            "{,}",
            "{1:2}",
            "\u{feff}1",
        ] {
            assert!(read(odd).is_none(), "{odd}");
        }
        assert!(read(&"[".repeat(100_000)).is_none());
    }
}
