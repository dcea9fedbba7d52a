//! A server and a client in one process without a socket between them: an agent that dials out is called this way.

use crate::transport::{Connection, DialFuture, Dialer, Listener};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex as StdMutex;
use std::sync::PoisonError;
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
pub struct MemoryDialer {
    to: mpsc::Sender<DuplexStream>,
    /// Ports tell connections apart in logs and limits.
    last_port: StdMutex<u16>,
}

/// Both ends.
pub fn pair() -> (MemoryListener, MemoryDialer) {
    let (to, connections) = mpsc::channel(BACKLOG);
    (MemoryListener(Mutex::new(connections)), MemoryDialer { to, last_port: StdMutex::new(1024) })
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
            self.to.send(far).await.map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
            let port = {
                let mut last = self.last_port.lock().unwrap_or_else(PoisonError::into_inner);
                *last = last.checked_add(1).unwrap_or(1024);
                *last
            };
            Ok((Box::new(near) as Box<dyn Connection>, SocketAddr::new(ADDRESS.ip(), port)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;
    use crate::response::json;
    use crate::server::{ServerOptions, serve};
    use hyper::StatusCode;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::sync::watch;
    use tokio::time::Instant;

    #[tokio::test]
    async fn a_server_without_a_socket_is_called() {
        let (listener, dialer) = pair();
        let (close, closing) = watch::channel(false);
        let handler = |_, _| async { json(StatusCode::OK, b"{}".to_vec()) };
        let serving = tokio::spawn(serve(listener, ServerOptions::default(), handler, closing));
        let client = Client::with_dialer(Arc::new(dialer));
        for _ in 0..3 {
            let deadline = Instant::now() + Duration::from_secs(30);
            let answer = client.post(URL, "{}".into(), deadline, 100).await.unwrap();
            assert_eq!((answer.status, &answer.body[..]), (200, &b"{}"[..]));
        }
        close.send(true).unwrap();
        serving.await.unwrap();
    }
}
