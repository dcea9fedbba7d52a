//! A server and a client without a socket between them.

use matchday_net::transport::{Connection, DialFuture, Dialer, Listener};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::DuplexStream;
use tokio::sync::{Mutex, mpsc};

const BUFFER_BYTES: usize = 64 * 1024;
const BACKLOG: usize = 128;
/// What both ends show as their address; nothing listens there.
pub const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 80);
/// The endpoint that the dialer reaches, whatever it is asked for.
pub const URL: &str = "http://127.0.0.1/mcp";

#[derive(Debug)]
pub struct MemoryListener(Mutex<mpsc::Receiver<DuplexStream>>);

#[derive(Debug)]
pub struct MemoryDialer(mpsc::Sender<DuplexStream>);

/// Both ends.
pub fn pair() -> (MemoryListener, MemoryDialer) {
    let (to, connections) = mpsc::channel(BACKLOG);
    (MemoryListener(Mutex::new(connections)), MemoryDialer(to))
}

impl Listener for MemoryListener {
    type Connection = DuplexStream;

    async fn accept(&self) -> io::Result<(DuplexStream, SocketAddr)> {
        match self.0.lock().await.recv().await {
            Some(stream) => Ok((stream, ADDRESS)),
            // Nobody can dial any more.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(ADDRESS)
    }
}

impl Dialer for MemoryDialer {
    fn dial<'a>(&'a self, _host: &'a str, _port: u16) -> DialFuture<'a> {
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(BUFFER_BYTES);
            self.0
                .send(far)
                .await
                .map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
            Ok(Box::new(near) as Box<dyn Connection>)
        })
    }
}
