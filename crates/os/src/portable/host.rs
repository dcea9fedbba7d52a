//! What this machine is called.

/// As Windows says it; `None` elsewhere.
pub fn name() -> Option<String> {
    std::env::var("COMPUTERNAME")
        .ok()
        .filter(|name| !name.is_empty())
}
