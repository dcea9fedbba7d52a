//! What this machine is called.

/// As `hostname` says it.
pub fn name() -> Option<String> {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}
