//! Free ports on this machine, and the endpoints of agents there.

use crate::eventually::eventually;
use matchday_core::protocol::Endpoint;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;

pub fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::parse(&format!("http://{address}/mcp")).unwrap()
}

/// Ports below those that the system hands out by itself (32768 and above): one of those could go to an outgoing
/// connection of another test before the process that it was meant for listens on it.
const PORTS: std::ops::Range<u64> = 10_000..30_000;

/// An address on which nobody listens, and which this process has not been given before.
pub fn free_address() -> SocketAddr {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap();
    loop {
        let drawn =
            RandomState::new().hash_one(given.len()) % (PORTS.end - PORTS.start) + PORTS.start;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, u16::try_from(drawn).unwrap()));
        if given.insert(address.port()) && TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

/// A listener on a port of its own.
#[cfg(feature = "network")]
pub async fn free_port() -> tokio::net::TcpListener {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// Waits until somebody listens at this address.
pub fn until_listening(address: &str) {
    eventually("somebody listens", || TcpStream::connect(address));
}
