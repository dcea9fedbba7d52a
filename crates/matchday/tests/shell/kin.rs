//! Agents of one process that write to one store: among themselves they do not wait for it, and nobody else can tell.

use crate::ground::{Ground, endpoint, free_port, until};
use crate::order::{Diarist, PING};
use matchday::net::client::Client;
use matchday::shell::{self, Handle, Kin, Options};
use matchday::store::Stream;
use matchday_core::agent::{Agent, CallId, Content, Input, Outgoing, Parcel, Reply, Step};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::{Conformance, Limits};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::{Endpoint, Sender, Timestamp};
use rusqlite::Connection;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Answers whatever it is asked, and calls its neighbour. It has something to store only if it keeps a diary.
struct Gossip {
    neighbour: Option<Endpoint>,
    keeps_diary: bool,
    calls: u64,
}

impl Agent for Gossip {
    type Event = String;

    fn handle(&mut self, now: Timestamp, _: &mut Entropy, input: Input) -> Step<String> {
        let mut step = Step::default();
        let Input::Request(request) = input else { return step };
        step.replies.push(Reply { to: request.id, content: Content::Received });
        step.events.extend(self.keeps_diary.then(|| "asked".to_owned()));
        self.calls += 1;
        step.outbox.extend(self.neighbour.clone().map(|to| Outgoing {
            call: CallId(self.calls),
            to,
            dialect: Dialect::Standard,
            parcel: Parcel::Probe,
            deadline: now + Duration::from_secs(30),
        }));
        step
    }

    fn apply(&mut self, _: Timestamp, _: &String) {}

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    fn reading(&self) -> (Conformance, Limits) {
        (Conformance::Strict, Limits::AGENT)
    }

    fn sender(&self) -> Sender {
        Sender::LeagueManager
    }
}

/// Kin on one ground, whose store can be kept from writing.
struct House {
    ground: Ground,
    kin: Kin,
}

impl House {
    fn new() -> Self {
        let ground = Ground::new();
        let kin = Kin::of(&ground.store, ground.client.clone());
        Self { ground, kin }
    }

    async fn run<A>(&self, agent: A, name: &str) -> Handle<A>
    where
        A: Agent + Send + 'static,
        A::Event: Send,
    {
        let options = Options { kin: Some(self.kin.clone()), ..self.ground.options(name) };
        let store = self.ground.store.clone();
        shell::run(agent, free_port().await, store, Stream(name.into()), options).unwrap()
    }

    async fn gossip(&self, name: &str, keeps_diary: bool, neighbour: Option<SocketAddr>) -> Handle<Gossip> {
        self.run(Gossip { neighbour: neighbour.map(endpoint), keeps_diary, calls: 0 }, name).await
    }

    /// Until it is dropped, nothing can be written.
    async fn lock(&self) -> Connection {
        self.ground.settled().await;
        let db = Connection::open(self.ground.file()).unwrap();
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        db
    }

    /// Whether someone who is not kin has to wait while something of kin's is in line and nothing can be written.
    async fn others_wait_for(&self, agent: SocketAddr) -> bool {
        let diarist = self.run(Diarist::default(), "diarist").await;
        let lock = self.lock().await;
        self.ask(diarist.address()).await;
        let url = format!("http://{agent}/mcp");
        let asked = tokio::spawn(async move {
            let deadline = Instant::now() + Duration::from_secs(30);
            Client::new().post(&url, PING.into(), deadline, 1 << 20).await.unwrap().status
        });
        sleep(Duration::from_millis(100)).await;
        let waits = !asked.is_finished();
        drop(lock);
        assert_eq!(asked.await.unwrap(), 200);
        waits
    }

    /// Asks as kin does, who must not have to wait.
    async fn ask(&self, agent: SocketAddr) {
        let answer = timeout(Duration::from_secs(5), self.ground.post(agent, PING)).await;
        assert_eq!(answer.expect("kin is answered at once").0, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn kin_is_answered_before_a_step_is_stored() {
    let house = House::new();
    let agent = house.gossip("gossip", true, None).await;
    let lock = house.lock().await;
    house.ask(agent.address()).await;
    assert!(house.ground.store.load(&Stream("gossip".into())).unwrap().is_empty());
    drop(lock);
    house.ground.settled().await;
    assert_eq!(house.ground.store.load(&Stream("gossip".into())).unwrap().len(), 1, "and then it is");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn kin_is_called_before_a_step_is_stored() {
    let house = House::new();
    let diarist = house.run(Diarist::default(), "diarist").await;
    let agent = house.gossip("gossip", true, Some(diarist.address())).await;
    let lock = house.lock().await;
    house.ask(agent.address()).await;
    until(&diarist, "the call", Duration::from_secs(5), |diarist| diarist.pages.len() == 2).await;
    drop(lock);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn others_are_answered_when_the_step_is_stored() {
    let house = House::new();
    let agent = house.gossip("gossip", true, None).await;
    assert!(house.others_wait_for(agent.address()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn others_wait_for_what_kin_has_in_line_also_if_there_is_nothing_to_store_for_them() {
    let house = House::new();
    let agent = house.gossip("gossip", false, None).await;
    assert!(house.others_wait_for(agent.address()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn others_are_called_when_the_step_is_stored() {
    let house = House::new();
    let other = Ground::new();
    let stranger = shell::run(
        Diarist::default(),
        free_port().await,
        other.store.clone(),
        Stream("diarist".into()),
        other.options("diarist"),
    )
    .unwrap();
    let agent = house.gossip("gossip", true, Some(stranger.address())).await;
    let lock = house.lock().await;
    let calling = async {
        sleep(Duration::from_millis(100)).await;
        assert_eq!(stranger.inspect(|stranger| stranger.pages.len()).await, Some(1), "only that it woke");
        drop(lock);
        until(&stranger, "the call", Duration::from_secs(30), |stranger| stranger.pages.len() == 2).await;
    };
    tokio::join!(house.ground.post(agent.address(), PING), calling);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn whoever_writes_to_another_store_is_not_kin() {
    let (house, other) = (House::new(), Ground::new());
    let options = Options { kin: Some(house.kin.clone()), ..house.ground.options("diarist") };
    let store = other.store.clone();
    let agent =
        shell::run(Diarist::default(), free_port().await, store, Stream("diarist".into()), options).unwrap();
    other.settled().await;
    let db = Connection::open(other.file()).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let asked = timeout(Duration::from_millis(100), house.ground.post(agent.address(), PING)).await;
    assert!(asked.is_err(), "it waits for its own store");
}
