//! A league with a dashboard, and a browser in a few lines.

use http_body_util::BodyExt;
use hyper::header::HeaderMap;
use matchday_core::game::turn::TurnSheet;
use matchday_core::league::{self, Manager};
use matchday_core::player::Player;
use matchday_core::protocol::Token;
use matchday_core::referee::Referee;
use matchday_net::ip_network::IpNetwork;
use matchday_runtime::decider::Deciding;
use matchday_runtime::{Decider, Handle, LocalRoutes, Options};
use matchday_server::dashboard::Dashboard;
use matchday_store::Location;
use matchday_store::Stream;
use matchday_testkit::eventually::eventually_async;
pub(crate) use matchday_testkit::mcp_client::open_path as open;
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, short, until_completed, until_registered,
};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

pub(crate) const TOKEN: &str = "tok_operator_of_these_tests_0123456789";
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Shown {
    pub(crate) test_league: TestLeague,
    pub(crate) manager: Handle<Manager>,
    pub(crate) referees: Vec<Handle<Referee>>,
    pub(crate) players: Vec<Handle<Player>>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What it says is wrong.
    pub(crate) fn error(&self) -> String {
        self.json()["error"]
            .as_str()
            .unwrap_or_else(|| panic!("no error: {self:?}"))
            .to_owned()
    }
}

pub(crate) fn settings() -> league::LeagueSettings {
    league::LeagueSettings {
        operator_token: Some(Token::new(TOKEN).hash()),
        ..quick(short())
    }
}

impl Shown {
    /// A manager with a dashboard, and nobody else.
    pub(crate) async fn empty(settings: league::LeagueSettings) -> Self {
        Self::behind(&[], settings).await
    }

    /// The same behind reverse proxies.
    pub(crate) async fn behind(proxies: &[IpNetwork], settings: league::LeagueSettings) -> Self {
        let mut test_league = TestLeague::new(matchday_server::agent_options);
        test_league.routes = Some(LocalRoutes::default());
        let listener = free_port().await;
        let address = listener.local_addr().unwrap();
        let path = test_league.store.url().clone();
        let home = endpoint(address).raw().to_owned();
        let dashboard =
            Dashboard::live(Location::latest(path), Vec::new(), home, test_league.clock);
        let mut options = Options {
            surfaces: vec![dashboard],
            ..test_league.options("league")
        };
        options.server.trusted_proxies = proxies.to_vec().into();
        let manager = Manager::new(settings);
        let manager = matchday_runtime::run(
            manager,
            listener,
            test_league.store.clone(),
            Stream::league(),
            options,
        )
        .unwrap();
        let shown = Self {
            test_league,
            manager,
            referees: Vec::new(),
            players: Vec::new(),
        };
        until_open(&shown).await;
        shown
    }

    /// With a referee and so many players of ours.
    pub(crate) async fn with_players(settings: league::LeagueSettings, players: u32) -> Self {
        let mut shown = Self::empty(settings).await;
        shown.add_referee().await;
        for number in 1..=players {
            shown.add_player(number).await;
        }
        shown
    }

    pub(crate) async fn add_referee(&mut self) {
        let to = endpoint(self.address());
        self.referees
            .push(self.test_league.referee(1, &to, short()).await);
        until_registered(&self.manager, 0, 1).await;
    }

    pub(crate) async fn add_player(&mut self, number: u32) {
        let to = endpoint(self.address());
        self.players
            .push(self.test_league.player(number, &to, "random").await);
        until_registered(&self.manager, number as usize, 1).await;
    }

    /// A league of so many that has been played to its end.
    pub(crate) async fn finished(settings: league::LeagueSettings, players: u32) -> Self {
        let shown = Self::with_players(settings, players).await;
        shown.test_league.start(&shown.manager).await;
        until_completed(&shown.manager, PATIENCE).await;
        // A client that asks after this sees what is decided now.
        until(&shown, "/api/league", |league| {
            league["phase"] == "completed"
        })
        .await;
        shown
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.manager.address()
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        send(self.address(), "GET", path, &[], "").await
    }

    /// As the operator.
    pub(crate) async fn see(&self, path: &str) -> Reply {
        send(
            self.address(),
            "GET",
            path,
            &[("authorization", &format!("Bearer {TOKEN}"))],
            "",
        )
        .await
    }

    /// What anyone sees, once the league is open.
    pub(crate) async fn page(&self, path: &str) -> Value {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }
}

/// The first event of a league reaches the disk a moment after its manager has begun to listen.
pub(crate) async fn until_open(shown: &Shown) {
    eventually_async("the league is open", async || {
        shown.get("/api/league").await.status != 503
    })
    .await;
}

/// Asks again and again until the page is as it should be.
pub(crate) async fn until(shown: &Shown, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    eventually_async(path, async || {
        // What has only just come into being is not there yet for a client that asks at once.
        let reply = shown.get(path).await;
        let is_wanted = reply.status == 200 && wanted(&reply.json());
        if is_wanted {
            Ok(reply.json())
        } else {
            Err(reply)
        }
    })
    .await
}

pub(crate) async fn send(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let (head, body) = open(to, method, path, headers, body).await.into_parts();
    let body = timeout(PATIENCE, body.collect())
        .await
        .expect("the whole answer in time")
        .unwrap();
    let body = String::from_utf8(body.to_bytes().to_vec()).unwrap();
    Reply {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
    }
}

/// A decider that never decides.
#[derive(Debug)]
pub(crate) struct Undecided;

impl Decider for Undecided {
    fn decide(&self, _: TurnSheet) -> Deciding {
        Box::pin(std::future::pending())
    }
}

/// A league in which the first match is being played, and stays so.
pub(crate) async fn in_play() -> Shown {
    let mut patient = settings();
    patient.timing.choice = Duration::from_secs(60);
    let mut shown = Shown::empty(patient).await;
    let to = endpoint(shown.address());
    let timing = matchday_core::timing::Timing {
        choice: Duration::from_secs(60),
        ..short()
    };
    shown
        .referees
        .push(shown.test_league.referee(1, &to, timing).await);
    until_registered(&shown.manager, 0, 1).await;
    shown.add_player(1).await;
    shown.players.push(
        shown
            .test_league
            .player_with_decider(2, &to, Arc::new(Undecided))
            .await,
    );
    until_registered(&shown.manager, 2, 1).await;
    shown.test_league.start(&shown.manager).await;
    until(&shown, "/api/rounds/1", |round| {
        round["matches"][0]["state"] == "playing"
    })
    .await;
    shown
}
