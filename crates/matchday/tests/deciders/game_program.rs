//! A game program is held to its limits.

use crate::command::Script;
use matchday_runtime::deciders::game_program::{GameProgram, ResourceLimits};
use matchday_testkit::tools;
use std::time::Duration;

async fn described(script: &str, time: Duration) -> Result<(), String> {
    let script = Script::new(script);
    let limits = ResourceLimits {
        time,
        memory_bytes: 64 << 20,
    };
    let program = GameProgram::named(&script.path().display().to_string(), limits).unwrap();
    program.describe().await.map(|_| ())
}

#[tokio::test]
async fn what_it_uses_of_memory_is_limited_with_all_that_it_starts() {
    if !tools::require("python3") {
        return;
    }
    let hoard = r#"python3 -c 'hoard = b"x" * (256 << 20); import time; time.sleep(600)'; true"#;
    let why = described(hoard, Duration::from_secs(60)).await.unwrap_err();
    assert_eq!(
        why,
        "the rules of the game: it used more than 64 MB of memory and was killed"
    );
}

#[tokio::test]
async fn what_it_reserves_of_address_space_is_not() {
    if !tools::require("python3") {
        return;
    }
    let reserve = r#"exec python3 -c 'import mmap
space = mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
for _ in open(0): print("{\"game_type\": \"roomy\", \"turns_max\": 1}", flush=True)'"#;
    assert_eq!(described(reserve, Duration::from_secs(60)).await, Ok(()));
}

#[tokio::test]
async fn a_program_that_says_nothing_is_given_up() {
    let why = described("sleep 600", Duration::from_millis(20))
        .await
        .unwrap_err();
    assert_eq!(why, "the rules of the game have not answered in 0.1 s");
}
