//! Each page of a league, and of a service, in three sizes, for the documentation. To take them anew:
//! `UPDATE_DOCS=1 cargo test -p matchday --test browser gallery`

use crate::script::{can_be_run, plays};
use crate::service::fixture::{Fixture, SERVICE_TOKEN};
use crate::tutorial::{is_update, keep, kept, taken_from};
use matchday_testkit::cli::{Process, free_address};
use std::fs;
use std::path::Path;

/// The most bytes that the pictures of a league, or of a service, may have together.
const GALLERY_BYTES_MAX: u64 = 800_000;

/// Holds the pictures against those of the documentation, or puts them there.
fn check(taken: &Path, count: usize) {
    let files: Vec<_> = fs::read_dir(taken).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), count);
    let bytes: u64 = files
        .iter()
        .map(|file| file.metadata().unwrap().len())
        .sum();
    assert!(bytes < GALLERY_BYTES_MAX, "{bytes} bytes");
    if is_update() {
        keep(taken);
    }
    for file in files {
        let name = file.file_name();
        assert!(
            kept().join(&name).exists(),
            "{name:?} is not in docs/pictures"
        );
    }
}

#[test]
fn every_page_of_a_league_is_shown_in_three_sizes() {
    if can_be_run() {
        let taken = taken_from(&["--game", "connect_four"], "gallery");
        check(taken.path(), 21);
    }
}

/// A service in the middle of a term, and the processes that play in it.
struct Term {
    fixture: Fixture,
    _service: Process,
    _players: Vec<Process>,
    /// Of the league that takes registrations.
    operator_token: String,
    handout: String,
}

const PLAYERS: [(&str, &str); 6] = [
    ("Ada", "perfect"),
    ("Blaise", "random"),
    ("Carl", "random"),
    ("Dorothy", "perfect"),
    ("Emmy", "random"),
    ("Frances", "random"),
];

impl Term {
    fn open() -> Self {
        let fixture = Fixture::new();
        let service = fixture.serve(&[]);
        import_finished(&fixture);
        let mut players = season(&fixture);
        let (operator_token, registered) = registration(&fixture);
        players.extend(registered);
        players.extend(ladder(&fixture));
        Self {
            handout: handout(&fixture),
            fixture,
            _service: service,
            _players: players,
            operator_token,
        }
    }
}

fn player(fixture: &Fixture, manager: &str, name: &str, strategy: &str) -> Process {
    let listen = free_address();
    let args = [
        "player",
        "--listen",
        &listen,
        "--manager",
        manager,
        "--name",
        name,
        "--strategy",
        strategy,
    ];
    let player = fixture.cli.start(&args);
    player.until("registered as");
    player
}

fn import_finished(fixture: &Fixture) {
    let run = [
        "run",
        "connect_four",
        "--players",
        "8",
        "--seed",
        "4",
        "--store",
        "cup.db",
        "--port-base",
        "0",
        "--quiet",
    ];
    assert_eq!(fixture.cli.run(&run).code, 0);
    let imported = fixture.league(&["import", "cup.db"]);
    assert_eq!(imported.code, 0, "{imported:?}");
}

/// A season of which three leagues are played.
fn season(fixture: &Fixture) -> Vec<Process> {
    let service = format!("http://{}", fixture.listen);
    let create = [
        "season",
        "create",
        "monday-night",
        "--schedule",
        "0 20 * * mon",
        "--game",
        "tic_tac_toe",
        "--format",
        "double_round_robin",
        "--lead",
        "0",
        "--service",
        &service,
        "--service-token",
        SERVICE_TOKEN,
    ];
    let made = fixture.cli.run(&create);
    assert_eq!(made.code, 0, "{made:?}");
    let manager = fixture.manager("monday-night");
    let players = PLAYERS
        .map(|(name, strategy)| player(fixture, &manager, name, strategy))
        .into();
    for number in 1..=3 {
        let (league, next) = (
            format!("monday-night_{number}"),
            format!("monday-night_{}", number + 1),
        );
        fixture.until(&league, |league| league["players"] == PLAYERS.len());
        let run = fixture.call(
            "POST",
            "/api/seasons/monday-night/run",
            Some(SERVICE_TOKEN),
            None,
        );
        assert_eq!(run.status, 200, "{run:?}");
        fixture.until(&league, |league| league["phase"] == "completed");
        fixture.until(&next, |league| league["phase"] == "registration");
    }
    players
}

/// A league with a roster, of which four are here and one is not reached.
fn registration(fixture: &Fixture) -> (String, Vec<Process>) {
    let roster = fixture.cli.path().join("class.csv");
    fs::write(
        &roster,
        "Ann Lee\nBob Roy\nCleo Park\nDev Rao\nEva Stein\nFinn Berg\n",
    )
    .unwrap();
    let made = fixture.league(&[
        "create",
        "class-of-may",
        "--game",
        "connect_four",
        "--roster",
        roster.to_str().unwrap(),
        "--endpoint-check",
        "off",
    ]);
    let made = made.json();
    let league = &made["leagues"][0];
    let codes = league["join_codes"].as_array().unwrap();
    let mut players: Vec<_> = codes[..4]
        .iter()
        .map(|code| player(fixture, code["url"].as_str().unwrap(), "Student", "random"))
        .collect();
    players.pop();
    (
        league["operator_token"].as_str().unwrap().to_owned(),
        players,
    )
}

fn ladder(fixture: &Fixture) -> Vec<Process> {
    let ladder = [
        "--format",
        "ladder",
        "--matches-per-hour",
        "600",
        "--game",
        "connect_four",
        "--start-when",
        "players=4",
    ];
    fixture.create(&["climbers"], &ladder);
    let manager = fixture.manager("climbers");
    let players = ["Grace", "Hedy", "Isaac", "Joan"]
        .map(|name| player(fixture, &manager, name, "random"))
        .into();
    fixture.until("climbers", |league| {
        league["matches_decided"].as_u64() > Some(4)
    });
    players
}

/// The hand-out of a student of a course at this service.
fn handout(fixture: &Fixture) -> String {
    let made = fixture.cli.run(&["course", "init", "agents-101"]);
    assert_eq!(made.code, 0, "{made:?}");
    let folder = fixture.cli.path().join("agents-101");
    let plan = folder.join("course.toml");
    let text = fs::read_to_string(&plan).unwrap();
    let service = format!("http://{}", fixture.listen);
    fs::write(&plan, text.replace("http://localhost:8000", &service)).unwrap();
    let published = fixture.cli.run(&[
        "course",
        "publish",
        "agents-101",
        "--service-token",
        SERVICE_TOKEN,
    ]);
    assert_eq!(published.code, 0, "{published:?}");
    let mut pages = Vec::new();
    for section in fs::read_dir(folder.join("handouts")).unwrap() {
        let section = fs::read_dir(section.unwrap().path()).unwrap();
        pages.extend(section.map(|page| page.unwrap().path()));
    }
    pages.sort();
    pages[0].to_str().unwrap().to_owned()
}

#[test]
fn every_page_of_a_service_is_shown_in_three_sizes() {
    if !can_be_run() {
        return;
    }
    let term = Term::open();
    let taken = tempfile::tempdir().unwrap();
    plays(
        "service_gallery",
        &format!("http://{}/", term.fixture.listen),
        &[
            taken.path().to_str().unwrap(),
            SERVICE_TOKEN,
            &term.operator_token,
            &term.handout,
        ],
    );
    check(taken.path(), 30);
}
