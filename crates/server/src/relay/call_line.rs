//! A call as the agent reads it: a line of JSON, made piece by piece while it is sent. Written whole it could be six times as
//! long as the call.

use super::memory::{Message, PIECE_BYTES};
use bytes::Bytes;
use matchday_core::mailbox::CallNumber;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct CallLine {
    /// Until it has been sent.
    head: Option<String>,
    message: Arc<Message>,
    sent: usize,
}

impl CallLine {
    pub(super) fn new(number: CallNumber, left: Duration, message: Arc<Message>) -> Self {
        let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        let head = format!("{{\"id\":{},\"left_ms\":{left_ms},\"body\":\"", number.0);
        Self {
            head: Some(head),
            message,
            sent: 0,
        }
    }

    /// The next piece, and whether the line ends with it.
    pub(super) fn next_piece(&mut self) -> (Bytes, bool) {
        let rest = self.message.bytes.get(self.sent..).unwrap_or_default();
        let piece = rest.get(..piece_len(rest)).unwrap_or_default();
        let ends = piece.len() == rest.len();
        self.sent += piece.len();
        let mut text = self.head.take().unwrap_or_default();
        let quoted = Value::from(String::from_utf8_lossy(piece)).to_string();
        text.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
        if ends {
            text.push_str("\"}\n");
        }
        (text.into(), ends)
    }
}

/// How long the next piece of a text is, so that no character is cut in two.
fn piece_len(text: &[u8]) -> usize {
    let begins_character = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    let cuts = (PIECE_BYTES - 3..=PIECE_BYTES).rev();
    cuts.into_iter()
        .find(begins_character)
        .unwrap_or(PIECE_BYTES)
        .min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(body: &str) -> Vec<Bytes> {
        let message = Arc::new(Message::own(Bytes::copy_from_slice(body.as_bytes())));
        let mut line = CallLine::new(CallNumber(7), Duration::from_millis(1500), message);
        let mut pieces = Vec::new();
        loop {
            let (piece, ends) = line.next_piece();
            pieces.push(piece);
            if ends {
                return pieces;
            }
        }
    }

    #[test]
    fn a_line_is_the_call_to_the_byte_whatever_its_length() {
        let lengths = [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 200_000];
        for (length, text) in lengths
            .into_iter()
            .flat_map(|length| [(length, "a\"\n\\"), (length, "é😀")])
        {
            let body: String = text.chars().cycle().take(length).collect();
            let line = pieces(&body).concat();
            let (end, line) = line.split_last().unwrap();
            assert_eq!((*end, line.contains(&b'\n')), (b'\n', false));
            let read: Value = serde_json::from_slice(line).unwrap();
            assert_eq!(
                read,
                serde_json::json!({"id": 7, "left_ms": 1500, "body": body}),
                "{length} {text:?}"
            );
        }
    }

    #[test]
    fn a_piece_is_short_also_of_a_text_that_is_all_escapes() {
        let longest = pieces(&"\u{1}".repeat(1 << 20))
            .iter()
            .map(Bytes::len)
            .max()
            .unwrap();
        assert!(longest < 7 * PIECE_BYTES, "{longest}");
    }
}
