//! The connections that this process has opened itself, so that a server in the same process recognises calls from its own
//! client: agents of one process share one store, and an exchange between two of them is recorded once.

use crate::ref_counts::{RefCounts, RefGuard};
use std::net::SocketAddr;

/// The client's address alone is not unique: the kernel uses one local port for several connections to different peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SocketPair {
    pub(crate) local: SocketAddr,
    pub(crate) remote_port: u16,
}

/// A connection is acquired before anything is sent over it, so that the server knows it with the first request.
pub(crate) type LocalSockets = RefCounts<SocketPair>;
pub(crate) type LocalSocket = RefGuard<SocketPair>;

#[cfg(test)]
mod tests {
    use super::{LocalSockets, SocketPair};
    use std::net::SocketAddr;

    fn to(remote_port: u16) -> SocketPair {
        SocketPair { local: SocketAddr::from(([127, 0, 0, 1], 40_000)), remote_port }
    }

    #[test]
    fn a_line_is_ours_for_as_long_as_it_is_open() {
        let sockets = LocalSockets::default();
        let socket = sockets.acquire(to(8101));
        assert!(sockets.clone().contains(&to(8101)));
        drop(socket);
        assert!(!sockets.contains(&to(8101)));
    }

    #[test]
    fn another_line_from_the_same_port_may_be_somebody_elses() {
        let sockets = LocalSockets::default();
        let _socket = sockets.acquire(to(8101));
        assert!(!sockets.contains(&to(8102)));
    }

    #[test]
    fn a_line_stays_ours_when_another_from_the_same_port_is_closed() {
        let sockets = LocalSockets::default();
        let (_socket, other, same) =
            (sockets.acquire(to(8101)), sockets.acquire(to(8102)), sockets.acquire(to(8101)));
        drop((other, same));
        assert!(sockets.contains(&to(8101)));
    }
}
