//! The ports of a local league. All are bound before anything starts, so that nothing has begun if one is taken.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;

/// Offsets from the manager's port.
const REFEREES_FROM: u16 = 1;
const PLAYERS_FROM: u16 = 101;

#[derive(Debug)]
pub struct Ports {
    pub manager: TcpListener,
    pub listeners: AgentListeners,
}

#[derive(Debug)]
pub struct AgentListeners {
    pub referees: Vec<TcpListener>,
    pub players: Vec<TcpListener>,
}

#[derive(Debug, thiserror::Error)]
pub enum PortError {
    #[error(
        "port {port}, for {whom}, is taken by another program: --port-base moves all ports (--port-base 0 picks free \
         ones); nothing was started"
    )]
    Taken { port: u16, whom: &'static str },
    #[error(
        "port {port}, for {whom}, cannot be used: {error}; --port-base moves all ports; nothing was started"
    )]
    Unusable {
        port: u16,
        whom: &'static str,
        error: io::Error,
    },
    #[error("--port-base {base} leaves no room for all ports below 65536: choose a smaller one")]
    TooHigh { base: u16 },
}

impl Ports {
    /// Binds the manager's port and those after it; 0 picks free ports.
    pub async fn bind(base: u16, referees: u16, players: u16) -> Result<Self, PortError> {
        let manager = bind(base, "the manager").await?;
        let referees = bind_all(base, REFEREES_FROM, referees, "a referee").await?;
        let players = bind_all(base, PLAYERS_FROM, players, "a player").await?;
        Ok(Self {
            manager,
            listeners: AgentListeners { referees, players },
        })
    }
}

async fn bind_all(
    base: u16,
    from: u16,
    count: u16,
    whom: &'static str,
) -> Result<Vec<TcpListener>, PortError> {
    let mut listeners = Vec::new();
    for place in 0..count {
        let port = match base {
            0 => Some(0),
            base => base
                .checked_add(from)
                .and_then(|first| first.checked_add(place)),
        };
        listeners.push(bind(port.ok_or(PortError::TooHigh { base })?, whom).await?);
    }
    Ok(listeners)
}

async fn bind(port: u16, whom: &'static str) -> Result<TcpListener, PortError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address)
        .await
        .map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => PortError::Taken { port, whom },
            _ => PortError::Unusable { port, whom, error },
        })
}
