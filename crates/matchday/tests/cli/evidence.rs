//! What players keep of a real league, held against stores that somebody has rewritten: who signed is believed, and the store
//! that contradicts a signature is named.

use matchday_core::event_codec;
use matchday_core::fair::MatchDraw;
use matchday_core::league::{LeagueEvent, checkpoint_origin};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::LeagueId;
use matchday_core::referee::RefereeEvent;
use matchday_core::referee_statement::{AttemptRef, Statement};
use matchday_core::registration::Application;
use matchday_core::signature::SigningKey;
use matchday_core::signed_move::SignedMoves;
use matchday_core::signed_note::{Checkpoint, verifier_key};
use matchday_store::{Store, Stream, chain};
use matchday_testkit::cli::{Cli, Output};
use matchday_testkit::event_lines::append;
use serde_json::{Value, json};
use std::fs;

/// A league of two players that was played and stopped, with all four stores: `matchday.db`, `r1.db`, `p1.db` and `p2.db`.
fn played() -> Cli {
    let cli = Cli::new(crate::MATCHDAY);
    let mut manager = cli.manager(&["--lead", "0"]);
    let stores = [
        ["referee", "r1.db"],
        ["player", "p1.db"],
        ["player", "p2.db"],
    ];
    let mut agents = stores.map(|[role, store]| {
        let agent = cli.agent(&[role, "--store", store]);
        agent.until("registered as");
        agent
    });
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    for agent in &mut agents {
        agent.until("LEAGUE_COMPLETED");
    }
    for process in agents.iter_mut().chain([&mut manager]) {
        process.signal("TERM");
        assert!(process.wait().success(), "{}", process.err());
    }
    cli
}

fn stream(cli: &Cli, store: &str) -> Stream {
    let db = rusqlite::Connection::open(cli.path().join(store)).unwrap();
    Stream(
        db.query_row("SELECT stream FROM events LIMIT 1", [], |row| {
            row.get::<_, String>(0)
        })
        .unwrap()
        .into(),
    )
}

/// Every line of a store with one agent.
fn lines(cli: &Cli, store: &str) -> Vec<String> {
    let reader = Store::open_read_only(cli.path().join(store)).unwrap();
    reader
        .load(&stream(cli, store))
        .unwrap()
        .into_iter()
        .map(|event| event.line)
        .collect()
}

/// Writes a store anew as `anew.db`, with a chain that holds.
fn write_anew(cli: &Cli, original: &str, lines: Vec<String>) {
    let store = Store::open(cli.path().join("anew.db")).unwrap();
    append(&store, &stream(cli, original).0, lines).unwrap();
    store.close().unwrap();
}

/// Rewrites the events of this kind of a player's store.
fn rewrite_player(cli: &Cli, kind: &str, change: impl Fn(&mut PlayerEvent)) {
    let marked = format!("\"type\":\"{kind}\"");
    let rewritten = lines(cli, "p1.db").into_iter().map(|line| {
        if !line.contains(&marked) {
            return line;
        }
        let (at, mut event) = event_codec::decode::<PlayerEvent>(&line).unwrap();
        change(&mut event);
        event_codec::encode(at, &event).unwrap()
    });
    let rewritten = rewritten.collect();
    write_anew(cli, "p1.db", rewritten);
}

fn application(cli: &Cli, store: &str) -> Application {
    lines(cli, store)
        .iter()
        .find_map(|line| {
            let player = event_codec::decode::<PlayerEvent>(line)
                .ok()
                .map(|(_, event)| event);
            let referee = event_codec::decode::<RefereeEvent>(line)
                .ok()
                .map(|(_, event)| event);
            match (player, referee) {
                (Some(PlayerEvent::Applied(application)), _)
                | (_, Some(RefereeEvent::Applied(application))) => Some(application),
                _ => None,
            }
        })
        .unwrap()
}

fn league_id() -> LeagueId {
    LeagueId::new("league_2025_even_odd")
}

fn manager_key(cli: &Cli) -> SigningKey {
    let keys = fs::read_to_string(cli.path().join("matchday.db.checkpoint-keys")).unwrap();
    let mut seed = [0; 32];
    for (byte, digits) in seed
        .iter_mut()
        .zip(keys.lines().next().unwrap().as_bytes().chunks(2))
    {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    }
    SigningKey::from_seed(seed)
}

fn note(key: &SigningKey, size: u64, root: [u8; 32]) -> String {
    let origin = checkpoint_origin(&league_id());
    Checkpoint {
        origin,
        size,
        root,
        extensions: vec![format!("{} league", chain::SCHEME)],
    }
    .sign(key)
}

/// The manager's log with a changed event, its chain and its checkpoints computed and signed anew with the manager's own key.
fn forge_log(cli: &Cli) {
    let key = manager_key(cli);
    let league = Stream::league();
    let mut head = chain::genesis(&league);
    let mut forged = Vec::new();
    for (seq, line) in (1..).zip(lines(cli, "matchday.db")) {
        let (at, event) = event_codec::decode::<LeagueEvent>(&line).unwrap();
        let line = match event {
            LeagueEvent::LeagueStarted { .. } => line.replace("\"at\":", "\"at\": "),
            LeagueEvent::CheckpointSigned { .. } => {
                let note = note(&key, seq - 1, head.0).into();
                event_codec::encode(at, &LeagueEvent::CheckpointSigned { note }).unwrap()
            }
            _ => line,
        };
        head = chain::link(&head, &league, seq, &line);
        forged.push(line);
    }
    write_anew(cli, "matchday.db", forged);
}

fn last_checkpoint(cli: &Cli) -> String {
    let found = cli.run(&["verify", "matchday.db", "--json"]).json();
    found["last_checkpoint"]["note"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn save(cli: &Cli, name: &str, note: &str) {
    fs::write(cli.path().join(name), note).unwrap();
}

#[track_caller]
fn is_bad(found: &Output, words: &[&str]) {
    assert_eq!(found.code, 1, "{found:?}");
    for words in words {
        assert!(found.out.contains(words), "{words}: {found:?}");
    }
}

#[test]
fn the_stores_of_an_honest_league_fit_together_with_the_checkpoints_that_players_keep() {
    let cli = played();
    let found = cli.run(&["verify", "matchday.db", "r1.db", "p1.db", "p2.db"]);
    assert_eq!(found.code, 0, "{found:?}");
    // One at the end of the round and one at the end of the league, for each.
    assert!(
        found
            .out
            .contains("kept     4 checkpoints in the stores of players, all of this log"),
        "{found:?}"
    );
    assert!(
        found.out.ends_with("Verified: no contradictions.\n"),
        "{found:?}"
    );
    let told = lines(&cli, "p1.db").join("\n");
    for kept in [
        "manager_key",
        "commitment_signature",
        "checkpoint_received",
        "\"signed\":{",
    ] {
        assert!(told.contains(kept), "{kept}: {told}");
    }
}

#[test]
fn a_player_that_rewrites_its_choice_is_named_and_not_its_referee() {
    let cli = played();
    rewrite_player(&cli, "chosen", |event| {
        let PlayerEvent::Chosen { choice, .. } = event else {
            panic!("{event:?}")
        };
        choice.value = json!(if choice.value == "odd" { "even" } else { "odd" });
    });
    let found = cli.run(&["verify", "matchday.db", "anew.db"]);
    is_bad(
        &found,
        &["in anew.db (chosen, ", "it was changed after it was signed"],
    );
}

#[test]
fn a_player_that_signs_another_choice_afterwards_is_bound_by_the_first() {
    let cli = played();
    let key = application(&cli, "p1.db").signing_key();
    let commitment = lines(&cli, "p1.db").iter().find_map(|line| {
        match event_codec::decode::<PlayerEvent>(line).unwrap().1 {
            PlayerEvent::Invited {
                draw_commitment, ..
            } => draw_commitment,
            _ => None,
        }
    });
    let found = cli
        .run(&["verify", "matchday.db", "p1.db", "--json"])
        .json();
    let player = found["players"]["agents"][0].as_str().unwrap().to_owned();
    rewrite_player(&cli, "chosen", |event| {
        let PlayerEvent::Chosen {
            match_id,
            attempt,
            choice,
            opponent_nonce_commitment,
            ..
        } = event
        else {
            panic!("{event:?}")
        };
        choice.value = json!(if choice.value == "odd" { "even" } else { "odd" });
        let league_id = league_id();
        let moves = SignedMoves {
            draw: MatchDraw {
                league_id: &league_id,
                match_id,
                attempt: *attempt,
            },
            player_id: &matchday_core::protocol::PlayerId::new(player.as_str()),
            commitment: commitment.as_ref().unwrap(),
            opponent_nonce: opponent_nonce_commitment.as_ref(),
            nonce: &choice.nonce,
            choices: vec![&choice.value],
        };
        choice.signature = Some(moves.sign(&key));
    });
    let found = cli.run(&["verify", "matchday.db", "anew.db"]);
    is_bad(
        &found,
        &[
            "in anew.db (chosen, ",
            &format!("it contradicts what {player} has signed"),
        ],
    );
}

#[test]
fn a_log_that_was_signed_anew_is_found_by_what_a_player_keeps() {
    let cli = played();
    forge_log(&cli);
    assert_eq!(cli.run(&["verify", "anew.db"]).code, 0, "by itself it fits");
    let found = cli.run(&["verify", "anew.db", "p1.db"]);
    is_bad(
        &found,
        &[
            "EQUIVOCATION",
            "in anew.db (",
            "the manager has signed another log for P0",
        ],
    );
}

#[test]
fn a_log_under_another_key_is_held_against_the_key_that_players_were_given() {
    let cli = played();
    let key = manager_key(&cli).public_key().to_string();
    let other = SigningKey::from_seed([9; 32]).public_key().to_string();
    let forged = lines(&cli, "matchday.db")
        .into_iter()
        .filter(|line| !line.contains("\"checkpoint_signed\""));
    write_anew(
        &cli,
        "matchday.db",
        forged.map(|line| line.replace(&key, &other)).collect(),
    );
    let found = cli.run(&["verify", "anew.db", "p1.db"]);
    is_bad(
        &found,
        &["says that the manager gave it the key", "--key) decides"],
    );
    let found = cli.run(&["verify", "anew.db", "p1.db", "--key", &key]);
    is_bad(
        &found,
        &[
            "of league in anew.db",
            "the log does not announce the key that was given",
        ],
    );
}

#[test]
fn two_checkpoints_of_one_log_that_contradict_each_other_are_shown_side_by_side() {
    let cli = played();
    let kept = last_checkpoint(&cli);
    let size = Checkpoint::parse_note(&kept).unwrap().size;
    save(&cli, "one.txt", &kept);
    save(&cli, "other.txt", &note(&manager_key(&cli), size, [7; 32]));
    let found = cli.run(&[
        "verify",
        "matchday.db",
        "--checkpoint",
        "one.txt",
        "--checkpoint",
        "other.txt",
    ]);
    is_bad(
        &found,
        &[
            "EQUIVOCATION: the manager has signed two logs",
            "other.txt:",
            "CONTRADICTION",
        ],
    );
    let both = cli
        .run(&["verify", "p1.db", "--checkpoint", "other.txt", "--json"])
        .json();
    assert_eq!(
        both["equivocation"].as_array().unwrap().len(),
        2,
        "a player's store is enough: {both}"
    );
    // A smaller one that the log does not have beneath the last, and one that somebody else signed.
    save(&cli, "other.txt", &note(&manager_key(&cli), 1, [7; 32]));
    let found = cli.run(&["verify", "matchday.db", "--checkpoint", "other.txt"]);
    is_bad(
        &found,
        &[
            "EQUIVOCATION",
            "event 1 had another hash when it was signed",
        ],
    );
    save(
        &cli,
        "other.txt",
        &note(&SigningKey::from_seed([9; 32]), size, [7; 32]),
    );
    let found = cli.run(&["verify", "matchday.db", "--checkpoint", "other.txt"]);
    is_bad(&found, &["CONTRADICTION"]);
    assert!(
        !found.out.contains("EQUIVOCATION"),
        "anyone can sign with a key of his own: {found:?}"
    );
}

#[test]
fn the_key_that_the_caller_has_from_elsewhere_decides() {
    let cli = played();
    let key = manager_key(&cli).public_key();
    let origin = checkpoint_origin(&league_id());
    for key in [key.to_string(), verifier_key(&origin, &key)] {
        let found = cli.run(&["verify", "matchday.db", "p1.db", "--key", &key]);
        assert_eq!(found.code, 0, "{found:?}");
    }
    let other = SigningKey::from_seed([9; 32]);
    let stranger = other.public_key().to_string();
    let found = cli.run(&["verify", "matchday.db", "--key", &stranger]);
    is_bad(
        &found,
        &["it is signed with another key than the one that was given"],
    );
    let found = cli.run(&["verify", "matchday.db", "p1.db", "--key", "secret"]);
    assert!(found.failed(2).contains("expected ed25519:"), "{found:?}");
    let unsigned = lines(&cli, "matchday.db")
        .into_iter()
        .filter(|line| !line.contains("\"checkpoint_signed\""));
    write_anew(&cli, "matchday.db", unsigned.collect());
    let found = cli.run(&["verify", "anew.db", "--key", &key.to_string()]);
    assert_eq!(found.code, 3, "nothing is signed: {found:?}");
    assert!(
        found
            .out
            .contains("not checked: whether this is the log of the manager"),
        "{found:?}"
    );
}

#[test]
fn a_referee_whose_game_over_contradicts_its_report_is_named() {
    let cli = played();
    let key = application(&cli, "r1.db").signing_key();
    let contradict = |sign: bool| {
        rewrite_player(&cli, "finished", |event| {
            let PlayerEvent::Finished {
                game,
                signed: Some(signed),
            } = event
            else {
                panic!("{event:?}")
            };
            let mut result: Value = serde_json::from_str(&signed.game_result).unwrap();
            result["drawn_number"] = json!(11 - result["drawn_number"].as_u64().unwrap());
            signed.game_result = result.to_string();
            let league_id = league_id();
            let about = AttemptRef {
                league_id: &league_id,
                match_id: &game.match_id,
                attempt: signed.attempt,
            };
            if sign {
                signed.signature = about.sign(&key, Statement::Result(&signed.game_result));
            }
        });
    };
    contradict(true);
    let found = cli.run(&["verify", "matchday.db", "anew.db"]);
    is_bad(
        &found,
        &[
            "of league in matchday.db (match_decided, ",
            "REF01 reports another result",
            "drawn_number",
        ],
    );
    fs::remove_file(cli.path().join("anew.db")).unwrap();
    contradict(false);
    let found = cli.run(&["verify", "matchday.db", "anew.db"]);
    is_bad(
        &found,
        &["in anew.db (finished, ", "REF01 has not signed this result"],
    );
}
