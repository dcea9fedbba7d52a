//! Raw TCP requests that no HTTP client would send: in slow pieces, truncated, closed early. To test robustness.

use bytes::Bytes;
use hyper::Uri;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

const HEAD_BYTES: usize = 64 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a whole answer may take, however it drips.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// After so long without another byte of a body no more come.
const SILENCE: Duration = Duration::from_secs(1);
const WAKE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub(crate) struct RawTarget {
    host: String,
    port: u16,
    authority: String,
    path: String,
    /// Whether the URL needs TLS, which raw requests do not support.
    pub secure: bool,
}

impl RawTarget {
    pub(crate) fn of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let authority = uri.authority()?;
        let secure = uri
            .scheme_str()
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        Some(Self {
            host: authority
                .host()
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned(),
            port: authority
                .port_u16()
                .unwrap_or(if secure { 443 } else { 80 }),
            secure,
            authority: authority.as_str().to_owned(),
            path: uri
                .path_and_query()
                .map_or("/", |path| path.as_str())
                .to_owned(),
        })
    }

    pub(crate) async fn connect(&self) -> io::Result<TcpStream> {
        let connecting = TcpStream::connect((self.host.as_str(), self.port));
        let stream = timeout(CONNECT_TIMEOUT, connecting)
            .await
            .map_err(|_| io::ErrorKind::TimedOut)??;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn head(&self, body: &[u8], connection: &str) -> String {
        format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n",
            self.path,
            self.authority,
            body.len()
        )
    }

    /// Does a response on an open connection end where its head says? If not, what is wrong.
    pub(crate) async fn check_length(
        &self,
        body: &[u8],
        within: Duration,
    ) -> io::Result<Result<(), String>> {
        timeout(ANSWER_MAX, self.check_length_of_any(body, within))
            .await
            .map_err(|_| io::ErrorKind::TimedOut)?
    }

    /// The same of an answer that may drip for ever.
    async fn check_length_of_any(
        &self,
        body: &[u8],
        within: Duration,
    ) -> io::Result<Result<(), String>> {
        let mut stream = self.connect().await?;
        stream
            .write_all(&[self.head(body, "keep-alive").as_bytes(), body].concat())
            .await?;
        let mut answer = Vec::new();
        let mut open = true;
        while open && split_head(&answer).is_none() && answer.len() < HEAD_BYTES {
            open = read_more(&mut stream, &mut answer, within).await?;
        }
        let Some((head, _)) = split_head(&answer) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let length = match BodyLength::of(head) {
            BodyLength::Chunked => return Ok(Ok(())),
            BodyLength::Invalid(text) => {
                return Ok(Err(format!("its Content-Length is {text:?}, not a number")));
            }
            BodyLength::Absent => None,
            BodyLength::Bytes(bytes) => Some(bytes),
        };
        let at = answer.len() - split_head(&answer).map_or(0, |(_, body)| body.len());
        // What comes in the wake of a whole body comes at once.
        let pause = |came: usize| {
            if length.is_some_and(|length| came >= length) {
                WAKE
            } else {
                SILENCE
            }
        };
        while open && answer.len() < HEAD_BYTES {
            let pause = pause(answer.len() - at);
            match read_more(&mut stream, &mut answer, pause).await {
                Ok(more) => open = more,
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                Err(_) => open = false,
            }
        }
        let came = answer.len() - at;
        Ok(match length {
            None if open && answer.len() < HEAD_BYTES => Err("it sends no Content-Length and keeps the connection open: where the answer ends cannot be known".to_owned()),
            Some(length) if length != came && answer.len() < HEAD_BYTES => {
                Err(format!("its Content-Length is {length}, and {came} bytes come"))
            }
            _ => Ok(()),
        })
    }

    /// Sends a request in pieces with pauses in between, and reads the response: status and body.
    pub(crate) async fn send_slowly(
        &self,
        body: &[u8],
        pieces: usize,
        pause: Duration,
        within: Duration,
    ) -> io::Result<(u16, Bytes)> {
        let mut stream = self.connect().await?;
        let request = [self.head(body, "close").as_bytes(), body].concat();
        let mut sent = Ok(());
        for piece in request.chunks(request.len().div_ceil(pieces.max(1))) {
            sent = stream.write_all(piece).await;
            // A server may have answered before it has read everything, and closed the connection.
            if sent.is_err() {
                break;
            }
            sleep(pause).await;
        }
        let answer = timeout(within, read_response(&mut stream))
            .await
            .map_err(|_| io::ErrorKind::TimedOut)??;
        parse_response(&answer)
            .ok_or_else(|| sent.err().unwrap_or(io::ErrorKind::InvalidData.into()))
    }

    /// Sends half a request and closes the connection.
    pub(crate) async fn send_half(&self, body: &[u8]) -> io::Result<()> {
        let mut stream = self.connect().await?;
        let half = body.get(..body.len() / 2).unwrap_or_default();
        stream
            .write_all(self.head(body, "close").as_bytes())
            .await?;
        stream.write_all(half).await?;
        stream.shutdown().await
    }

    /// Sends a whole request and resets the connection before the response can be read.
    pub(crate) async fn close_before_answer(&self, body: &[u8]) -> io::Result<()> {
        let mut stream = self.connect().await?;
        stream
            .write_all(self.head(body, "close").as_bytes())
            .await?;
        stream.write_all(body).await?;
        // With zero linger, close sends a reset.
        stream.set_zero_linger()
    }
}

/// What a head says about the length of its body.
enum BodyLength {
    Bytes(usize),
    Chunked,
    Absent,
    Invalid(String),
}

impl BodyLength {
    fn of(head: &str) -> Self {
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(':'));
            lines
                .map(|(key, value)| (key.trim(), value.trim()))
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
        };
        match (header("Transfer-Encoding"), header("Content-Length")) {
            (Some((_, coding)), _) if coding.eq_ignore_ascii_case("chunked") => Self::Chunked,
            (_, Some((_, text))) => text
                .parse()
                .map_or_else(|_| Self::Invalid(text.to_owned()), Self::Bytes),
            (_, None) => Self::Absent,
        }
    }
}

/// Reads what comes next. Returns whether the connection is still open.
async fn read_more(
    stream: &mut TcpStream,
    into: &mut Vec<u8>,
    within: Duration,
) -> io::Result<bool> {
    let read = timeout(within, stream.read_buf(into))
        .await
        .map_err(|_| io::ErrorKind::TimedOut)??;
    Ok(read > 0)
}

fn split_head(answer: &[u8]) -> Option<(&str, &[u8])> {
    let at = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, body) = answer.split_at_checked(at + 4)?;
    Some((std::str::from_utf8(head).ok()?, body))
}

async fn read_response(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    let mut limited = stream.take(HEAD_BYTES as u64);
    match limited.read_to_end(&mut answer).await {
        Err(error) if answer.is_empty() => Err(error),
        _ => Ok(answer),
    }
}

fn parse_response(answer: &[u8]) -> Option<(u16, Bytes)> {
    let (head, body) = split_head(answer)?;
    let status = head
        .strip_prefix("HTTP/1.")?
        .split(' ')
        .nth(1)?
        .parse()
        .ok()?;
    Some((status, Bytes::copy_from_slice(body)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// What a slow request gets from a server that reads its beginning, says this, and closes the connection.
    async fn slow_request_to(says: &'static str) -> io::Result<(u16, Bytes)> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target =
            RawTarget::of(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await.unwrap();
            stream.write_all(says.as_bytes()).await.unwrap();
        };
        let pause = Duration::from_millis(10);
        tokio::join!(
            target.send_slowly(&[b' '; 100], 10, pause, Duration::from_secs(60)),
            server
        )
        .0
    }

    #[tokio::test]
    async fn an_answer_that_comes_before_a_slow_request_is_complete_is_read() {
        let answer = slow_request_to("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await;
        assert_eq!(answer.unwrap().0, 404);
    }

    #[tokio::test]
    async fn a_connection_that_is_closed_in_the_middle_of_a_slow_request_is_said_to_be() {
        let error = slow_request_to("").await.unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    }
}
