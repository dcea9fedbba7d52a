//! What happened in a match, as text in one field of a table: moves in order, with spaces between. `*7` is a number that chance
//! drew, `-` a move that was not made. Pure.

use matchday_core::game::fast::Ply;
use serde_json::Value;

/// The text. Where both move at once, A's move comes first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GameLog(String);

/// Who moves is known by the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    Move(Value),
    Missing,
    Drawn(u32),
}

impl GameLog {
    pub(crate) fn of(plies: &[Ply]) -> Self {
        let mut log = Self::default();
        for ply in plies {
            match ply {
                Ply::Move(_, made) => log.push_move(made),
                Ply::Drawn(number) => log.push_drawn(*number),
            }
        }
        log
    }

    pub(crate) fn push_move(&mut self, made: &Value) {
        self.push(&token(made));
    }

    pub(crate) fn push_missing(&mut self) {
        self.push("-");
    }

    pub(crate) fn push_drawn(&mut self, number: u32) {
        self.push(&format!("*{number}"));
    }

    fn push(&mut self, token: &str) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(token);
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let log = Self(text.to_owned());
        log.entries().is_some().then_some(log)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn entries(&self) -> Option<Vec<Entry>> {
        let entry = |token: &str| {
            if token == "-" {
                return Some(Entry::Missing);
            }
            if let Some(number) = token.strip_prefix('*') {
                return number.parse().ok().map(Entry::Drawn);
            }
            let value = serde_json::from_str(token);
            let word = || is_word(token).then(|| Value::from(token));
            value.ok().or_else(word).map(Entry::Move)
        };
        self.0.split_whitespace().map(entry).collect()
    }

    /// Games that differ in it are different; `None` if chance had part in them.
    pub(crate) fn hash(&self) -> Option<u64> {
        let has_chance = self.0.split(' ').any(|token| token.starts_with('*'));
        (!has_chance).then(|| hash(0xCBF2_9CE4_8422_2325, self.0.as_bytes()))
    }
}

/// FNV-1a.
pub(crate) fn hash(from: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(from, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// A word as it is, anything else as JSON without spaces.
fn token(made: &Value) -> String {
    match made {
        Value::String(word) if is_word(word) && serde_json::from_str::<Value>(word).is_err() => {
            word.clone()
        }
        // A space outside of texts is never written.
        other => other.to_string().replace(' ', "\\u0020"),
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_written_is_read() {
        let moves = [
            json!(3),
            json!("even"),
            json!("3"),
            json!("true"),
            json!("two words"),
            json!({"heap": 1, "take": 2}),
            json!("-"),
            json!("*5"),
            json!("\u{e4} \"x\""),
            json!([1, "a b"]),
        ];
        let mut log = GameLog::default();
        moves.iter().for_each(|made| log.push_move(made));
        log.push_drawn(7);
        log.push_missing();
        let mut expected: Vec<Entry> = moves.into_iter().map(Entry::Move).collect();
        expected.extend([Entry::Drawn(7), Entry::Missing]);
        assert_eq!(log.entries(), Some(expected));
        assert_eq!(GameLog::read(log.as_str()), Some(log.clone()));
        assert_eq!(log.hash(), None);
        assert_eq!(GameLog::read("3 {broken"), None);
    }
}
