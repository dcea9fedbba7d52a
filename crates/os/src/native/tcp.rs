//! What a TCP socket is told beyond the usual.

use nix::sys::socket::{setsockopt, sockopt};
use std::time::Duration;
use tokio::net::TcpListener;

/// Ends the connections that are accepted here when bytes of ours are not acknowledged for so long (TCP_USER_TIMEOUT): a peer that
/// has lost its network closes nothing.
pub fn end_unacknowledged(listener: &TcpListener, after: Duration) {
    let millis = u32::try_from(after.as_millis()).unwrap_or(u32::MAX);
    let _ = setsockopt(listener, sockopt::TcpUserTimeout, &millis);
}
