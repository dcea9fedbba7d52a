//! A process of seats, but for the process: what `matchday seat` runs, on a free port.

use matchday_core::game::observation::ObservationForm;
use matchday_core::game::strategy;
use matchday_core::league::{self, Manager};
use matchday_core::protocol::{Endpoint, Token};
use matchday_core::referee::Referee;
use matchday_core::timing::Timing;
use matchday_net::ip_network::IpNetwork;
use matchday_runtime::{Handle, Options, entropy_numbered};
use matchday_server::seat::{Authorization, SeatSettings, Seats, serve};
use matchday_store::Store;
use matchday_testkit::mcp_client::call;
use matchday_testkit::test_league::{TestLeague, endpoint, free_port, short};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Time enough for a client that is asked at once; a test that wants to be late waits for a second or so.
pub(crate) fn unhurried() -> Timing {
    Timing {
        choice: Duration::from_secs(20),
        ..short()
    }
}

/// About a second is left to think of this.
pub(crate) fn hurried() -> Timing {
    Timing {
        choice: Duration::from_secs(3),
        ..short()
    }
}

pub(crate) fn settings(manager: &Endpoint, home: SocketAddr) -> SeatSettings {
    SeatSettings {
        manager: manager.clone(),
        home: endpoint(home),
        seats_max: 4,
        seats_per_address: None,
        fallback: strategy::find("always_even"),
        observation: ObservationForm::Both,
        authorization: Authorization::Off,
        join_code: None,
    }
}

pub(crate) struct Room {
    pub(crate) address: SocketAddr,
    store: Store,
    close: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Room {
    pub(crate) async fn open(file: &Path, manager: &Endpoint) -> Self {
        Self::open_at(free_port().await, file, manager, |settings| settings).await
    }

    pub(crate) async fn open_at(
        listener: TcpListener,
        file: &Path,
        manager: &Endpoint,
        change: impl FnOnce(SeatSettings) -> SeatSettings,
    ) -> Self {
        let options = matchday_server::agent_options(entropy_numbered(3, "seats"));
        Self::open_with(listener, file, manager, change, options).await
    }

    /// With a reverse proxy on this machine, which says where its clients come from.
    pub(crate) async fn open_behind_proxy(
        listener: TcpListener,
        file: &Path,
        manager: &Endpoint,
        change: impl FnOnce(SeatSettings) -> SeatSettings,
    ) -> Self {
        let mut options = matchday_server::agent_options(entropy_numbered(3, "seats"));
        options.server.trusted_proxies = vec![IpNetwork::parse("127.0.0.1").unwrap()].into();
        Self::open_with(listener, file, manager, change, options).await
    }

    async fn open_with(
        listener: TcpListener,
        file: &Path,
        manager: &Endpoint,
        change: impl FnOnce(SeatSettings) -> SeatSettings,
        options: Options,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let store = Store::open(file).unwrap();
        let seats = Seats::open(
            change(settings(manager, address)),
            address,
            store.clone(),
            options,
        )
        .unwrap();
        let (close, closing) = watch::channel(false);
        Self {
            address,
            store,
            close,
            serving: tokio::spawn(serve(seats, listener, closing)),
        }
    }

    pub(crate) async fn close(self) -> SocketAddr {
        self.close.send(true).unwrap();
        self.serving.await.unwrap();
        self.store.close().unwrap();
        self.address
    }
}

/// What a client of [`guarded`] seats shows.
pub(crate) const CODE: &str = "tok_join_0123456789abcdef";

/// Seats that ask for a bearer token.
pub(crate) async fn guarded(league: &League) -> Room {
    let authorization = Authorization::Code(Token::new(CODE).hash());
    let guarded = |settings: SeatSettings| SeatSettings {
        authorization,
        ..settings
    };
    Room::open_at(free_port().await, &league.file(), &league.to, guarded).await
}

/// A manager with one referee, and a folder for the seats.
pub(crate) struct League {
    pub(crate) test_league: TestLeague,
    pub(crate) manager: Handle<Manager>,
    pub(crate) to: Endpoint,
    pub(crate) folder: tempfile::TempDir,
    _referee: Handle<Referee>,
}

impl League {
    pub(crate) async fn new(timing: Timing) -> Self {
        let test_league = TestLeague::new(matchday_server::agent_options);
        let manager = test_league
            .manager(matchday_testkit::test_league::quick(timing))
            .await;
        let to = endpoint(manager.address());
        let referee = test_league.referee(1, &to, timing).await;
        Self {
            test_league,
            manager,
            to,
            folder: tempfile::tempdir().unwrap(),
            _referee: referee,
        }
    }

    pub(crate) fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("seats.db")
    }

    pub(crate) async fn room(&self) -> Room {
        Room::open(&self.file(), &self.to).await
    }

    pub(crate) async fn begin(&self, players: usize) {
        matchday_testkit::test_league::until_registered(&self.manager, players, 1).await;
        self.test_league.start(&self.manager).await;
    }
}

pub(crate) fn default_league() -> String {
    league::LeagueSettings::default().league_id.to_string()
}

/// Takes a seat in the newer revision: its key.
pub(crate) async fn join(to: SocketAddr, name: &str) -> String {
    let joined = call(to, "join_league", json!({"name": name})).await;
    assert_ne!(joined["isError"], true, "{joined}");
    joined["structuredContent"]["seat"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Waits until something other than nothing happens.
pub(crate) async fn news(to: SocketAddr, seat: &str) -> Value {
    for _ in 0..20 {
        let told = call(
            to,
            "wait_for_turn",
            json!({"seat": seat, "wait_seconds": 10}),
        )
        .await;
        assert_ne!(told["isError"], true, "{told}");
        let told = told["structuredContent"].clone();
        if !["nothing_yet", "invitation"].contains(&told["happened"].as_str().unwrap()) {
            return told;
        }
    }
    panic!("nothing happens");
}

/// Waits for a turn.
pub(crate) async fn turn(to: SocketAddr, seat: &str) -> Value {
    loop {
        let told = news(to, seat).await;
        match told["happened"].as_str().unwrap() {
            "your_turn" => return told["turn"].clone(),
            "result" => {}
            other => panic!("a turn, not {other}: {told}"),
        }
    }
}

pub(crate) async fn make_move(to: SocketAddr, seat: &str, turn: &Value, choice: &str) -> Value {
    call(
        to,
        "make_move",
        json!({"seat": seat, "turn": turn["turn"], "choice": choice}),
    )
    .await
}

/// The words of a refusal.
pub(crate) fn refusal(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    assert!(
        result["structuredContent"]["error_code"].is_string(),
        "{result}"
    );
    result["structuredContent"]["error_message"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Answers whether it is there, and leaves everything else unanswered.
pub(crate) async fn answer_probes_only(listener: TcpListener) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut open = Vec::new();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = vec![0; 16 * 1024];
        let read = stream.read(&mut text).await.unwrap_or(0);
        if String::from_utf8_lossy(&text[..read]).contains("GAME_INVITATION") {
            open.push(stream);
            continue;
        }
        let body = r#"{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}"#;
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}
