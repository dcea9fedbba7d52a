//! Leagues in PostgreSQL whose database, or whose manager, is killed again and again in mid-league. The checker knows what the
//! referees were answered, and the final log: nothing that was acknowledged is lost, nothing is doubled, and no match is a
//! technical loss.

use crate::agents::Agents;
use crate::chance::Chance;
use crate::stopping::{events, technical_losses};
use crate::{LEAGUE_MAX, PLAYERS, REFEREES, assert_right_end, number, stores, verified};
use matchday_store::{Direction, Store, StoreUrl};
use matchday_testkit::postgres::Cluster;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// After so many, a league is let come to its end, and the next begins.
const KILLS_EACH: u64 = 6;

/// The part of a body that is the message, in whichever dialect it came.
fn message(body: &str) -> Value {
    let whole: Value = serde_json::from_str(body).unwrap_or_default();
    let places = [
        &whole,
        &whole["params"],
        &whole["params"]["message"],
        &whole["result"],
    ];
    places
        .into_iter()
        .find(|place| place["message_type"].is_string())
        .cloned()
        .unwrap_or_default()
}

/// What the referees reported, of every report that the manager acknowledged. Referees are not killed, so their record of the
/// wire is whole.
fn acknowledged(folder: &Path) -> Vec<Value> {
    let mut reports = Vec::new();
    for file in stores(folder) {
        for exchange in Store::open_read_only(&file).unwrap().exchanges().unwrap() {
            let answer = message(exchange.answer.as_deref().unwrap_or_default());
            let report = message(&exchange.request);
            if exchange.direction == Direction::Out
                && report["message_type"] == "MATCH_RESULT_REPORT"
                && answer["message_type"] == "MATCH_RESULT_ACK"
            {
                reports.push(report);
            }
        }
    }
    reports
}

/// Which acknowledged reports the log does not hold as they were reported, and which matches it holds more than once.
fn faults(reports: &[Value], log: &[Value]) -> Vec<String> {
    let mut decided: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for event in log.iter().filter(|event| event["type"] == "match_decided") {
        decided
            .entry(event["match_id"].as_str().unwrap())
            .or_default()
            .push(event);
    }
    let doubled = decided.iter().filter(|(_, events)| events.len() > 1);
    let doubled =
        doubled.map(|(match_id, events)| format!("{match_id} was decided {} times", events.len()));
    let lost = reports.iter().filter_map(|report| {
        let match_id = report["match_id"].as_str().unwrap();
        let held = decided.get(match_id).and_then(|events| events.first());
        let same = held.is_some_and(|event| {
            ["winner", "score"]
                .iter()
                .all(|field| event["result"][field] == report["result"][field])
        });
        (!same).then(|| format!("{match_id} was acknowledged, and the log says {held:?}"))
    });
    doubled.chain(lost).collect()
}

enum Victim {
    Database,
    Manager,
}

/// Plays one league with at most so many kills; how many there were, and how many reports were acknowledged.
fn play(cluster: &Cluster, victim: &Victim, chance: &mut Chance, kills_max: u64) -> (u64, usize) {
    let folder = tempfile::tempdir().unwrap();
    let store = StoreUrl::from(cluster.database());
    // With the default times to answer: who is silent for seconds because the machine is busy is not what is looked for.
    let mut agents = Agents::start_with(folder.path(), &store.to_string(), "", PLAYERS, REFEREES);
    let mut kills = 0;
    let mut seen = 0;
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
        // Anywhere in a match.
        std::thread::sleep(Duration::from_millis(chance.below(300)));
        // The first kill comes when play has begun, each other once the league has gone on.
        let stored = events(&store);
        let playing = stored.iter().any(|event| event["type"] == "match_assigned");
        if kills == kills_max || !playing || stored.len() <= seen {
            continue;
        }
        (kills, seen) = (kills + 1, stored.len());
        match victim {
            Victim::Manager => agents.crash_manager(chance),
            Victim::Database => {
                if chance.below(2) == 0 {
                    cluster.kill()
                } else {
                    cluster.stop("immediate")
                }
                std::thread::sleep(Duration::from_millis(chance.below(300)));
                cluster.up();
            }
        }
    }
    drop(agents);
    assert_right_end(folder.path(), &store);
    let reports = acknowledged(folder.path());
    let log = events(&store);
    let faults = faults(&reports, &log);
    assert!(faults.is_empty(), "{faults:#?}");
    let lost = technical_losses(&store);
    assert!(lost.is_empty(), "{lost:#?}");
    (kills, reports.len())
}

fn survive(victim: &Victim, wanted: u64) {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let seed = number("MATCHDAY_CRASH_SEED", Chance::any_seed());
    println!("MATCHDAY_CRASH_SEED={seed}");
    let mut chance = Chance::new(seed);
    let mut kills = 0;
    let mut reports = 0;
    let mut leagues = 0;
    while kills < wanted {
        let (killed, acknowledged) = play(
            &cluster,
            victim,
            &mut chance,
            KILLS_EACH.min(wanted - kills),
        );
        (kills, reports, leagues) = (kills + killed, reports + acknowledged, leagues + 1);
        println!(
            "{kills} of {wanted} kills survived: {leagues} leagues, {reports} reports acknowledged"
        );
    }
    assert!(reports > 0, "reports were acknowledged");
}

/// `MATCHDAY_DATABASE_KILLS=300` makes a soak of it.
#[test]
fn nothing_acknowledged_is_lost_or_doubled_when_the_database_is_killed() {
    survive(&Victim::Database, number("MATCHDAY_DATABASE_KILLS", 3));
}

/// `MATCHDAY_MANAGER_KILLS=300` makes a soak of it.
#[test]
fn nothing_acknowledged_is_lost_or_doubled_when_a_manager_on_a_database_is_killed() {
    survive(&Victim::Manager, number("MATCHDAY_MANAGER_KILLS", 3));
}

#[test]
fn the_checker_finds_what_is_lost_doubled_or_changed() {
    let event = |match_id: &str, winner: &str| serde_json::json!({"type": "match_decided", "match_id": match_id, "result": {"winner": winner, "score": {winner: 3}}});
    let report = event("R1M1", "P01");
    assert!(faults(std::slice::from_ref(&report), &[event("R1M1", "P01")]).is_empty());
    assert_eq!(faults(std::slice::from_ref(&report), &[]).len(), 1, "lost");
    assert_eq!(
        faults(std::slice::from_ref(&report), &[event("R1M1", "P02")]).len(),
        1,
        "changed"
    );
    assert_eq!(
        faults(&[], &[event("R1M1", "P01"), event("R1M1", "P01")]).len(),
        1,
        "doubled"
    );
}
