//! Connections as no decent client makes them: slow, broken off, half closed. For seeing whether an agent lives on.

use bytes::Bytes;
use hyper::Uri;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How much of an answer is read to see that there is one.
const HEAD_BYTES: usize = 64 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Where to connect, and what to ask for.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    host: String,
    port: u16,
    authority: String,
    path: String,
    /// Whether it wants TLS, which is not spoken here.
    pub(crate) secure: bool,
}

impl Place {
    pub(crate) fn of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let authority = uri.authority()?;
        let secure = uri.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        Some(Self {
            host: authority.host().trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            secure,
            authority: authority.as_str().to_owned(),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        })
    }

    pub(crate) async fn connect(&self) -> io::Result<TcpStream> {
        let connecting = TcpStream::connect((self.host.as_str(), self.port));
        let stream = timeout(CONNECT_TIMEOUT, connecting).await.map_err(|_| io::ErrorKind::TimedOut)??;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn head(&self, body: &[u8]) -> String {
        format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.path,
            self.authority,
            body.len()
        )
    }

    /// Sends a request in pieces with pauses between them, and reads what is answered: status and body.
    pub(crate) async fn drip(
        &self,
        body: &[u8],
        pieces: usize,
        pause: Duration,
        within: Duration,
    ) -> io::Result<(u16, Bytes)> {
        let mut stream = self.connect().await?;
        let request = [self.head(body).as_bytes(), body].concat();
        for piece in request.chunks(request.len().div_ceil(pieces.max(1))) {
            stream.write_all(piece).await?;
            sleep(pause).await;
        }
        let answer = timeout(within, read_some(&mut stream)).await.map_err(|_| io::ErrorKind::TimedOut)??;
        parsed(&answer).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Sends half a request, and hangs up.
    pub(crate) async fn break_off(&self, body: &[u8]) -> io::Result<()> {
        let mut stream = self.connect().await?;
        let half = body.get(..body.len() / 2).unwrap_or_default();
        stream.write_all(self.head(body).as_bytes()).await?;
        stream.write_all(half).await?;
        stream.shutdown().await
    }

    /// Sends a whole request, and hangs up before the answer can be read.
    pub(crate) async fn run_away(&self, body: &[u8]) -> io::Result<()> {
        let mut stream = self.connect().await?;
        stream.write_all(self.head(body).as_bytes()).await?;
        stream.write_all(body).await?;
        // With this a close is a reset: the agent's answer has nowhere to go.
        stream.set_zero_linger()
    }
}

async fn read_some(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    let mut limited = stream.take(HEAD_BYTES as u64);
    match limited.read_to_end(&mut answer).await {
        Err(error) if answer.is_empty() => Err(error),
        _ => Ok(answer),
    }
}

/// Status and body of an answer that has been read to its end.
fn parsed(answer: &[u8]) -> Option<(u16, Bytes)> {
    let at = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, body) = answer.split_at_checked(at + 4)?;
    let head = std::str::from_utf8(head).ok()?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    Some((status, Bytes::copy_from_slice(body)))
}
