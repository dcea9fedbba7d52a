//! The limit on this process's open file descriptors (RLIMIT_NOFILE).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one: the soft one is usually 1,024 for the sake of programs that call `select`.
pub fn raise() {
    let limit = getrlimit(Resource::Nofile);
    // If the system refuses, the server accepts fewer connections.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    );
}

/// How many file descriptors this process may have open.
pub fn get() -> usize {
    getrlimit(Resource::Nofile)
        .current
        .and_then(|most| usize::try_from(most).ok())
        .unwrap_or(usize::MAX)
}
