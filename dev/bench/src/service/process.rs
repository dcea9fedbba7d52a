//! A service in a child process, and requests to it.

use crate::light_players::LightPlayers;
use crate::manager;
use crate::program::Program;
use crate::size::Size;
use crate::usage;
use anyhow::{Context, Result, anyhow, bail};
use bytes::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use matchday_core::protocol::{LeagueId, Token};
use matchday_net::client::Client;
use matchday_store::StoreUrl;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const SERVICE_TOKEN: &str = "tok_service_of_the_bench";
const ANSWER_MAX: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: usize = 64 << 20;
const START_MAX: Duration = Duration::from_secs(120);
const PLAY_MAX: Duration = Duration::from_secs(600);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const START_POLL_INTERVAL: Duration = Duration::from_millis(2);
/// How many leagues one request creates, and how many requests are made at once.
const CREATED_AT_ONCE: usize = 1_000;
const REQUESTS_AT_ONCE: usize = 16;

/// Killed when dropped.
#[derive(Debug)]
pub(crate) struct ServiceProcess {
    child: Program,
    pub(crate) url: String,
    pub(crate) store: StoreUrl,
    client: Client,
}

/// A league of the service, and who may order it.
#[derive(Debug, Clone)]
pub(crate) struct BenchLeague {
    pub(crate) id: LeagueId,
    pub(crate) url: String,
    operator: Token,
}

impl ServiceProcess {
    pub(crate) async fn start(folder: &Path, listen: &str, args: &[&str]) -> Result<Self> {
        Self::start_on(folder, folder.join("service.db").into(), listen, args).await
    }

    /// With the store at this location.
    pub(crate) async fn start_on(
        folder: &Path,
        store: StoreUrl,
        listen: &str,
        args: &[&str],
    ) -> Result<Self> {
        let named = store.to_string();
        let fixed = [
            "serve",
            "--listen",
            listen,
            "--store",
            &named,
            "--service-token",
            SERVICE_TOKEN,
        ];
        let mut child = Program::start(folder, "service", &[&fixed[..], args].concat())?;
        let deadline = Instant::now() + START_MAX;
        let url = loop {
            child.check()?;
            let output = child.output();
            let found = output
                .split_once("leagues are served at ")
                .and_then(|(_, rest)| rest.split_once('\n'));
            if let Some((url, _)) = found {
                break url.trim().trim_end_matches('/').to_owned();
            }
            if Instant::now() > deadline {
                bail!(
                    "the service has not come so far in {} s: {output}",
                    START_MAX.as_secs()
                );
            }
            sleep(START_POLL_INTERVAL).await;
        };
        Ok(Self {
            child,
            url,
            store,
            client: Client::new(),
        })
    }

    pub(crate) fn pid(&self) -> Result<u32> {
        self.child.pid()
    }

    pub(crate) fn address(&self) -> &str {
        self.url
            .split_once("://")
            .map_or(self.url.as_str(), |(_, address)| address)
    }

    /// Creates leagues with these settings.
    pub(crate) async fn create(
        &self,
        names: &[String],
        settings: Value,
    ) -> Result<Vec<BenchLeague>> {
        let mut made = Vec::new();
        for names in names.chunks(CREATED_AT_ONCE) {
            let specs: Vec<Value> = names
                .iter()
                .map(|name| json!({ "league_id": name, "settings": settings }))
                .collect();
            let body = json!({ "leagues": specs }).to_string();
            let token = HeaderValue::from_str(&format!("Bearer {SERVICE_TOKEN}"))?;
            let headers = vec![
                (AUTHORIZATION, token),
                (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            ];
            let url = format!("{}/api/leagues", self.url);
            let deadline = Instant::now() + ANSWER_MAX;
            let answer = self
                .client
                .post_with(&url, headers, body.into(), deadline, ANSWER_BYTES_MAX)
                .await?;
            let answer: Value =
                serde_json::from_slice(&answer.body).context("the answer to a creation")?;
            let leagues = answer.get("leagues").and_then(Value::as_array);
            let leagues =
                leagues.ok_or_else(|| anyhow!("the service refuses leagues: {answer}"))?;
            made.extend(leagues.iter().filter_map(|league| {
                let text = |key: &str| league.get(key).and_then(Value::as_str);
                Some(BenchLeague {
                    id: LeagueId::new(text("league_id")?),
                    url: text("url")?.to_owned(),
                    operator: Token::new(text("operator_token")?),
                })
            }));
        }
        if made.len() == names.len() {
            Ok(made)
        } else {
            bail!("the service made {} leagues of {}", made.len(), names.len())
        }
    }

    /// What the service tells of itself in Prometheus' form.
    pub(crate) async fn metrics(&self) -> Result<String> {
        let deadline = Instant::now() + ANSWER_MAX;
        let answer = self
            .client
            .get_with(
                &format!("{}/metrics", self.url),
                Vec::new(),
                deadline,
                ANSWER_BYTES_MAX,
            )
            .await?;
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }

    /// Asks each league for its standings, which loads it.
    pub(crate) async fn load(&self, leagues: &[BenchLeague]) -> Result<()> {
        let at_once = Arc::new(Semaphore::new(REQUESTS_AT_ONCE));
        let mut asked = JoinSet::new();
        for league in leagues {
            let league = league.clone();
            let permit = Arc::clone(&at_once).acquire_owned().await?;
            let client = self.client.clone();
            asked.spawn(async move {
                let _permit = permit;
                league.ask_standings(&client).await
            });
        }
        while let Some(answered) = asked.join_next().await {
            answered??;
        }
        Ok(())
    }

    /// Players for each of these leagues, all registered.
    pub(crate) async fn register(
        &self,
        leagues: &[BenchLeague],
        players: u16,
    ) -> Result<Vec<LightPlayers>> {
        let mut registering = JoinSet::new();
        for league in leagues.iter().cloned() {
            registering.spawn(async move {
                LightPlayers::register(Size::new(players, 1), &league.url).await
            });
        }
        let mut registered = Vec::new();
        while let Some(players) = registering.join_next().await {
            registered.push(players??);
        }
        Ok(registered)
    }

    /// Starts leagues and returns when all are over.
    pub(crate) async fn play(&mut self, leagues: &[BenchLeague]) -> Result<()> {
        let mut starting = JoinSet::new();
        for league in leagues {
            let client = self.client.clone();
            let league = league.clone();
            starting.spawn(async move {
                let BenchLeague { id, url, operator } = &league;
                manager::start_league(&client, url, id, Some(operator), usage::now()).await
            });
        }
        while let Some(started) = starting.join_next().await {
            started??;
        }
        let deadline = Instant::now() + PLAY_MAX;
        for league in leagues {
            while !manager::is_completed(&self.client, &league.url).await? {
                self.child.check()?;
                if Instant::now() > deadline {
                    bail!("{} has not ended in {} s", league.id, PLAY_MAX.as_secs());
                }
                sleep(POLL_INTERVAL).await;
            }
        }
        Ok(())
    }

    /// Returns when everything is on disk and the process has ended.
    pub(crate) async fn stop(self) -> Result<StoreUrl> {
        self.child.terminate()?;
        self.child.stopped().await?;
        Ok(self.store)
    }
}

impl BenchLeague {
    pub(crate) fn question(&self) -> Bytes {
        let params = json!({ "league_id": self.id });
        let question =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "get_standings", "params": params });
        question.to_string().into()
    }

    pub(crate) async fn ask_standings(&self, client: &Client) -> Result<()> {
        let deadline = Instant::now() + ANSWER_MAX;
        let answer = client
            .post(&self.url, self.question(), deadline, ANSWER_BYTES_MAX)
            .await?;
        let read: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        match read.pointer("/result/success").and_then(Value::as_bool) {
            Some(true) => Ok(()),
            _ => bail!("{} does not answer: HTTP {}", self.id, answer.status),
        }
    }
}

/// Settings by their keys.
pub(crate) fn settings(pairs: &[(&str, &str)]) -> Value {
    Value::Object(
        pairs
            .iter()
            .map(|(key, text)| ((*key).to_owned(), (*text).into()))
            .collect::<Map<_, _>>(),
    )
}

pub(crate) fn names(prefix: &str, count: usize) -> Vec<String> {
    (1..=count)
        .map(|number| format!("{prefix}-{number:05}"))
        .collect()
}
