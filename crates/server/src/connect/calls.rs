//! Reads the calls of a mailbox, has the agent answer each, and posts the answers. Reconnects for as long as it runs.

use super::lines::{Lines, NoLine};
use super::relay_client::{RelayClient, RelayError};
use super::status::{Change, Status};
use bytes::Bytes;
use matchday_core::entropy::Entropy;
use matchday_core::mailbox::WAITING_MAX;
use matchday_net::client::{CallError, Client};
use matchday_net::egress::Target;
use matchday_runtime::HttpService;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SetOnce};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// The relay sends an empty line every five seconds.
const SILENCE_MAX: Duration = Duration::from_secs(15);
/// The first empty line comes at once, unless something on the way holds it back.
const FIRST_LINE_MAX: Duration = Duration::from_secs(3);
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_millis(1600);
/// How many numbers of calls are remembered, so that none is answered twice.
const REMEMBERED_MAX: usize = 1024;
/// How many calls are answered at once. Further ones are not read until one of them has ended.
pub const CALLS_MAX: usize = WAITING_MAX;
/// How long these may be together.
pub const CALLS_BYTES_MAX: usize = 16 << 20;
/// The longest time that a call is given, whatever the league says; the relay itself gives no more.
const LEFT_MAX: Duration = Duration::from_secs(600);
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// For a call whose time the league does not say.
const LEFT_UNKNOWN: Duration = Duration::from_secs(30);
/// Time for the answer to travel back.
const MARGIN: Duration = Duration::from_millis(20);

/// Where the agent itself is called, and nowhere else.
#[derive(Debug, Clone)]
pub enum AgentEndpoint {
    /// At one URL. `None` for an agent that was started here: it is called where its registration says, on this machine.
    Url(Client, Arc<Mutex<Option<String>>>),
    /// An agent of this process, once it runs.
    InProcess(Arc<SetOnce<Arc<HttpService>>>),
}

impl AgentEndpoint {
    pub fn at(client: Client, url: Option<String>) -> Self {
        Self::Url(client, Arc::new(Mutex::new(url)))
    }

    /// Has the agent answer by the deadline. If it does not: why, and whether something else is to be told to the league.
    async fn post(&self, body: Bytes, deadline: Instant) -> Result<(u16, Bytes), NotAnswered> {
        let (client, url) = match self {
            Self::InProcess(service) => {
                let answering = async { service.wait().await.deliver(body).await };
                return timeout_at(deadline, answering)
                    .await
                    .map_err(|_| NotAnswered::TimedOut);
            }
            Self::Url(client, url) => (
                client,
                url.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            ),
        };
        let Some(url) = url else {
            let why = "the agent has not registered yet, with an address on this machine";
            return Err(NotAnswered::Failed(why.to_owned()));
        };
        match client.post(&url, body, deadline, ANSWER_BYTES_MAX).await {
            Ok(answer) => Ok((answer.status, answer.body)),
            Err(CallError::TimedOut) => Err(NotAnswered::TimedOut),
            Err(CallError::NoConnection(why)) => Err(NotAnswered::Failed(format!(
                "the agent is not listening at {url}: {why}"
            ))),
            Err(why) => Err(NotAnswered::Failed(format!("the agent at {url}: {why}"))),
        }
    }

    /// Takes the URL of a registration, unless it is known or leads to another machine.
    pub(super) fn learn(&self, url: &str) {
        let Self::Url(_, known) = self else { return };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_here = |target: &Target| {
            target.host == "localhost"
                || target
                    .host
                    .parse::<IpAddr>()
                    .is_ok_and(|ip| ip.is_loopback())
        };
        if known.is_none() && Target::parse(url).as_ref().is_some_and(is_here) {
            *known = Some(url.to_owned());
        }
    }
}

/// Why the agent did not answer.
enum NotAnswered {
    TimedOut,
    /// For good; why.
    Failed(String),
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
    /// The places of calls that are being answered, and their bytes.
    places: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
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
enum StreamEnd {
    Buffered,
    Cut(String),
    Error(RelayError),
}

impl Dialled {
    pub fn new(
        relay: RelayClient,
        agent: AgentEndpoint,
        status: Status,
        take_over: bool,
    ) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(CALLS_MAX));
        let bytes = Arc::new(Semaphore::new(CALLS_BYTES_MAX));
        Arc::new(Self {
            relay,
            agent,
            status,
            take_over,
            seen: Mutex::default(),
            places,
            bytes,
        })
    }

    /// Runs until the relay cannot be used any more; why.
    pub async fn run(self: Arc<Self>, mut entropy: Entropy) -> RelayError {
        let mut mode = Mode::Stream;
        let mut take_over = self.take_over;
        let mut backoff = BACKOFF_MIN;
        loop {
            let began = Instant::now();
            let ended = match mode {
                Mode::Stream => self.read_stream(take_over).await,
                Mode::Poll => self.read_poll(take_over).await,
            };
            match ended {
                StreamEnd::Buffered => {
                    mode = Mode::Poll;
                    self.status.tell(Change::Polling);
                    continue;
                }
                StreamEnd::Error(why) if why.is_final() => return why,
                StreamEnd::Error(why) => self.status.tell(Change::Disconnected(why.to_string())),
                StreamEnd::Cut(why) => {
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
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .last()
            .copied()
    }

    async fn read_stream(self: &Arc<Self>, take_over: bool) -> StreamEnd {
        let mut lines = match self.relay.stream(self.last_seen(), take_over).await {
            Ok(stream) => Lines::of(stream),
            Err(why) => return StreamEnd::Error(why),
        };
        let mut first = true;
        loop {
            let patience = if first { FIRST_LINE_MAX } else { SILENCE_MAX };
            let line = match lines.next(patience).await {
                Ok(line) => line,
                Err(NoLine::Silent) if first => return StreamEnd::Buffered,
                Err(why) => return StreamEnd::Cut(why.to_string()),
            };
            if std::mem::take(&mut first) {
                self.status.tell(Change::Connected);
            }
            if let Some(ended) = self.take_line(&line).await {
                return ended;
            }
        }
    }

    async fn read_poll(self: &Arc<Self>, mut take_over: bool) -> StreamEnd {
        loop {
            let before = self.last_seen();
            // A league that answers polls at once, and with nothing, is not asked at once again.
            let next = Instant::now() + BACKOFF_MIN;
            let lines = match self.relay.poll(before, take_over).await {
                Ok(lines) => lines,
                Err(why) => return StreamEnd::Error(why),
            };
            take_over = false;
            for line in lines.split(|byte| *byte == b'\n') {
                if let Some(ended) = self.take_line(line).await {
                    return ended;
                }
            }
            if self.last_seen() == before {
                sleep_until(next).await;
            }
        }
    }

    /// A call is answered in a task of its own, once there is a place for it. `Some` if the stream has ended.
    async fn take_line(self: &Arc<Self>, line: &[u8]) -> Option<StreamEnd> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let line: Line = match serde_json::from_slice(line) {
            Ok(line) => line,
            Err(error) => {
                return Some(StreamEnd::Cut(format!(
                    "the league sent an invalid call: {error}"
                )));
            }
        };
        match line {
            Line {
                closed: Some(why), ..
            } if why == "taken_over" => Some(StreamEnd::Error(RelayError::TakenOver)),
            Line {
                closed: Some(_), ..
            } => Some(StreamEnd::Cut("the league is being restarted".to_owned())),
            Line {
                id: Some(id),
                left_ms,
                body: Some(body),
                ..
            } => {
                if self.is_new(id) {
                    let left = left_ms.map_or(LEFT_UNKNOWN, Duration::from_millis);
                    let deadline = Instant::now() + left.min(LEFT_MAX);
                    let place = self.place(body.len()).await?;
                    tokio::spawn(Arc::clone(self).answer(id, body.into(), deadline, place));
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

    /// A place for a call of so many bytes; `None` never, for there is always another.
    async fn place(&self, bytes: usize) -> Option<[OwnedSemaphorePermit; 2]> {
        let bytes = u32::try_from(bytes.min(CALLS_BYTES_MAX)).ok()?;
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        Some([
            place,
            Arc::clone(&self.bytes)
                .acquire_many_owned(bytes)
                .await
                .ok()?,
        ])
    }

    async fn answer(
        self: Arc<Self>,
        id: u64,
        body: Bytes,
        deadline: Instant,
        _place: [OwnedSemaphorePermit; 2],
    ) {
        let began = Instant::now();
        let asked_until = deadline
            .checked_sub(MARGIN)
            .filter(|at| *at > began)
            .unwrap_or(deadline);
        let (answer, why) = match self.agent.post(body, asked_until).await {
            Ok(answer) => (Some(answer), None),
            Err(NotAnswered::TimedOut) => {
                return self.status.tell(Change::CallFailed(
                    "the agent did not answer in time".to_owned(),
                ));
            }
            Err(NotAnswered::Failed(why)) => (None, Some(why)),
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
