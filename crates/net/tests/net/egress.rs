//! The egress policy and pinned DNS of the client.

use crate::place::{Place, soon};
use matchday_net::client::{CallError, Client};
use matchday_net::egress::{Egress, EgressPolicy, PinnedDns, Scopes};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

fn egress_client(scopes: Scopes, names: PinnedDns) -> Client {
    let policy = EgressPolicy {
        scopes,
        ..EgressPolicy::default()
    };
    Client::new().with_egress(Egress::new(policy, names, []))
}

async fn call(client: &Client, url: &str) -> Result<u16, CallError> {
    client
        .post(url, "{}".into(), soon(), 100)
        .await
        .map(|received| received.status)
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_the_second_time_moves_nobody() {
    let first = Place::open(100).await;
    let port = first.address.port();
    let second = Place::at(&format!("127.0.0.2:{port}"), 100).await;
    let (names, asked) = names(&["127.0.0.1", "127.0.0.2"]);
    let client = egress_client(Scopes::LOOPBACK, names);
    for _ in 0..3 {
        assert_eq!(
            call(&client, &format!("http://agent.example:{port}/mcp")).await,
            Ok(200)
        );
    }
    assert_eq!((first.count(), second.count()), (3, 0));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn no_connection_is_made_to_what_may_not_be_called() {
    let place = Place::open(100).await;
    let port = place.address.port();
    let (private, _) = names(&["127.0.0.1"]);
    let client = egress_client(Scopes::PUBLIC, private);
    for host in [
        "127.0.0.1",
        "localhost",
        "agent.example",
        "0x7f.1",
        "2130706433",
        "[::ffff:127.0.0.1]",
    ] {
        let error = call(&client, &format!("http://{host}:{port}/mcp"))
            .await
            .unwrap_err();
        assert!(matches!(error, CallError::Forbidden(_)), "{host}: {error}");
    }
    assert_eq!(place.count(), 0);
    for url in [
        "ftp://localhost/mcp",
        "file:///etc/passwd",
        "gopher://localhost:70/",
    ] {
        let error = call(&client, url).await.unwrap_err();
        assert!(matches!(error, CallError::Unusable(_)), "{url}: {error}");
    }
}

#[tokio::test]
async fn an_endpoint_that_the_operator_has_configured_is_allowed() {
    let place = Place::open(100).await;
    let url = format!("http://{}/mcp", place.address);
    let policy = EgressPolicy {
        scopes: Scopes::PUBLIC,
        ..EgressPolicy::default()
    };
    let egress = Egress::new(policy, PinnedDns::default(), [url.as_str()]);
    assert_eq!(
        call(&Client::new().with_egress(egress), &url).await,
        Ok(200)
    );
}
