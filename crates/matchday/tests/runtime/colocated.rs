//! Colocated agents, which write to one store: among themselves they do not wait for it, and no other agent can tell.

use crate::order::{PING, RecordingAgent};
use matchday_core::agent::{
    Agent, Answer, CallDeadline, CallId, Content, DecodeHints, Input, Outgoing, Payload, Reply,
    Signing, Step,
};
use matchday_core::driver::EventDurability;
use matchday_core::entropy::Entropy;
use matchday_core::metrics::Metrics;
use matchday_core::protocol::decode::{Conformance, Limits};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::{Endpoint, Sender, Timestamp};
use matchday_net::client::Client;
use matchday_runtime::{Handle, LocalRoutes, Options};
use matchday_store::Stream;
use matchday_testkit::test_league::{TestLeague, endpoint, free_port, until};
use rusqlite::Connection;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Answers whatever it is asked, and calls its neighbour. It has something to store only if it keeps a diary.
struct CallingAgent {
    neighbour: Option<Endpoint>,
    keeps_diary: bool,
    calls: u64,
}

impl Agent for CallingAgent {
    type Event = String;

    fn handle(&mut self, _: Timestamp, _: &mut Entropy, input: Input) -> Step<String> {
        let mut step = Step::default();
        let Input::Request(request) = input else {
            return step;
        };
        step.replies.push(Reply {
            to: request.id,
            content: Content::Received,
        });
        step.events
            .extend(self.keeps_diary.then(|| "asked".to_owned()));
        self.calls += 1;
        step.outbox
            .extend(self.neighbour.clone().map(|to| Outgoing {
                call: CallId(self.calls),
                to,
                dialect: Dialect::Standard,
                payload: Payload::Probe,
                deadline: CallDeadline::After(Duration::from_secs(30)),
            }));
        step
    }

    fn apply(&mut self, _: Timestamp, _: &String) {}

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    fn sender(&self) -> Sender {
        Sender::LeagueManager
    }
}

/// Asks another agent once, when it wakes. It has nothing to store.
struct Asker {
    to: Endpoint,
    answer: Option<Answer>,
}

impl Agent for Asker {
    type Event = String;

    fn handle(&mut self, _: Timestamp, _: &mut Entropy, input: Input) -> Step<String> {
        let mut step = Step::default();
        match input {
            Input::Wake => step.outbox.push(Outgoing {
                call: CallId(1),
                to: self.to.clone(),
                dialect: Dialect::Standard,
                payload: Payload::Probe,
                deadline: CallDeadline::After(Duration::from_secs(60)),
            }),
            Input::Answer { answer, .. } => self.answer = Some(answer),
            _ => {}
        }
        step
    }

    fn apply(&mut self, _: Timestamp, _: &String) {}

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    fn sender(&self) -> Sender {
        Sender::Launcher
    }
}

macro_rules! plain_agents {
    ($($agent:ident)*) => {
        $(impl DecodeHints for $agent {
            fn reading(&self) -> (Conformance, Limits) {
                (Conformance::Strict, Limits::AGENT)
            }
        }

        impl EventDurability for $agent {}
        impl Metrics for $agent {}
        impl Signing for $agent {})*
    };
}

plain_agents! { CallingAgent Asker }

/// Colocated agents, whose store can be kept from writing.
struct Process {
    test_league: TestLeague,
    routes: LocalRoutes,
}

impl Process {
    fn new() -> Self {
        let test_league = TestLeague::new(matchday_server::agent_options);
        Self {
            test_league,
            routes: LocalRoutes::default(),
        }
    }

    async fn run<A>(&self, agent: A, name: &str) -> Handle<A>
    where
        A: matchday_runtime::Runnable,
        A::Event: Send,
    {
        let options = Options {
            routes: self.routes.clone(),
            ..self.test_league.options(name)
        };
        let store = self.test_league.store.clone();
        matchday_runtime::run(
            agent,
            free_port().await,
            store,
            Stream(name.into()),
            options,
        )
        .unwrap()
    }

    async fn calling_agent(
        &self,
        name: &str,
        keeps_diary: bool,
        neighbour: Option<SocketAddr>,
    ) -> Handle<CallingAgent> {
        self.run(
            CallingAgent {
                neighbour: neighbour.map(endpoint),
                keeps_diary,
                calls: 0,
            },
            name,
        )
        .await
    }

    /// Until it is dropped, nothing can be written.
    async fn lock(&self) -> Connection {
        self.test_league.flushed().await;
        let db = Connection::open(self.test_league.file()).unwrap();
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        db
    }

    /// Whether an agent of another process has to wait while a step is queued and nothing can be written.
    async fn others_wait_for(&self, agent: &Handle<CallingAgent>) -> bool {
        let recording_agent = self.run(RecordingAgent::default(), "recording_agent").await;
        let lock = self.lock().await;
        self.ask(recording_agent.address()).await;
        let url = format!("http://{}/mcp", agent.address());
        let asked = tokio::spawn(async move {
            let deadline = Instant::now() + Duration::from_secs(30);
            Client::new()
                .post(&url, PING.into(), deadline, 1 << 20)
                .await
                .unwrap()
                .status
        });
        until(agent, "the request", Duration::from_secs(30), |agent| {
            agent.calls == 1
        })
        .await;
        self.round_trips(recording_agent.address()).await;
        let waits = !asked.is_finished();
        drop(lock);
        assert_eq!(asked.await.unwrap(), 200);
        waits
    }

    /// Time enough for anything that does not wait for the store: a colocated agent asks and is answered, many times over.
    async fn round_trips(&self, agent: SocketAddr) {
        for _ in 0..20 {
            self.ask(agent).await;
        }
    }

    /// Asks as a colocated agent does, which must not have to wait.
    async fn ask(&self, agent: SocketAddr) {
        let asker = self
            .run(
                Asker {
                    to: endpoint(agent),
                    answer: None,
                },
                "asker",
            )
            .await;
        let answer = asker.wait_for(|asker| asker.answer.clone());
        let answer = timeout(Duration::from_secs(60), answer).await;
        let answer = answer.expect("a colocated agent is answered at once");
        assert!(matches!(answer, Some(Answer::Received)), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_colocated_agent_is_answered_before_a_step_is_stored() {
    let process = Process::new();
    let agent = process.calling_agent("calling_agent", true, None).await;
    let lock = process.lock().await;
    process.ask(agent.address()).await;
    assert!(
        process
            .test_league
            .store
            .load(&Stream("calling_agent".into()))
            .unwrap()
            .is_empty()
    );
    drop(lock);
    process.test_league.flushed().await;
    assert_eq!(
        process
            .test_league
            .store
            .load(&Stream("calling_agent".into()))
            .unwrap()
            .len(),
        1,
        "and then it is"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_colocated_agent_is_called_before_a_step_is_stored() {
    let process = Process::new();
    let recording_agent = process
        .run(RecordingAgent::default(), "recording_agent")
        .await;
    let agent = process
        .calling_agent("calling_agent", true, Some(recording_agent.address()))
        .await;
    let lock = process.lock().await;
    process.ask(agent.address()).await;
    until(
        &recording_agent,
        "the call",
        Duration::from_secs(60),
        |recording_agent| recording_agent.pages.len() == 2,
    )
    .await;
    drop(lock);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn others_are_answered_when_the_step_is_stored() {
    let process = Process::new();
    let agent = process.calling_agent("calling_agent", true, None).await;
    assert!(process.others_wait_for(&agent).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn others_wait_for_what_is_queued_also_if_there_is_nothing_to_store_for_them() {
    let process = Process::new();
    let agent = process.calling_agent("calling_agent", false, None).await;
    assert!(process.others_wait_for(&agent).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn others_are_called_when_the_step_is_stored() {
    let process = Process::new();
    let other = TestLeague::new(matchday_server::agent_options);
    let stranger = matchday_runtime::run(
        RecordingAgent::default(),
        free_port().await,
        other.store.clone(),
        Stream("recording_agent".into()),
        other.options("recording_agent"),
    )
    .unwrap();
    let colocated = process.run(RecordingAgent::default(), "colocated").await;
    let agent = process
        .calling_agent("calling_agent", true, Some(stranger.address()))
        .await;
    let lock = process.lock().await;
    let calling = async {
        until(&agent, "the step", Duration::from_secs(30), |agent| {
            agent.calls == 1
        })
        .await;
        process.round_trips(colocated.address()).await;
        assert_eq!(
            stranger.inspect(|stranger| stranger.pages.len()).await,
            Some(1),
            "only that it woke"
        );
        drop(lock);
        until(&stranger, "the call", Duration::from_secs(30), |stranger| {
            stranger.pages.len() == 2
        })
        .await;
    };
    tokio::join!(process.test_league.post(agent.address(), PING), calling);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn an_agent_with_another_store_is_not_colocated() {
    let process = Process::new();
    let other = TestLeague::new(matchday_server::agent_options);
    let colocated = process.run(RecordingAgent::default(), "colocated").await;
    let options = Options {
        routes: process.routes.clone(),
        ..process.test_league.options("recording_agent")
    };
    let store = other.store.clone();
    let agent = matchday_runtime::run(
        RecordingAgent::default(),
        free_port().await,
        store,
        Stream("recording_agent".into()),
        options,
    )
    .unwrap();
    other.flushed().await;
    let db = Connection::open(other.file()).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let meanwhile = async {
        let is_asked = |agent: &RecordingAgent| agent.pages.iter().any(|page| page == "ping");
        until(&agent, "the request", Duration::from_secs(30), is_asked).await;
        process.round_trips(colocated.address()).await;
    };
    tokio::select! {
        () = process.ask(agent.address()) => panic!("it does not wait for its own store"),
        () = meanwhile => {}
    }
}
