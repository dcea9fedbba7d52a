//! A league of real agents over HTTP on this machine: each on a free port, all in one store in a temporary folder.

pub use crate::address::{endpoint, free_port};
use crate::eventually::eventually_async;
use crate::recorded::assert_recorded_fits;
use crate::recording_proxy::RecordingProxy;
use matchday_core::entropy::Entropy;
use matchday_core::game::strategy;
use matchday_core::league::{self, League, Manager};
use matchday_core::player::{self, Player, THINK_TIME};
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::{
    ConversationId, DisplayName, Endpoint, Envelope, GameType, Message, Sender, Version,
};
use matchday_core::referee::{self, Referee};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_net::client::Client;
use matchday_runtime::{Clock, Decider, Handle, LocalRoutes, Mailboxes, Options, entropy_numbered};
use matchday_store::{Exchange, Store, Stream};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tracing::Dispatch;

pub struct TestLeague {
    pub store: Store,
    folder: tempfile::TempDir,
    pub client: Client,
    pub clock: Clock,
    pub log: Dispatch,
    /// What agents that are started from here on are called through, if anything.
    pub proxy: Option<RecordingProxy>,
    /// What agents that are started from here on call without a connection, if anything.
    pub mailboxes: Option<Arc<dyn Mailboxes>>,
    /// What its agents share as those of one process; otherwise they call each other over HTTP, as those of many.
    pub routes: Option<LocalRoutes>,
    agent_options: AgentOptions,
}

/// How the program under test runs its agents.
pub type AgentOptions = fn(Entropy) -> Options;

/// Timings so short that a test can wait for them.
pub fn short() -> Timing {
    Timing {
        join: Duration::from_millis(300),
        choice: Duration::from_millis(300),
        game_over: Duration::from_millis(300),
        report: Duration::from_secs(2),
        other: Duration::from_secs(2),
        retry: RetryPolicy {
            retries: 1,
            backoff: Backoff::Fixed {
                delay: Duration::from_millis(50),
            },
        },
    }
}

/// A league that begins at once.
pub fn quick(timing: Timing) -> league::LeagueSettings {
    league::LeagueSettings {
        announce_lead: Duration::ZERO,
        timing,
        ..league::LeagueSettings::default()
    }
}

impl TestLeague {
    pub fn new(agent_options: AgentOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            store: Store::open(folder.path().join("league.db")).unwrap(),
            folder,
            client: Client::new(),
            clock: Clock::start(),
            log: Dispatch::none(),
            proxy: None,
            mailboxes: None,
            routes: None,
            agent_options,
        }
    }

    /// Where an agent that will listen here is to be called.
    async fn contact(&self, listener: &TcpListener) -> Endpoint {
        let address = listener.local_addr().unwrap();
        endpoint(match &self.proxy {
            Some(proxy) => proxy.before(address).await,
            None => address,
        })
    }

    /// Waits until nothing is on its way to the disk.
    pub async fn flushed(&self) {
        eventually_async("nothing is on its way to the disk", async || {
            self.store.stats().queue_depth == 0
        })
        .await;
    }

    /// Where everyone's events are.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("league.db")
    }

    /// All that has been recorded, and fits the schemas. The agents must have been shut down.
    pub fn exchanges(&self) -> Vec<Exchange> {
        let exchanges = self.exchanges_unchecked();
        for exchange in &exchanges {
            assert_recorded_fits(exchange);
        }
        exchanges
    }

    /// The same where other dialects are spoken, which the schemas do not describe.
    pub fn exchanges_unchecked(&self) -> Vec<Exchange> {
        self.store.clone().close().unwrap();
        Store::open_read_only(self.file())
            .unwrap()
            .exchanges()
            .unwrap()
    }

    pub fn options(&self, name: &str) -> Options {
        let routes = self.routes.clone().unwrap_or_default();
        self.mailboxes
            .iter()
            .for_each(|mailboxes| routes.serve_mailboxes(Arc::clone(mailboxes)));
        Options {
            routes,
            client: self.client.clone(),
            clock: self.clock,
            log: self.log.clone(),
            ..(self.agent_options)(entropy_numbered(7, name))
        }
    }

    pub fn run<A>(&self, agent: A, listener: TcpListener, name: &str) -> Handle<A>
    where
        A: matchday_runtime::Runnable,
        A::Event: Send,
    {
        let stream = Stream(name.into());
        matchday_runtime::run(
            agent,
            listener,
            self.store.clone(),
            stream,
            self.options(name),
        )
        .unwrap()
    }

    pub async fn manager(&self, settings: league::LeagueSettings) -> Handle<Manager> {
        self.run(Manager::new(settings), free_port().await, "league")
    }

    pub async fn referee(
        &self,
        number: u32,
        manager: &Endpoint,
        timing: Timing,
    ) -> Handle<Referee> {
        let listener = free_port().await;
        let settings = self
            .referee_settings(number, manager, timing, &listener)
            .await;
        self.run(
            Referee::new(settings),
            listener,
            &format!("referee/{number}"),
        )
    }

    pub async fn referee_settings(
        &self,
        number: u32,
        manager: &Endpoint,
        timing: Timing,
        listener: &TcpListener,
    ) -> referee::RefereeSettings {
        referee::RefereeSettings {
            manager: manager.clone(),
            contact_endpoint: self.contact(listener).await,
            display_name: DisplayName::parse(&format!("Referee {number}")).unwrap(),
            version: Version::parse("1.0.0").unwrap(),
            game_types: vec![GameType::new("even_odd")],
            max_concurrent_matches: 10,
            timing,
            bounds: Default::default(),
            conformance: Default::default(),
        }
    }

    pub async fn player_settings(
        &self,
        number: u32,
        manager: &Endpoint,
        listener: &TcpListener,
    ) -> player::PlayerSettings {
        player::PlayerSettings {
            manager: manager.clone(),
            contact_endpoint: self.contact(listener).await,
            display_name: DisplayName::parse(&format!("Player {number}")).unwrap(),
            version: Version::parse("1.0.0").unwrap(),
            game_types: vec![GameType::new("even_odd")],
            strategy: None,
        }
    }

    pub async fn player(&self, number: u32, manager: &Endpoint, strategy: &str) -> Handle<Player> {
        let listener = free_port().await;
        let settings = self.player_settings(number, manager, &listener).await;
        let strategy = strategy::find(strategy).unwrap().build();
        self.run(
            Player::new(settings, strategy),
            listener,
            &format!("player/{number}"),
        )
    }

    /// A player for which `decider` decides, and which falls back on even.
    pub async fn player_with_decider(
        &self,
        number: u32,
        manager: &Endpoint,
        decider: Arc<dyn Decider>,
    ) -> Handle<Player> {
        let listener = free_port().await;
        let settings = self.player_settings(number, manager, &listener).await;
        let fallback = strategy::find("always_even").unwrap().build();
        let player = Player::with_external_decider(settings, fallback, THINK_TIME);
        let name = format!("player/{number}");
        let options = Options {
            decider: Some(decider),
            ..self.options(&name)
        };
        matchday_runtime::run(
            player,
            listener,
            self.store.clone(),
            Stream(name.into()),
            options,
        )
        .unwrap()
    }

    pub async fn post(&self, to: SocketAddr, body: impl Into<Vec<u8>>) -> (u16, Value) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let url = format!("http://{to}/mcp");
        let received = self
            .client
            .post(&url, body.into().into(), deadline, 1 << 20)
            .await
            .unwrap();
        (
            received.status,
            serde_json::from_slice(&received.body).unwrap_or_default(),
        )
    }

    pub async fn start(&self, manager: &Handle<Manager>) {
        let league_id = league::LeagueSettings::default().league_id;
        let envelope = Envelope::new(
            Sender::Launcher,
            self.clock.now(),
            ConversationId::new("conv-start"),
        );
        let message = Message::new(envelope, StartLeague { league_id });
        let (status, answer) = self
            .post(manager.address(), serde_json::to_vec(&message).unwrap())
            .await;
        assert_eq!(
            (status, &answer["message_type"]),
            (200, &"LEAGUE_STATUS".into()),
            "{answer}"
        );
    }

    /// Registers a player that listens at `address`, the way a script would.
    pub async fn register_player(&self, address: SocketAddr, manager: SocketAddr) {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "register_player", "params": {
                "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:stub",
                "timestamp": self.clock.now(), "conversation_id": "conv-stub-1",
                "player_meta": {
                    "display_name": "Stub", "version": "1.0.0", "game_types": ["even_odd"],
                    "contact_endpoint": endpoint(address),
                },
            },
        });
        let (_, answer) = self.post(manager, message.to_string()).await;
        assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
    }
}

/// Looks after each step of an agent until `look` sees what it waits for.
pub async fn until<A: 'static>(
    agent: &Handle<A>,
    what: &str,
    within: Duration,
    look: impl Fn(&A) -> bool + Clone + Send + 'static,
) {
    let seen = tokio::time::timeout(
        within,
        agent.wait_for(move |agent| look(agent).then_some(())),
    )
    .await;
    seen.unwrap_or_else(|_| panic!("waited in vain: {what}"))
        .expect("the agent runs");
}

pub async fn until_registered(manager: &Handle<Manager>, players: usize, referees: usize) {
    until(
        manager,
        "everyone registered",
        Duration::from_secs(60),
        move |manager| {
            manager.league().players.len() == players && manager.league().referees.len() == referees
        },
    )
    .await;
}

pub async fn until_completed(manager: &Handle<Manager>, within: Duration) -> League {
    until(manager, "league completed", within, |manager| {
        manager.league().phase == Phase::Completed
    })
    .await;
    manager
        .inspect(|manager| manager.league().clone())
        .await
        .unwrap()
}
