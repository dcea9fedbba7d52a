//! Room for a league's sockets, before there are any. Touches the system's table of what this process has open, on Linux;
//! elsewhere nothing.
//!
//! The table grows by doubling. Once a process has more than one thread, Linux lets whoever opens the socket that needs more
//! room wait until no core can be looking at the old table: 10 to 20 ms, in which nobody else can open one either.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A league of 99 players in one process has some 600 sockets open.
#[cfg(target_os = "linux")]
const SOCKETS: i32 = 1024;

/// To be called while the process has one thread, for which nobody need be waited for.
pub(crate) fn make_room() {
    #[cfg(target_os = "linux")]
    // What is opened under the last number makes the table reach so far, which stays when it is closed again. If it is
    // refused, because so many may not be open, the table grows when it must.
    drop(rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), SOCKETS - 1));
}

/// Raises the soft limit of file descriptors (RLIMIT_NOFILE) to the hard one: the soft one is usually 1,024, for programs that
/// call `select`, which we are not.
pub(crate) fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If it is refused, fewer connections are taken.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// How many files and sockets this process may have open.
pub(crate) fn descriptors_max() -> usize {
    getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_room_for_a_league_afterwards_and_nothing_stays_open() {
        let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let before = open();
        make_room();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
        assert!(size.trim().parse::<i32>().unwrap() >= SOCKETS, "{size}");
        assert_eq!(open(), before);
    }
}
