//! Counted nouns. Pure.

/// `1 player`, `2 players`.
pub fn count_of(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}
