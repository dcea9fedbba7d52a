//! Our own agents among agents of the zoo, each with connections of its own, as if it were a process of its own.

use crate::agent_process::AgentProcess;
use matchday_audit::export::export;
use matchday_audit::log_set::LogSet;
use matchday_core::game::strategy;
use matchday_core::league::{League, LeagueSettings, Manager, ProofRule};
use matchday_core::player::Player;
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::{Endpoint, PlayerId};
use matchday_core::referee::{Referee, RefereeSettings};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_net::client::Client;
use matchday_runtime::{Handle, Options, Runnable};
use matchday_store::{Direction, Exchange, Stream};
use matchday_testkit::test_league::{self, TestLeague, free_port};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;

/// A league of our own agents, in which agents of the zoo take part.
pub(crate) struct ZooLeague {
    test_league: TestLeague,
    conformance: Conformance,
    timing: Timing,
    pub(crate) proof: ProofRule,
}

/// Windows long enough for a busy machine where everyone answers, and retries that cost little.
pub(crate) fn patient() -> Timing {
    let retry = RetryPolicy {
        retries: 3,
        backoff: Backoff::Fixed {
            delay: Duration::from_millis(100),
        },
    };
    let five = Duration::from_secs(5);
    Timing {
        join: five,
        choice: five,
        game_over: five,
        report: five,
        other: five,
        retry,
    }
}

impl ZooLeague {
    pub(crate) fn new(conformance: Conformance, timing: Timing) -> Self {
        let proof = ProofRule::Required;
        Self {
            test_league: TestLeague::new(matchday_server::agent_options),
            conformance,
            timing,
            proof,
        }
    }

    fn run<A>(&self, agent: A, listener: TcpListener, name: &str) -> Handle<A>
    where
        A: Runnable,
        A::Event: Send,
    {
        let options = Options {
            client: Client::new(),
            ..self.test_league.options(name)
        };
        let store = self.test_league.store.clone();
        let stream = Stream(name.into());
        matchday_runtime::run(agent, listener, store, stream, options).unwrap()
    }

    pub(crate) async fn manager(&self) -> Handle<Manager> {
        self.manager_at("127.0.0.1:0".parse().unwrap()).await
    }

    /// The manager of this league: the same one, if there was one before.
    pub(crate) async fn manager_at(&self, address: SocketAddr) -> Handle<Manager> {
        let settings = LeagueSettings {
            announce_lead: Duration::from_millis(100),
            conformance: self.conformance,
            timing: self.timing,
            probe_every: Duration::from_millis(200),
            proof: self.proof,
            ..LeagueSettings::default()
        };
        self.run(
            Manager::new(settings),
            TcpListener::bind(address).await.unwrap(),
            "league",
        )
    }

    pub(crate) async fn referee(&self, number: u32, manager: &str) -> Handle<Referee> {
        let listener = free_port().await;
        let manager = Endpoint::parse(manager).unwrap();
        let settings = self
            .test_league
            .referee_settings(number, &manager, self.timing, &listener)
            .await;
        let settings = RefereeSettings {
            conformance: self.conformance,
            ..settings
        };
        self.run(
            Referee::new(settings),
            listener,
            &format!("referee/{number}"),
        )
    }

    pub(crate) async fn player(&self, number: u32, manager: &str) -> Handle<Player> {
        let listener = free_port().await;
        let manager = Endpoint::parse(manager).unwrap();
        let settings = self
            .test_league
            .player_settings(number, &manager, &listener)
            .await;
        let strategy = strategy::find("random").unwrap().build();
        self.run(
            Player::new(settings, strategy),
            listener,
            &format!("player/{number}"),
        )
    }

    pub(crate) async fn ask(&self, manager: SocketAddr, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (_, answer) = self.test_league.post(manager, body.to_string()).await;
        answer["result"].clone()
    }

    pub(crate) async fn start(&self, manager: &Handle<Manager>) {
        self.test_league.start(manager).await;
    }

    /// Everything that the store holds, as files. The agents must have been shut down.
    pub(crate) fn export(&self) -> PathBuf {
        self.test_league.store.clone().close().unwrap();
        let file = self.test_league.file();
        let out = file.with_file_name("exported");
        export(&LogSet::open(&[file.into()]).unwrap(), &out).unwrap();
        out
    }

    /// What our agents have said and heard. They must have been shut down.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.test_league.exchanges_unchecked()
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
        message
            .iter()
            .find_map(|place| place["error_code"].as_str())
            .unwrap()
            .to_owned()
    })
    .collect()
}

/// A busy machine starts Python slowly.
const PATIENCE: Duration = Duration::from_secs(50);

pub(crate) async fn until<A: 'static>(
    agent: &Handle<A>,
    what: &str,
    look: impl Fn(&A) -> bool + Clone + Send + 'static,
) {
    test_league::until(agent, what, PATIENCE, look).await;
}

pub(crate) async fn until_members(manager: &Handle<Manager>, players: usize, referees: usize) {
    until(manager, "everyone registered", move |manager| {
        manager.league().players.len() == players && manager.league().referees.len() == referees
    })
    .await;
}

pub(crate) async fn until_completed(manager: &Handle<Manager>) -> League {
    test_league::until_completed(manager, PATIENCE).await
}

/// Under which id a league knows an agent of the zoo.
pub(crate) fn id_of(league: &League, name: &str) -> PlayerId {
    let known = league
        .players
        .iter()
        .find(|(_, player)| player.meta.display_name.raw() == name);
    known
        .unwrap_or_else(|| panic!("{name} is not in the league"))
        .0
        .clone()
}

pub(crate) fn technical_losses(league: &League, player: &PlayerId) -> u32 {
    let table = league.standings();
    table
        .iter()
        .find(|place| place.player == *player)
        .unwrap()
        .tally
        .technical_losses
}

/// Starts one agent for each name, all at once.
pub(crate) fn start_agents(kind: &str, names: &[&str], manager: SocketAddr) -> Vec<AgentProcess> {
    let url = format!("http://{manager}/mcp");
    names
        .iter()
        .map(|name| AgentProcess::start(&format!("{kind}/{name}"), &url))
        .collect()
}
