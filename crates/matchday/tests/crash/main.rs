//! `kill -9` of real processes at random points, and of the database below them: no result is lost or counted twice, and the league comes to its end.
// Processes are ended by signals.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable
)]

mod agents;
mod chance;
mod outage;
mod postgres;
mod stopping;

use agents::{Agents, matchday};
use chance::Chance;
use matchday_store::StoreUrl;
use matchday_testkit::recorded::assert_store_fits;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

const PLAYERS: u16 = 4;
const REFEREES: u16 = 2;
/// After so many, a league is let come to its end, and the next begins.
const CRASHES_EACH: u32 = 12;
const LEAGUE_MAX: Duration = Duration::from_secs(120);

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .map_or(otherwise, |text| text.parse().unwrap())
}

/// The stores of everyone who took part.
fn stores(folder: &Path) -> Vec<StoreUrl> {
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|ending| ending == "db"))
        .map(StoreUrl::Sqlite)
        .collect()
}

/// The verification of the league as it stands, once there is one; with the stores of others, they are held against it.
fn verified(stores: &[StoreUrl]) -> Option<Value> {
    let output = matchday()
        .arg("verify")
        .args(stores.iter().map(StoreUrl::to_string))
        .arg("--json")
        .output()
        .unwrap();
    let found: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    if let Some(found) = &found {
        assert_eq!(output.status.code(), Some(0), "{found:#}");
    }
    found
}

/// How often the log of the league says of each match that it was decided, and the points that this makes.
fn counted(folder: &Path, store: &StoreUrl) -> (BTreeMap<String, u32>, BTreeMap<String, u64>) {
    let out = folder.join("export");
    let output = matchday()
        .arg("export")
        .arg(store.to_string())
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut decisions = BTreeMap::new();
    let mut points = BTreeMap::new();
    for line in std::fs::read_to_string(out.join("events.jsonl"))
        .unwrap()
        .lines()
    {
        let event = serde_json::from_str::<Value>(line).unwrap()["event"].take();
        if event["type"] != "match_decided" {
            continue;
        }
        *decisions
            .entry(event["match_id"].as_str().unwrap().to_owned())
            .or_default() += 1;
        for (player, score) in event["result"]["score"].as_object().unwrap() {
            *points.entry(player.clone()).or_default() += score.as_u64().unwrap();
        }
    }
    (decisions, points)
}

/// Plays one league with at most so many crashes; gives back how many there were.
fn play(chance: &mut Chance, crashes_max: u32) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let store = StoreUrl::Sqlite(folder.path().join("league.db"));
    let mut agents = Agents::start(folder.path(), "league.db", PLAYERS, REFEREES);
    let mut crashes = 0;
    let began = Instant::now();
    loop {
        assert!(
            began.elapsed() < LEAGUE_MAX,
            "the league does not end\n{}",
            agents.last_words()
        );
        let found = verified(std::slice::from_ref(&store)).unwrap_or_default();
        if found["champion"].is_string() {
            break;
        }
        std::thread::sleep(Duration::from_millis(chance.below(150)));
        if crashes < crashes_max {
            agents.crash(chance);
            crashes += 1;
        }
    }
    drop(agents);
    assert_right_end(folder.path(), &store);
    crashes
}

/// Every match has its one result, everyone's store says the same, and the table is what the results make.
fn assert_right_end(folder: &Path, store: &StoreUrl) {
    let mut stores = stores(folder);
    if !stores.contains(store) {
        stores.push(store.clone());
    }
    assert!(
        stores.iter().map(assert_store_fits).sum::<usize>() > 0,
        "messages were kept"
    );
    let found = verified(&stores).unwrap();
    let matches = u64::from(PLAYERS * (PLAYERS - 1) / 2);
    assert_eq!(
        (&found["matches"], &found["matches_scheduled"]),
        (&matches.into(), &matches.into())
    );
    assert_eq!(found["ended_early"], false);
    let (decisions, points) = counted(folder, store);
    assert_eq!(decisions.len() as u64, matches);
    assert!(decisions.values().all(|count| *count == 1), "{decisions:?}");
    for row in found["table"].as_array().unwrap() {
        let player = row["player_id"].as_str().unwrap();
        assert_eq!(
            row["points"].as_u64(),
            points.get(player).copied(),
            "{player}"
        );
    }
}

/// `MATCHDAY_CRASHES=1000` makes a soak of it, `MATCHDAY_CRASH_SEED` repeats the choices of another run.
#[test]
fn a_league_comes_to_its_right_end_whoever_is_killed_and_whenever() {
    let seed = number("MATCHDAY_CRASH_SEED", Chance::any_seed());
    println!("MATCHDAY_CRASH_SEED={seed}");
    let mut chance = Chance::new(seed);
    let wanted = u32::try_from(number("MATCHDAY_CRASHES", 12)).unwrap();
    let mut crashes = 0;
    while crashes < wanted {
        crashes += play(&mut chance, CRASHES_EACH.min(wanted - crashes));
        println!("{crashes} of {wanted} crashes survived");
    }
}
