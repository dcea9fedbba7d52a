//! A league of our players and others' is checked by a verifier that is none of ours: every draw, and every signature.

use crate::league::{ZooLeague, patient, start_agents, until_completed, until_members};
use matchday_core::protocol::decode::Conformance;
use matchday_testkit::tools;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn verified(folder: &Path) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo/verify_draws.py");
    let done = Command::new("python3")
        .arg(script)
        .arg(folder)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    serde_json::from_slice(&done.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_independent_verifier_agrees_on_every_match_of_a_mixed_league() {
    if !tools::require("python3") {
        return;
    }
    let zoo_league = ZooLeague::new(Conformance::Lenient, patient());
    let manager = zoo_league.manager().await;
    let at = format!("http://{}/mcp", manager.address());
    let referee = zoo_league.referee(1, &at).await;
    let mut players = Vec::new();
    for number in 1..=3 {
        players.push(zoo_league.player(number, &at).await);
    }
    let zoo = start_agents("players", &["standard"], manager.address());
    until_members(&manager, 4, 1).await;
    zoo_league.start(&manager).await;
    until_completed(&manager).await;
    for player in players {
        player.shutdown().await.unwrap();
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
    drop(zoo);

    let out = zoo_league.export();
    let found = verified(&out);
    assert_eq!(found["wrong"], serde_json::json!([]), "{found}");
    assert_eq!(
        (&found["matches"], &found["draws"]),
        (&6.into(), &6.into()),
        "{found}"
    );
    // Three of ours meet each other, two signatures each, and the agent of the zoo, one each.
    assert_eq!(found["signatures"], 9, "{found}");

    // What was changed afterwards is found.
    let events = out.join("events.jsonl");
    let honest = std::fs::read_to_string(&events).unwrap();
    let digit = |byte: char| if byte == '0' { '1' } else { '0' };
    let place = honest.find("\"signatures\":{\"P").unwrap() + 24;
    let mut forged: Vec<char> = honest.chars().collect();
    forged[place] = digit(forged[place]);
    std::fs::write(&events, forged.into_iter().collect::<String>()).unwrap();
    assert_eq!(verified(&out)["wrong"].as_array().unwrap().len(), 1);
}
