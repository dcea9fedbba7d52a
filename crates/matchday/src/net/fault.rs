//! Whose fault it is that a connection could not be made, as far as the system says so.

use super::client::CallError;
use std::io::{Error, ErrorKind};

/// What Unix systems say when this process, or the whole machine, has too many files open.
const TOO_MANY_FILES: [i32; 2] = [24, 23];
/// What Linux says when the machine has no room for another connection: no memory, no buffers.
const NO_ROOM: [i32; 2] = [12, 105];

/// A failure of our own machine says nothing about the peer; where there is no way to it, nobody can tell.
pub(super) fn of_connecting(error: &Error) -> CallError {
    let why = error.to_string();
    let code = error.raw_os_error().unwrap_or_default();
    if TOO_MANY_FILES.contains(&code) || NO_ROOM.contains(&code) {
        return CallError::Ours(why);
    }
    match error.kind() {
        ErrorKind::AddrNotAvailable | ErrorKind::OutOfMemory => CallError::Ours(why),
        ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable | ErrorKind::NetworkDown => {
            CallError::NoRoute(why)
        }
        _ => CallError::NoConnection(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_full_does_not_blame_the_peer() {
        for code in [23, 24, 12, 105, 99] {
            assert!(matches!(of_connecting(&Error::from_raw_os_error(code)), CallError::Ours(_)), "{code}");
        }
    }

    #[test]
    fn no_way_there_is_told_from_nobody_there() {
        for code in [100, 101, 113] {
            assert!(
                matches!(of_connecting(&Error::from_raw_os_error(code)), CallError::NoRoute(_)),
                "{code}"
            );
        }
        let refused = of_connecting(&Error::from_raw_os_error(111));
        assert!(matches!(refused, CallError::NoConnection(_)));
    }
}
