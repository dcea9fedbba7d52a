//! What this machine is called.

/// `None` where no file says it.
pub fn name() -> Option<String> {
    let text = std::fs::read_to_string("/etc/hostname").ok()?;
    Some(text.trim().to_owned()).filter(|name| !name.is_empty())
}
