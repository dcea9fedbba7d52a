//! Untrusted text, and its escaping for terminals, logs, spreadsheets and HTML.
//!
//! Types with such text ([`UntrustedText`], `DisplayName`, `Endpoint`) have no `Display`, so that printing them without
//! a rendering does not compile; the `Display` of ids escapes. `raw` is for comparing, hashing and the wire.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

/// The length limit of an id, in bytes.
pub const ID_BYTES_MAX: usize = 128;

/// Whether a text can be an id at all.
pub fn id_fits(text: &str) -> bool {
    let is_printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    (1..=ID_BYTES_MAX).contains(&text.len()) && (is_printable || !text.contains(is_deceptive))
}

/// Whether a character can forge the text around it: controls, line and paragraph separators, bidirectional controls,
/// invisible characters, and noncharacters.
pub fn is_deceptive(c: char) -> bool {
    if c < '\u{ad}' {
        return c.is_control();
    }
    let code = u32::from(c);
    code & 0xfffe == 0xfffe
        || DECEPTIVE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&code))
}

/// Deceptive ranges beyond the control characters, except the last two code points of each plane.
pub(crate) const DECEPTIVE: [(u32, u32); 17] = [
    (0xad, 0xad),       // soft hyphen
    (0x34f, 0x34f),     // combining grapheme joiner
    (0x61c, 0x61c),     // Arabic letter mark
    (0x115f, 0x1160),   // Hangul fillers, which are blank
    (0x17b4, 0x17b5),   // Khmer vowels that are not seen
    (0x180b, 0x180f),   // Mongolian variation selectors and vowel separator
    (0x200b, 0x200f),   // zero width, left-to-right and right-to-left mark
    (0x2028, 0x202e),   // line and paragraph separator, bidirectional embeddings and overrides
    (0x2060, 0x206f),   // word joiner, bidirectional isolates, invisible operators
    (0x3164, 0x3164),   // Hangul filler
    (0xfdd0, 0xfdef),   // noncharacters
    (0xfeff, 0xfeff),   // byte order mark
    (0xffa0, 0xffa0),   // Hangul filler
    (0xfff0, 0xfffb),   // unassigned, interlinear annotation
    (0x1bca0, 0x1bca3), // shorthand format controls
    (0x1d173, 0x1d17a), // musical format controls
    (0xe0000, 0xe00ff), // tags
];

/// Removes deceptive characters; separators become spaces.
pub fn cleaned(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let keep = |c: char| match c {
        '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        c => (!is_deceptive(c)).then_some(c),
    };
    Cow::Owned(
        text.chars()
            .filter_map(keep)
            .collect::<String>()
            .trim()
            .to_owned(),
    )
}

/// Borrowed untrusted text. It has no `Display`: choose a rendering.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Untrusted<'a>(&'a str);

impl<'a> Untrusted<'a> {
    /// Marks any text as untrusted.
    pub fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// One line for terminals, logs and JSON: deceptive characters as JSON escapes, `\u001b`.
    pub fn escaped(self) -> Escaped<'a> {
        Escaped(self.0)
    }

    /// A cell of CSV that no spreadsheet takes for a formula.
    pub fn csv_cell(self) -> String {
        let cell = self.escaped().to_string();
        // A signed number is no formula.
        let formula =
            self.0.starts_with(['=', '+', '-', '@', '\t', '\r']) && self.0.parse::<f64>().is_err();
        if formula { format!("'{cell}") } else { cell }
    }

    /// Text or an attribute's value in HTML or SVG.
    pub fn html(self) -> String {
        let mut html = String::with_capacity(self.0.len());
        for c in self.0.chars() {
            match c {
                '&' => html.push_str("&amp;"),
                '<' => html.push_str("&lt;"),
                '>' => html.push_str("&gt;"),
                '"' => html.push_str("&quot;"),
                '\'' => html.push_str("&#39;"),
                '\n' | '\t' => html.push(c),
                c => push_escaped(&mut html, c),
            }
        }
        html
    }

    /// One line of Markdown, with Markdown syntax and HTML escaped.
    pub fn markdown(self) -> String {
        let mut markdown = String::with_capacity(self.0.len());
        for c in self.0.chars() {
            match c {
                '&' => markdown.push_str("&amp;"),
                '<' => markdown.push_str("&lt;"),
                '>' => markdown.push_str("&gt;"),
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                    markdown.push('\\');
                    markdown.push(c);
                }
                c if c.is_control() => markdown.push(' '),
                // The backslash is Markdown's own here.
                c if is_deceptive(c) => {
                    markdown.push('\\');
                    push_escaped(&mut markdown, c);
                }
                c => markdown.push(c),
            }
        }
        markdown
    }
}

/// As `{:?}` of any text: quoted and escaped.
impl fmt::Debug for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

/// A text with deceptive characters escaped.
#[derive(Clone, Copy)]
pub struct Escaped<'a>(&'a str);

/// As `{:?}` of any text: quoted and escaped.
impl fmt::Debug for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.contains(is_deceptive) {
            return f.pad(self.0);
        }
        let mut text = String::with_capacity(self.0.len() + 16);
        self.0.chars().for_each(|c| push_escaped(&mut text, c));
        f.pad(&text)
    }
}

/// Escapes an output of several lines, except line breaks and colour codes, by JSON escapes, so that JSON stays valid.
pub fn escape_output(text: &str) -> Cow<'_, str> {
    escape_but(text, |c| c == '\n')
}

/// Escapes one line of output or a table cell, except colour codes.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape_but(text, |_| false)
}

fn escape_but(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(|c| !keeps(c) && is_deceptive(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = colour_code(rest).unwrap_or(c.len_utf8());
        let (piece, after) = rest.split_at(taken);
        match c {
            c if keeps(c) => out.push(c),
            '\u{1b}' if taken > 1 => out.push_str(piece),
            c => push_escaped(&mut out, c),
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// The length of a leading colour code: `ESC [ 31 m`.
fn colour_code(text: &str) -> Option<usize> {
    let code = text.strip_prefix("\u{1b}[")?;
    let digits = code
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b';')
        .count();
    (code.as_bytes().get(digits) == Some(&b'm')).then_some(digits + 3)
}

fn push_escaped(into: &mut String, c: char) {
    match c {
        '\n' => into.push_str("\\n"),
        '\r' => into.push_str("\\r"),
        '\t' => into.push_str("\\t"),
        c if is_deceptive(c) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
            let _ = write!(into, "\\u{unit:04x}");
        }),
        c => into.push(c),
    }
}

/// Free text that somebody else wrote: a reason, an error, a type that we do not know. It has no `Display`.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct UntrustedText(SmolStr);

impl UntrustedText {
    /// A text of our own where one of somebody else may stand; allocates nothing.
    pub const fn new_static(text: &'static str) -> Self {
        Self(SmolStr::new_static(text))
    }

    /// Whether there is no character at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// To show it in CSV, HTML or Markdown.
    pub fn untrusted(&self) -> Untrusted<'_> {
        Untrusted(&self.0)
    }

    /// One line for terminals, logs and JSON.
    pub fn escaped(&self) -> Escaped<'_> {
        Escaped(&self.0)
    }

    /// Unescaped: to compare, hash or send, never to show.
    pub fn raw(&self) -> &str {
        &self.0
    }
}

impl<T: Into<SmolStr>> From<T> for UntrustedText {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl PartialEq<&str> for UntrustedText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == **other
    }
}

impl fmt::Debug for UntrustedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forges_is_deceptive_and_what_is_read_is_not() {
        for c in "\0\u{7}\u{1b}\n\t\u{7f}\u{85}\u{9b}\u{61c}\u{200b}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\
                  \u{2066}\u{2069}\u{feff}\u{fdd0}\u{fffe}\u{ffff}\u{1fffe}\u{10ffff}\u{e0000}\u{e0041}"
            .chars()
        {
            assert!(is_deceptive(c), "{c:?}");
        }
        for c in "aZ 09~\u{a0}é漢字ß🦀\u{fe0f}ا\u{300}<>&\"'`|=".chars() {
            assert!(!is_deceptive(c), "{c:?}");
        }
    }

    #[test]
    fn an_escaped_text_is_one_line_that_shows_what_is_hidden() {
        let text = Untrusted::new("a\u{1b}[2J\u{7}\u{202e}b\nc\u{9b}\u{e0041}");
        assert_eq!(
            text.escaped().to_string(),
            "a\\u001b[2J\\u0007\\u202eb\\nc\\u009b\\udb40\\udc41"
        );
        assert_eq!(format!("{:<4}|", Untrusted::new("ab").escaped()), "ab  |");
    }

    #[test]
    fn json_with_its_text_escaped_is_the_same_json() {
        let value = serde_json::json!({"name": "a\u{202e}\u{9b}\u{7f}\u{e0041}\u{2028}\n\"\\"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let escaped = escape_output(&text);
        assert!(
            escaped.chars().all(|c| c == '\n' || !is_deceptive(c)),
            "{escaped}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&escaped).unwrap(),
            value
        );
    }

    #[test]
    fn an_output_keeps_its_lines_and_colours_and_nothing_else_that_controls() {
        let text = "\u{1b}[1mhead\u{1b}[0m\nrow\u{1b}[2J\u{1b}]0;x\u{7}";
        assert_eq!(
            escape_output(text),
            "\u{1b}[1mhead\u{1b}[0m\nrow\\u001b[2J\\u001b]0;x\\u0007"
        );
    }

    #[test]
    fn no_cell_is_a_formula_and_numbers_stay_numbers() {
        for formula in ["=1+1", "+SUM(A1)", "-2+3", "@SUM(A1)", "\t=1", "\r=1"] {
            assert!(
                Untrusted::new(formula).csv_cell().starts_with('\''),
                "{formula:?}"
            );
        }
        for harmless in ["-12.5", "+3", "1", "Ada", "a=b", ""] {
            assert_eq!(Untrusted::new(harmless).csv_cell(), harmless);
        }
    }

    #[test]
    fn markup_stays_text() {
        let text = Untrusted::new("<b>\"&'|`\u{202e}\n");
        assert_eq!(text.html(), "&lt;b&gt;&quot;&amp;&#39;|`\\u202e\n");
        assert_eq!(text.markdown(), "&lt;b&gt;\"&amp;'\\|\\`\\\\u202e ");
    }

    #[test]
    fn a_cleaned_text_has_no_deceptive_characters() {
        assert_eq!(cleaned("Ada"), "Ada");
        assert_eq!(cleaned("\u{202e}Ada\nLovelace\u{7}"), "Ada Lovelace");
        assert_eq!(cleaned("\u{1b}[2J"), "[2J");
        assert_eq!(cleaned("\u{200b}"), "");
    }
}
