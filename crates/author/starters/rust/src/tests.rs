//! `cargo test`

use crate::agent::{Agent, GAME, Identity};
use crate::board;
use crate::registration::{keep_token, stored_tokens};
use crate::strategy::{Past, Turn};
use crate::tokens::{Direction, match_token, notice_token};
use crate::{router, rpc};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const LEAGUE: &str = "league_2025_even_odd";
const REFEREE: &str = "tok_r1m1_8aa0bf04930f5811e822092823e6f4c08f95eb5e2e20c20d894716ec522318cc";
const PLAYER: &str = "tok_r1m1_3845220ebebd1549dff420b3de925f10e9b44815a7dca78497e6672bf2103ee6";
const MANAGER: &str = "tok_league_manager_bb02e302b7ffb96a2121afeef2f45c0bbb8ecee015d4a5d1c4e50942a0f34128";

fn token() -> String {
    format!("tok_p01_{}", "0".repeat(64))
}

fn player(strategy: impl Fn(&Turn) -> Value + Send + Sync + 'static) -> Agent {
    let agent = Agent::new(strategy);
    let player_id = "P01".into();
    let auth_token = token();
    let league_id = LEAGUE.into();
    agent.registered(Identity { player_id, auth_token, league_id, match_tokens: true });
    agent
}

fn odd() -> Agent {
    player(|_| json!("odd"))
}

fn message(message_type: &str, fields: Value) -> Value {
    let mut message = json!({
        "protocol": "league.v2",
        "message_type": message_type,
        "sender": "referee:REF01",
        "timestamp": "2026-03-02T09:01:00Z",
        "conversation_id": "conv-r1m1-001",
        "auth_token": REFEREE,
        "match_id": "R1M1",
    });
    for (name, value) in fields.as_object().unwrap() {
        message[name] = value.clone();
    }
    message
}

async fn ask(agent: &Agent, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": "anything", "params": params});
    rpc::answer(agent, request.to_string().as_bytes()).await.unwrap()["result"].take()
}

#[tokio::test]
async fn joins_when_invited() {
    let invitation = message("GAME_INVITATION", json!({"game_type": GAME, "opponent_id": "P02"}));
    let mut said = ask(&odd(), invitation).await;
    for name in ["timestamp", "arrival_timestamp"] {
        let time = said.as_object_mut().unwrap().remove(name).unwrap();
        assert!(time.as_str().unwrap().ends_with('Z') && time.as_str().unwrap().len() == 20, "{time}");
    }
    let wanted = json!({
        "protocol": "league.v2",
        "message_type": "GAME_JOIN_ACK",
        "sender": "player:P01",
        "conversation_id": "conv-r1m1-001",
        "auth_token": PLAYER,
        "match_id": "R1M1",
        "player_id": "P01",
        "accept": true,
    });
    assert_eq!(said, wanted);
}

#[tokio::test]
async fn gives_what_the_strategy_chose_and_the_same_again() {
    let calls = AtomicUsize::new(0);
    let agent = player(move |_| [json!("odd"), json!("even")][calls.fetch_add(1, Ordering::SeqCst)].clone());
    let first = ask(&agent, message("CHOOSE_PARITY_CALL", json!({}))).await;
    let second = ask(&agent, message("CHOOSE_PARITY_CALL", json!({}))).await;
    assert_eq!(first["message_type"], "CHOOSE_PARITY_RESPONSE");
    assert_eq!(first["parity_choice"], "odd");
    assert_eq!((&second["parity_choice"], &second["nonce"]), (&json!("odd"), &first["nonce"]));
}

#[tokio::test]
async fn chooses_by_chance_if_the_strategy_fails() {
    let answer = ask(&player(|_| panic!("broken")), message("CHOOSE_PARITY_CALL", json!({}))).await;
    assert!(["even", "odd"].contains(&answer["parity_choice"].as_str().unwrap()), "{answer}");
}

#[tokio::test]
async fn makes_a_move_of_any_game_and_the_same_again() {
    let agent = player(|turn| turn.options[board::rows(&turn.context).len() - 3].clone());
    let lines = json!({"board": ["..", "xo", "..", ".."]});
    let turns = [
        (json!({"board": ["X", null, null, null, null, null, null, null, null]}), json!(0)),
        (lines.clone(), json!({"to": 4})),
        (json!({"view": {"kind": "grid", "columns": 1, "cells": ["a", "", "b"]}}), json!(0)),
    ];
    for (context, choice) in turns.iter().chain(&turns) {
        let asked = json!({"move_type": "place", "valid_options": [0, {"to": 4}], "context": context});
        let call = message("GAME_MOVE_CALL", json!({"move_request": asked}));
        let said = ask(&agent, call).await;
        assert_eq!(said["message_type"], "GAME_MOVE_RESPONSE");
        assert_eq!(said["game_type"], GAME);
        assert_eq!(said["move_data"], json!({"move_type": "place", "choice": choice}));
    }
    let rows = board::rows(lines.as_object().unwrap());
    assert_eq!(board::show(&rows), ". .\nx o\n. .\n. .");
    let call = message("GAME_MOVE_CALL", json!({"move_request": {"move_type": "place"}}));
    assert_eq!(ask(&agent, call).await["error_code"], "E003");
}

#[tokio::test]
async fn tells_the_strategy_how_earlier_matches_ended() {
    let seen = Arc::new(Mutex::new(None));
    let shared = Arc::clone(&seen);
    let match_id = String::from("R1M1");
    let opponent_id = String::from("P02");
    let agent = player(move |turn| {
        *shared.lock().unwrap() = Some(turn.clone());
        json!("even")
    });
    let result = json!({"choices": {"P01": "odd", "P02": "even"}, "drawn_number": 4, "reason": "4 is even"});
    ask(&agent, message("GAME_OVER", json!({"game_result": result}))).await;
    let context = json!({"opponent_id": "P02", "round_id": 2});
    ask(&agent, message("CHOOSE_PARITY_CALL", json!({"context": context}))).await;
    let past = Past {
        match_id: match_id.clone(),
        opponent_id: opponent_id.clone(),
        mine: Some("odd".into()),
        theirs: Some("even".into()),
        number: Some(4),
    };
    let wanted = Turn {
        match_id,
        opponent_id,
        round_id: Some(2),
        history: vec![past],
        options: vec!["even".into(), "odd".into()],
        context: context.as_object().unwrap().clone(),
    };
    assert_eq!(seen.lock().unwrap().take(), Some(wanted));
}

#[tokio::test]
async fn plays_the_next_league_of_a_season_without_registering_again() {
    let calls = AtomicUsize::new(0);
    let agent = player(move |_| [json!("odd"), json!("even")][calls.fetch_add(1, Ordering::SeqCst)].clone());
    let token_of = |direction| match_token(&token(), "night_2", "R1M1", "conv-r1m1-001", direction);
    let first = ask(&agent, message("CHOOSE_PARITY_CALL", json!({"league_id": LEAGUE}))).await;
    let next = json!({"league_id": "night_2", "auth_token": token_of(Direction::RefereeToPlayer)});
    let second = ask(&agent, message("CHOOSE_PARITY_CALL", next)).await;
    assert_eq!((&first["parity_choice"], &second["parity_choice"]), (&json!("odd"), &json!("even")));
    assert_eq!(second["auth_token"], token_of(Direction::PlayerToReferee));
    assert_ne!(first["nonce"], second["nonce"]);
    let refused = ask(&agent, message("CHOOSE_PARITY_CALL", json!({"league_id": "night_2"}))).await;
    assert_eq!(refused["error_code"], "E012");
}

#[test]
fn keeps_the_token_of_each_place() {
    let folder = std::env::temp_dir().join(format!("player-{}", rand::random::<u64>()));
    std::fs::create_dir(&folder).unwrap();
    let store = folder.join("agent.json");
    for (place, token) in [("http://a/join/code/mcp", "tok_1"), ("http://b/mcp as Bob", "tok_2")] {
        keep_token(place, token, &store).unwrap();
    }
    assert_eq!(stored_tokens(&store)["http://a/join/code/mcp"], "tok_1");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn computes_the_tokens_of_the_protocol() {
    let of_match = |direction| match_token(&token(), LEAGUE, "R1M1", "conv-r1m1-001", direction);
    assert_eq!(notice_token(&token(), LEAGUE), MANAGER);
    assert_eq!(of_match(Direction::RefereeToPlayer), REFEREE);
    assert_eq!(of_match(Direction::PlayerToReferee), PLAYER);
}

#[tokio::test]
async fn refuses_who_cannot_prove_who_it_is() {
    let refused = [
        ("E011", message("CHOOSE_PARITY_CALL", json!({"auth_token": null}))),
        ("E012", message("CHOOSE_PARITY_CALL", json!({"auth_token": PLAYER}))),
        ("E003", message("CHOOSE_PARITY_CALL", json!({"match_id": null}))),
        ("E012", message("GAME_INVITATION", json!({"sender": "player:P02"}))),
        ("E012", message("LEAGUE_COMPLETED", json!({}))),
    ];
    for (code, asked) in refused {
        let said = ask(&odd(), asked).await;
        assert_eq!((&said["message_type"], &said["error_code"]), (&json!("LEAGUE_ERROR"), &json!(code)));
    }
    let notice = message("LEAGUE_COMPLETED", json!({"auth_token": MANAGER}));
    assert_eq!(ask(&odd(), notice).await, json!({"status": "received"}));
}

#[tokio::test]
async fn says_what_is_wrong_with_a_request() {
    let wrong = [
        ("{", json!(null), -32700),
        ("[]", json!(null), -32600),
        (r#"{"jsonrpc": "2.0", "id": 1}"#, json!(1), -32600),
        (r#"{"jsonrpc": "2.0", "id": "a", "method": "dance"}"#, json!("a"), -32601),
        (r#"{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": [1]}"#, json!(2), -32602),
    ];
    for (body, id, code) in wrong {
        let said = rpc::answer(&odd(), body.as_bytes()).await.unwrap();
        assert_eq!((&said["id"], &said["error"]["code"]), (&id, &json!(code)), "{body}");
    }
}

#[tokio::test]
async fn answers_batches_and_no_notifications() {
    let ping = json!({"jsonrpc": "2.0", "method": "ping"});
    assert_eq!(rpc::answer(&odd(), ping.to_string().as_bytes()).await, None);
    let batch = json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, ping]);
    let wanted = json!([{"jsonrpc": "2.0", "id": 1, "result": {"status": "ok"}}]);
    assert_eq!(rpc::answer(&odd(), batch.to_string().as_bytes()).await, Some(wanted));
}

#[tokio::test]
async fn listens_on_mcp_and_sends_long_ids_back_as_they_came() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, router(Arc::new(odd()))).into_future());
    let id = "123456789012345678901234567890";
    let body = format!(r#"{{"jsonrpc": "2.0", "id": {id}, "method": "ping"}}"#);
    let asking = tokio::task::spawn_blocking(move || ureq::post(&url).send(body).unwrap());
    let mut came = asking.await.unwrap();
    assert_eq!(came.headers()["content-type"], "application/json");
    let said = came.body_mut().read_to_string().unwrap();
    assert!(said.contains(&format!(r#""id":{id}"#)), "{said}");
}
