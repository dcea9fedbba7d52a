//! The traits between HTTP and the network. The program uses the operating system's TCP sockets; tests run the same server and
//! client over a simulated network.

use crate::socket::{self, PeerEnd, Socket};
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// A byte stream in both directions.
pub trait Connection: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Connection for T {}

/// Accepts connections.
pub trait Listener: Send + Sync + 'static {
    type Connection: Connection;

    /// The next connection and the peer's address.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Connection, SocketAddr)>> + Send;

    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// Called once, before the first `accept`.
    fn prepare(&self) {}

    /// When the bytes of the last read were received. Without kernel timestamps that is the time of the read.
    fn rx_time(_connection: &Self::Connection) -> Instant {
        Instant::now()
    }

    /// Sees that the peer has closed its side, where that can be seen without reading.
    fn peer_end(_connection: &Self::Connection) -> Option<PeerEnd> {
        None
    }
}

impl Listener for TcpListener {
    type Connection = Socket;

    async fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        Ok((Socket::accepted(stream), peer))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Self::local_addr(self)
    }

    fn prepare(&self) {
        socket::prepare(self);
    }

    fn rx_time(socket: &Socket) -> Instant {
        socket.rx_time()
    }

    fn peer_end(socket: &Socket) -> Option<PeerEnd> {
        Some(socket.peer_end())
    }
}

/// Opens connections over something other than the operating system's TCP.
pub trait Dialer: fmt::Debug + Send + Sync {
    fn dial<'a>(&'a self, host: &'a str, port: u16) -> DialFuture<'a>;
}

pub type DialFuture<'a> =
    Pin<Box<dyn Future<Output = io::Result<Box<dyn Connection>>> + Send + 'a>>;
