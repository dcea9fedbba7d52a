//! A league goes out of a service into a file, and back in, with its chains as they are.

use crate::fixture::{Fixture, SERVICE_TOKEN};
use matchday_store::{Store, Stored, Stream};
use matchday_testkit::eventually::eventually;
use std::collections::BTreeSet;
use std::path::Path;

/// Every stream of the latest league of a file.
fn streams(path: &Path, league: &str) -> Vec<(Stream, Vec<Stored>)> {
    let reader = Store::open_read_only(path).unwrap();
    let id = matchday_core::protocol::LeagueId::new(league);
    let reader = reader.choose(Some(&id)).unwrap();
    let streams = reader.streams().unwrap().into_iter();
    streams
        .map(|stream| (stream.clone(), reader.load(&stream).unwrap()))
        .collect()
}

fn played(fixture: &Fixture, league: &str) {
    fixture.create(&[league], &["--start-when", "players=2"]);
    let _players = [fixture.player(league), fixture.player(league)];
    fixture.until(league, |shown| shown["phase"] == "completed");
}

#[test]
fn a_league_is_archived_and_imported_with_byte_identical_chains() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(&["other"], &[]);
    played(&fixture, "spring");
    let archived = fixture.league(&["archive", "spring"]);
    assert_eq!(archived.code, 0, "{archived:?}");
    let archived = archived.json()["file"].as_str().unwrap().to_owned();
    let archived = Path::new(&archived);
    let before = streams(archived, "spring");
    assert!(
        before
            .iter()
            .any(|(stream, _)| stream.0 == "referee/built-in-1"),
        "with the built-in referee"
    );
    let found = fixture.cli.run(&["verify", archived.to_str().unwrap()]);
    assert!(
        found.code == 0 && found.out.contains("Verified: no contradictions."),
        "{found:?}"
    );
    let told = fixture
        .cli
        .run(&["replay", archived.to_str().unwrap(), "--match", "R1M1"]);
    assert_eq!(told.code, 0, "{told:?}");
    let gone = fixture.call("GET", "/api/leagues/spring", None, None);
    assert_eq!(gone.status, 404, "it is no longer here");

    let again = fixture.league(&["import", archived.to_str().unwrap()]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(streams(&fixture.store(), "spring"), before);
    fixture.until("spring", |shown| shown["phase"] == "completed");
    let taken = fixture.league(&["import", archived.to_str().unwrap()]);
    assert!(
        taken.failed(1).contains("the league id spring is taken"),
        "{taken:?}"
    );
    std::fs::write(archived, "something else").unwrap();
    let exists = fixture.league(&["archive", "spring"]);
    assert!(
        exists.failed(1).contains("exists already: move it away"),
        "nothing is written over: {exists:?}"
    );
    assert_eq!(
        fixture.show("spring")["phase"],
        "completed",
        "and the league is still here"
    );
}

#[test]
fn the_file_of_a_manager_moves_into_a_service() {
    let fixture = Fixture::new();
    let run = fixture.cli.run(&[
        "run",
        "--store",
        "old.db",
        "--port-base",
        "0",
        "--players",
        "3",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    let old = fixture.cli.path().join("old.db");
    let id = "league_2025_even_odd";
    let refused = fixture
        .cli
        .run(&["serve", "--listen", &fixture.listen, "--store", "old.db"]);
    assert!(
        refused
            .failed(1)
            .contains("move this league in with `matchday league import old.db`"),
        "{refused:?}"
    );
    let before = streams(&old, id);
    let _service = fixture.serve(&[]);
    let moved = fixture.league(&["import", "old.db"]);
    assert_eq!(moved.code, 0, "{moved:?}");
    // It is loaded soon, and announces the key of the service after what was there.
    let after = streams(&fixture.store(), id);
    assert_eq!(after.len(), before.len());
    for ((stream, events), (_, before)) in after.iter().zip(&before) {
        assert!(events.starts_with(before), "{stream} goes on where it was");
    }
    assert_eq!(fixture.show(id)["matches_decided"], 3);
    let configured = fixture.league(&["configure", id, "--dashboard", "off"]);
    assert_eq!(configured.code, 0, "{configured:?}");
    assert_eq!(fixture.show(id)["settings"]["dashboard"], "off");
}

/// The tokens, keys and secrets in the events of the built-in referee, once it has a match.
fn secrets_of_the_built_in_referee(store: &Path) -> BTreeSet<String> {
    let stream = Stream("referee/built-in-1".into());
    eventually("a match is assigned", || {
        let events = Store::open_read_only(store).unwrap().load(&stream).unwrap();
        let lines: Vec<&str> = events.iter().map(|event| event.line.as_str()).collect();
        let is_assigned = lines.iter().any(|line| line.contains("\"assigned\""));
        let words = lines.iter().flat_map(|line| line.split('"'));
        let secret = words.filter(|word| {
            let is_hex = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            word.starts_with("tok_") || is_hex
        });
        is_assigned.then(|| secret.map(str::to_owned).collect())
    })
}

#[test]
fn an_archive_of_a_league_that_is_played_holds_no_secret_of_a_built_in_referee_and_an_import_plays_on()
 {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let operator = fixture.create(&["spring"], &[]).remove(0);
    let players = [fixture.player("spring"), fixture.player("spring")];
    fixture.until("spring", |shown| shown["players"] == 2);
    // One of them does not answer, so that its match is not over before the league is archived.
    players[1].signal("STOP");
    let manager = fixture.manager("spring");
    let started = fixture.cli.run(&[
        "start",
        "--manager",
        &manager,
        "--operator-token",
        &operator,
    ]);
    assert_eq!(started.code, 0, "{started:?}");
    let mut secrets = secrets_of_the_built_in_referee(&fixture.store());
    assert!(
        secrets
            .iter()
            .any(|secret| secret.starts_with("tok_ref01_")),
        "its token: {secrets:?}"
    );
    assert!(
        secrets.len() >= 5,
        "its key, its token, the tokens of the match and the secret: {secrets:?}"
    );
    secrets.extend([operator, SERVICE_TOKEN.to_owned()]);

    let archived = fixture.league(&["archive", "spring"]);
    assert_eq!(archived.code, 0, "{archived:?}");
    let file = archived.json()["file"].as_str().unwrap().to_owned();
    let bytes = std::fs::read(&file).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let told: Vec<&String> = secrets
        .iter()
        .filter(|secret| text.contains(secret.as_str()))
        .collect();
    assert_eq!(told, [""; 0], "these stand in the archive");
    let found = fixture.cli.run(&["verify", &file]);
    assert_eq!(found.code, 0, "{found:?}");

    players[1].signal("CONT");
    let imported = fixture.league(&["import", &file]);
    assert_eq!(imported.code, 0, "{imported:?}");
    fixture.until("spring", |shown| shown["phase"] == "completed");
    let found = fixture.cli.run(&[
        "verify",
        fixture.store().to_str().unwrap(),
        "--league",
        "spring",
    ]);
    assert_eq!(found.code, 0, "{found:?}");
}

#[test]
fn a_file_with_another_schema_is_not_imported() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    played(&fixture, "spring");
    let archived = fixture.league(&["archive", "spring"]);
    let file = archived.json()["file"].as_str().unwrap().to_owned();
    let db = rusqlite::Connection::open(&file).unwrap();
    db.execute_batch(
        "DROP TABLE events;
         CREATE VIEW events AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n)
             SELECT 1 AS league, 'league' AS stream, seq, 0 AS at, '{}' AS line, zeroblob(32) AS hash FROM n",
    )
    .unwrap();
    db.close().unwrap();
    let refused = fixture.league(&["import", &file]);
    assert!(
        refused
            .failed(2)
            .contains("has another format than the stores of this Matchday"),
        "{refused:?}"
    );
    fixture.create(&["autumn"], &[]);
}
