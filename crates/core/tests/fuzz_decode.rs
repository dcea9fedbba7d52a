//! Fuzz targets for the reading of messages and of stored events. A plain `cargo test` gives each a short random run; they
//! are bolero targets, so that `cargo bolero` can let coverage guide a long one.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the functions here serve tests alone"
)]

mod golden;

use bolero::check;
use matchday_core::league::{League, LeagueEvent, Settings};
use matchday_core::log;
use matchday_core::protocol::decode::{Conformance, Limits, Reading, decode};
use matchday_core::protocol::{Message, Timestamp};
use serde_json::Value;

const RUNS: usize = 100_000;

/// Puts `splice` into the text in place of a few of its bytes: random bytes alone would never get past the first brace.
fn spoiled(good: &[String], input: &[u8]) -> Vec<u8> {
    let [pick, pick_low, high, low, cut, splice @ ..] = input else {
        return input.to_vec();
    };
    let text = good[usize::from(u16::from_be_bytes([*pick, *pick_low])) % good.len()].as_bytes();
    let from = usize::from(u16::from_be_bytes([*high, *low])) % (text.len() + 1);
    let to = (from + usize::from(cut % 32)).min(text.len());
    [&text[..from], splice, &text[to..]].concat()
}

#[test]
fn fuzz_decode() {
    let all = golden::of_the_sources().into_iter().chain(golden::of_our_own());
    let good: Vec<String> = all.map(|golden| golden.value.to_string()).collect();
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let Ok(value) = serde_json::from_slice::<Value>(&spoiled(&good, input)) else { return };
        for conformance in [Conformance::Strict, Conformance::Lenient] {
            let reading =
                Reading { conformance, now: Timestamp::EPOCH, limits: Limits::MANAGER, exchange: None };
            let Ok(incoming) = decode(&value, &reading) else { continue };
            let Ok(body) = incoming.body else { continue };
            let written = serde_json::to_value(Message { envelope: incoming.envelope, body }).unwrap();
            assert!(decode(&written, &reading).is_ok_and(|again| again.body.is_ok()), "{written}");
        }
    });
}

#[test]
fn fuzz_stored_events() {
    let good: Vec<String> = include_str!("manager/league_v1.jsonl").lines().map(str::to_owned).collect();
    check!().with_iterations(RUNS).for_each(|input: &[u8]| {
        let bytes = spoiled(&good, input);
        let Ok(text) = std::str::from_utf8(&bytes) else { return };
        if let Ok((at, event)) = log::read::<LeagueEvent>(text) {
            let mut league = League::new(Settings::default());
            league.apply(at, &event);
            let _ = league.table();
        }
    });
}
