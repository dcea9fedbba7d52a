//! A client that goes away in any state of a wait loses nothing: the next wait tells it.

use crate::room::{League, Room, join, make_move, news, turn, unhurried};
use matchday_testkit::mcp_client::{Legacy, call, modern};
use matchday_testkit::test_league::until_completed;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends a wait, and gives the connection back with its reply unread.
async fn begin_wait(to: SocketAddr, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(to).await.unwrap();
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = body.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\n{headers}content-length: \
         {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn begin_modern(to: SocketAddr, seat: &str) -> TcpStream {
    let arguments =
        json!({"name": "wait_for_turn", "arguments": {"seat": seat, "wait_seconds": 20}});
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "wait_for_turn"),
    ];
    begin_wait(to, &headers, &modern("tools/call", arguments)).await
}

async fn begin_legacy(client: &Legacy, seat: &str) -> TcpStream {
    let params = json!({"name": "wait_for_turn", "arguments": {"seat": seat, "wait_seconds": 20}});
    let request = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    begin_wait(client.to, &client.headers(), &request.to_string()).await
}

/// A league of two seats whose one match is to be decided, and the key of the first.
async fn before_the_result(league: &League, room: &Room) -> (String, String, Value) {
    let ann = join(room.address, "Ann").await;
    let bob = join(room.address, "Bob").await;
    league.begin(2).await;
    let asked = turn(room.address, &ann).await;
    make_move(room.address, &ann, &asked, "even").await;
    let asked = turn(room.address, &bob).await;
    (ann, bob, asked)
}

/// All results in the waits until the league is over, new or repeated.
async fn results_until_over(to: SocketAddr, seat: &str) -> Vec<Value> {
    let mut results = Vec::new();
    loop {
        let told = news(to, seat).await;
        for list in ["results", "earlier_results"] {
            results.extend(told[list].as_array().into_iter().flatten().cloned());
        }
        if told["happened"] == "league_over" {
            return results;
        }
    }
}

async fn decide(league: &League, room: &Room, bob: &str, asked: &Value) {
    make_move(room.address, bob, asked, "odd").await;
    until_completed(&league.manager, Duration::from_secs(60)).await;
}

fn assert_told(results: &[Value]) {
    assert!(
        results.iter().any(|game| game["match_id"] == "R1M1"),
        "the result is lost: {results:?}"
    );
}

#[tokio::test]
async fn gone_while_nothing_has_happened() {
    for modern in [true, false] {
        let league = League::new(unhurried()).await;
        let room = league.room().await;
        let client = Legacy::connect(room.address).await;
        let (ann, bob, asked) = before_the_result(&league, &room).await;
        let waiting = if modern {
            begin_modern(room.address, &ann).await
        } else {
            begin_legacy(&client, &ann).await
        };
        // Another call is answered after the server has begun with the wait.
        call(room.address, "my_history", json!({"seat": ann})).await;
        drop(waiting);
        decide(&league, &room, &bob, &asked).await;
        let told = news(room.address, &ann).await;
        assert_eq!(
            told["results"].as_array().unwrap().len(),
            1,
            "it is told as new: {told}"
        );
    }
}

#[tokio::test]
async fn gone_when_the_reply_is_there_and_unread() {
    for modern in [true, false] {
        let league = League::new(unhurried()).await;
        let room = league.room().await;
        let client = Legacy::connect(room.address).await;
        let (ann, bob, asked) = before_the_result(&league, &room).await;
        let mut waiting = if modern {
            begin_modern(room.address, &ann).await
        } else {
            begin_legacy(&client, &ann).await
        };
        decide(&league, &room, &bob, &asked).await;
        // The reply has reached this machine, and its client has not read it.
        waiting.readable().await.unwrap();
        let mut first = [0; 1];
        waiting.read_exact(&mut first).await.unwrap();
        drop(waiting);
        assert_told(&results_until_over(room.address, &ann).await);
    }
}

#[tokio::test]
async fn gone_when_the_turn_is_there_and_unread() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let _other = league.test_league.player(1, &league.to, "always_odd").await;
    let ann = join(room.address, "Ann").await;
    let waiting = begin_modern(room.address, &ann).await;
    league.begin(2).await;
    waiting.readable().await.unwrap();
    drop(waiting);
    let asked = turn(room.address, &ann).await;
    make_move(room.address, &ann, &asked, "even").await;
    assert_told(&results_until_over(room.address, &ann).await);
}

#[tokio::test]
async fn gone_with_the_whole_server_after_the_reply() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let (ann, bob, asked) = before_the_result(&league, &room).await;
    let waiting = begin_modern(room.address, &ann).await;
    decide(&league, &room, &bob, &asked).await;
    waiting.readable().await.unwrap();
    drop(waiting);
    let address = room.close().await;
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let room = Room::open_at(listener, &league.file(), &league.to, |settings| settings).await;
    assert_told(&results_until_over(room.address, &ann).await);
}

#[tokio::test]
async fn a_result_is_repeated_until_a_move_shows_that_it_was_read() {
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let _others = (
        league.test_league.player(1, &league.to, "always_odd").await,
        league.test_league.player(2, &league.to, "always_odd").await,
    );
    let ann = join(room.address, "Ann").await;
    league.begin(3).await;
    let asked = turn(room.address, &ann).await;
    make_move(room.address, &ann, &asked, "even").await;
    let first = loop {
        let told = news(room.address, &ann).await;
        if told["results"]
            .as_array()
            .is_some_and(|results| !results.is_empty())
        {
            break told;
        }
    };
    assert!(first["earlier_results"].is_null(), "{first}");
    let second = loop {
        let told = news(room.address, &ann).await;
        if told["happened"] == "your_turn" {
            break told;
        }
    };
    if first["happened"] == "result" {
        assert_eq!(
            second["earlier_results"].as_array().unwrap().len(),
            1,
            "{second}"
        );
        assert_eq!(second["results"], json!([]), "{second}");
    }
    make_move(room.address, &ann, &second["turn"], "even").await;
    let last = news(room.address, &ann).await;
    let all = [&last["results"], &last["earlier_results"]];
    let of_first = |game: &&Value| game["match_id"] == first["results"][0]["match_id"];
    let again = all
        .iter()
        .flat_map(|list| list.as_array().into_iter().flatten())
        .find(of_first);
    assert_eq!(again, None, "the move confirmed it: {last}");
}
