//! The text of a field in JSON. The JSON may itself be a text in other JSON, so that its quotes have backslashes before them.
//! Pure.

/// Where a text ends. A quote within it is escaped once more than the one that ends it, and a backslash at its end is
/// written twice, each of these as often as the depth asks for.
pub(super) fn text_end(text: &str, depth: usize) -> usize {
    let mut backslashes = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' => backslashes += 1,
            b'"' if backslashes >= depth
                && (backslashes - depth).is_multiple_of(2 * (depth + 1)) =>
            {
                return at - depth;
            }
            _ => backslashes = 0,
        }
    }
    text.len()
}

/// What follows the name of a field, from where its text begins, and how many backslashes stand before its quotes: none in
/// a message, more where the message is itself a text in another.
pub(super) fn opened(after_name: &str) -> Option<(usize, &str)> {
    let quote = |text: &str| -> Option<usize> {
        let depth = text.bytes().take_while(|&byte| byte == b'\\').count();
        text.get(depth..)?.starts_with('"').then_some(depth)
    };
    let value = after_name.get(quote(after_name)? + 1..)?;
    let value = value.trim_start().strip_prefix(':')?.trim_start();
    let depth = quote(value)?;
    Some((depth, value.get(depth + 1..)?))
}
