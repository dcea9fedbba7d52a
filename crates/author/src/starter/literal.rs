//! Escapes a display name for a string literal of each language, and for Markdown. A name may contain any character.

use super::Language;
use std::fmt::Write;

/// The content of a double-quoted string literal. Letters and digits of every script are kept; quotes, invisible
/// characters and direction marks are escaped.
pub(super) fn string(language: Language, name: &str) -> String {
    let mut written = String::new();
    for character in name.chars() {
        let _ = match character {
            '"' | '\\' => write!(written, "\\{character}"),
            ' '..='~' => write!(written, "{character}"),
            _ if character.is_alphanumeric() => write!(written, "{character}"),
            _ => escape(&mut written, language, u32::from(character)),
        };
    }
    written
}

fn escape(written: &mut String, language: Language, code: u32) -> std::fmt::Result {
    match language {
        Language::Rust | Language::Typescript => write!(written, "\\u{{{code:x}}}"),
        Language::Python | Language::Go if code > 0xffff => write!(written, "\\U{code:08x}"),
        Language::Python | Language::Go => write!(written, "\\u{code:04x}"),
    }
}

/// One line of Markdown that renders as the name.
pub(super) fn markdown(name: &str) -> String {
    let mut written = String::new();
    for character in name.chars() {
        match character {
            _ if character.is_control() => written.push(' '),
            _ if character.is_ascii_punctuation() => written.extend(['\\', character]),
            _ => written.push(character),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_the_text_it_stands_in() {
        let name = "a\"; \\\n\u{202e}é\u{1f409}";
        let cases = [
            (Language::Python, r#"a\"; \\\u000a\u202eé\U0001f409"#),
            (Language::Go, r#"a\"; \\\u000a\u202eé\U0001f409"#),
            (Language::Typescript, r#"a\"; \\\u{a}\u{202e}é\u{1f409}"#),
            (Language::Rust, r#"a\"; \\\u{a}\u{202e}é\u{1f409}"#),
        ];
        for (language, wanted) in cases {
            assert_eq!(string(language, name), wanted, "{language:?}");
        }
    }

    #[test]
    fn a_name_is_no_markdown() {
        assert_eq!(markdown("*Ada*\n# <b>"), "\\*Ada\\* \\# \\<b\\>");
    }
}
