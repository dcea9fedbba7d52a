//! A league that floods, whose agents hang, whose rules loop or whose events are refused takes nothing from another.

use crate::agents::{accepting, hanging};
use crate::fixture::{Fixture, SERVICE_TOKEN, standings};
use matchday_testkit::cli::Process;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A league with two players of ours that begins by itself.
fn sound(fixture: &Fixture, league: &str) -> [Process; 2] {
    fixture.create(&[league], &["--start-when", "players=2"]);
    [fixture.player(league), fixture.player(league)]
}

/// It was played as if nothing else were there.
fn assert_played(fixture: &Fixture, league: &str) {
    fixture.until(league, |shown| shown["phase"] == "completed");
    let query = json!({"jsonrpc": "2.0", "id": 1, "method": "get_standings", "params": {"league_id": league}});
    let table = fixture
        .post(&format!("/leagues/{league}/mcp"), query)
        .json();
    let rows = table["result"]["standings"].as_array().unwrap();
    let lost: u64 = rows
        .iter()
        .filter_map(|row| row["technical_losses"].as_u64())
        .sum();
    assert_eq!((rows.len(), lost), (2, 0), "{table}");
}

/// Asks without a pause, over several connections, until it is dropped.
struct Flood {
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Flood {
    fn begin(fixture: &Arc<Fixture>, league: &'static str) -> Self {
        let ends = Arc::<AtomicBool>::default();
        let threads = (0..8)
            .map(|_| {
                let fixture = Arc::clone(fixture);
                let ends = Arc::clone(&ends);
                thread::spawn(move || {
                    while !ends.load(Ordering::Relaxed) {
                        fixture.post(&format!("/leagues/{league}/mcp"), standings(league));
                    }
                })
            })
            .collect();
        Self { ends, threads }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[test]
fn a_league_beside_a_flooded_one_is_played_and_answers() {
    let fixture = Arc::new(Fixture::new());
    let _service = fixture.serve(&[]);
    fixture.create(&["flooded"], &[]);
    let flood = Flood::begin(&fixture, "flooded");
    let _players = sound(&fixture, "autumn");
    assert_played(&fixture, "autumn");
    drop(flood);
}

#[test]
fn an_address_that_asks_one_league_too_much_is_not_refused_by_another() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&["--address-rate", "40"]);
    fixture.create(&["spring", "autumn"], &[]);
    let batch = |league: &str| Value::Array((0..41).map(|_| standings(league)).collect());
    let refused = fixture.post("/leagues/spring/mcp", batch("spring"));
    assert!(
        refused.status == 429 || refused.body.contains("E014"),
        "{refused:?}"
    );
    let answer = fixture
        .post("/leagues/autumn/mcp", standings("autumn"))
        .json();
    assert_eq!(answer["result"]["success"], true, "{answer}");
}

#[test]
fn a_league_takes_so_many_requests_a_second_and_the_next_league_has_its_own() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&["--quota-requests", "1"]);
    fixture.create(&["spring", "autumn"], &[]);
    let ask = |league: &str| {
        fixture
            .post(&format!("/leagues/{league}/mcp"), standings(league))
            .status
    };
    fixture.until("spring", |_| ask("spring") == 429);
    assert_eq!(ask("autumn"), 200);
}

#[test]
fn a_league_whose_agents_hang_holds_up_no_other() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(
        &["spring"],
        &["--start-when", "players=6", "--join-timeout", "600"],
    );
    let _hanging = hanging(&fixture, "spring", 6);
    fixture.until("spring", |shown| shown["phase"] == "running");
    let _players = sound(&fixture, "autumn");
    assert_played(&fixture, "autumn");
    assert_eq!(
        fixture.show("spring")["matches_decided"],
        0,
        "its players have still not answered"
    );
}

/// A program that describes a game, and loops when it is asked for a position: until the test removes its folder.
const LOOPING: &str = r#"#!/bin/sh
while read -r line; do
  case "$line" in
    *describe*) echo '{"game_type": "endless", "about": "a game", "rules": "none", "turns_max": 2}' ;;
    *) : > asked; while [ -e asked ]; do :; done ;;
  esac
done
"#;

fn program(fixture: &Fixture, source: &str) -> String {
    let path = fixture.cli.path().join("rules");
    fs::write(&path, source).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_league_whose_rules_program_loops_holds_up_no_other() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&["--quota-programs", "1"]);
    let rules = program(&fixture, LOOPING);
    fixture.create(
        &["spring"],
        &[
            "--start-when",
            "players=2",
            "--game-command",
            &rules,
            "--game-time",
            "60",
        ],
    );
    let _accepting = accepting(&fixture, "spring", "endless", 2);
    let asked = fixture.cli.path().join("asked");
    fixture.until("spring", |_| asked.exists());
    let _players = sound(&fixture, "autumn");
    assert_played(&fixture, "autumn");
    assert_eq!(
        fixture.show("spring")["phase"],
        "running",
        "its match waits for the rules"
    );
}

#[test]
fn a_program_that_does_not_say_what_it_plays_holds_up_no_other_creation() {
    let fixture = Arc::new(Fixture::new());
    let _service = fixture.serve(&["--quota-programs", "1"]);
    let rules = program(&fixture, "#!/bin/sh\n: > asked\nexec sleep 3600\n");
    let asked = fixture.cli.path().join("asked");
    let creating = Arc::clone(&fixture);
    let slow = thread::spawn(move || {
        let settings = json!({"game-command": rules, "game-time": "12"});
        let body = json!({"leagues": [{"league_id": "spring", "settings": settings}]});
        creating.call("POST", "/api/leagues", Some(SERVICE_TOKEN), Some(body))
    });
    fixture.create(&["before"], &[]);
    fixture.until("before", |_| asked.exists());
    fixture.create(&["autumn"], &[]);
    assert!(
        !slow.is_finished(),
        "the program has a minute, and says nothing"
    );
    assert_eq!(
        fixture
            .call("GET", "/api/leagues/spring", Some(SERVICE_TOKEN), None)
            .status,
        404
    );
}

#[test]
fn a_program_in_the_log_of_a_service_that_allows_none_is_not_run() {
    let fixture = Fixture::new();
    let mut service = fixture.serve(&["--quota-programs", "1"]);
    let rules = program(
        &fixture,
        &LOOPING.replacen("#!/bin/sh\n", "#!/bin/sh\n: > run\n", 1),
    );
    fixture.create(&["spring"], &["--game-command", &rules]);
    fixture.create(&["autumn"], &[]);
    service.signal("TERM");
    assert!(service.wait().success());
    let run = fixture.cli.path().join("run");
    fs::remove_file(&run).unwrap();

    let service = fixture.serve(&[]);
    assert_eq!(
        fixture
            .post("/leagues/spring/mcp", standings("spring"))
            .status,
        503
    );
    assert_eq!(
        fixture
            .post("/leagues/autumn/mcp", standings("autumn"))
            .status,
        200
    );
    fixture.until("spring", |shown| shown["state"] == "quarantined");
    service.until("league spring is in quarantine");
    let said = service.out();
    assert!(
        said.contains("game-command: 1 is beyond the quota of 0")
            && said.contains("--quota-programs"),
        "{said}"
    );
    assert!(!run.exists());
}

#[test]
fn a_league_whose_events_are_refused_is_quarantined_and_the_others_are_stored() {
    let fixture = Fixture::new();
    let service = fixture.serve(&[]);
    fixture.create(&["spring", "autumn"], &[]);
    for league in ["spring", "autumn"] {
        assert_eq!(
            fixture
                .post(&format!("/leagues/{league}/mcp"), standings(league))
                .status,
            200
        );
    }
    // Somebody else appends to its log: the next event of its own has a number that is taken.
    let db = Connection::open(fixture.store()).unwrap();
    db.execute_batch(
        "INSERT INTO events (league, stream, seq, at, line, hash)
         SELECT league, stream, seq + 1, at, line, hash FROM events
         WHERE league = 1 AND stream = 'league' ORDER BY seq DESC LIMIT 1;",
    )
    .unwrap();
    drop(db);
    let _answer = fixture.post("/leagues/spring/mcp", crate::fixture::registration());
    fixture.until("spring", |shown| shown["state"] == "quarantined");
    service.until("league spring is in quarantine, the others go on");
    let answer = fixture
        .post("/leagues/autumn/mcp", crate::fixture::registration())
        .json();
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    assert_eq!(fixture.show("autumn")["players"], 1);
}
