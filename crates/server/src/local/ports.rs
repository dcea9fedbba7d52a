//! The ports of a local league. All are bound before anything starts, so that nothing has begun if one is taken.

use serde::{Deserialize, Serialize};
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
         ones); a league that was broken off goes on at its own; nothing was started"
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

/// The number of every port: 0 for any that is free.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortNumbers {
    pub manager: u16,
    pub referees: Vec<u16>,
    pub players: Vec<u16>,
}

impl PortNumbers {
    /// The manager's, and those after it; from 0 any that are free.
    pub fn from_base(base: u16, referees: u16, players: u16) -> Result<Self, PortError> {
        let all = |from: u16, count: u16| -> Result<Vec<u16>, PortError> {
            let number = |place: u16| match base {
                0 => Some(0),
                base => base.checked_add(from)?.checked_add(place),
            };
            let numbers = (0..count).map(|place| number(place).ok_or(PortError::TooHigh { base }));
            numbers.collect()
        };
        Ok(Self {
            manager: base,
            referees: all(REFEREES_FROM, referees)?,
            players: all(PLAYERS_FROM, players)?,
        })
    }
}

impl Ports {
    pub async fn bind(numbers: &PortNumbers) -> Result<Self, PortError> {
        let manager = bind(numbers.manager, "the manager").await?;
        let referees = bind_all(&numbers.referees, "a referee").await?;
        let players = bind_all(&numbers.players, "a player").await?;
        Ok(Self {
            manager,
            listeners: AgentListeners { referees, players },
        })
    }

    pub fn numbers(&self) -> io::Result<PortNumbers> {
        let port = |listener: &TcpListener| Ok(listener.local_addr()?.port());
        Ok(PortNumbers {
            manager: port(&self.manager)?,
            referees: self
                .listeners
                .referees
                .iter()
                .map(port)
                .collect::<io::Result<_>>()?,
            players: self
                .listeners
                .players
                .iter()
                .map(port)
                .collect::<io::Result<_>>()?,
        })
    }
}

async fn bind_all(ports: &[u16], whom: &'static str) -> Result<Vec<TcpListener>, PortError> {
    let mut listeners = Vec::new();
    for port in ports {
        listeners.push(bind(*port, whom).await?);
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
