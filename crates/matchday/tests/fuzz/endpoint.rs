//! Whole endpoints, over real sockets: a manager, a referee and a player take any bytes, and are themselves afterwards.

use bolero::check;
use matchday_core::game::strategy;
use matchday_core::league::{self, Manager};
use matchday_core::player::{self, Player};
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Version};
use matchday_core::referee::{self, Referee};
use matchday_net::client::Client;
use matchday_runtime::{Handle, Runnable, entropy_numbered};
use matchday_store::{Store, Stream};
use matchday_testkit::mutation::mutated;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::panic::{self, RefUnwindSafe};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout};

/// How many random inputs an ordinary test takes, beside its corpus: about a second of them.
const RUNS: usize = 200;

/// After so many inputs everyone is started anew, so that what they remember of them does not grow for ever.
const INPUTS_MAX: usize = 1000;
/// What takes longer is taken for a hang.
const PATIENCE: Duration = Duration::from_secs(20);
const BRIEFLY: Duration = Duration::from_millis(100);
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A league that nobody starts, on free ports.
struct IdleLeague {
    runtime: Runtime,
    league: RefCell<Option<(usize, Agents)>>,
}

struct Agents {
    client: Client,
    manager: Handle<Manager>,
    referee: Handle<Referee>,
    player: Handle<Player>,
}

/// A failed input ends the test: nobody looks at the league after it.
impl RefUnwindSafe for IdleLeague {}

impl IdleLeague {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Self {
            runtime,
            league: RefCell::new(None),
        }
    }

    fn with_agents(&self, attack: impl AsyncFnOnce(&Agents)) {
        let mut league = self.league.borrow_mut();
        self.runtime.block_on(async {
            let (inputs, agents) = match league.take() {
                Some((inputs, agents)) if inputs < INPUTS_MAX => (inputs, agents),
                _ => (0, Agents::start().await),
            };
            attack(&agents).await;
            agents.are_themselves().await;
            *league = Some((inputs + 1, agents));
        });
    }
}

async fn run<A>(agent: impl FnOnce(Endpoint) -> A, name: &str) -> Handle<A>
where
    A: Runnable,
    A::Event: Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = endpoint(listener.local_addr().unwrap());
    let options = matchday_server::agent_options(entropy_numbered(7, name));
    matchday_runtime::run(
        agent(endpoint),
        listener,
        Store::in_memory().unwrap(),
        Stream(name.into()),
        options,
    )
    .unwrap()
}

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::parse(&format!("http://{address}/mcp")).unwrap()
}

impl Agents {
    async fn start() -> Self {
        let manager = run(
            |_| Manager::new(league::LeagueSettings::default()),
            "league",
        )
        .await;
        let home = endpoint(manager.address());
        let version = Version::parse("1.0.0").unwrap();
        let settings = |contact_endpoint| referee::RefereeSettings {
            manager: home.clone(),
            contact_endpoint,
            display_name: DisplayName::parse("Referee 1").unwrap(),
            version: version.clone(),
            game_types: vec![GameType::new("even_odd")],
            max_concurrent_matches: 10,
            timing: Default::default(),
            bounds: Default::default(),
            conformance: Default::default(),
        };
        let referee = run(|contact| Referee::new(settings(contact)), "referee/1").await;
        let settings = |contact_endpoint| player::PlayerSettings {
            manager: home.clone(),
            contact_endpoint,
            display_name: DisplayName::parse("Player 1").unwrap(),
            version: version.clone(),
            game_types: vec![GameType::new("even_odd")],
            strategy: None,
        };
        let strategy = strategy::find("random").unwrap();
        let player = run(
            |contact| Player::new(settings(contact), strategy.build()),
            "player/1",
        )
        .await;
        Self {
            client: Client::new(),
            manager,
            referee,
            player,
        }
    }

    fn addresses(&self) -> [SocketAddr; 3] {
        [
            self.manager.address(),
            self.referee.address(),
            self.player.address(),
        ]
    }

    /// Each still answers a sane request, and nothing has panicked meanwhile, not even where a panic is caught.
    async fn are_themselves(&self) {
        for address in self.addresses() {
            let deadline = Instant::now() + PATIENCE;
            let url = format!("http://{address}/mcp");
            let answer = self
                .client
                .post(&url, PING.into(), deadline, 1 << 20)
                .await
                .expect("an answer");
            assert_eq!(answer.status, 200);
        }
        assert_eq!(
            PANICS.load(Ordering::Relaxed),
            0,
            "something panicked in the background"
        );
    }
}

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// The runtime catches the panics of its tasks, so they are counted.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, Ordering::Relaxed);
            before(info);
        }));
    });
}

/// Sends the bytes as they are and nothing more, and takes what comes back until the connection ends or nothing more
/// comes, since some streams have no end. `patience` is for the first of it.
async fn send(to: SocketAddr, bytes: &[u8], patience: Duration) -> Vec<u8> {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let mut wait = patience;
    while let Ok(Ok(1..)) = timeout(wait, stream.read_buf(&mut answer)).await {
        wait = BRIEFLY;
    }
    answer
}

#[test]
fn any_bytes() {
    let post = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{PING}",
        PING.len()
    );
    let chunked = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    let get = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: 1\r\n\r\n";
    let good = [
        post.as_str(),
        chunked,
        get,
        "DELETE /schemas HTTP/1.0\r\nExpect: 100-continue\r\n\r\n",
    ];
    let idle_league = IdleLeague::new();
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        count_panics();
        let bytes = mutated(&good, input);
        let to = input.len() % 3;
        idle_league.with_agents(async |agents: &Agents| {
            drop(send(agents.addresses()[to], &bytes, BRIEFLY).await)
        });
    });
}

#[test]
fn any_body() {
    let good = [
        PING,
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"get_standings","arguments":{}}}"#,
        r#"[{"jsonrpc":"2.0","id":3,"method":"tools/list"},{"message_type":"LEAGUE_QUERY"},1]"#,
        include_str!("../../../core/tests/golden/000_3-3-1_league_register_request.json"),
        include_str!("../../../core/tests/golden/000_5-1-1_game_invitation.json"),
        include_str!("../../../core/tests/golden/000_7-1-1_match_result_report.json"),
        include_str!("../../../core/tests/golden/000_8-1-1_league_query_standings.json"),
    ];
    let idle_league = IdleLeague::new();
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        count_panics();
        let body = mutated(&good, input);
        let length = body.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        let to = input.len() % 3;
        idle_league.with_agents(async |agents: &Agents| {
            let answer = send(agents.addresses()[to], &[head.as_bytes(), &body].concat(), PATIENCE).await;
            assert!(answer.starts_with(b"HTTP/1.1 "), "every request is answered: {}", answer.escape_ascii());
        });
    });
}
