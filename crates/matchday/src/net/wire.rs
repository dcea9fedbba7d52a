//! What connections are made of. Those of the program are the system's; whoever brings a network of its own, such as a
//! simulated one, runs everything above it unchanged. Touches sockets.

use super::socket::{self, Socket};
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// Both directions of one connection.
pub trait Wire: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Wire for T {}

/// Where connections come in.
pub trait Listen: Send + Sync + 'static {
    type Wire: Wire;

    /// The next connection, and where it comes from.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Wire, SocketAddr)>> + Send;

    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// Before the first connection is taken.
    fn prepare(&self) {}

    /// When the bytes that were read last from a connection had come, if that can be known: else now, as they are read.
    fn arrived(_wire: &Self::Wire) -> Instant {
        Instant::now()
    }
}

impl Listen for TcpListener {
    type Wire = Socket;

    async fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        Ok((Socket::taken(stream), peer))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Self::local_addr(self)
    }

    fn prepare(&self) {
        socket::prepare(self);
    }

    fn arrived(socket: &Socket) -> Instant {
        socket.arrived()
    }
}

/// How connections go out, where it is not the system that makes them.
pub trait Dial: fmt::Debug + Send + Sync {
    /// A connection, and where it comes from on our side.
    fn dial<'a>(&'a self, host: &'a str, port: u16) -> Dialling<'a>;
}

pub type Dialling<'a> = Pin<Box<dyn Future<Output = io::Result<(Box<dyn Wire>, SocketAddr)>> + Send + 'a>>;
