//! Formatting of numbers, and truncation of text. Pure.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Without insignificant digits: `12`, `0.5`, `1234.6`.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let digits = match value.abs() {
        size if size >= 100.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// The width of a text on a terminal, in columns.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Truncates to so many columns, with an ellipsis.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = plain(text);
    if width(&text) <= most {
        return text;
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > most {
            break;
        }
        used += wide;
        kept.push(c);
    }
    if most > 0 {
        kept.push('…');
    }
    kept
}

/// Removes control characters and direction marks.
fn plain(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .map(|c| {
            if c.is_control() || turns(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

/// Truncated or padded to so many columns.
pub(crate) fn left(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let blank = columns.saturating_sub(width(&text));
    text + &" ".repeat(blank)
}

pub(crate) fn right(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    " ".repeat(columns.saturating_sub(width(&text))) + &text
}

/// The approximate width in pixels, at a font size of 12.
pub(crate) fn pixels(text: &str) -> f64 {
    width(text) as f64 * 7.6
}

/// The width of the widest text, up to a maximum.
pub(crate) fn widest<'a>(texts: impl Iterator<Item = &'a str>, most: usize) -> usize {
    texts.map(width).max().unwrap_or(0).min(most)
}

/// The first few of many, joined, and how many more there are.
pub(crate) fn some_of(all: impl Iterator<Item = String>, most: usize) -> String {
    let mut all = all.fuse();
    let shown: Vec<String> = all.by_ref().take(most).collect();
    match all.count() {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_digits_that_say_nothing() {
        let told = [0.0, -0.0, 12.0, 0.5, 1234.5678, 2.0 / 3.0, -7.25, f64::NAN].map(number);
        assert_eq!(
            told,
            ["0", "0", "12", "0.5", "1234.6", "0.667", "-7.25", "-"]
        );
    }

    #[test]
    fn a_text_is_cut_by_what_it_takes_on_a_terminal() {
        assert_eq!(cut("Grace Hopper", 8), "Grace H…");
        assert_eq!(cut("日本語の名前", 6), "日本…");
        assert_eq!(left("日本", 6), "日本  ");
        assert_eq!(right("7", 3), "  7");
        assert_eq!(cut("a\u{1b}[2Jb\u{202e}", 20), "a\u{fffd}[2Jb\u{fffd}");
    }

    #[test]
    fn of_many_things_some_are_told() {
        let all = || (1..=5).map(|n| n.to_string());
        assert_eq!(some_of(all(), 5), "1; 2; 3; 4; 5");
        assert_eq!(some_of(all(), 2), "1; 2; and 3 more");
    }
}
