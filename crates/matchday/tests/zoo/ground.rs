//! Our own agents among the animals, each with connections of its own, as if it were a process of its own.

use crate::cage::Animal;
use matchday::net::client::Client;
use matchday::shell::{self, Clock, Handle, Options, entropy_numbered};
use matchday::store::chronicle::Chronicle;
use matchday::store::export::export;
use matchday::store::{Direction, Exchange, Store, Stream};
use matchday_core::agent::Agent;
use matchday_core::league::{self, League, Manager};
use matchday_core::player::{self, Player, strategy};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{DisplayName, Endpoint, GameType, PlayerId, Version};
use matchday_core::referee::{self, Referee};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

pub(crate) struct Ground {
    store: Store,
    folder: tempfile::TempDir,
    clock: Clock,
    pub(crate) conformance: Conformance,
    pub(crate) timing: Timing,
}

pub(crate) fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::parse(&format!("http://{address}/mcp")).unwrap()
}

/// Windows long enough for a busy machine where everyone answers, and retries that cost little.
pub(crate) fn patient() -> Timing {
    let retry = RetryPolicy { retries: 3, backoff: Backoff::Fixed { delay: Duration::from_millis(100) } };
    let five = Duration::from_secs(5);
    Timing { join: five, choice: five, game_over: five, report: five, other: five, retry }
}

impl Ground {
    pub(crate) fn new(conformance: Conformance, timing: Timing) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("league.db")).unwrap();
        Self { store, folder, clock: Clock::start(), conformance, timing }
    }

    fn run<A>(&self, agent: A, listener: TcpListener, name: &str) -> Handle<A>
    where
        A: Agent + Send + 'static,
        A::Event: Send,
    {
        let entropy = entropy_numbered(11, name);
        let options = Options { client: Client::new(), clock: self.clock, ..Options::new(entropy) };
        shell::run(agent, listener, self.store.clone(), Stream(name.into()), options).unwrap()
    }

    pub(crate) async fn manager(&self) -> Handle<Manager> {
        self.manager_at("127.0.0.1:0".parse().unwrap()).await
    }

    /// The manager of this ground's league: the same one, if there was one before.
    pub(crate) async fn manager_at(&self, address: SocketAddr) -> Handle<Manager> {
        let settings = league::Settings {
            announce_lead: Duration::from_millis(100),
            conformance: self.conformance,
            timing: self.timing,
            probe_every: Duration::from_millis(200),
            ..league::Settings::default()
        };
        self.run(Manager::new(settings), TcpListener::bind(address).await.unwrap(), "league")
    }

    pub(crate) async fn referee(&self, number: u32, manager: &str) -> Handle<Referee> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let settings = referee::Settings {
            manager: Endpoint::parse(manager).unwrap(),
            contact_endpoint: endpoint(listener.local_addr().unwrap()),
            display_name: DisplayName::parse(&format!("Referee {number}")).unwrap(),
            version: Version::parse("1.0.0").unwrap(),
            game_types: vec![GameType::new("even_odd")],
            max_concurrent_matches: 10,
            timing: self.timing,
            bounds: Default::default(),
            conformance: self.conformance,
        };
        self.run(Referee::new(settings), listener, &format!("referee/{number}"))
    }

    pub(crate) async fn player(&self, number: u32, manager: &str) -> Handle<Player> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let settings = player::Settings {
            manager: Endpoint::parse(manager).unwrap(),
            contact_endpoint: endpoint(listener.local_addr().unwrap()),
            display_name: DisplayName::parse(&format!("Player {number}")).unwrap(),
            version: Version::parse("1.0.0").unwrap(),
            game_types: vec![GameType::new("even_odd")],
            strategy: "random".into(),
        };
        let strategy = strategy::find("random").unwrap().build();
        self.run(Player::new(settings, strategy), listener, &format!("player/{number}"))
    }

    pub(crate) async fn ask(&self, manager: SocketAddr, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let url = format!("http://{manager}/mcp");
        let soon = Instant::now() + Duration::from_secs(10);
        let received = Client::new().post(&url, body.to_string().into(), soon, 1 << 20).await.unwrap();
        serde_json::from_slice::<Value>(&received.body).unwrap()["result"].clone()
    }

    pub(crate) async fn start(&self, manager: SocketAddr) {
        let start = json!({
            "protocol": "league.v2", "message_type": "START_LEAGUE", "sender": "launcher",
            "timestamp": self.clock.now(), "conversation_id": "conv-start",
            "league_id": league::Settings::default().league_id,
        });
        let answer = self.ask(manager, "start_league", start).await;
        assert_eq!(answer["message_type"], "LEAGUE_STATUS", "{answer}");
    }

    /// Everything that the store holds, as files. The agents must have been shut down.
    pub(crate) fn export(&self) -> PathBuf {
        self.store.clone().close().unwrap();
        let out = self.folder.path().join("exported");
        let chronicle = Chronicle::open(&[self.folder.path().join("league.db")]).unwrap();
        export(&chronicle, &out).unwrap();
        out
    }

    /// What our agents have said and heard. They must have been shut down.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.store.clone().close().unwrap();
        Store::open_read_only(&self.folder.path().join("league.db")).unwrap().exchanges().unwrap()
    }
}

/// The codes of every GAME_ERROR that was sent to an endpoint.
pub(crate) fn game_errors(exchanges: &[Exchange], to: &Endpoint) -> Vec<String> {
    let sent = exchanges.iter().filter(|exchange| {
        exchange.direction == Direction::Out
            && exchange.message_type == "GAME_ERROR"
            && exchange.peer == to.raw()
    });
    sent.map(|exchange| {
        let request: Value = serde_json::from_str(&exchange.request).unwrap();
        let message = [&request["params"]["message"], &request["params"], &request];
        message.iter().find_map(|place| place["error_code"].as_str()).unwrap().to_owned()
    })
    .collect()
}

pub(crate) async fn until<A: 'static>(
    agent: &Handle<A>,
    what: &str,
    look: impl Fn(&A) -> bool + Clone + Send + 'static,
) {
    let deadline = Instant::now() + Duration::from_secs(50);
    while !agent.inspect(look.clone()).await.expect("the agent runs") {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn until_members(manager: &Handle<Manager>, players: usize, referees: usize) {
    until(manager, "everyone registered", move |manager| {
        manager.league().players.len() == players && manager.league().referees.len() == referees
    })
    .await;
}

pub(crate) async fn until_completed(manager: &Handle<Manager>) -> League {
    until(manager, "the league is over", |manager| manager.league().phase == Phase::Completed).await;
    manager.inspect(|manager| manager.league().clone()).await.unwrap()
}

/// Under which id a league knows an animal.
pub(crate) fn id_of(league: &League, name: &str) -> PlayerId {
    let known = league.players.iter().find(|(_, player)| player.meta.display_name.raw() == name);
    known.unwrap_or_else(|| panic!("{name} is not in the league")).0.clone()
}

pub(crate) fn technical_losses(league: &League, player: &PlayerId) -> u32 {
    let table = league.table();
    table.iter().find(|place| place.player == *player).unwrap().tally.technical_losses
}

/// Starts one animal for each name, all at once.
pub(crate) fn animals(kind: &str, names: &[&str], manager: SocketAddr) -> Vec<Animal> {
    let url = format!("http://{manager}/mcp");
    names.iter().map(|name| Animal::start(&format!("{kind}/{name}"), &url)).collect()
}
