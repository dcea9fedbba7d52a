//! A manager as seen from a command: asks it questions, gives it the operator's messages.

use super::manager_answer::{self, Answered, LeagueRefusal, Refused, data_of, excerpt};
use super::tls::TlsArgs;
use crate::net::client::{CallError, Client};
use crate::shell::Clock;
use anyhow::{Error, Result, anyhow};
use bytes::Bytes;
use hyper::header::{AUTHORIZATION, HeaderValue};
use matchday_core::league::Settings;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::query::{LeagueQuery, QueryParams, QueryType};
use matchday_core::protocol::messages::{LeagueOrder, StartLeague};
use matchday_core::protocol::{Body, ConversationId, Envelope, LeagueId, Message, RoundId, Sender, Token};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// As long as the protocol gives a LEAGUE_QUERY.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
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
    /// Which league [default: the one that the manager names]
    #[arg(long, value_name = "ID", global = true)]
    league_id: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
}

impl ManagerArg {
    pub(super) fn desk(&self) -> Result<Desk> {
        let league_id = self.league_id.as_deref().map(LeagueId::new);
        Ok(Desk { league_id, ..Desk::at(&self.manager, self.tls.client()?) })
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
    /// If the command names it.
    league_id: Option<LeagueId>,
}

impl Desk {
    pub(crate) fn at(url: &str, client: Client) -> Self {
        Self { client, clock: Clock::start(), url: url.to_owned(), league_id: None }
    }

    /// The table, with all that a manager of ours adds to it however large it is.
    pub(super) async fn standings(&self) -> Result<Value> {
        let detail = QueryParams { detail: Some(true), ..QueryParams::default() };
        self.query(QueryType::GetStandings, detail).await
    }

    /// The schedule; without any rounds before the league starts.
    pub(super) async fn schedule(&self, round: Option<u32>) -> Result<Value> {
        let params = QueryParams { round_id: round.map(RoundId), ..QueryParams::default() };
        self.query(QueryType::GetSchedule, params).await
    }

    pub(crate) async fn status(&self) -> Result<Value> {
        const METHOD: &str = "get_status";
        match self.shortcut(METHOD, json!({})).await? {
            Answered::Message(answer) => self.status_in(METHOD, answer).map(bare),
            Answered::No(refusal) => Err(refused(&refusal, Asked::Look)),
            Answered::NotUnderstood(came) => Err(self.not_understood(
                METHOD,
                &came,
                "only Matchday's own managers tell their status, others tell their standings at most",
            )),
        }
    }

    /// The league of this manager: the one that was named, the one that the manager names, or else the one that a manager
    /// runs unless it is told otherwise.
    pub(super) async fn league(&self) -> Result<LeagueId> {
        if let Some(named) = &self.league_id {
            return Ok(named.clone());
        }
        let status = match self.status().await {
            Err(error) if error.is::<Refused>() => Value::Null,
            status => status?,
        };
        let named = status.get("league_id").and_then(Value::as_str).map(LeagueId::new);
        Ok(named.unwrap_or_else(|| Settings::default().league_id))
    }

    /// The data of a query: by the method for anyone, or if the manager does not know that, by LEAGUE_QUERY.
    pub(super) async fn query(&self, query_type: QueryType, query_params: QueryParams) -> Result<Value> {
        let method = query_type.name().to_ascii_lowercase();
        let answer = self.shortcut(&method, serde_json::to_value(&query_params)?).await?;
        let data = match answer {
            Answered::No(refusal) if refusal.answers_query && is_early(query_type, &refusal.code) => {
                return Ok(json!({"rounds": []}));
            }
            Answered::No(refusal) if !refusal.is_about_form => return Err(refused(&refusal, Asked::Look)),
            Answered::Message(answer) => data_of(query_type, &answer),
            Answered::No(_) | Answered::NotUnderstood(_) => None,
        };
        if let Some(data) = data {
            return Ok(data);
        }
        let query = LeagueQuery { league_id: self.league().await?, query_type, query_params };
        let answer = self.ask(query, None, Asked::Look).await?;
        data_of(query_type, &answer).ok_or_else(|| self.without("LEAGUE_QUERY", query_type.name(), &answer))
    }

    pub(crate) async fn start(&self, league_id: &LeagueId, token: Option<&Token>) -> Result<Value> {
        let start = StartLeague { league_id: league_id.clone() };
        let answer = self.ask(start, token, Asked::Start).await?;
        self.status_in("START_LEAGUE", answer).map(bare)
    }

    pub(super) async fn order(&self, order: LeagueOrder, token: &Token) -> Result<Value> {
        let answer = self.ask(order, Some(token), Asked::Order).await?;
        self.status_in("LEAGUE_ORDER", answer).map(bare)
    }

    /// An order whose answer shows a new token: that too.
    pub(super) async fn rotate(&self, order: LeagueOrder, token: &Token) -> Result<(Value, Token)> {
        let answer = self.status_in("LEAGUE_ORDER", self.ask(order, Some(token), Asked::Order).await?)?;
        let made = answer.get("auth_token").and_then(Value::as_str).map(Token::new);
        let made =
            made.ok_or_else(|| anyhow!("the manager shows no new token - is it one of Matchday's?"))?;
        Ok((bare(answer), made))
    }

    /// A method of Matchday's own, which needs no league message.
    async fn shortcut(&self, method: &str, params: Value) -> Result<Answered> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post(serde_json::to_vec(&request)?).await
    }

    /// Sends a league message, in one dialect after the other until one is understood.
    async fn ask(&self, body: impl Into<Body>, token: Option<&Token>, asked: Asked) -> Result<Value> {
        let now = self.clock.now();
        let conversation = ConversationId::new(format!("conv-launcher-{}", now.as_micros()));
        let envelope = Envelope::new(Sender::Launcher, now, conversation).with_token(token.cloned());
        let message = Message::new(envelope, body);
        // LEAGUE_ORDER is a message of Matchday's own, and ROTATE must not be carried out twice.
        let dialects = if asked == Asked::Order { &[Dialect::Standard][..] } else { &Dialect::ALL };
        let mut first = None;
        for dialect in dialects {
            match self.post(write_call(*dialect, 1, &message)).await? {
                Answered::Message(answer) => return Ok(answer),
                Answered::No(refusal) => return Err(refused(&refusal, asked)),
                Answered::NotUnderstood(came) => first = first.or(Some(came)),
            }
        }
        let (name, came) = (message.message_type().name(), first.unwrap_or_default());
        Err(self.not_understood(name, &came, "is it a league manager? check --manager"))
    }

    /// LEAGUE_STATUS, if that is what came.
    fn status_in(&self, asked: &str, answer: Value) -> Result<Value> {
        let text = |key: &str| answer.get(key).and_then(Value::as_str);
        if text("message_type") == Some("LEAGUE_STATUS") && text("status").is_some() {
            return Ok(answer);
        }
        Err(self.without(asked, "LEAGUE_STATUS", &answer))
    }

    fn without(&self, asked: &str, wanted: &str, answer: &Value) -> Error {
        let (url, came) = (&self.url, excerpt(answer.to_string().as_bytes()));
        let what = format!("{url} answers {asked} without what {wanted} must hold: {came}");
        Refused(format!("{what} - is it a league manager? check --manager")).into()
    }

    fn not_understood(&self, asked: &str, came: &str, advice: &str) -> Error {
        Refused(format!("{} does not understand {asked} ({came}) - {advice}", self.url)).into()
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

    async fn post(&self, request: Vec<u8>) -> Result<Answered> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let url = &self.url;
        let received = self.client.post(url, request.into(), deadline, ANSWER_BYTES_MAX).await;
        let received = received.map_err(|error| match error {
            CallError::NoConnection(_) | CallError::NoRoute(_) | CallError::TimedOut => {
                anyhow!("no manager answers at {url} ({error}) - start one, or name its address with --manager URL")
            }
            error => anyhow!("{url} cannot be asked: {error} - check --manager"),
        })?;
        Ok(manager_answer::read(received.status, &received.body))
    }
}

/// Whether a manager says only that the rounds are not drawn up yet.
fn is_early(query_type: QueryType, code: &str) -> bool {
    query_type == QueryType::GetSchedule && code == "E008"
}

/// What kind of request a command makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Look,
    Start,
    Order,
}

/// A refusal in the manager's words, and what to do about it where that is known.
fn refused(LeagueRefusal { code, why, .. }: &LeagueRefusal, asked: Asked) -> Error {
    let advice = match (code.as_str(), asked) {
        ("E007", _) => " - name the league with --league-id",
        ("E011" | "E012", Asked::Look) => " - it tells this only to agents that show their token",
        ("E011" | "E012", Asked::Start | Asked::Order) => {
            " - give the operator's token with --operator-token, or set MATCHDAY_OPERATOR_TOKEN"
        }
        _ => "",
    };
    Refused(format!("the manager refuses: {why} ({code}){advice}")).into()
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
