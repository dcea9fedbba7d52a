//! A client of a league manager: queries, and the messages of an operator.

mod address;
mod reply;

pub(crate) use address::manager_url;
pub(crate) use reply::{Refused, in_our_form};

use anyhow::{Error, Result, anyhow, bail};
use bytes::Bytes;
use matchday_core::league::LeagueSettings;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::query::LeagueQuery;
use matchday_core::protocol::messages::{LeagueOrder, StartLeague};
use matchday_core::protocol::{
    Body, ConversationId, Envelope, LeagueId, Message, RoundId, Sender, Token,
};
use matchday_core::protocol::{Query, QueryParams};
use matchday_net::client::{CallError, Client};
use matchday_runtime::Clock;
use reply::{LeagueRefusal, ManagerReply, data_of, excerpt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// The relay's list is an extra: nobody waits long for it.
const RELAY_MAX: Duration = Duration::from_secs(2);

/// As long as the protocol gives a LEAGUE_QUERY.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The schedule of the largest league has some megabytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;

#[derive(Debug)]
pub(crate) struct ManagerClient {
    client: Client,
    clock: Clock,
    url: String,
    /// If the command names it.
    league_id: Option<LeagueId>,
}

impl ManagerClient {
    pub(crate) fn at(url: &str, client: Client) -> Self {
        Self {
            client,
            clock: Clock::start(),
            url: url.to_owned(),
            league_id: None,
        }
    }

    pub(crate) fn with_league(self, league_id: Option<LeagueId>) -> Self {
        Self { league_id, ..self }
    }

    /// The table, with all that a manager of ours adds to it however large it is.
    pub(crate) async fn standings(&self) -> Result<Value> {
        let detail = QueryParams {
            detail: Some(true),
            ..QueryParams::default()
        };
        self.query(Query::Standings, detail).await
    }

    /// The schedule; without any rounds before the league starts.
    pub(crate) async fn schedule(&self, round: Option<u32>) -> Result<Value> {
        let params = QueryParams {
            round_id: round.map(RoundId),
            ..QueryParams::default()
        };
        self.query(Query::Schedule, params).await
    }

    /// The status as a manager of ours tells it; of another one, what its standings say about it.
    pub(crate) async fn status(&self) -> Result<Value> {
        match self.own_status().await? {
            Some(status) => Ok(status),
            None => Ok(status_of_standings(&self.standings().await?)),
        }
    }

    /// `None` if the manager does not know the shortcut.
    async fn own_status(&self) -> Result<Option<Value>> {
        match self.shortcut("get_status", json!({})).await? {
            ManagerReply::Message(answer) => Ok(self
                .status_in("get_status", answer)
                .map(without_envelope)
                .ok()),
            ManagerReply::Refusal(refusal) if !refusal.is_about_form => {
                Err(refused(&refusal, RequestKind::Query))
            }
            ManagerReply::Refusal(_) | ManagerReply::NotUnderstood(_) => Ok(None),
        }
    }

    /// The league of this manager: the one that the command names, the one that the manager names, or the default one.
    pub(crate) async fn league(&self) -> Result<LeagueId> {
        if let Some(named) = &self.league_id {
            return Ok(named.clone());
        }
        let status = match self.own_status().await {
            Err(error) if error.is::<Refused>() => Value::Null,
            status => status?.unwrap_or_default(),
        };
        let named = status
            .get("league_id")
            .and_then(Value::as_str)
            .map(LeagueId::new);
        Ok(named.unwrap_or_else(|| LeagueSettings::default().league_id))
    }

    /// The data of a query: by the public method, or if the manager does not have it, by LEAGUE_QUERY.
    pub(crate) async fn query(
        &self,
        query_type: Query,
        query_params: QueryParams,
    ) -> Result<Value> {
        let answer = self
            .shortcut(query_type.name(), serde_json::to_value(&query_params)?)
            .await?;
        let data = match answer {
            ManagerReply::Refusal(refusal)
                if refusal.answers_query && is_early(query_type, &refusal.code) =>
            {
                return Ok(json!({"rounds": []}));
            }
            ManagerReply::Refusal(refusal) if !refusal.is_about_form => {
                return Err(refused(&refusal, RequestKind::Query));
            }
            ManagerReply::Message(answer) => data_of(query_type, &answer),
            ManagerReply::Refusal(_) | ManagerReply::NotUnderstood(_) => None,
        };
        if let Some(data) = data {
            return Ok(data);
        }
        let query = LeagueQuery {
            league_id: self.league().await?,
            query_type,
            query_params,
        };
        let answer = self.ask(query, None, RequestKind::Query).await?;
        data_of(query_type, &answer).ok_or_else(|| {
            let asked = query_type.spec().query_type.unwrap_or_default();
            self.incomplete("LEAGUE_QUERY", asked, &answer)
        })
    }

    pub(crate) async fn start(
        &self,
        league_id: &LeagueId,
        token: Option<&Token>,
    ) -> Result<StartAnswer> {
        let start = StartLeague {
            league_id: league_id.clone(),
        };
        let answer = self.ask(start, token, RequestKind::Start).await?;
        // Not every manager answers with LEAGUE_STATUS; one that only took note may not have understood.
        let told = answer
            .get("status")
            .and_then(Value::as_str)
            .unwrap_or("received");
        if answer.get("message_type").is_none() && !told.eq_ignore_ascii_case("received") {
            return Ok(StartAnswer::Status(answer));
        }
        let is_status = self.status_in("START_LEAGUE", answer.clone()).is_ok();
        if is_status || !says_started(&answer) {
            return self
                .status_in("START_LEAGUE", answer)
                .map(|status| StartAnswer::Status(without_envelope(status)));
        }
        let came = excerpt(answer.to_string().as_bytes());
        Ok(StartAnswer::Taken(format!(
            "{} has taken START_LEAGUE; it is a third-party manager and has no LEAGUE_STATUS: {came}",
            self.url
        )))
    }

    pub(crate) async fn order(&self, order: LeagueOrder, token: &Token) -> Result<Value> {
        let answer = self.ask(order, Some(token), RequestKind::Order).await?;
        self.status_in("LEAGUE_ORDER", answer).map(without_envelope)
    }

    /// An order whose reply holds a new token; returns both.
    pub(crate) async fn rotate(&self, order: LeagueOrder, token: &Token) -> Result<(Value, Token)> {
        let answer = self.status_in(
            "LEAGUE_ORDER",
            self.ask(order, Some(token), RequestKind::Order).await?,
        )?;
        let made = answer
            .get("auth_token")
            .and_then(Value::as_str)
            .map(Token::new);
        let made = made
            .ok_or_else(|| anyhow!("the manager shows no new token - is it one of Matchday's?"))?;
        Ok((without_envelope(answer), made))
    }

    /// A method of Matchday's own, which needs no league message.
    async fn shortcut(&self, method: &str, params: Value) -> Result<ManagerReply> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post(serde_json::to_vec(&request)?).await
    }

    /// Sends a league message, in one dialect after the other until one is understood.
    async fn ask(
        &self,
        body: impl Into<Body>,
        token: Option<&Token>,
        kind: RequestKind,
    ) -> Result<Value> {
        let now = self.clock.now();
        let conversation = ConversationId::new(format!("conv-launcher-{}", now.as_micros()));
        let envelope =
            Envelope::new(Sender::Launcher, now, conversation).with_token(token.cloned());
        let message = Message::new(envelope, body);
        // LEAGUE_ORDER is a message of Matchday's own, and ROTATE must not be carried out twice.
        let dialects = if kind == RequestKind::Order {
            &[Dialect::Standard][..]
        } else {
            &Dialect::ALL
        };
        let mut first = None;
        for dialect in dialects {
            match self.post(write_call(*dialect, 1, &message)).await? {
                ManagerReply::Message(answer) => return Ok(answer),
                ManagerReply::Refusal(refusal) => return Err(refused(&refusal, kind)),
                ManagerReply::NotUnderstood(came) => first = first.or(Some(came)),
            }
        }
        let name = message.message_type().name();
        let came = first.unwrap_or_default();
        Err(self.not_understood(name, &came, "is it a league manager? check --manager"))
    }

    /// LEAGUE_STATUS, if that is what came.
    fn status_in(&self, asked: &str, answer: Value) -> Result<Value> {
        let text = |key: &str| answer.get(key).and_then(Value::as_str);
        if text("message_type") == Some("LEAGUE_STATUS") && text("status").is_some() {
            return Ok(answer);
        }
        Err(self.incomplete(asked, "LEAGUE_STATUS", &answer))
    }

    fn incomplete(&self, asked: &str, wanted: &str, answer: &Value) -> Error {
        let url = &self.url;
        let came = excerpt(answer.to_string().as_bytes());
        let what = format!("{url} answers {asked} without what {wanted} must hold: {came}");
        Refused(format!("{what} - is it a league manager? check --manager")).into()
    }

    fn not_understood(&self, asked: &str, came: &str, advice: &str) -> Error {
        Refused(format!(
            "{} does not understand {asked} ({came}) - {advice}",
            self.url
        ))
        .into()
    }

    /// How each agent is connected, if the manager has a relay and tells.
    pub(crate) async fn relay(&self) -> Option<Value> {
        let url = format!("{}/relay", self.url.strip_suffix("/mcp")?);
        let deadline = Instant::now() + RELAY_MAX;
        let answer = self
            .client
            .get_with(&url, Vec::new(), deadline, 1 << 20)
            .await
            .ok()?;
        let body: Value = serde_json::from_slice(&answer.body)
            .ok()
            .filter(|_| answer.status == 200)?;
        body.get("agents").cloned()
    }

    /// A page of the manager's dashboard, if it has one and shows it to everyone.
    pub(crate) async fn dashboard_page(&self, path: &str) -> Option<Bytes> {
        let base = self
            .url
            .strip_suffix("/mcp")
            .unwrap_or(&self.url)
            .trim_end_matches('/');
        let url = format!("{base}/{path}");
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let received = self
            .client
            .get_with(&url, Vec::new(), deadline, ANSWER_BYTES_MAX)
            .await
            .ok()?;
        (received.status == 200).then_some(received.body)
    }

    async fn post(&self, request: Vec<u8>) -> Result<ManagerReply> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        let url = &self.url;
        let received = self
            .client
            .post(url, request.into(), deadline, ANSWER_BYTES_MAX)
            .await;
        let received = received.map_err(|error| match error {
            CallError::NoConnection(_) | CallError::NoRoute(_) | CallError::TimedOut => {
                anyhow!("no manager answers at {url} ({error}) - start one, or name its address with --manager URL")
            }
            error => anyhow!("{url} cannot be asked: {error} - check --manager"),
        })?;
        if received.status == 503 {
            let answer: Value = serde_json::from_slice(&received.body).unwrap_or_default();
            let why = answer
                .get("error")
                .and_then(Value::as_str)
                .unwrap_or("HTTP 503");
            bail!("{url} is not ready ({why}) - try again in a moment");
        }
        Ok(reply::read(received.status, &received.body))
    }
}

/// Whether an answer in words of another make says that the league has started: by its type, such as `LEAGUE_STARTED`, or by
/// its status. One that only took note may not have understood.
fn says_started(answer: &Value) -> bool {
    let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default();
    text("message_type").to_ascii_uppercase().contains("START")
        || ["started", "starting", "running", "in_progress"]
            .iter()
            .any(|word| text("status").eq_ignore_ascii_case(word))
}

/// How a manager answers START_LEAGUE.
#[derive(Debug)]
pub(crate) enum StartAnswer {
    /// With the status of the league.
    Status(Value),
    /// Otherwise, and without a refusal: what is to be said of it.
    Taken(String),
}

/// All that the standings of a manager tell about its status.
fn status_of_standings(standings: &Value) -> Value {
    let rows = standings
        .get("standings")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let played: Vec<u64> = rows
        .iter()
        .filter_map(|row| row.get("played")?.as_u64())
        .collect();
    json!({
        "status": "not told",
        "players": rows.len(),
        "matches_completed": (played.len() == rows.len()).then(|| played.iter().sum::<u64>() / 2),
    })
}

/// Whether the error only says that there are no rounds yet.
fn is_early(query_type: Query, code: &str) -> bool {
    query_type == Query::Schedule && code == "E008"
}

/// What kind of request a command makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    Query,
    Start,
    Order,
}

/// The manager's error, with advice where there is any.
fn refused(LeagueRefusal { code, why, .. }: &LeagueRefusal, kind: RequestKind) -> Error {
    let advice = match (code.as_str(), kind) {
        ("E007", _) => " - name the league with --league-id",
        ("E011" | "E012", RequestKind::Query) => {
            " - it tells this only to agents that show their token"
        }
        ("E011" | "E012", RequestKind::Start | RequestKind::Order) => {
            " - give the operator's token with --operator-token, or set MATCHDAY_OPERATOR_TOKEN"
        }
        _ => "",
    };
    Refused(format!("the manager refuses: {why} ({code}){advice}")).into()
}

/// A message without its envelope.
fn without_envelope(mut message: Value) -> Value {
    if let Some(fields) = message.as_object_mut() {
        for field in [
            "protocol",
            "message_type",
            "sender",
            "timestamp",
            "conversation_id",
            "auth_token",
        ] {
            fields.remove(field);
        }
    }
    message
}
