//! A league on this machine, each of its agents on a free port.

use crate::recorded::assert_recorded_fits;
use crate::tap::Tap;
use matchday::net::client::Client;
use matchday::shell::{self, Clock, Handle, Journal, Mind, Options, entropy_numbered};
use matchday::store::{Exchange, Store, Stream};
use matchday_core::agent::Agent;
use matchday_core::league::{self, League, Manager};
use matchday_core::player::{self, Player, THINK_TIME, strategy};
use matchday_core::protocol::messages::{Phase, StartLeague};
use matchday_core::protocol::{
    ConversationId, DisplayName, Endpoint, Envelope, GameType, Message, Sender, Version,
};
use matchday_core::referee::{self, Referee};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::Instant;

pub(crate) struct Ground {
    pub(crate) store: Store,
    folder: tempfile::TempDir,
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) journal: Journal,
    /// Where agents that are started listen in on each other, if they do.
    pub(crate) tap: Option<Tap>,
}

/// Timings so short that a test can wait for them.
pub(crate) fn short() -> Timing {
    Timing {
        join: Duration::from_millis(300),
        choice: Duration::from_millis(300),
        game_over: Duration::from_millis(300),
        report: Duration::from_secs(2),
        other: Duration::from_secs(2),
        retry: RetryPolicy { retries: 1, backoff: Backoff::Fixed { delay: Duration::from_millis(50) } },
    }
}

/// A league that begins at once.
pub(crate) fn quick(timing: Timing) -> league::Settings {
    league::Settings { announce_lead: Duration::ZERO, timing, ..league::Settings::default() }
}

pub(crate) fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::parse(&format!("http://{address}/mcp")).unwrap()
}

pub(crate) async fn free_port() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

impl Ground {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            store: Store::open(&folder.path().join("league.db")).unwrap(),
            folder,
            client: Client::new(),
            clock: Clock::start(),
            journal: Journal::silent(),
            tap: None,
        }
    }

    /// Where an agent that will listen here is to be called.
    async fn contact(&self, listener: &TcpListener) -> Endpoint {
        let address = listener.local_addr().unwrap();
        endpoint(match &self.tap {
            Some(tap) => tap.before(address).await,
            None => address,
        })
    }

    /// Waits until nothing is on its way to the disk.
    pub(crate) async fn settled(&self) {
        while self.store.stats().queue_depth > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Where everyone's events are.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("league.db")
    }

    /// All that has been recorded, and fits the schemas. The agents must have been shut down.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.store.clone().close().unwrap();
        let reader = Store::open_read_only(&self.file()).unwrap();
        let exchanges = reader.exchanges().unwrap();
        for exchange in &exchanges {
            assert_recorded_fits(exchange);
        }
        exchanges
    }

    pub(crate) fn options(&self, name: &str) -> Options {
        Options {
            client: self.client.clone(),
            clock: self.clock,
            journal: self.journal.clone(),
            ..Options::new(entropy_numbered(7, name))
        }
    }

    pub(crate) fn run<A>(&self, agent: A, listener: TcpListener, name: &str) -> Handle<A>
    where
        A: Agent + Send + 'static,
        A::Event: Send,
    {
        let stream = Stream(name.into());
        shell::run(agent, listener, self.store.clone(), stream, self.options(name)).unwrap()
    }

    pub(crate) async fn manager(&self, settings: league::Settings) -> Handle<Manager> {
        self.run(Manager::new(settings), free_port().await, "league")
    }

    pub(crate) async fn referee(&self, number: u32, manager: &Endpoint, timing: Timing) -> Handle<Referee> {
        let listener = free_port().await;
        let settings = referee::Settings {
            manager: manager.clone(),
            contact_endpoint: self.contact(&listener).await,
            display_name: DisplayName::parse(&format!("Referee {number}")).unwrap(),
            version: Version::parse("1.0.0").unwrap(),
            game_types: vec![GameType::new("even_odd")],
            max_concurrent_matches: 10,
            timing,
            bounds: Default::default(),
            conformance: Default::default(),
        };
        self.run(Referee::new(settings), listener, &format!("referee/{number}"))
    }

    async fn player_settings(
        &self,
        number: u32,
        manager: &Endpoint,
        strategy: &str,
        listener: &TcpListener,
    ) -> player::Settings {
        player::Settings {
            manager: manager.clone(),
            contact_endpoint: self.contact(listener).await,
            display_name: DisplayName::parse(&format!("Player {number}")).unwrap(),
            version: Version::parse("1.0.0").unwrap(),
            game_types: vec![GameType::new("even_odd")],
            strategy: strategy.into(),
        }
    }

    pub(crate) async fn player(&self, number: u32, manager: &Endpoint, strategy: &str) -> Handle<Player> {
        let listener = free_port().await;
        let settings = self.player_settings(number, manager, strategy, &listener).await;
        let strategy = strategy::find(strategy).unwrap().build();
        self.run(Player::new(settings, strategy), listener, &format!("player/{number}"))
    }

    /// A player for which `mind` decides, and which falls back on even.
    pub(crate) async fn thinker(
        &self,
        number: u32,
        manager: &Endpoint,
        mind: Arc<dyn Mind>,
    ) -> Handle<Player> {
        let listener = free_port().await;
        let settings = self.player_settings(number, manager, "a mind", &listener).await;
        let fallback = strategy::find("always_even").unwrap().build();
        let player = Player::with_outside_mind(settings, fallback, THINK_TIME);
        let name = format!("player/{number}");
        let options = Options { mind: Some(mind), ..self.options(&name) };
        shell::run(player, listener, self.store.clone(), Stream(name.into()), options).unwrap()
    }

    pub(crate) async fn post(&self, to: SocketAddr, body: impl Into<Vec<u8>>) -> (u16, Value) {
        let deadline = Instant::now() + Duration::from_secs(10);
        let url = format!("http://{to}/mcp");
        let received = self.client.post(&url, body.into().into(), deadline, 1 << 20).await.unwrap();
        (received.status, serde_json::from_slice(&received.body).unwrap_or_default())
    }

    pub(crate) async fn start(&self, manager: &Handle<Manager>) {
        let league_id = league::Settings::default().league_id;
        let envelope = Envelope::new(Sender::Launcher, self.clock.now(), ConversationId::new("conv-start"));
        let message = Message::new(envelope, StartLeague { league_id });
        let (status, answer) = self.post(manager.address(), serde_json::to_vec(&message).unwrap()).await;
        assert_eq!((status, &answer["message_type"]), (200, &"LEAGUE_STATUS".into()), "{answer}");
    }
}

/// Looks again and again until `look` sees what it waits for.
pub(crate) async fn until<A: 'static>(
    agent: &Handle<A>,
    what: &str,
    within: Duration,
    look: impl Fn(&A) -> bool + Clone + Send + 'static,
) {
    let deadline = Instant::now() + within;
    while !agent.inspect(look.clone()).await.expect("the agent runs") {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) async fn until_registered(manager: &Handle<Manager>, players: usize, referees: usize) {
    until(manager, "everyone registered", Duration::from_secs(10), move |manager| {
        manager.league().players.len() == players && manager.league().referees.len() == referees
    })
    .await;
}

pub(crate) async fn until_completed(manager: &Handle<Manager>, within: Duration) -> League {
    until(manager, "league completed", within, |manager| manager.league().phase == Phase::Completed).await;
    manager.inspect(|manager| manager.league().clone()).await.unwrap()
}
