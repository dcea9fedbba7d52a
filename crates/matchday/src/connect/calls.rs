//! Reads the calls of a mailbox, has the agent answer each, and posts the answers. Reconnects for as long as it runs.

use super::relay_client::{RelayClient, RelayError};
use super::status::{Change, Status};
use bytes::Bytes;
use matchday_core::entropy::Entropy;
use matchday_net::client::{CallError, Client};
use matchday_net::egress::Target;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// The relay sends an empty line every five seconds.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// The first empty line comes at once, unless something on the way holds it back.
const FIRST_LINE_MAX: Duration = Duration::from_secs(3);
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_millis(1600);
/// How many numbers of calls are remembered, so that none is answered twice.
const REMEMBERED_MAX: usize = 1024;
const LINE_BYTES_MAX: usize = 8 << 20;
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Time for the answer to travel back.
const MARGIN: Duration = Duration::from_millis(20);

/// Where the agent itself is called: at one URL, and nowhere else.
#[derive(Debug, Clone)]
pub struct AgentEndpoint {
    client: Client,
    url: Arc<Mutex<Option<String>>>,
}

impl AgentEndpoint {
    /// `url`: `None` for an agent that was started here. It is called where its registration says, on this machine.
    pub fn new(client: Client, url: Option<String>) -> Self {
        Self { client, url: Arc::new(Mutex::new(url)) }
    }

    fn url(&self) -> Option<String> {
        self.url.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the URL of a registration, unless it is known or leads to another machine.
    pub(super) fn learn(&self, url: &str) {
        let mut known = self.url.lock().unwrap_or_else(PoisonError::into_inner);
        let is_here = |target: &Target| {
            target.host == "localhost" || target.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        };
        if known.is_none() && Target::parse(url).as_ref().is_some_and(is_here) {
            *known = Some(url.to_owned());
        }
    }
}

/// An agent that dials out.
#[derive(Debug)]
pub struct Dialled {
    pub relay: RelayClient,
    pub agent: AgentEndpoint,
    pub status: Status,
    /// Whether another client of the mailbox is replaced.
    pub take_over: bool,
    /// Calls that were received.
    seen: Mutex<BTreeSet<u64>>,
}

/// A line of the stream.
#[derive(Debug, Deserialize)]
struct Line {
    id: Option<u64>,
    left_ms: Option<u64>,
    body: Option<String>,
    closed: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Mode {
    Stream,
    Poll,
}

/// Why a stream ended.
enum Ended {
    Buffered,
    Cut(String),
    Error(RelayError),
}

impl Dialled {
    pub fn new(relay: RelayClient, agent: AgentEndpoint, status: Status, take_over: bool) -> Arc<Self> {
        Arc::new(Self { relay, agent, status, take_over, seen: Mutex::default() })
    }

    /// Runs until the relay cannot be used any more; why.
    pub async fn run(self: Arc<Self>, mut entropy: Entropy) -> RelayError {
        let (mut mode, mut take_over, mut backoff) = (Mode::Stream, self.take_over, BACKOFF_MIN);
        loop {
            let began = Instant::now();
            let ended = match mode {
                Mode::Stream => self.read_stream(take_over).await,
                Mode::Poll => self.read_poll(take_over).await,
            };
            match ended {
                Ended::Buffered => {
                    mode = Mode::Poll;
                    self.status.tell(Change::Polling);
                    continue;
                }
                Ended::Error(why) if why.is_final() => return why,
                Ended::Error(why) => self.status.tell(Change::Disconnected(why.to_string())),
                Ended::Cut(why) => {
                    take_over = false;
                    self.status.tell(Change::Disconnected(why));
                }
            }
            if began.elapsed() > SILENCE_MAX {
                backoff = BACKOFF_MIN;
            }
            // Jitter, so that the agents of a league that was restarted do not come back all at once.
            let micros = u64::try_from(backoff.as_micros()).unwrap_or(u64::MAX);
            sleep(backoff / 2 + Duration::from_micros(entropy.below(micros / 2 + 1))).await;
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    fn last_seen(&self) -> Option<u64> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).last().copied()
    }

    async fn read_stream(self: &Arc<Self>, take_over: bool) -> Ended {
        let mut stream = match self.relay.stream(self.last_seen(), take_over).await {
            Ok(stream) => stream,
            Err(why) => return Ended::Error(why),
        };
        let mut first = true;
        let mut unread: Vec<u8> = Vec::new();
        loop {
            let patience = if first { FIRST_LINE_MAX } else { SILENCE_MAX };
            let piece = match timeout(patience, stream.next()).await {
                Err(_) if first => return Ended::Buffered,
                Err(_) => return Ended::Cut("the stream fell silent".to_owned()),
                Ok(None) => return Ended::Cut("the league has ended the stream".to_owned()),
                Ok(Some(Err(why))) => return Ended::Cut(why.to_string()),
                Ok(Some(Ok(piece))) => piece,
            };
            if std::mem::take(&mut first) {
                self.status.tell(Change::Connected);
            }
            unread.extend_from_slice(&piece);
            if unread.len() > LINE_BYTES_MAX {
                return Ended::Cut("the league sends a line that is too long".to_owned());
            }
            while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = unread.drain(..=end).collect();
                if let Some(ended) = self.take_line(&line) {
                    return ended;
                }
            }
        }
    }

    async fn read_poll(self: &Arc<Self>, mut take_over: bool) -> Ended {
        loop {
            let lines = match self.relay.poll(self.last_seen(), take_over).await {
                Ok(lines) => lines,
                Err(why) => return Ended::Error(why),
            };
            take_over = false;
            for line in lines.split(|byte| *byte == b'\n') {
                if let Some(ended) = self.take_line(line) {
                    return ended;
                }
            }
        }
    }

    /// A call is answered in a task of its own. `Some` if the stream has ended.
    fn take_line(self: &Arc<Self>, line: &[u8]) -> Option<Ended> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let line: Line = match serde_json::from_slice(line) {
            Ok(line) => line,
            Err(error) => return Some(Ended::Cut(format!("the league sends what is no call: {error}"))),
        };
        match line {
            Line { closed: Some(why), .. } if why == "taken_over" => {
                Some(Ended::Error(RelayError::TakenOver))
            }
            Line { closed: Some(_), .. } => Some(Ended::Cut("the league is being restarted".to_owned())),
            Line { id: Some(id), left_ms, body: Some(body), .. } => {
                if self.is_new(id) {
                    let left = Duration::from_millis(left_ms.unwrap_or(30_000));
                    tokio::spawn(Arc::clone(self).answer(id, body.into(), Instant::now() + left));
                }
                None
            }
            _ => None,
        }
    }

    fn is_new(&self, id: u64) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = seen.insert(id);
        if seen.len() > REMEMBERED_MAX {
            seen.pop_first();
        }
        is_new
    }

    async fn answer(self: Arc<Self>, id: u64, body: Bytes, deadline: Instant) {
        let began = Instant::now();
        let asked_until = deadline.checked_sub(MARGIN).filter(|at| *at > began).unwrap_or(deadline);
        let Some(url) = self.agent.url() else {
            let _ = self.post(id, None, deadline).await;
            let why = "the agent has not registered yet, with an address on this machine";
            return self.status.tell(Change::CallFailed(why.to_owned()));
        };
        let (answer, why) = match self.agent.client.post(&url, body, asked_until, ANSWER_BYTES_MAX).await {
            Ok(answer) => (Some((answer.status, answer.body)), None),
            Err(CallError::TimedOut) => {
                return self.status.tell(Change::CallFailed("the agent did not answer in time".to_owned()));
            }
            Err(CallError::NoConnection(why)) => {
                (None, Some(format!("the agent is not listening at {url}: {why}")))
            }
            Err(why) => (None, Some(format!("the agent at {url}: {why}"))),
        };
        let posted = self.post(id, answer.as_ref(), deadline).await;
        self.status.tell(match (posted, why) {
            (_, Some(why)) => Change::CallFailed(why),
            (Ok(true), None) => Change::Answered(began.elapsed()),
            (Ok(false), None) => Change::CallFailed("the answer came too late".to_owned()),
            (Err(why), None) => Change::CallFailed(why.to_string()),
        });
    }

    /// Posts an answer, again and again until the deadline if the league cannot be reached.
    async fn post(
        &self,
        id: u64,
        answer: Option<&(u16, Bytes)>,
        deadline: Instant,
    ) -> Result<bool, RelayError> {
        loop {
            match self.relay.answer(id, answer, deadline).await {
                Err(RelayError::Unreachable(why)) => {
                    if timeout_at(deadline, sleep(BACKOFF_MIN)).await.is_err() {
                        return Err(RelayError::Unreachable(why));
                    }
                }
                posted => return posted,
            }
        }
    }
}
