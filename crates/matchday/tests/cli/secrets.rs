//! Every token that a league ever issues, looked for in everything that it ever writes.

use crate::wire::{Response, post};
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{Attempt, Endpoint, LeagueId, MatchId, Token};
use matchday_store::{Store, Stream};
use matchday_testkit::cli::{Cli, Process, TOKEN, free_address};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const LEAGUE: &str = "league_2025_even_odd";

fn message(kind: &str, sender: &str, token: Option<&str>, fields: Value) -> Value {
    let mut message = json!({
        "protocol": "league.v2",
        "message_type": kind,
        "sender": sender,
        "timestamp": "2026-03-02T09:00:00Z",
        "conversation_id": "conv-by-hand",
        "league_id": LEAGUE,
    });
    let all = message.as_object_mut().unwrap();
    all.extend(token.map(|token| ("auth_token".to_owned(), token.into())));
    all.extend(fields.as_object().unwrap().clone());
    message
}

fn standings(manager: &str, sender: &str, token: &str) -> Response {
    let fields = json!({"query_type": "GET_STANDINGS", "query_params": {}});
    post(
        manager,
        &message("LEAGUE_QUERY", sender, Some(token), fields),
    )
}

/// A player of another make, at an address where nobody listens: it has no key, and loses for want of a connection.
fn absent_player(cli: &Cli) -> String {
    let meta = json!({
        "display_name": "Absent",
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": format!("http://{}/mcp", free_address()),
    });
    let request = message(
        "LEAGUE_REGISTER_REQUEST",
        "player:absent",
        None,
        json!({"player_meta": meta}),
    );
    let answer = post(&cli.manager, &request).json();
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    answer["auth_token"].as_str().unwrap().to_owned()
}

/// Whatever has the form of one of our tokens.
fn tokens_in(text: &str) -> BTreeSet<String> {
    let whole = |at: usize| {
        let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let token: String = text[at..].chars().take_while(is_part).collect();
        (token.len() > 64).then_some(token)
    };
    text.match_indices("tok_")
        .filter_map(|(at, _)| whole(at))
        .collect()
}

/// The events of an agent's own store, as they are written there.
fn events(path: &Path, stream: &str) -> String {
    let store = Store::open(path).unwrap();
    let events = store.load(&Stream(stream.into())).unwrap();
    events
        .iter()
        .map(|event| event.line.to_string() + "\n")
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// An agent's own store, which must hold its token for it to come back by.
fn is_own_store(path: &Path) -> bool {
    ["player-", "referee-"]
        .iter()
        .any(|own| name(path).starts_with(own))
}

struct Played {
    cli: Cli,
    /// What every process has written to its terminal, and every request was answered with.
    said: Vec<(String, String)>,
    /// Every token that was ever handed out in the open.
    issued: BTreeSet<String>,
}

/// A league with everything in it that could go wrong with a token.
fn play() -> Played {
    let cli = Cli::new(crate::MATCHDAY);
    let quick = [
        "--log",
        "json",
        "--join-timeout",
        "2",
        "--choice-timeout",
        "2",
        "--retries",
        "1",
        "--retry-delay",
        "0.1",
    ];
    let manager = cli.manager(
        &[
            &[
                "--lead",
                "0",
                "--endpoint-check",
                "off",
                "--conformance",
                "strict",
                "--suspend-after",
                "2",
            ],
            &quick[..],
        ]
        .concat(),
    );
    let referees: Vec<_> = (0..2)
        .map(|_| cli.agent(&[&["referee"], &quick[..]].concat()))
        .collect();
    let players: Vec<_> = (0..3)
        .map(|_| cli.agent(&["player", "--log", "json"]))
        .collect();
    let agents: Vec<Process> = referees.into_iter().chain(players).collect();
    agents.iter().for_each(|agent| agent.until("registered as"));
    let mut said = Vec::new();
    let mut issued = BTreeSet::from([TOKEN.to_owned()]);

    let absent = absent_player(&cli);
    let guess = format!("tok_p01_{}", "9".repeat(64));
    let mut hear = |what: &str, response: Response| {
        said.push((what.to_owned(), response.body.clone()));
        response
    };
    assert_eq!(standings(&cli.manager, "player:P04", &absent).status, 200);
    for sender in ["player:P01", "referee:REF01", "launcher", "player:nobody"] {
        for token in [guess.as_str(), &absent, TOKEN] {
            let refused = hear("a wrong token", standings(&cli.manager, sender, token)).json();
            assert_eq!(refused["message_type"], "LEAGUE_ERROR", "{refused}");
        }
    }
    issued.insert(absent);
    issued.insert(guess);

    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    for method in [
        "get_standings",
        "get_schedule",
        "get_status",
        "get_referees",
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}});
        hear(method, post(&cli.manager, &request));
    }
    let stats = json!({"jsonrpc": "2.0", "id": 1, "method": "get_player_stats", "params": {"player_id": "P04"}});
    let causes = hear("get_player_stats", post(&cli.manager, &stats)).json();
    let causes = &causes["result"]["data"]["stats"]["technical_causes"];
    assert_eq!(*causes, json!({"suspended": 1, "unreachable": 2}));

    // The one place where a new token is shown is the answer to the client that asked for it.
    let admin = |args: &[&str], token: &str| {
        cli.ask(&[&["admin", "--operator-token", token], args].concat())
    };
    for args in [
        &["rotate", "P01"][..],
        &["rotate", "REF01"],
        &["rotate", "operator"],
    ] {
        let made = tokens_in(&admin(args, TOKEN).out);
        assert_eq!(made.len(), 1, "{args:?}");
        issued.extend(made);
    }
    let operator = issued
        .iter()
        .find(|token| token.starts_with("tok_operator_") && *token != TOKEN)
        .unwrap()
        .clone();
    for args in [
        &["revoke", "P02"][..],
        &["void", "R1M1"],
        &["pause"],
        &["revoke", "P77"],
    ] {
        for (token, word) in [(TOKEN, "the old token"), (&operator, "admin")] {
            let done = admin(args, token);
            said.push((word.to_owned(), done.out + &done.err));
        }
    }
    for (agent, number) in agents.iter().chain([&manager]).zip(1..) {
        agent.signal("TERM");
        said.push((format!("process {number}"), agent.out() + &agent.err()));
    }
    for mut agent in agents.into_iter().chain([manager]) {
        agent.wait();
        said.push((
            "a process at its end".to_owned(),
            agent.out() + &agent.err(),
        ));
    }
    Played { cli, said, issued }
}

/// The tokens that the agents' own stores hold, and all that follow from them.
fn with_those_in_store(played: &Played) -> BTreeSet<String> {
    let manager = Endpoint::parse(&played.cli.manager).unwrap();
    let mut all = played.issued.clone();
    for path in files(played.cli.path())
        .iter()
        .filter(|path| is_own_store(path) && name(path).ends_with(".db"))
    {
        let stream = if name(path).starts_with("player-") {
            "player"
        } else {
            "referee"
        };
        let held = tokens_in(&events(path, stream));
        assert!(
            held.len() >= 2,
            "a key and a token at least in {}: {held:?}",
            path.display()
        );
        all.extend(held);
    }
    let league = LeagueId::new(LEAGUE);
    let known: Vec<Token> = all.iter().map(|text| Token::new(text.as_str())).collect();
    for token in known {
        all.insert(token.shown_to(&manager).reveal().to_owned());
        all.insert(token.hash().notice_token(&league).reveal().to_owned());
        for (round, number) in (1..=3).flat_map(|round| [(round, 1), (round, 2)]) {
            let match_id = MatchId::new(format!("R{round}M{number}"));
            for direction in [Direction::RefereeToPlayer, Direction::PlayerToReferee] {
                let made = token
                    .hash()
                    .match_token(&league, &match_id, Attempt::FIRST, direction);
                all.insert(made.reveal().to_owned());
            }
        }
    }
    all
}

#[cfg(unix)]
fn assert_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(
        mode & 0o077,
        0,
        "{} can be read by others: {mode:o}",
        path.display()
    );
}

#[test]
fn no_token_is_written_anywhere_but_in_the_store_of_its_own_agent() {
    let mut played = play();
    let store = "matchday.db";
    let looks: [&[&str]; 6] = [
        &["verify", store],
        &["replay", store],
        &["replay", store, "--match", "R1M1"],
        &["replay", store, "--match", "R1M1", "--json"],
        &["verify", store, "--json"],
        &["export", store, "--out", "exported"],
    ];
    for args in looks {
        let done = played.cli.run(args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        played.said.push((args.join(" "), done.out + &done.err));
    }
    let stores: Vec<_> = files(played.cli.path())
        .iter()
        .filter(|path| name(path).ends_with(".db"))
        .map(|path| path.display().to_string())
        .collect();
    let all: Vec<&str> = ["export", "--out", "together"]
        .into_iter()
        .chain(stores.iter().map(String::as_str))
        .collect();
    let done = played.cli.run(&all);
    assert_eq!(done.code, 0, "{done:?}");
    let replayed = played
        .said
        .iter()
        .find(|(what, _)| what == "replay matchday.db")
        .unwrap();
    assert!(
        replayed.1.contains("given a new token") && replayed.1.contains("token of P02 revoked"),
        "{}",
        replayed.1
    );

    let tokens = with_those_in_store(&played);
    assert!(tokens.len() > 100, "{}", tokens.len());
    for (what, text) in &played.said {
        for token in &tokens {
            assert!(
                !text.contains(token.as_str()),
                "{what} shows {token}: {text}"
            );
        }
    }
    for path in files(played.cli.path())
        .iter()
        .filter(|path| !is_own_store(path))
    {
        let bytes = fs::read(path).unwrap();
        for token in &tokens {
            let shown = bytes
                .windows(token.len())
                .any(|part| part == token.as_bytes());
            assert!(!shown, "{} holds {token}", path.display());
        }
    }
    #[cfg(unix)]
    for path in files(played.cli.path())
        .iter()
        .filter(|path| name(path).contains(".db") && !name(path).ends_with(".lock"))
    {
        assert_private(path);
    }
}

#[test]
fn a_player_with_a_rotated_token_comes_back_by_the_new_one_alone() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0", "--log", "json"]);
    let _agents = cli.agents(1, 1);
    let listen = free_address();
    let start = |token: Option<&str>| {
        let mut command = cli.command(&["player", "--store", "p02.db", "--listen", &listen]);
        command
            .args(["--manager", &cli.manager])
            .envs(token.map(|token| ("MATCHDAY_AUTH_TOKEN", token)));
        Process::start(command)
    };
    let mut player = start(None);
    player.until("registered as player:P02");
    let rotated = cli
        .ask(&[
            "admin",
            "--operator-token",
            TOKEN,
            "--json",
            "rotate",
            "P02",
        ])
        .json();
    let token = rotated["auth_token"].as_str().unwrap().to_owned();
    player.signal("TERM");
    player.wait();
    let mut old = start(None);
    old.until("Token revoked");
    old.wait();
    let mut back = start(Some(&token));
    back.until("LEAGUE_REGISTER_RESPONSE");
    back.signal("TERM");
    back.wait();
    let kept = start(None);
    kept.until("LEAGUE_REGISTER_RESPONSE");
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    let stats = cli.ask(&["stats", "P02", "--json"]).json();
    assert_eq!(stats["stats"]["technical_losses"], 0, "{stats}");
}

#[test]
fn guesses_are_answered_with_429_and_a_time_to_come_again() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--log", "json"]);
    let own = absent_player(&cli);
    let codes = (0..11).map(|_| standings(&cli.manager, "player:P01", "tok_p01_guess"));
    let codes: Vec<_> = codes
        .map(|answer| (answer.status, answer.json()["error_code"].clone()))
        .collect();
    let (within, beyond) = codes.split_at(10);
    assert!(
        within.iter().all(|answer| *answer == (200, json!("E012"))),
        "{codes:?}"
    );
    assert_eq!(beyond, [(429, json!("E014"))]);
    let slow = standings(&cli.manager, "player:P01", "tok_p01_guess");
    let seconds: u64 = slow.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=61).contains(&seconds), "{seconds}");
    assert_eq!(
        standings(&cli.manager, "player:P01", &own).status,
        200,
        "the right token is never locked out"
    );
    manager.until("wrong tokens a minute in the name of player:P01");
    let warnings = manager
        .out()
        .lines()
        .filter(|line| line.contains("\"WARNING\""))
        .count();
    assert!(warnings >= 12, "{}", manager.out());
}

#[test]
fn an_address_that_asks_too_much_is_told_to_wait() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--address-rate", "3"]);
    let ask = || {
        post(
            &cli.manager,
            &json!({"jsonrpc": "2.0", "id": 1, "method": "get_status", "params": {}}),
        )
    };
    let statuses: Vec<_> = (0..12).map(|_| ask().status).collect();
    assert!(
        statuses.contains(&200) && statuses.contains(&429),
        "{statuses:?}"
    );
}
