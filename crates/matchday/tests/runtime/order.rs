//! The driver's duties, seen by an agent that keeps a diary.

use crate::requests::{http, raw};
use matchday_core::agent::{
    Agent, Ask, Content, DecodeHints, Input, Reply, RequestId, Signing, Step,
};
use matchday_core::driver::EventDurability;
use matchday_core::entropy::Entropy;
use matchday_core::metrics::Metrics;
use matchday_core::protocol::decode::{Conformance, Limits};
use matchday_core::protocol::methods::Query;
use matchday_core::protocol::{Sender, Timestamp};
use matchday_runtime::Handle;
use matchday_store::Stream;
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::test_league::{TestLeague, free_port, until};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Answers `ping` at once, and `get_standings` only when the next tick comes, which it then wants soon.
#[derive(Default)]
pub(crate) struct RecordingAgent {
    pub(crate) pages: Vec<String>,
    times: Vec<Timestamp>,
    held: Vec<RequestId>,
    wants_tick: Option<Timestamp>,
    pub(crate) tick_after: Duration,
    /// How long its answers are, beyond what they say.
    answer_bytes: usize,
    /// How often it was asked when it wants to be ticked.
    asked: AtomicUsize,
}

impl RecordingAgent {
    pub(crate) fn answering(answer_bytes: usize) -> Self {
        Self {
            answer_bytes,
            ..Self::default()
        }
    }
}

impl Agent for RecordingAgent {
    type Event = String;

    fn handle(&mut self, now: Timestamp, _: &mut Entropy, input: Input) -> Step<String> {
        self.times.push(now);
        let padding = "x".repeat(self.answer_bytes);
        let reply = |to| Reply {
            to,
            content: Content::Data(json!({"at": now.as_micros(), "padding": padding})),
        };
        let mut step = Step::default();
        let page = match input {
            Input::Wake => "wake",
            Input::Tick => {
                assert!(
                    self.wants_tick.is_some_and(|at| at <= now),
                    "ticked before its time"
                );
                self.wants_tick = None;
                step.replies.extend(self.held.drain(..).map(reply));
                "tick"
            }
            Input::Answer { .. } => "answer",
            Input::External { .. } => "decided",
            Input::Signed(_) => "signed",
            Input::Request(request) if !is_ping(&request.ask) => {
                self.held.push(request.id);
                self.wants_tick = Some(now + self.tick_after);
                "held"
            }
            Input::Request(request) => {
                step.replies.push(reply(request.id));
                "ping"
            }
        };
        step.events.push(page.to_owned());
        self.pages.push(page.to_owned());
        step
    }

    fn apply(&mut self, _: Timestamp, event: &String) {
        self.pages.push(format!("({event})"));
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.wants_tick
    }

    fn sender(&self) -> Sender {
        Sender::LeagueManager
    }
}

impl DecodeHints for RecordingAgent {
    fn reading(&self) -> (Conformance, Limits) {
        (Conformance::Strict, Limits::AGENT)
    }
}

impl EventDurability for RecordingAgent {}
impl Metrics for RecordingAgent {}
impl Signing for RecordingAgent {}

fn is_ping(ask: &Ask) -> bool {
    matches!(ask, Ask::Query(asked) if matches!(asked.query, Query::Ping))
}

pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
pub(crate) const HELD: &str = r#"{"jsonrpc":"2.0","id":2,"method":"get_standings"}"#;

pub(crate) async fn recording_agent(
    test_league: &TestLeague,
    inbox_len: usize,
    tick_after: Duration,
) -> Handle<RecordingAgent> {
    run(
        test_league,
        inbox_len,
        RecordingAgent {
            tick_after,
            ..RecordingAgent::default()
        },
    )
    .await
}

pub(crate) async fn run(
    test_league: &TestLeague,
    inbox_len: usize,
    agent: RecordingAgent,
) -> Handle<RecordingAgent> {
    let options = matchday_runtime::Options {
        inbox_len,
        ..test_league.options("recording_agent")
    };
    let stream = Stream("recording_agent".into());
    matchday_runtime::run(
        agent,
        free_port().await,
        test_league.store.clone(),
        stream,
        options,
    )
    .unwrap()
}

pub(crate) async fn until_held(agent: &Handle<RecordingAgent>) {
    let is_held = |agent: &RecordingAgent| !agent.held.is_empty();
    until(agent, "the question", Duration::from_secs(60), is_held).await;
}

#[tokio::test]
async fn a_tick_comes_at_the_deadline_and_a_reply_may_come_with_it() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let agent = recording_agent(&test_league, 10, Duration::from_millis(40)).await;
    let began = test_league.clock.now();
    let (_, answer) = test_league.post(agent.address(), HELD).await;
    let at = Timestamp::from_micros(answer["result"]["at"].as_i64().unwrap());
    assert!(at.since(began) >= Duration::from_millis(40));
    // Nothing else would wake it before the client gives up.
    assert!(
        at.since(began) < Duration::from_secs(9),
        "{:?}",
        at.since(began)
    );
    assert_eq!(
        agent.inspect(|agent| agent.pages.clone()).await.unwrap(),
        ["wake", "held", "tick"]
    );
}

#[tokio::test]
async fn a_record_that_is_due_is_stored_once_and_the_agent_left_alone() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let agent = recording_agent(&test_league, 10, Duration::ZERO).await;
    let stranger = TestLeague::new(matchday_server::agent_options);
    stranger.post(agent.address(), PING).await;
    test_league.flushed().await;
    eventually_async("the record is stored", async || {
        test_league.store.stats().exchanges > 0
    })
    .await;
    let asked = agent
        .inspect(|agent| agent.asked.load(Ordering::Relaxed))
        .await
        .unwrap();
    assert!(asked < 50, "it was looked at {asked} times");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_never_runs_backwards_for_an_agent() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let agent = recording_agent(&test_league, 200, Duration::from_millis(1)).await;
    let mut asking = tokio::task::JoinSet::new();
    for n in 0..200 {
        let (client, url) = (
            test_league.client.clone(),
            format!("http://{}/mcp", agent.address()),
        );
        let body = if n % 3 == 0 { HELD } else { PING };
        let deadline = Instant::now() + Duration::from_secs(60);
        asking.spawn(async move {
            client
                .post(&url, body.into(), deadline, 1000)
                .await
                .unwrap()
                .status
        });
    }
    let answered = asking.join_all().await;
    assert!(answered.iter().all(|status| *status == 200));
    assert!(
        agent
            .inspect(|agent| agent.times.is_sorted())
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn a_full_inbox_asks_to_come_again_later() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let agent = recording_agent(&test_league, 1, Duration::from_secs(3)).await;
    let (held, refused) = tokio::join!(test_league.post(agent.address(), HELD), async {
        until_held(&agent).await;
        let bare = r#"{"message_type":"LEAGUE_QUERY","conversation_id":"conv-1"}"#;
        let head = raw(agent.address(), &http("POST", "/mcp", PING))
            .await
            .to_ascii_lowercase();
        assert!(head.contains("retry-after: 1\r\n"), "{head}");
        (
            test_league.post(agent.address(), PING).await,
            test_league.post(agent.address(), bare).await,
        )
    });
    assert_eq!(held.0, 200);
    let ((status, wrapped), (_, bare)) = refused;
    assert_eq!((status, wrapped["id"].as_i64()), (429, Some(1)));
    assert_eq!(
        (
            &wrapped["result"]["error_code"],
            &wrapped["result"]["sender"]
        ),
        (&"E014".into(), &"league_manager".into())
    );
    assert_eq!(
        (&bare["error_code"], &bare["conversation_id"]),
        (&"E014".into(), &"conv-1".into())
    );
    assert_eq!(
        test_league.post(agent.address(), PING).await.0,
        200,
        "there is room again"
    );
}
