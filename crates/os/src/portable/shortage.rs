//! Errors that tell of a shortage on this machine, and so nothing about a peer.

use std::io::{Error, ErrorKind};

/// WSAEMFILE and WSAENOBUFS.
const WINDOWS_CODES: [i32; 2] = [10024, 10055];

/// Whether sockets, memory, buffers or local ports have run out. On Unix, a lack of descriptors has no portable name.
pub fn is_shortage(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::AddrNotAvailable | ErrorKind::OutOfMemory
    ) || (cfg!(windows)
        && error
            .raw_os_error()
            .is_some_and(|code| WINDOWS_CODES.contains(&code)))
}
