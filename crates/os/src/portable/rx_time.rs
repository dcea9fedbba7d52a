//! Reads from a socket with the time of the read: there is no timestamp of the kernel.

use std::io;
use std::task::{Context, Poll, ready};
use tokio::io::ReadBuf;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// Nothing is kept.
#[derive(Debug)]
pub struct RxTimestamps;

impl RxTimestamps {
    pub fn new(_: &TcpStream, _: Instant) -> Self {
        Self
    }

    /// Reads into `into`. The result is the time of the read.
    pub fn poll_read(
        &mut self,
        stream: &TcpStream,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<Instant>> {
        loop {
            ready!(stream.poll_read_ready(cx))?;
            match stream.try_read_buf(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read.map(|_| Instant::now())),
            }
        }
    }
}

/// Does nothing.
pub fn enable(_: &TcpListener) {}
