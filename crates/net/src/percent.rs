//! Text within a URL. Pure.

/// Text for a path or a query, with every byte escaped that may mean something there.
pub fn encode(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_a_url_is_escaped() {
        assert_eq!(encode("spring_1.b-2"), "spring_1.b-2");
        assert_eq!(encode("a&b=ü%"), "a%26b%3D%C3%BC%25");
    }
}
