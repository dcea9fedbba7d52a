//! Tokens in the text of a message: each is cut to its first characters.

use super::json_text::{opened, text_end};
use matchday_core::protocol::token::TOKEN_PREFIX;
use memchr::memmem::Finder;
use smol_str::SmolStr;
use std::borrow::Cow;
use std::sync::LazyLock;

/// How much of a token may be seen.
const SHOWN_CHARS: usize = 8;
/// How many bytes are recorded of a message that belongs to a match, and of any other.
pub const MATCH_BYTES_MAX: usize = 8 * 1024;
pub const NOTICE_BYTES_MAX: usize = 512;

/// A body as it is recorded: tokens are cut, and long bodies truncated. A table of 99 rows goes to 99 players after every few
/// results, and whole copies of it would make up all but a hundredth of the store.
pub fn redact_body(body: &[u8], of_a_match: bool) -> String {
    let most = if of_a_match {
        MATCH_BYTES_MAX
    } else {
        NOTICE_BYTES_MAX
    };
    match body.get(..most) {
        Some(beginning) => format!("{}... ({} bytes)", redact_tokens(beginning), body.len()),
        None => redact_tokens(body),
    }
}

/// A short text of a peer that is logged or kept by itself, such as an id, without tokens.
pub fn redact_text(text: &str) -> SmolStr {
    let may_hold_token = TOKEN
        .find(text.as_bytes())
        .or_else(|| ESCAPE.find(text.as_bytes()))
        .is_some();
    if may_hold_token {
        redact_tokens(text.as_bytes()).into()
    } else {
        text.into()
    }
}

/// What every secret begins with, or the name of the field that holds it ends with.
static TOKEN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("tok"));
static PLAYER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("_player"));

/// The text of a body, with every token cut to its first characters: whatever has the shape of a token, wherever it
/// stands, and whatever stands in a field for tokens, whatever its shape. One pass, since bodies are of anyone's making; two
/// where letters are written as escapes.
pub fn redact_tokens(body: &[u8]) -> String {
    // Nearly all are UTF-8, and to find out only that takes a fraction of the time.
    let text = str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed);
    if ESCAPE.find(text.as_bytes()).is_none() {
        return without_secrets(&text, Secrets::All);
    }
    // A secret that is long enough to be cut may be short once its escapes are in clear.
    without_secrets(
        &plain(&without_secrets(&text, Secrets::InFields)),
        Secrets::All,
    )
}

/// Which secrets are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secrets {
    All,
    /// Not those that are known by their shape.
    InFields,
}

fn without_secrets(text: &str, secrets: Secrets) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    let mut tokens = TOKEN.find_iter(text.as_bytes()).peekable();
    let mut players = PLAYER.find_iter(text.as_bytes()).peekable();
    loop {
        let token_first = match (tokens.peek(), players.peek()) {
            (None, None) => break,
            (Some(token), Some(player)) => token < player,
            (token, _) => token.is_some(),
        };
        let found = if token_first {
            tokens.next()
        } else {
            players.next()
        };
        let found = found
            .filter(|at| *at >= from)
            .and_then(|at| secret(text, at, secrets));
        let Some((shown, end)) = found else {
            continue;
        };
        kept.push_str(text.get(from..shown).unwrap_or_default());
        kept.push_str("...");
        from = end;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    kept
}

/// The fields for tokens, each in two parts: the second is what is looked for.
const FIELDS: [(&str, &str); 4] = [
    ("auth_", "token"),
    ("provided_", "token"),
    ("to", "_player"),
    ("from", "_player"),
];

/// If a secret too long to be shown begins at `at`, or stands in a field whose name goes on there: where it must be cut,
/// and where it ends.
fn secret(text: &str, at: usize, secrets: Secrets) -> Option<(usize, usize)> {
    let (before, here) = text.split_at_checked(at)?;
    if here.starts_with(TOKEN_PREFIX) && secrets == Secrets::All {
        let is_token = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        return cut(here, is_token).map(|(shown, end)| (at + shown, at + end));
    }
    let is_field = |(head, tail): &&(&str, &str)| before.ends_with(head) && here.starts_with(tail);
    let (_, tail) = FIELDS.iter().find(is_field)?;
    let (depth, value) = opened(here.get(tail.len()..)?)?;
    let (shown, end) = cut_text(value, depth)?;
    let begin = text.len() - value.len();
    Some((begin + shown, begin + end))
}

fn cut(secret: &str, belongs: impl Fn(&char) -> bool) -> Option<(usize, usize)> {
    let end: usize = secret.chars().take_while(belongs).map(char::len_utf8).sum();
    let (shown, _) = secret.get(..end)?.char_indices().nth(SHOWN_CHARS)?;
    Some((shown, end))
}

/// Like `cut`, for a text of JSON whose quotes have `depth` backslashes before them. What is shown ends before the first
/// backslash, since half an escape would spoil what follows.
fn cut_text(secret: &str, depth: usize) -> Option<(usize, usize)> {
    let end = text_end(secret, depth);
    let (most, _) = secret.get(..end)?.char_indices().nth(SHOWN_CHARS)?;
    let shown = secret.get(..most)?.find('\\').unwrap_or(most);
    Some((shown, end))
}

static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u00"));

/// Decodes the escapes of ASCII letters and digits, so that a token that is written with escapes is found.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut from = 0;
    for at in ESCAPE.find_iter(text.as_bytes()) {
        let Some(byte) = text
            .get(at + 4..at + 6)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok())
        else {
            continue;
        };
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            // In a text within a text there are several backslashes.
            plain.push_str(
                text.get(from..at)
                    .unwrap_or_default()
                    .trim_end_matches('\\'),
            );
            plain.push(char::from(byte));
            from = at + 6;
        }
    }
    plain.push_str(text.get(from..).unwrap_or_default());
    plain
}

#[cfg(test)]
mod tests {
    use super::{redact_text, redact_tokens};

    #[test]
    fn no_token_is_kept_whole() {
        for (body, kept) in [
            (
                r#"{"auth_token":"tok_p01_abcdef","x":1}"#,
                r#"{"auth_token":"tok_p01_...","x":1}"#,
            ),
            (
                r#"{"auth_token" : "secret-of-another-shape"}"#,
                r#"{"auth_token" : "secret-o..."}"#,
            ),
            (
                r#"{"to_player":"0123456789","from_player":"abcdefghij"}"#,
                r#"{"to_player":"01234567...","from_player":"abcdefgh..."}"#,
            ),
            (
                r#"{"text":"{\"auth_token\":\"0123456789\"}"}"#,
                r#"{"text":"{\"auth_token\":\"01234567...\"}"}"#,
            ),
            (
                r#"{"message":"wrong token tok_p01_abcdef!"}"#,
                r#"{"message":"wrong token tok_p01_...!"}"#,
            ),
            (
                r#"{"auth_token":null,"auth_token":"tok_1"}"#,
                r#"{"auth_token":null,"auth_token":"tok_1"}"#,
            ),
            (
                r#"{"provided_token":"ééééééééé"}"#,
                r#"{"provided_token":"éééééééé..."}"#,
            ),
            (
                r#"{"auth_token":"abc\"defghijkl","x":1}"#,
                r#"{"auth_token":"abc...","x":1}"#,
            ),
            (
                r#"{"auth_token":"0123456789\\","x":"y"}"#,
                r#"{"auth_token":"01234567...","x":"y"}"#,
            ),
            (
                r#"{"text":"{\"auth_token\":\"abc\\\"defghijkl\",\"x\":1}"}"#,
                r#"{"text":"{\"auth_token\":\"abc...\",\"x\":1}"}"#,
            ),
            (
                r#"{"reason":"\u0074ok_p01_abcd\u0065f"}"#,
                r#"{"reason":"tok_p01_..."}"#,
            ),
            (
                r#"{"auth_t\u006fken":"0123456789"}"#,
                r#"{"auth_token":"01234567..."}"#,
            ),
            (
                r#"{"auth_token":"abc\\u0054","x":1}"#,
                r#"{"auth_token":"abc...","x":1}"#,
            ),
            (
                r#"{"reason":"tok_p01_abcd\u0065fghi\u006aklm"}"#,
                r#"{"reason":"tok_p01_..."}"#,
            ),
            ("auth_token", "auth_token"),
            ("", ""),
        ] {
            assert_eq!(redact_tokens(body.as_bytes()), kept);
        }
    }

    #[test]
    fn an_id_is_kept_without_a_token_in_it() {
        for (id, kept) in [
            ("conv-r1m1-001", "conv-r1m1-001"),
            ("tok_p01_abcdef", "tok_p01_..."),
            ("conv-tok_p01_abcdef", "conv-tok_p01_..."),
            (r"conv-\u0074ok_p01_abcdef", "conv-tok_p01_..."),
            ("", ""),
        ] {
            assert_eq!(redact_text(id), kept);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_as_well_as_may_be() {
        assert_eq!(
            redact_tokens(b"\xff{\"auth_token\":\"0123456789"),
            "\u{fffd}{\"auth_token\":\"01234567..."
        );
    }
}
