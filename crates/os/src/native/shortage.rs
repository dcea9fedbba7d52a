//! Errors that tell of a shortage on this machine, and so nothing about a peer.

use nix::errno::Errno;
use std::io::{Error, ErrorKind};

/// Whether file descriptors, memory, buffers or local ports have run out.
pub fn is_shortage(error: &Error) -> bool {
    let code = Errno::from_raw(error.raw_os_error().unwrap_or_default());
    matches!(
        code,
        Errno::EMFILE | Errno::ENFILE | Errno::ENOMEM | Errno::ENOBUFS
    ) || matches!(
        error.kind(),
        ErrorKind::AddrNotAvailable | ErrorKind::OutOfMemory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_machine_is_told_from_a_peer_that_is_not_there() {
        for code in [
            Errno::ENFILE,
            Errno::EMFILE,
            Errno::ENOMEM,
            Errno::ENOBUFS,
            Errno::EADDRNOTAVAIL,
        ] {
            assert!(is_shortage(&code.into()), "{code}");
        }
        assert!(!is_shortage(&Errno::ECONNREFUSED.into()));
    }
}
