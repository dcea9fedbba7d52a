//! A manager as seen from a command: asks it questions, gives it the operator's messages.

use super::tls::TlsArgs;
use crate::net::client::{CallError, Client};
use crate::shell::Clock;
use anyhow::{Result, anyhow, bail};
use bytes::Bytes;
use hyper::header::{AUTHORIZATION, HeaderValue};
use matchday_core::protocol::messages::{LeagueOrder, StartLeague};
use matchday_core::protocol::{Body, ConversationId, Envelope, LeagueId, Message, Sender, Token};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The schedule of the largest league has some megabytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Which manager a command talks to.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ManagerArg {
    /// Where the league manager listens
    #[arg(
        long,
        value_name = "URL",
        env = "MATCHDAY_MANAGER",
        default_value = "http://localhost:8000/mcp",
        global = true
    )]
    pub(super) manager: String,
    #[command(flatten)]
    tls: TlsArgs,
}

impl ManagerArg {
    pub(super) fn desk(&self) -> Result<Desk> {
        Ok(Desk::at(&self.manager, self.tls.client()?))
    }
}

/// What came of asking a dashboard.
#[derive(Debug)]
pub(super) enum Shown {
    Page(Bytes),
    /// By its HTTP status.
    Refused(u16),
}

#[derive(Debug)]
pub(crate) struct Desk {
    client: Client,
    clock: Clock,
    url: String,
}

impl Desk {
    pub(crate) fn at(url: &str, client: Client) -> Self {
        Self { client, clock: Clock::start(), url: url.to_owned() }
    }

    /// Asks what anyone may ask: the message that answers.
    pub(super) async fn look(&self, method: &str, params: Value) -> Result<Value> {
        let mut answer =
            self.post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await?;
        if let Some(error) = answer.get("error") {
            bail!(
                "the manager does not understand {method}: {error} - does an agent of another kind listen there?"
            );
        }
        checked(answer.get_mut("result").map(Value::take).unwrap_or_default())
    }

    /// The data of a query that anyone may ask.
    pub(super) async fn data(&self, method: &str, params: Value) -> Result<Value> {
        let mut answer = self.look(method, params).await?;
        match answer.pointer("/error/error_description").and_then(Value::as_str) {
            Some(why) => bail!("{why}"),
            None => Ok(answer.get_mut("data").map(Value::take).unwrap_or_default()),
        }
    }

    /// The table, with all that a manager of ours adds to it however large it is.
    pub(super) async fn standings(&self) -> Result<Value> {
        self.data("get_standings", json!({"detail": true})).await
    }

    /// The schedule; without any rounds before the league starts.
    pub(super) async fn schedule(&self, round: Option<u32>) -> Result<Value> {
        let params = round.map_or_else(|| json!({}), |round| json!({ "round_id": round }));
        let mut answer = self.look("get_schedule", params).await?;
        let error = |key: &str| answer.pointer(&format!("/error/{key}")).and_then(Value::as_str);
        match (error("error_code"), error("error_description")) {
            (Some("E008"), _) => Ok(json!({"rounds": []})),
            (_, Some(why)) => bail!("{why}"),
            _ => Ok(answer.get_mut("data").map(Value::take).unwrap_or_default()),
        }
    }

    pub(crate) async fn status(&self) -> Result<Value> {
        self.look("get_status", json!({})).await.map(bare)
    }

    /// The league of this manager, unless it was named.
    pub(super) async fn league(&self, named: Option<String>) -> Result<LeagueId> {
        if let Some(named) = named {
            return Ok(LeagueId::new(named));
        }
        let status = self.status().await?;
        let league_id = status.get("league_id").and_then(Value::as_str);
        league_id
            .map(LeagueId::new)
            .ok_or_else(|| anyhow!("the manager does not name its league - give --league-id"))
    }

    pub(crate) async fn start(&self, league_id: &LeagueId, token: Option<&Token>) -> Result<Value> {
        self.send(StartLeague { league_id: league_id.clone() }, token).await
    }

    pub(super) async fn order(&self, order: LeagueOrder, token: &Token) -> Result<Value> {
        self.send(order, Some(token)).await
    }

    /// An order whose answer shows a new token: that too.
    pub(super) async fn rotate(&self, order: LeagueOrder, token: &Token) -> Result<(Value, Token)> {
        let answer = self.ask(order, Some(token)).await?;
        let made = answer.get("auth_token").and_then(Value::as_str).map(Token::new);
        let made =
            made.ok_or_else(|| anyhow!("the manager shows no new token - is it one of Matchday's?"))?;
        Ok((bare(answer), made))
    }

    async fn send(&self, body: impl Into<Body>, token: Option<&Token>) -> Result<Value> {
        self.ask(body, token).await.map(bare)
    }

    async fn ask(&self, body: impl Into<Body>, token: Option<&Token>) -> Result<Value> {
        let now = self.clock.now();
        let conversation = ConversationId::new(format!("conv-launcher-{}", now.as_micros()));
        let envelope = Envelope::new(Sender::Launcher, now, conversation).with_token(token.cloned());
        let answer = self.post(&serde_json::to_value(Message::new(envelope, body))?).await?;
        checked(answer)
    }

    /// What the manager's dashboard shows at a path, to whoever has the token if there is one.
    pub(super) async fn shown(&self, path: &str, token: Option<&Token>) -> Result<Shown> {
        let base = self.url.strip_suffix("/mcp").unwrap_or(&self.url).trim_end_matches('/');
        let bearer = token.and_then(|token| HeaderValue::try_from(format!("Bearer {}", token.reveal())).ok());
        let headers = bearer.map(|bearer| (AUTHORIZATION, bearer)).into_iter().collect();
        let (url, deadline) = (format!("{base}/{path}"), Instant::now() + ANSWER_TIMEOUT);
        let received = self.client.get_with(&url, headers, deadline, ANSWER_BYTES_MAX).await;
        let received = received.map_err(|error| anyhow!("{url} cannot be asked: {error}"))?;
        Ok(match received.status {
            200 => Shown::Page(received.body),
            status => Shown::Refused(status),
        })
    }

    async fn post(&self, request: &Value) -> Result<Value> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let body = serde_json::to_vec(request)?.into();
        let url = &self.url;
        let received = self.client.post(url, body, deadline, ANSWER_BYTES_MAX).await;
        let received = received.map_err(|error| match error {
            CallError::NoConnection(_) | CallError::NoRoute(_) | CallError::TimedOut => {
                anyhow!("no manager answers at {url} ({error}) - start one, or name its address with --manager URL")
            }
            error => anyhow!("{url} cannot be asked: {error} - check --manager"),
        })?;
        serde_json::from_slice(&received.body).map_err(|_| {
            let status = received.status;
            anyhow!("{url} answers with something else than JSON (HTTP {status}) - a manager's address is like http://localhost:8000/mcp: check --manager")
        })
    }
}

/// An error of the league becomes one of ours.
fn checked(answer: Value) -> Result<Value> {
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    if text("message_type") == Some("LEAGUE_ERROR") {
        let code = text("error_code").unwrap_or_default();
        let why = text("error_message").or(text("error_description")).unwrap_or_default();
        bail!("the manager refuses: {why} ({code})");
    }
    Ok(answer)
}

/// A message without its envelope.
fn bare(mut message: Value) -> Value {
    if let Some(fields) = message.as_object_mut() {
        for field in ["protocol", "message_type", "sender", "timestamp", "conversation_id", "auth_token"] {
            fields.remove(field);
        }
    }
    message
}
