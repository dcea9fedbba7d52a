//! The requests of an agent that dials out, as docs/protocol-relay.md describes them.

use super::lines::LINE_BYTES_MAX;
use bytes::Bytes;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use matchday_core::protocol::{Timestamp, Token};
use matchday_net::client::{CallError, CallRequest, CallResponse, Client};
use matchday_net::streaming::StreamingResponse;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

const REQUEST_MAX: Duration = Duration::from_secs(10);
/// A poll waits for 25 seconds at the relay.
const POLL_MAX: Duration = Duration::from_secs(35);
/// What a relay says of itself is short.
const REPLY_BYTES_MAX: usize = 64 << 10;
/// The answer to a poll ends with the line that exceeds one megabyte.
const POLL_BYTES_MAX: usize = LINE_BYTES_MAX + (1 << 20);

/// Why the relay cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelayError {
    #[error("the league refuses the join code: {0}")]
    CodeRefused(String),
    #[error(
        "there is no relay at {0}: is the URL that of a league, and was it started with --relay on?"
    )]
    NoRelay(String),
    #[error(
        "the league no longer knows this mailbox: start again, so that the agent registers with a new one"
    )]
    MailboxGone,
    #[error("another client reads this mailbox: end it, or take over with --take-over")]
    Taken,
    #[error("another client has taken over this mailbox")]
    TakenOver,
    #[error("{0} - it is a proxy in between that answers, not the league")]
    Proxy(String),
    #[error("the league answers HTTP {0}: {1}")]
    Refused(u16, String),
    #[error("cannot reach the league: {0}")]
    Unreachable(String),
}

impl RelayError {
    /// Whether trying again is in vain.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::CodeRefused(_)
                | Self::NoRelay(_)
                | Self::MailboxGone
                | Self::Taken
                | Self::TakenOver
        )
    }
}

impl From<CallError> for RelayError {
    fn from(error: CallError) -> Self {
        Self::Unreachable(error.to_string())
    }
}

/// What `POST /relay` gives.
#[derive(Clone, Deserialize)]
pub struct OpenedMailbox {
    pub mailbox: String,
    pub relay_token: String,
    pub contact_endpoint: String,
    pub time: Timestamp,
}

impl std::fmt::Debug for OpenedMailbox {
    /// Without its token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpenedMailbox({})", self.mailbox)
    }
}

/// One mailbox, from outside.
#[derive(Debug, Clone)]
pub struct RelayClient {
    client: Client,
    /// `https://league.example/leagues/spring/relay/MAILBOX`
    url: String,
    token: Token,
    /// Tells the relay that a new stream is a reconnect of ours.
    name: String,
}

/// The base of a relay's paths, of the URL of a league: `https://league.example/leagues/spring/mcp`.
fn relay_url(league: &str) -> String {
    format!(
        "{}/relay",
        league
            .strip_suffix("/mcp")
            .unwrap_or(league)
            .trim_end_matches('/')
    )
}

fn bearer(token: &Token) -> Vec<(HeaderName, HeaderValue)> {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()));
    value
        .map(|mut value| {
            value.set_sensitive(true);
            (AUTHORIZATION, value)
        })
        .into_iter()
        .collect()
}

impl RelayClient {
    /// Opens a mailbox at the relay of a league.
    pub async fn open(
        client: &Client,
        league: &str,
        code: Option<&Token>,
    ) -> Result<OpenedMailbox, RelayError> {
        let url = relay_url(league);
        let headers = code.map(bearer).unwrap_or_default();
        let deadline = Instant::now() + REQUEST_MAX;
        let answer = client
            .post_with(&url, headers, Bytes::new(), deadline, REPLY_BYTES_MAX)
            .await?;
        match answer.status {
            201 => serde_json::from_slice(&answer.body).map_err(|_| RelayError::NoRelay(url)),
            401 | 403 => Err(refusal(&answer, RelayError::CodeRefused)),
            404 | 405 => Err(refusal(&answer, |_| RelayError::NoRelay(url))),
            status => Err(refusal(&answer, |why| RelayError::Refused(status, why))),
        }
    }

    pub fn new(client: Client, league: &str, mailbox: &str, token: Token, name: String) -> Self {
        Self {
            client,
            url: format!("{}/{mailbox}", relay_url(league)),
            token,
            name,
        }
    }

    /// Begins to read the stream.
    pub async fn stream(
        &self,
        after: Option<u64>,
        take_over: bool,
    ) -> Result<StreamingResponse, RelayError> {
        let url = self.read_url("stream", after, take_over);
        let deadline = Instant::now() + REQUEST_MAX;
        let mut response = self
            .client
            .open_stream(&url, bearer(&self.token), deadline)
            .await?;
        if response.status == 200 {
            return Ok(response);
        }
        let mut body = Vec::new();
        let reading = async {
            while let Some(Ok(piece)) = response.next().await
                && body.len() + piece.len() <= REPLY_BYTES_MAX
            {
                body.extend_from_slice(&piece);
            }
        };
        // What has come by then says enough.
        let _in_time = timeout_at(deadline, reading).await;
        let answer = CallResponse {
            status: response.status,
            headers: Default::default(),
            body: body.into(),
        };
        Err(read_refusal(&answer))
    }

    /// The lines of one long poll.
    pub async fn poll(&self, after: Option<u64>, take_over: bool) -> Result<Bytes, RelayError> {
        let url = self.read_url("next", after, take_over);
        let deadline = Instant::now() + POLL_MAX;
        let answer = self
            .client
            .get_with(&url, bearer(&self.token), deadline, POLL_BYTES_MAX)
            .await?;
        if answer.status == 200 {
            Ok(answer.body)
        } else {
            Err(read_refusal(&answer))
        }
    }

    /// Posts what the agent answered; `None` if it could not be reached. `Ok(false)`: the call was no longer open.
    pub async fn answer(
        &self,
        id: u64,
        answer: Option<&(u16, Bytes)>,
        deadline: Instant,
    ) -> Result<bool, RelayError> {
        let query = match answer {
            Some((status, _)) => format!("status={status}"),
            None => "failed=1".to_owned(),
        };
        let url = format!("{}/answers/{id}?{query}", self.url);
        let body = answer.map(|(_, body)| body.clone()).unwrap_or_default();
        let request = CallRequest {
            headers: bearer(&self.token),
            ..CallRequest::from(body)
        };
        let answer = self
            .client
            .call(&url, request, deadline, REPLY_BYTES_MAX)
            .await
            .result?;
        match answer.status {
            204 => Ok(true),
            410 => Ok(false),
            _ => Err(read_refusal(&answer)),
        }
    }

    fn read_url(&self, what: &str, after: Option<u64>, take_over: bool) -> String {
        let after = after
            .map(|after| format!("&after={after}"))
            .unwrap_or_default();
        let take_over = if take_over { "&take_over=1" } else { "" };
        format!("{}/{what}?client={}{after}{take_over}", self.url, self.name)
    }
}

fn read_refusal(answer: &CallResponse) -> RelayError {
    match answer.status {
        401 | 404 => refusal(answer, |_| RelayError::MailboxGone),
        409 => RelayError::Taken,
        status => refusal(answer, |why| RelayError::Refused(status, why)),
    }
}

/// What a refusal of the relay means. One that is not in its form is not the relay's.
fn refusal(answer: &CallResponse, refused: impl FnOnce(String) -> RelayError) -> RelayError {
    let json: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let is_json = json.is_object() || answer.body.is_empty();
    match json.get("error").and_then(Value::as_str) {
        Some(why) => refused(why.to_owned()),
        None if is_json => refused(String::new()),
        None => RelayError::Proxy(format!("HTTP {} without JSON", answer.status)),
    }
}
