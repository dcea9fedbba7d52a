//! Endpoints that strangers name: who may be called, and that nobody is led astray.

use crate::place::{Place, soon};
use matchday::net::client::{CallError, Client};
use matchday::net::names::Names;
use matchday::net::policy::{Policy, Scopes};
use matchday::net::strangers::Strangers;
use matchday::shell::{self, Clock, Handle, Options, entropy_numbered};
use matchday::store::{Store, Stream};
use matchday_core::league::{Manager, Settings};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;

/// Names that lead to each of these addresses in turn, each time they are asked for.
fn names(addresses: &'static [&'static str]) -> (Names, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let names = Names::by(Arc::new(move |_| {
        let turn = counted.fetch_add(1, Ordering::SeqCst);
        let ip: IpAddr = addresses[turn % addresses.len()].parse().unwrap();
        Box::pin(async move { Ok(vec![ip]) })
    }));
    (names, asked)
}

fn guarded(scopes: Scopes, names: Names) -> Client {
    let policy = Policy { scopes, ..Policy::default() };
    Client::new().guarded(Strangers::new(policy, names, []))
}

async fn call(client: &Client, url: &str) -> Result<u16, CallError> {
    client.post(url, "{}".into(), soon(), 100).await.map(|received| received.status)
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_the_second_time_moves_nobody() {
    let first = Place::open(100).await;
    let port = first.address.port();
    let second = Place::at(&format!("127.0.0.2:{port}"), 100).await;
    let (names, asked) = names(&["127.0.0.1", "127.0.0.2"]);
    let client = guarded(Scopes::LOOPBACK, names);
    for _ in 0..3 {
        assert_eq!(call(&client, &format!("http://agent.example:{port}/mcp")).await, Ok(200));
    }
    assert_eq!((first.count(), second.count()), (3, 0));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn no_connection_is_made_to_what_may_not_be_called() {
    let place = Place::open(100).await;
    let port = place.address.port();
    let (private, _) = names(&["127.0.0.1"]);
    let client = guarded(Scopes::PUBLIC, private);
    for host in ["127.0.0.1", "localhost", "agent.example", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"] {
        let error = call(&client, &format!("http://{host}:{port}/mcp")).await.unwrap_err();
        assert!(matches!(error, CallError::Forbidden(_)), "{host}: {error}");
    }
    assert_eq!(place.count(), 0);
    for url in ["ftp://localhost/mcp", "file:///etc/passwd", "gopher://localhost:70/"] {
        let error = call(&client, url).await.unwrap_err();
        assert!(matches!(error, CallError::Unusable(_)), "{url}: {error}");
    }
}

#[tokio::test]
async fn what_whoever_runs_the_agent_has_named_is_no_stranger() {
    let place = Place::open(100).await;
    let url = format!("http://{}/mcp", place.address);
    let policy = Policy { scopes: Scopes::PUBLIC, ..Policy::default() };
    let strangers = Strangers::new(policy, Names::default(), [url.as_str()]);
    assert_eq!(call(&Client::new().guarded(strangers), &url).await, Ok(200));
}

struct League {
    manager: Handle<Manager>,
    client: Client,
}

impl League {
    async fn open(names: Names) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().ok();
        let policy = Policy { scopes: Scopes::LOOPBACK, own, ..Policy::default() };
        let client = Client::new().guarded(Strangers::new(policy, names, []));
        let options = Options { client, ..Options::new(entropy_numbered(7, "manager")) };
        let manager = Manager::new(Settings::default());
        let manager = shell::run(manager, listener, Store::in_memory(), Stream::league(), options).unwrap();
        Self { manager, client: Client::new() }
    }

    async fn register(&self, endpoint: &str) -> Value {
        let message = json!({
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:stub",
            "timestamp": Clock::start().now(), "conversation_id": "conv-stub-1",
            "player_meta": {
                "display_name": endpoint.chars().take(50).collect::<String>(), "version": "1.0.0",
                "game_types": ["even_odd"], "contact_endpoint": endpoint,
            },
        });
        let url = format!("http://{}/mcp", self.manager.address());
        let received = self.client.post(&url, message.to_string().into(), soon(), 10_000).await.unwrap();
        serde_json::from_slice(&received.body).unwrap()
    }
}

#[tokio::test]
async fn a_registration_from_where_nobody_may_be_called_is_rejected_with_the_rule() {
    let (names, _) = names(&["10.0.0.5"]);
    let league = League::open(names).await;
    let own = format!("http://{}/mcp", league.manager.address());
    let port = league.manager.address().port();
    let by_name = format!("http://localhost:{port}/mcp");
    let around = format!("http://127.0.0.1:{port}/seats/../mcp");
    for (endpoint, words) in [
        ("http://169.254.169.254/latest/meta-data", "the metadata service of a cloud, which is never called"),
        (
            "http://10.1.2.3:8101/mcp",
            "10.1.2.3 is a private address, and only loopback addresses may be called",
        ),
        ("http://agent.example:8101/mcp", "agent.example (10.0.0.5) is a private address"),
        ("http://0.0.0.0:8101/mcp", "0.0.0.0 is an unspecified address"),
        ("http://[::ffff:127.0.0.1]:8101/mcp", "an IPv4 address written as IPv6"),
        (own.as_str(), "is the address of the one that would have to call it"),
        (by_name.as_str(), "is the address of the one that would have to call it"),
        (around.as_str(), "is the address of the one that would have to call it"),
        ("http://[::]:8101/mcp", "an unspecified address"),
        ("http://224.0.0.1:8101/mcp", "a multicast address"),
        ("http://[ff02::1]:8101/mcp", "a multicast address"),
        ("http://255.255.255.255:8101/mcp", "a broadcast address"),
    ] {
        let answer = league.register(endpoint).await;
        assert_eq!(
            (&answer["status"], &answer["error_code"]),
            (&json!("REJECTED"), &json!("E002")),
            "{answer}"
        );
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.starts_with("Contact endpoint not allowed - ") && reason.contains(words), "{reason}");
        assert_eq!(answer["context"]["path"], "player_meta.contact_endpoint", "{answer}");
    }
    let answer = league.register("http://localhost:8101/mcp").await;
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    assert_eq!(league.manager.inspect(|manager| manager.league().players.len()).await, Some(1));
}

#[tokio::test]
async fn a_name_that_has_been_looked_up_for_its_registration_leads_there_for_good() {
    let (names, asked) = names(&["127.0.0.1", "10.0.0.5"]);
    let league = League::open(names).await;
    for _ in 0..2 {
        let answer = league.register("http://agent.example:8101/mcp").await;
        assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// Otherwise whoever registers under names that nobody ever finds would take up all the room for requests.
#[tokio::test]
async fn names_that_are_never_found_do_not_keep_others_out() {
    let never = Names::by(Arc::new(|_| Box::pin(std::future::pending())));
    let league = Arc::new(League::open(never).await);
    let waiting: Vec<_> = (0..100)
        .map(|number| {
            let league = Arc::clone(&league);
            tokio::spawn(async move { league.register(&format!("http://n{number}.example/mcp")).await })
        })
        .collect();
    let answer = league.register("http://localhost:8101/mcp").await;
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    for registered in waiting {
        let answer = registered.await.unwrap();
        assert_ne!(answer["error_code"], "E014", "{answer}");
    }
}
