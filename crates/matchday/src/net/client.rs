//! The calling side: one POST, one answer, by its deadline, over http or https. Connections are kept and used again;
//! redirects are answers like any other.

use super::address::Address;
use super::body::{self, BodyError};
use super::deadline::{self, Trace};
use super::fault;
use super::lanes::{Lane, Lanes};
use super::own::{Ends, OwnLine, OwnLines};
use super::policy::Target;
use super::pool::{Line, Pool};
use super::socket::Socket;
use super::stamps::{Stamped, Stamps};
use super::strangers::Strangers;
use super::tls::{self, Trust};
use super::wire::{Dial, Wire};
use bytes::Bytes;
use hyper::client::conn::http1;
use hyper::header::{HeaderName, HeaderValue};
use hyper::rt::{Read, Write};
use hyper::{HeaderMap, Method};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// One for the whole process: its copies share their connections, and their lanes, since they share its processors.
#[derive(Debug, Clone, Default)]
pub struct Client {
    pool: Arc<Pool>,
    lanes: Lanes,
    own: OwnLines,
    trust: Trust,
    /// Who may be called, unless it is anyone.
    strangers: Option<Strangers>,
    heads: Heads,
    /// Who makes the connections, if it is not the system.
    dial: Option<Arc<dyn Dial>>,
}

/// How much of a head an answer may have.
#[derive(Debug, Clone, Copy)]
pub struct Heads {
    pub headers_max: usize,
    pub bytes_max: usize,
}

impl Default for Heads {
    fn default() -> Self {
        Self { headers_max: 64, bytes_max: 32 * 1024 }
    }
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Received {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// How one call went.
#[derive(Debug)]
pub struct Called {
    pub times: Times,
    pub outcome: Result<Received, CallError>,
}

/// How the time of a call went by.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub began: Instant,
    /// When there was a connection: at once, if one was at hand.
    pub connected: Option<Instant>,
    /// When the first byte of the answer came, and the last that did.
    pub first_byte: Option<Instant>,
    pub last_byte: Option<Instant>,
}

/// Why nothing of use came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("no answer in time")]
    TimedOut,
    #[error("no connection: {0}")]
    NoConnection(String),
    /// The request went out, and no whole answer came back.
    #[error("{0}")]
    Closed(&'static str),
    #[error("no way there from here: {0}")]
    NoRoute(String),
    /// The fault is this machine's own.
    #[error("this machine could not make the call: {0}")]
    Ours(String),
    #[error("not called: {0}")]
    Forbidden(String),
    #[error("the answer has {0} bytes or more, which is too much")]
    TooLarge(usize),
    #[error("{0}")]
    Unusable(&'static str),
}

/// What goes out.
#[derive(Debug, Clone)]
pub struct Sending {
    pub method: Method,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

impl From<Bytes> for Sending {
    fn from(body: Bytes) -> Self {
        Self { method: Method::POST, headers: Vec::new(), body }
    }
}

impl Client {
    pub fn new() -> Self {
        Self::default()
    }

    /// A place among the calls that are under way, for whoever makes many at once.
    pub(crate) async fn lane(&self) -> Lane<'_> {
        self.lanes.enter().await
    }

    /// A client that believes whom `trust` believes, over https.
    pub fn trusting(trust: Trust) -> Self {
        Self { trust, ..Self::default() }
    }

    /// The same, reading no more of a head than that.
    pub fn reading(self, heads: Heads) -> Self {
        Self { heads, ..self }
    }

    /// One that calls only whom `strangers` lets it. Connections of the other are not its own.
    pub fn guarded(&self, strangers: Strangers) -> Self {
        Self { pool: Arc::default(), strangers: Some(strangers), ..self.clone() }
    }

    pub(crate) fn strangers(&self) -> Option<&Strangers> {
        self.strangers.as_ref()
    }

    /// A client over another network than the system's.
    pub fn over(dial: Arc<dyn Dial>) -> Self {
        Self { dial: Some(dial), ..Self::default() }
    }

    /// Sends `body` to `url` and waits for the answer, of which at most `most` bytes are read.
    pub async fn post(
        &self,
        url: &str,
        body: Bytes,
        deadline: Instant,
        most: usize,
    ) -> Result<Received, CallError> {
        self.post_with(url, Vec::new(), body, deadline, most).await
    }

    /// The same with more headers.
    pub async fn post_with(
        &self,
        url: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        body: Bytes,
        deadline: Instant,
        most: usize,
    ) -> Result<Received, CallError> {
        self.called(url, Sending { method: Method::POST, headers, body }, deadline, most).await.outcome
    }

    /// Fetches what is at `url`, of which at most `most` bytes are read.
    pub async fn get_with(
        &self,
        url: &str,
        headers: Vec<(HeaderName, HeaderValue)>,
        deadline: Instant,
        most: usize,
    ) -> Result<Received, CallError> {
        let sending = Sending { method: Method::GET, headers, body: Bytes::new() };
        self.called(url, sending, deadline, most).await.outcome
    }

    /// [`Self::call`], built once and not anew wherever it is waited for: that would be a megabyte in all.
    fn called<'a>(
        &'a self,
        url: &'a str,
        sending: Sending,
        deadline: Instant,
        most: usize,
    ) -> Pin<Box<dyn Future<Output = Called> + Send + 'a>> {
        Box::pin(self.call(url, sending, deadline, most))
    }

    /// The same, told from beginning to end.
    pub async fn call(
        &self,
        url: &str,
        sending: impl Into<Sending>,
        deadline: Instant,
        most: usize,
    ) -> Called {
        let trace = Trace::begin();
        let outcome = match self.pool.address(url) {
            Err(error) => Err(error),
            Ok(address) => {
                let exchange = self.exchange(&address, sending.into(), most, &trace);
                deadline::keep(deadline, &trace, exchange).await
            }
        };
        Called { times: trace.times(), outcome }
    }

    async fn exchange(
        &self,
        address: &Address,
        sending: Sending,
        most: usize,
        trace: &Trace,
    ) -> Result<Received, CallError> {
        // Only a request of which nothing was sent goes out again: one that the peer may have read is not idempotent.
        if let Some(line) = self.pool.take(&address.origin) {
            trace.connected(trace.began, &line.stamps);
            if let Ok(outcome) = self.send(line, address, sending.clone(), most).await {
                return outcome;
            }
        }
        // Rare, and much larger than the rest: whatever is awaited in place makes every call as large.
        Box::pin(self.exchange_afresh(address, sending, most, trace)).await
    }

    async fn exchange_afresh(
        &self,
        address: &Address,
        sending: Sending,
        most: usize,
        trace: &Trace,
    ) -> Result<Received, CallError> {
        let Fresh { line, ended } = self.connect(address).await?;
        trace.connected(Instant::now(), &line.stamps);
        match self.send(line, address, sending, most).await {
            Ok(outcome) => outcome,
            // The connection knows better why it ended.
            Err(unsent) => Err(failed(address, &ended.await.unwrap_or(unsent))),
        }
    }

    /// The outer error: the connection ended before any of the request was sent over it.
    async fn send(
        &self,
        mut line: Line,
        address: &Address,
        sending: Sending,
        most: usize,
    ) -> Result<Result<Received, CallError>, hyper::Error> {
        line.sender.ready().await?;
        let response = match line.sender.try_send_request(address.request(sending)).await {
            Ok(response) => response,
            Err(mut error) => {
                let unsent = error.take_message().is_some();
                let error = error.into_error();
                return if unsent { Err(error) } else { Ok(Err(failed(address, &error))) };
            }
        };
        let (head, mut body) = response.into_parts();
        let body = match body::read(&mut body, most).await {
            Ok(body) => body,
            Err(BodyError::TooLarge(bytes)) => return Ok(Err(CallError::TooLarge(bytes))),
            Err(BodyError::Broken) => {
                return Ok(Err(CallError::Closed("the connection was closed in the middle of the answer")));
            }
        };
        self.pool.give_back(&address.origin, line);
        Ok(Ok(Received { status: head.status.as_u16(), headers: head.headers, body }))
    }

    async fn connect(&self, address: &Address) -> Result<Fresh, CallError> {
        let Target { host, port, .. } = &address.target;
        let pinned = match &self.strangers {
            Some(strangers) => strangers.addresses(&address.target).await?,
            None => None,
        };
        if let Some(dial) = &self.dial {
            let pinned = pinned.and_then(|addresses| addresses.first().map(|at| at.ip().to_string()));
            let dialled = dial.dial(pinned.as_deref().unwrap_or(host), *port).await;
            let (wire, from) = dialled.map_err(|error| fault::of_connecting(&error))?;
            let (wire, stamps) = Stamped::new(wire, |_| Instant::now(), None);
            return self.begin(wire, stamps, from, address).await;
        }
        let connecting = match pinned {
            Some(addresses) => TcpStream::connect(addresses.as_slice()).await,
            None => TcpStream::connect((host.as_str(), *port)).await,
        };
        let stream = connecting.map_err(|error| fault::of_connecting(&error))?;
        let from = stream.local_addr().map_err(broken)?;
        let socket = Socket::made(stream);
        let peek = socket.peek();
        let (stream, stamps) = Stamped::new(socket, Socket::arrived, Some(peek));
        self.begin(stream, stamps, from, address).await
    }

    async fn begin(
        &self,
        stream: impl Wire,
        stamps: Arc<Stamps>,
        from: SocketAddr,
        address: &Address,
    ) -> Result<Fresh, CallError> {
        let own = self.own.open(Ends { from, to_port: address.target.port });
        if !address.secure {
            return shake_hands(TokioIo::new(stream), stamps, self.heads, own).await;
        }
        let stream = self.trust.secure(&address.target.host, stream).await?;
        shake_hands(TokioIo::new(stream), stamps, self.heads, own).await
    }

    /// Whether it is this client, or a copy of it, that calls this port from there.
    pub(crate) fn is_caller(&self, from: SocketAddr, to_port: u16) -> bool {
        self.own.contains(Ends { from, to_port })
    }
}

/// What it means that a connection, once made, has failed before an answer began.
fn failed(address: &Address, error: &hyper::Error) -> CallError {
    if error.is_parse_too_large() {
        return CallError::Unusable("the head of the answer is too large");
    }
    match tls::refusal(&address.target.host, error) {
        Some(why) => CallError::NoConnection(why),
        // What came is not HTTP.
        None if error.is_parse() => CallError::NoConnection(error.to_string()),
        None => CallError::Closed("the connection was closed without an answer"),
    }
}

fn broken(error: impl std::fmt::Display) -> CallError {
    CallError::NoConnection(error.to_string())
}

/// A connection that nobody has used yet.
struct Fresh {
    line: Line,
    /// Why it ended, if by a failure.
    ended: oneshot::Receiver<hyper::Error>,
}

async fn shake_hands<T>(
    stream: T,
    stamps: Arc<Stamps>,
    heads: Heads,
    own: OwnLine,
) -> Result<Fresh, CallError>
where
    T: Read + Write + Send + Unpin + 'static,
{
    let (sender, connection) = http1::Builder::new()
        .max_headers(heads.headers_max)
        .max_buf_size(heads.bytes_max)
        .handshake(stream)
        .await
        .map_err(broken)?;
    // It ends when the line is dropped or the peer closes; what went wrong is told to whoever waits for an answer.
    let (tell, ended) = oneshot::channel();
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            // Of a connection that has been in use nobody asks.
            let _ = tell.send(error);
        }
        drop(own);
    });
    Ok(Fresh { line: Line { sender, stamps }, ended })
}
