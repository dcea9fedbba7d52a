//! Players written by hand: they answer at once, and note when they were asked and when they answered.

use crate::ground::{Ground, endpoint, free_port};
use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::Incoming;
use matchday_net::server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::watch;

/// The latest time at which one of the two players of a match saw or did something.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Moments {
    pub(crate) joined: Option<Instant>,
    pub(crate) called: Option<Instant>,
    pub(crate) chose: Option<Instant>,
    pub(crate) over: Option<Instant>,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) matches: BTreeMap<String, Moments>,
    /// The bytes of one GAME_JOIN_ACK, CHOOSE_PARITY_CALL, CHOOSE_PARITY_RESPONSE and GAME_OVER.
    pub(crate) samples: BTreeMap<String, Bytes>,
    /// By player.
    tokens: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(crate) struct Players {
    pub(crate) notes: Arc<Mutex<Notes>>,
    close: watch::Sender<bool>,
}

impl Players {
    pub(crate) fn none() -> Self {
        Self {
            notes: Arc::default(),
            close: watch::channel(false).0,
        }
    }

    /// Lets one more in. Its id and its token.
    pub(crate) async fn join(&self, ground: &Ground) -> Result<(String, String)> {
        let listener = free_port().await?;
        let at = endpoint(listener.local_addr()?);
        let notes = Arc::clone(&self.notes);
        let handler = move |request: hyper::Request<Incoming>, _| {
            let notes = Arc::clone(&notes);
            async move {
                let body = request
                    .into_body()
                    .collect()
                    .await
                    .map(|body| body.to_bytes());
                Response::new(Full::new(answer(&notes, body.unwrap_or_default())))
            }
        };
        tokio::spawn(server::serve(
            listener,
            100,
            handler,
            self.close.subscribe(),
        ));
        let register = json!({"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": {
            "protocol": "league.v2", "message_type": "LEAGUE_REGISTER_REQUEST", "sender": "player:noting",
            "timestamp": ground.clock.now(), "conversation_id": "conv-register",
            "player_meta": {
                "display_name": "Noting", "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": at,
            },
        }});
        let accepted = ground.ask(&register).await?;
        let word = |field: &str| {
            accepted
                .get(field)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let (id, token) = word("player_id")
            .zip(word("auth_token"))
            .context("the registration's answer")?;
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .tokens
            .insert(id.clone(), token.clone());
        Ok((id, token))
    }
}

fn answer(notes: &Mutex<Notes>, body: Bytes) -> Bytes {
    let asked_at = Instant::now();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = |path: &str| {
        request
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let kind = text("/params/message_type");
    let player = text("/params/player_id");
    let (kind_of_answer, field, content) = match kind.as_str() {
        "GAME_INVITATION" => ("GAME_JOIN_ACK", "accept", json!(true)),
        "CHOOSE_PARITY_CALL" => ("CHOOSE_PARITY_RESPONSE", "parity_choice", json!("even")),
        _ => ("", "status", json!("ok")),
    };
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    let mut result = json!({
        "protocol": "league.v2", "message_type": kind_of_answer, "sender": format!("player:{player}"),
        "timestamp": text("/params/timestamp"), "arrival_timestamp": text("/params/timestamp"),
        "conversation_id": text("/params/conversation_id"), "match_id": text("/params/match_id"),
        "player_id": player, "auth_token": notes.tokens.get(&player),
    });
    if kind_of_answer.is_empty() {
        result = json!({});
    }
    if let Some(result) = result.as_object_mut() {
        result.insert(field.to_owned(), content);
    }
    let answer = json!({"jsonrpc": "2.0", "id": request.get("id"), "result": result}).to_string();
    let answer = Bytes::from(answer);
    notes.samples.entry(kind.clone()).or_insert(body);
    notes
        .samples
        .entry(kind_of_answer.to_owned())
        .or_insert_with(|| answer.clone());
    let moments = notes.matches.entry(text("/params/match_id")).or_default();
    match kind.as_str() {
        "GAME_INVITATION" => moments.joined = Some(Instant::now()),
        "CHOOSE_PARITY_CALL" => {
            moments.called = moments.called.max(Some(asked_at));
            moments.chose = Some(Instant::now());
        }
        "GAME_OVER" => moments.over = moments.over.max(Some(asked_at)),
        _ => {}
    }
    answer
}
