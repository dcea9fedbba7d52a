//! The egress policy at registration: endpoints that the manager may not call are rejected.

use matchday_core::league::{LeagueSettings, Manager};
use matchday_net::client::Client;
use matchday_net::egress::{Egress, EgressPolicy, PinnedDns, Scopes};
use matchday_runtime::{Clock, Handle, Options, entropy_numbered};
use matchday_store::{Store, Stream};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::Instant;

/// Names that lead to each of these addresses in turn, each time they are asked for.
fn names(addresses: &'static [&'static str]) -> (PinnedDns, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let names = PinnedDns::with_resolver(Arc::new(move |_| {
        let turn = counted.fetch_add(1, Ordering::SeqCst);
        let ip: IpAddr = addresses[turn % addresses.len()].parse().unwrap();
        Box::pin(async move { Ok(vec![ip]) })
    }));
    (names, asked)
}

struct League {
    manager: Handle<Manager>,
    client: Client,
}

impl League {
    async fn open(names: PinnedDns) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = listener.local_addr().ok();
        let policy = EgressPolicy {
            scopes: Scopes::LOOPBACK,
            listen,
            ..EgressPolicy::default()
        };
        let client = Client::new().with_egress(Egress::new(policy, names, []));
        let options = Options {
            client,
            ..matchday_server::agent_options(entropy_numbered(7, "manager"))
        };
        let manager = Manager::new(LeagueSettings::default());
        let manager = matchday_runtime::run(
            manager,
            listener,
            Store::in_memory().unwrap(),
            Stream::league(),
            options,
        )
        .unwrap();
        Self {
            manager,
            client: Client::new(),
        }
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
        let received = self
            .client
            .post(
                &url,
                message.to_string().into(),
                Instant::now() + Duration::from_secs(20),
                10_000,
            )
            .await
            .unwrap();
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
        (
            "http://169.254.169.254/latest/meta-data",
            "the metadata service of a cloud, which is never called",
        ),
        (
            "http://10.1.2.3:8101/mcp",
            "10.1.2.3 is a private address, and only loopback addresses may be called",
        ),
        (
            "http://agent.example:8101/mcp",
            "agent.example (10.0.0.5) is a private address",
        ),
        (
            "http://0.0.0.0:8101/mcp",
            "0.0.0.0 is an unspecified address",
        ),
        (
            "http://[::ffff:127.0.0.1]:8101/mcp",
            "an IPv4 address written as IPv6",
        ),
        (
            own.as_str(),
            "is the address of the one that would have to call it",
        ),
        (
            by_name.as_str(),
            "is the address of the one that would have to call it",
        ),
        (
            around.as_str(),
            "is the address of the one that would have to call it",
        ),
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
        assert!(
            reason.starts_with("Contact endpoint not allowed - ") && reason.contains(words),
            "{reason}"
        );
        assert_eq!(
            answer["context"]["path"], "player_meta.contact_endpoint",
            "{answer}"
        );
    }
    let answer = league.register("http://localhost:8101/mcp").await;
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    assert_eq!(
        league
            .manager
            .inspect(|manager| manager.league().players.len())
            .await,
        Some(1)
    );
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

#[tokio::test]
async fn a_name_that_does_not_exist_is_refused_with_what_to_do() {
    let nowhere = PinnedDns::with_resolver(Arc::new(|_| {
        Box::pin(async { Err(std::io::Error::other("no such name")) })
    }));
    let league = League::open(nowhere).await;
    let answer = league.register("http://YOUR-ADDRESS:8101/mcp").await;
    assert_eq!(answer["status"], "REJECTED", "{answer}");
    let reason = answer["reason"].as_str().unwrap();
    assert!(
        reason.contains(
            "the name your-address cannot be found: no such name: start the agent with --dial"
        ),
        "{reason}"
    );
}

/// Otherwise agents that register under names that nobody ever finds would take up all the room for requests.
#[tokio::test]
async fn names_that_are_never_found_do_not_keep_others_out() {
    let never = PinnedDns::with_resolver(Arc::new(|_| Box::pin(std::future::pending())));
    let league = Arc::new(League::open(never).await);
    let waiting: Vec<_> = (0..100)
        .map(|number| {
            let league = Arc::clone(&league);
            tokio::spawn(async move {
                league
                    .register(&format!("http://n{number}.example/mcp"))
                    .await
            })
        })
        .collect();
    let answer = league.register("http://localhost:8101/mcp").await;
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    for registered in waiting {
        let answer = registered.await.unwrap();
        assert_ne!(answer["error_code"], "E014", "{answer}");
    }
}
