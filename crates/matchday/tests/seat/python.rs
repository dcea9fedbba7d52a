//! The official Python client plays four seats through a whole league: two in each revision.

use crate::room::{League, unhurried};
use matchday_core::league::Manager;
use matchday_testkit::test_league::{until, until_completed};
use matchday_testkit::tools;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_plays_four_seats_through_a_whole_league() {
    let script = "crates/matchday/tests/mcp/tools/install";
    let Some(tools) = tools::require_installed("mcp", script) else {
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let league = League::new(unhurried()).await;
    let room = league.room().await;
    let mut command = Command::new(tools.join("python/bin/python"));
    command
        .arg(here.join("tests/seat/drive/seats.py"))
        .arg(format!("http://{}/mcp", room.address));
    let playing = tokio::task::spawn_blocking(move || command.output().unwrap());
    // Python alone may take its time to begin, where many tests run.
    let all_in = |manager: &Manager| manager.league().players.len() == 4;
    until(
        &league.manager,
        "all four have a seat",
        Duration::from_secs(60),
        all_in,
    )
    .await;
    league.begin(4).await;
    let output = playing.await.unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}{err}");
    let seen: Value = serde_json::from_str(&out).unwrap();
    for seat in seen.as_array().unwrap() {
        assert_eq!(
            (&seat["moves"], &seat["results"]),
            (&3.into(), &3.into()),
            "{seat}"
        );
        assert_eq!(seat["made_for_you"], 0, "{seat}");
        assert_eq!(seat["table"].as_array().unwrap().len(), 4, "{seat}");
    }
    let done = until_completed(&league.manager, Duration::from_secs(60)).await;
    assert_eq!(done.matches_decided, 6);
    for row in done.rows().iter() {
        assert_eq!(
            (row.played, row.technical_losses.unwrap_or(0)),
            (3, 0),
            "{row:?}"
        );
    }
}
