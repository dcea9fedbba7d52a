//! Exchanges as they are kept: the words as they went over the wire, but no secret among them.

use crate::store::Exchange;
use matchday_core::protocol::Timestamp;
use memchr::memmem::Finder;
use std::sync::LazyLock;
use std::time::Duration;

/// How much of a token may be seen.
const SHOWN_CHARS: usize = 8;
/// Exchanges travel with the next events; if none come, this is how long or how many of them wait.
const WAIT_MAX: Duration = Duration::from_secs(1);
const WAITING_MAX: usize = 256;
/// How much is kept of a message that belongs to a match, and of any other.
pub(crate) const MATCH_BYTES_MAX: usize = 8 * 1024;
pub(crate) const NOTICE_BYTES_MAX: usize = 512;

/// Exchanges on their way to the store.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    waiting: Vec<Exchange>,
    due: Option<Timestamp>,
}

impl Recorder {
    pub(super) fn keep(&mut self, now: Timestamp, exchange: Exchange) {
        self.waiting.push(exchange);
        self.due.get_or_insert(now + WAIT_MAX);
    }

    /// When they should go even if nothing else does.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.due
    }

    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.waiting.len() >= WAITING_MAX || self.due.is_some_and(|due| due <= now)
    }

    pub(super) fn take(&mut self) -> Vec<Exchange> {
        self.due = None;
        std::mem::take(&mut self.waiting)
    }
}

/// A body as it is kept: without tokens, and of what is told to everyone only the beginning. A table of 99 rows goes to
/// 99 players after every few results, and whole copies of it would make up all but a hundredth of the store.
pub(super) fn kept(body: &[u8], of_a_match: bool) -> String {
    let most = if of_a_match { MATCH_BYTES_MAX } else { NOTICE_BYTES_MAX };
    match body.get(..most) {
        Some(beginning) => format!("{}... ({} bytes)", redacted(beginning), body.len()),
        None => redacted(body),
    }
}

/// What every secret begins with, or the name of the field that holds it ends with.
static TOKEN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("tok"));
static PLAYER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("_player"));

/// The text of a body, with every token cut to its first characters: whatever has the shape of a token, wherever it
/// stands, and whatever stands in a field for tokens, whatever its shape. One pass, since bodies are of anyone's making.
pub(crate) fn redacted(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
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
        let found = if token_first { tokens.next() } else { players.next() };
        let Some((shown, end)) = found.filter(|at| *at >= from).and_then(|at| secret(&text, at)) else {
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
const FIELDS: [(&str, &str); 4] =
    [("auth_", "token"), ("provided_", "token"), ("to", "_player"), ("from", "_player")];

/// If a secret too long to be shown begins at `at`, or stands in a field whose name goes on there: where it must be cut,
/// and where it ends.
fn secret(text: &str, at: usize) -> Option<(usize, usize)> {
    let (before, here) = text.split_at_checked(at)?;
    if here.starts_with("tok_") {
        let is_token = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        return cut(here, is_token).map(|(shown, end)| (at + shown, at + end));
    }
    let is_field = |(head, tail): &&(&str, &str)| before.ends_with(head) && here.starts_with(tail);
    let (_, tail) = FIELDS.iter().find(is_field)?;
    let value = opened(here.get(tail.len()..)?)?;
    let (shown, end) = cut(value, |c: &char| !matches!(c, '"' | '\\'))?;
    let begin = text.len() - value.len();
    Some((begin + shown, begin + end))
}

fn cut(secret: &str, belongs: impl Fn(&char) -> bool) -> Option<(usize, usize)> {
    let ends = secret.chars().take_while(belongs).scan(0, |end, c| {
        *end += c.len_utf8();
        Some(*end)
    });
    let (mut shown, mut last) = (0, 0);
    for (n, end) in (1..).zip(ends) {
        if n == SHOWN_CHARS {
            shown = end;
        }
        last = end;
    }
    (shown > 0 && last > shown).then_some((shown, last))
}

/// What follows the name of a field, up to where its text begins.
fn opened(after_name: &str) -> Option<&str> {
    let quote = |text: &str| -> Option<usize> {
        let text = text.strip_prefix('\\').map_or((text, 0), |rest| (rest, 1));
        text.0.starts_with('"').then_some(text.1 + 1)
    };
    let colon = after_name.get(quote(after_name)?..)?.trim_start().strip_prefix(':')?.trim_start();
    colon.get(quote(colon)?..)
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn no_token_is_kept_whole() {
        for (body, kept) in [
            (r#"{"auth_token":"tok_p01_abcdef","x":1}"#, r#"{"auth_token":"tok_p01_...","x":1}"#),
            (r#"{"auth_token" : "secret-of-another-shape"}"#, r#"{"auth_token" : "secret-o..."}"#),
            (
                r#"{"to_player":"0123456789","from_player":"abcdefghij"}"#,
                r#"{"to_player":"01234567...","from_player":"abcdefgh..."}"#,
            ),
            (
                r#"{"text":"{\"auth_token\":\"0123456789\"}"}"#,
                r#"{"text":"{\"auth_token\":\"01234567...\"}"}"#,
            ),
            (r#"{"message":"wrong token tok_p01_abcdef!"}"#, r#"{"message":"wrong token tok_p01_...!"}"#),
            (r#"{"auth_token":null,"auth_token":"tok_1"}"#, r#"{"auth_token":null,"auth_token":"tok_1"}"#),
            (r#"{"provided_token":"ééééééééé"}"#, r#"{"provided_token":"éééééééé..."}"#),
            ("auth_token", "auth_token"),
            ("", ""),
        ] {
            assert_eq!(redacted(body.as_bytes()), kept);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_as_well_as_may_be() {
        assert_eq!(redacted(b"\xff{\"auth_token\":\"0123456789"), "\u{fffd}{\"auth_token\":\"01234567...");
    }
}
