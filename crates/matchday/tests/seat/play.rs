//! `matchday seat --play`: against built-in players, by one command.

use crate::room::{join, make_move, news};
use matchday_testkit::mcp_client::{call, get};
use serde_json::json;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use tokio::io::{AsyncBufReadExt, BufReader};

const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");

#[tokio::test]
async fn a_seat_at_an_address_plays_built_in_players_and_the_league_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("game.db");
    let mut seat = tokio::process::Command::new(MATCHDAY)
        .args([
            "seat",
            "--play",
            "tic_tac_toe",
            "--against",
            "random,perfect",
        ])
        .args(["--listen", "127.0.0.1:0", "--store"])
        .arg(&store)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(seat.stderr.take().unwrap()).lines();
    let line = said.next_line().await.unwrap().unwrap();
    let (_, address) = line.split_once("add http://").expect("the address");
    let (address, _) = address.split_once("/mcp").unwrap();
    let to: SocketAddr = address.parse().unwrap();

    let ann = join(to, "Ann").await;
    let mut results = 0;
    loop {
        let told = news(to, &ann).await;
        results += told["results"].as_array().unwrap().len();
        match told["happened"].as_str() {
            Some("league_over") => break,
            Some("your_turn") => {
                let turn = &told["turn"];
                assert!(turn["text"].as_str().unwrap().contains("Board:"), "{turn}");
                let moving = json!({
                    "seat": ann, "turn": turn["turn"], "choice": turn["options"][0].to_string(), "reasoning": "It is free.",
                });
                call(to, "make_move", moving).await;
            }
            _ => {}
        }
    }
    assert_eq!(results, 4, "each opponent twice");
    assert_eq!(get(to, "/").await.status, 200);
    let late = make_move(to, &ann, &json!({"turn": "R1M1-0"}), "0").await;
    assert_eq!(late["isError"], true);

    let id = seat.id().unwrap().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    assert!(seat.wait().await.unwrap().success());
    let output = |arguments: &[&str]| {
        let output = Command::new(MATCHDAY)
            .args(arguments)
            .arg("--store")
            .arg(&store)
            .output();
        let output = output.unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{shown}{output:?}");
        shown
    };
    output(&["verify"]);
    let told = (1..=6).map(|round| output(&["replay", "--match", &format!("R{round}M1")]));
    let told = told.collect::<String>();
    assert!(told.contains("thinking  It is free."), "{told}");
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    for (flags, why) in [
        (&["--against", "random"][..], "--against"),
        (&["--play", "nim", "--dial", "on"], "--dial"),
        (&["--play", "nim", "--against", "tit_for_tat"], "--against"),
        (&["--play", "nim", "--listen", "0.0.0.0:0"], "--listen"),
        (&["--play", "chess"], "--play"),
    ] {
        let output = Command::new(MATCHDAY)
            .arg("seat")
            .args(flags)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {said}");
        assert!(said.contains(why), "{flags:?}: {said}");
    }
}
