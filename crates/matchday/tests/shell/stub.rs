//! Agents written by hand, to misbehave in ways that ours do not.

use crate::ground::{Ground, endpoint, free_port};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use matchday::net::server;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::watch;

/// What a stub does with a request: answers with a status and a body after a while.
pub(crate) type Habit = fn(&Value) -> (u16, Value, Duration);

/// A server that answers by habit for as long as it is kept.
pub(crate) struct Stub {
    pub(crate) address: SocketAddr,
    _close: watch::Sender<bool>,
}

pub(crate) async fn stub(habit: Habit) -> Stub {
    let listener = free_port().await;
    let address = listener.local_addr().unwrap();
    let (close, closing) = watch::channel(false);
    let handler = move |request: hyper::Request<hyper::body::Incoming>, _| async move {
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let (status, answer, pause) = habit(&serde_json::from_slice(&body).unwrap_or_default());
        tokio::time::sleep(pause).await;
        let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
        *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap();
        response
    };
    tokio::spawn(server::serve(listener, 100, handler, closing));
    Stub { address, _close: close }
}

/// Registers the stub as a player, the way a script would.
pub(crate) async fn register(ground: &Ground, stub: &Stub, manager: SocketAddr) {
    register_at(ground, stub.address, manager).await;
}

/// Registers a player that listens at `address`.
pub(crate) async fn register_at(ground: &Ground, address: SocketAddr, manager: SocketAddr) {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "register_player", "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:stub",
            "timestamp": ground.clock.now(), "conversation_id": "conv-stub-1",
            "player_meta": {
                "display_name": "Stub", "version": "1.0.0", "game_types": ["even_odd"],
                "contact_endpoint": endpoint(address),
            },
        },
    });
    let (_, answer) = ground.post(manager, message.to_string()).await;
    assert_eq!(answer["result"]["status"], "ACCEPTED", "{answer}");
}
