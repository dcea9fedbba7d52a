//! A league in this process, each of its agents on a free port, all on one store in a temporary folder.

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use matchday_core::league::{self, Manager};
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Version};
use matchday_core::referee::{self, Referee};
use matchday_core::timing::Timing;
use matchday_net::client::Client;
use matchday_runtime::{Clock, Handle, Options, Runnable, entropy_from_system};
use matchday_store::{Reader, Store, Stream};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};

const WAIT_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Ground {
    pub(crate) store: Store,
    folder: tempfile::TempDir,
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) manager: Handle<Manager>,
}

pub(crate) fn endpoint(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}

pub(crate) async fn free_port() -> Result<TcpListener> {
    Ok(TcpListener::bind("127.0.0.1:0").await?)
}

impl Ground {
    /// With a manager, and nobody else yet.
    pub(crate) async fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let store = Store::open(folder.path().join("league.db"))?;
        let client = Client::new();
        let clock = Clock::start();
        let agent = Manager::new(league::LeagueSettings {
            announce_lead: Duration::ZERO,
            ..Default::default()
        });
        let manager = run(agent, free_port().await?, &store, "league", &client, clock)?;
        Ok(Self {
            store,
            folder,
            client,
            clock,
            manager,
        })
    }

    pub(crate) async fn referee(&self, number: usize, matches: u32) -> Result<Handle<Referee>> {
        let listener = free_port().await?;
        let settings = referee::RefereeSettings {
            manager: Endpoint::parse(&endpoint(self.manager.address()))?,
            contact_endpoint: Endpoint::parse(&endpoint(listener.local_addr()?))?,
            display_name: DisplayName::parse(&format!("Referee {number}"))?,
            version: Version::parse("1.0.0")?,
            game_types: vec![GameType::new("even_odd")],
            max_concurrent_matches: matches,
            timing: Timing::default(),
            bounds: Default::default(),
            conformance: Default::default(),
        };
        let stream = format!("referee/{number}");
        run(
            Referee::new(settings),
            listener,
            &self.store,
            &stream,
            &self.client,
            self.clock,
        )
    }

    pub(crate) async fn post(&self, to: SocketAddr, body: Bytes) -> Result<Bytes> {
        let deadline = Instant::now() + Duration::from_secs(10);
        Ok(self
            .client
            .post(&endpoint(to), body, deadline, 1 << 20)
            .await?
            .body)
    }

    /// Asks the manager, and sees to it that the answer is one.
    pub(crate) async fn ask(&self, question: &Value) -> Result<Value> {
        let body = self
            .post(self.manager.address(), question.to_string().into())
            .await?;
        let answer: Value = serde_json::from_slice(&body)?;
        match answer.get("result") {
            Some(result) if answer.pointer("/result/error_code").is_none() => Ok(result.clone()),
            _ => bail!("the manager answers {answer}"),
        }
    }

    pub(crate) async fn start(&self) -> Result<()> {
        let start = json!({"jsonrpc": "2.0", "id": 1, "method": "start_league", "params": {
            "protocol": "league.v2", "message_type": "START_LEAGUE", "sender": "launcher",
            "timestamp": self.clock.now(), "conversation_id": "conv-start",
            "league_id": league::LeagueSettings::default().league_id,
        }});
        self.ask(&start).await.map(drop)
    }

    pub(crate) async fn registered(&self, players: usize, referees: usize) -> Result<()> {
        self.until("everyone registered", move |manager| {
            manager.league().players.len() == players && manager.league().referees.len() == referees
        })
        .await
    }

    pub(crate) async fn completed(&self) -> Result<()> {
        self.until("the league completed", |manager| {
            manager.league().phase == Phase::Completed
        })
        .await
    }

    async fn until(
        &self,
        what: &str,
        seen: impl Fn(&Manager) -> bool + Copy + Send + 'static,
    ) -> Result<()> {
        let seen = self
            .manager
            .wait_for(move |manager| seen(manager).then_some(()));
        let seen = timeout(WAIT_MAX, seen)
            .await
            .with_context(|| format!("waited in vain: {what}"))?;
        seen.context("the manager has stopped")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("league.db")
    }

    /// Ends the manager, and shows what was stored. The others must have been shut down.
    pub(crate) async fn end(self) -> Result<Reader> {
        let file = self.file();
        let Self {
            store,
            manager,
            folder,
            ..
        } = self;
        manager.shutdown().await?;
        store.close()?;
        let reader = Store::open_read_only(&file)?;
        // An open file outlives its name.
        drop(folder);
        Ok(reader)
    }
}

fn run<A>(
    agent: A,
    listener: TcpListener,
    store: &Store,
    stream: &str,
    client: &Client,
    clock: Clock,
) -> Result<Handle<A>>
where
    A: Runnable,
    A::Event: Send,
{
    let options = Options {
        client: client.clone(),
        clock,
        ..matchday_server::agent_options(entropy_from_system()?)
    };
    Ok(matchday_runtime::run(
        agent,
        listener,
        store.clone(),
        Stream(stream.into()),
        options,
    )?)
}

/// LEAGUE_QUERY, as the player with this token asks.
pub(crate) fn query(query_type: &str, player: &str, token: &str, clock: Clock) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "league_query", "params": {
        "protocol": "league.v2", "message_type": "LEAGUE_QUERY", "sender": format!("player:{player}"),
        "timestamp": clock.now(), "conversation_id": "conv-query", "auth_token": token,
        "league_id": league::LeagueSettings::default().league_id, "query_type": query_type,
        "query_params": {"player_id": player},
    }})
}
