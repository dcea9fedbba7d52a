//! Players that misbehave, or know a game that no player of ours does.

use crate::fixture::{Fixture, registration};
use matchday_testkit::fake_peer::{Answer, FakePeer};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3_600);

/// Players of one league, which answer for as long as this is kept.
pub(crate) struct Agents {
    _peers: Vec<FakePeer>,
    _runtime: Runtime,
}

/// Registers players that answer nothing, ever.
pub(crate) fn hanging(fixture: &Fixture, league: &str, count: usize) -> Agents {
    register(fixture, league, "even_odd", count, |_, _| {
        Answer::json(&json!({})).after(NEVER)
    })
}

/// Registers players that accept every invitation to this game, and take note of everything else. They registered with a bare
/// message, and so are sent bare messages.
pub(crate) fn accepting(fixture: &Fixture, league: &str, game: &str, count: usize) -> Agents {
    register(fixture, league, game, count, |message, (id, token)| {
        let result = match message["message_type"].as_str() {
            Some("GAME_INVITATION") => json!({
                "protocol": "league.v2",
                "message_type": "GAME_JOIN_ACK",
                "sender": format!("player:{id}"),
                "timestamp": message["timestamp"],
                "arrival_timestamp": message["timestamp"],
                "conversation_id": message["conversation_id"],
                "auth_token": token,
                "match_id": message["match_id"],
                "player_id": id,
                "accept": true,
            }),
            _ => json!({"status": "received"}),
        };
        Answer::json(&result)
    })
}

fn register(
    fixture: &Fixture,
    league: &str,
    game: &str,
    count: usize,
    answer: fn(&Value, (&str, &str)) -> Answer,
) -> Agents {
    let runtime = Runtime::new().unwrap();
    let mut peers = Vec::new();
    for number in 1..=count {
        let identity = Arc::new(OnceLock::<(String, String)>::new());
        let known = Arc::clone(&identity);
        let peer = runtime.block_on(FakePeer::start(move |body| {
            let (id, token) = known.get().cloned().unwrap_or_default();
            answer(
                &serde_json::from_slice(body).unwrap_or_default(),
                (&id, &token),
            )
        }));
        let mut message = registration();
        message["sender"] = format!("player:fake-{number}").into();
        message["conversation_id"] = format!("conv-fake-{number}").into();
        let meta = &mut message["player_meta"];
        meta["display_name"] = format!("Fake {number}").into();
        meta["game_types"] = json!([game]);
        meta["contact_endpoint"] = peer.url().into();
        let answer = fixture
            .post(&format!("/leagues/{league}/mcp"), message)
            .json();
        assert_eq!(answer["status"], "ACCEPTED", "{answer}");
        let text = |key: &str| answer[key].as_str().unwrap().to_owned();
        identity
            .set((text("player_id"), text("auth_token")))
            .unwrap();
        peers.push(peer);
    }
    Agents {
        _peers: peers,
        _runtime: runtime,
    }
}
