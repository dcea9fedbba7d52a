//! What a service that does not own a league passes on, and what it does not believe.

use crate::fixture::{Services, registration};
use bytes::Bytes;
use hyper::{HeaderMap, Method, Uri};
use matchday_net::client::Client;
use matchday_net::forward::ForwardRequest;
use matchday_net::tls::{PeerIdentity, TrustedPeers};
use serde_json::json;
use std::io::Read;
use std::time::Duration;
use tokio::time::Instant;

#[test]
fn a_request_from_the_machine_of_another_service_is_not_the_operators() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("spring", &json!({}));
    let order = json!({
        "protocol": "league.v2", "message_type": "START_LEAGUE", "sender": "launcher",
        "timestamp": "2026-03-02T09:00:00Z", "conversation_id": "conv-start", "league_id": "spring",
    });
    let refused = other
        .call("POST", "/leagues/spring/mcp", &[], Some(order))
        .json();
    assert_eq!(refused["error_code"], "E011", "{refused}");
}

#[test]
fn what_a_client_says_about_forwarding_is_ignored() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("spring", &json!({"agents-per-address": "1"}));
    // From this machine any number may register, from the address that is claimed only one.
    let claimed = [
        ("matchday-forwarded-for", "192.0.2.1"),
        ("matchday-forwarded-elapsed-us", "600000000"),
        ("matchday-forwarded-league", "0"),
    ];
    for (service, name) in [
        (&owner, "Alpha"),
        (&owner, "Beta"),
        (&other, "Gamma"),
        (&other, "Delta"),
    ] {
        let path = "/leagues/spring/mcp";
        let answer = service
            .call("POST", path, &claimed, Some(registration(name)))
            .json();
        assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    }
}

#[test]
fn pages_and_live_streams_come_through_another_service() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("spring", &json!({}));
    let page = other.call("GET", "/leagues/spring/", &[], None);
    assert!(
        page.status == 200 && page.body.contains("app.js"),
        "{page:?}"
    );
    let mut stream = other.send("GET", "/leagues/spring/api/events", &[], None);
    let mut until = |words: &str| {
        let mut text = String::new();
        let mut piece = [0; 512];
        while !text.contains(words) {
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "it ended: {text}");
            text.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    };
    until("text/event-stream");
    owner.call(
        "POST",
        "/leagues/spring/mcp",
        &[],
        Some(registration("Alpha")),
    );
    until("data:");
}

#[tokio::test]
async fn a_stranger_is_refused_at_the_socket_of_the_services() {
    let Some(services) = Services::start() else {
        return;
    };
    let service = services.serve(matchday_testkit::cli::free_address());
    let url = services.sql("SELECT url FROM matchday_processes");
    let shown = hex(&services.sql("SELECT encode(certificate, 'hex') FROM matchday_processes"));
    let trusted = TrustedPeers::default();
    let stranger = PeerIdentity::generate().unwrap();
    trusted.set([shown]);
    let client = Client::with_tls(stranger.client(&trusted).unwrap());
    let request = ForwardRequest {
        method: Method::POST,
        uri: Uri::from_static("/call"),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    let refused = client
        .forward(&url, request, Instant::now() + Duration::from_secs(10))
        .await;
    assert!(refused.is_err(), "{refused:?}");
    drop(service);
}

fn hex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digits).collect()
}
