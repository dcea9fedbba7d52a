//! Classifies why a connection could not be made: the peer, the route, or this machine.

use crate::call::CallError;
use matchday_os::shortage::is_shortage;
use std::io::{Error, ErrorKind};

/// A shortage on this machine says nothing about the peer, and neither does a missing route.
pub(crate) fn classify(error: &Error) -> CallError {
    let why = error.to_string();
    match error.kind() {
        _ if is_shortage(error) => CallError::Local(why),
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
        assert!(matches!(
            classify(&ErrorKind::AddrNotAvailable.into()),
            CallError::Local(_)
        ));
    }

    #[test]
    fn no_way_there_is_told_from_nobody_there() {
        for kind in [
            ErrorKind::NetworkDown,
            ErrorKind::NetworkUnreachable,
            ErrorKind::HostUnreachable,
        ] {
            assert!(
                matches!(classify(&kind.into()), CallError::NoRoute(_)),
                "{kind}"
            );
        }
        assert!(matches!(
            classify(&ErrorKind::ConnectionRefused.into()),
            CallError::NoConnection(_)
        ));
    }
}
