//! The stores of a league of separate processes: each tells its part, and together they tell all.

use matchday_testkit::cli::{Cli, Output, free_address};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// A league of one referee and two players, played to its end, and the names of their files.
fn played(cli: &Cli) -> [String; 4] {
    let mut running = vec![cli.manager(&["--lead", "0"])];
    running.extend(cli.agents(1, 2));
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    for mut agent in running {
        agent.signal("TERM");
        assert!(agent.wait().success());
    }
    let files = std::fs::read_dir(cli.path()).unwrap();
    let mut files: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.retain(|name| name.ends_with(".db"));
    files.sort_unstable();
    let [manager, one, two, referee] = files.try_into().unwrap();
    assert!(one.starts_with("player-") && referee.starts_with("referee-"));
    [manager, one, two, referee]
}

fn good(done: Output) -> String {
    assert_eq!(done.code, 0, "{done:?}");
    done.out
}

#[test]
fn each_store_tells_its_part_of_a_match_and_together_they_tell_all() {
    let cli = Cli::new(crate::MATCHDAY);
    let [manager, player, _, referee] = &played(&cli);
    let replay = |files: &[&String]| {
        let mut words = vec!["replay"];
        words.extend(files.iter().map(|file| file.as_str()));
        words.extend(["--match", "r1m1"]);
        good(cli.run(&words))
    };
    let by_manager = replay(&[manager]);
    assert!(
        by_manager.contains("R1M1 given to REF01") && by_manager.contains("why "),
        "{by_manager}"
    );
    assert!(
        by_manager.contains("MATCH_RESULT_REPORT") && !by_manager.contains("GAME_OVER"),
        "{by_manager}"
    );
    let hint = format!("add it, as in `matchday replay {manager} {referee} --match R1M1`");
    assert!(by_manager.contains(&hint), "{hint}: {by_manager}");

    let by_referee = replay(&[referee]);
    assert!(by_referee.contains("as told by REF01"), "{by_referee}");
    assert!(
        by_referee.contains("REF01 -> P01") && by_referee.contains("REF01 -> manager"),
        "{by_referee}"
    );
    assert!(
        by_referee.contains("verified against the referee's commitment"),
        "{by_referee}"
    );

    let by_player = replay(&[player]);
    assert!(
        by_player.contains("GAME_INVITATION") && by_player.contains("result   "),
        "{by_player}"
    );

    let all = replay(&[manager, referee, player]);
    assert_eq!(all.matches("GAME_OVER").count(), 2, "{all}");
    assert!(
        all.contains(" ms at P0") && all.contains(" ms at manager)"),
        "paired: {all}"
    );
    assert!(!all.contains("add it, as in"), "nothing is missing: {all}");
    assert!(good(cli.run(&["replay", player])).contains("is registered as P0"));
}

#[test]
fn stores_are_verified_alone_and_against_each_other() {
    let cli = Cli::new(crate::MATCHDAY);
    let [manager, one, two, referee] = &played(&cli);
    for (files, says) in [
        (vec![referee], "referees REF01: 1 result decided, "),
        (vec![one], "1 result heard"),
        (vec![manager, referee], ", 1 as the manager has them"),
    ] {
        let words: Vec<&str> = ["verify"]
            .into_iter()
            .chain(files.iter().map(|file| file.as_str()))
            .collect();
        let said = good(cli.run(&words));
        assert!(said.contains(says), "{words:?}: {said}");
    }
    let alone = good(cli.run(&["verify", referee]));
    assert!(
        alone.contains("not checked: whether the manager recorded these results"),
        "{alone}"
    );
    let all = good(cli.run(&["verify", manager, one, two, referee]));
    assert!(all.ends_with("Verified: no contradictions.\n"), "{all}");

    let exported = good(cli.run(&["export", manager, referee, one, two, "--out", "files"]));
    assert!(
        exported.contains("1 matches written to files") || exported.contains("1 match"),
        "{exported}"
    );
    let events = std::fs::read_to_string(cli.path().join("files/events.jsonl")).unwrap();
    assert!(
        events.contains(&format!("\"file\":\"{referee}\"")),
        "{events}"
    );
    assert!(good(cli.run(&["export", referee, "--out", "alone"])).contains("no table"));
}

/// An agent that answers everything in the same way.
fn stub(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut seen = Vec::new();
            let mut part = [0; 4096];
            // The body is the last thing that comes, and ends with a brace.
            while !(seen.ends_with(b"}") && seen.windows(4).any(|end| end == b"\r\n\r\n")) {
                let count = stream.read(&mut part).unwrap();
                seen.extend_from_slice(&part[..count]);
            }
            let head = format!(
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                answer.len()
            );
            stream
                .write_all(format!("{head}{answer}").as_bytes())
                .unwrap();
        }
    });
    url
}

#[test]
fn the_requests_of_a_match_are_sent_to_another_agent() {
    let cli = Cli::new(crate::MATCHDAY);
    let [_, _, _, referee] = &played(&cli);
    let rerun = |url: &str, more: &[&str]| {
        let words = [
            &["replay", referee, "--match", "R1M1", "--against", url],
            more,
        ]
        .concat();
        cli.run(&words)
    };
    let joining =
        stub(r#"{"jsonrpc":"2.0","id":1,"result":{"message_type":"GAME_JOIN_ACK","accept":true}}"#);
    let said = good(rerun(&joining, &[]));
    assert!(
        said.contains("R1M1 as P01 (the other: --as P02), against http://"),
        "{said}"
    );
    let invitation = said
        .lines()
        .find(|line| line.starts_with("GAME_INVITATION"))
        .unwrap();
    assert!(
        invitation.ends_with("differs"),
        "an answer without the match and the player is another: {said}"
    );
    let call = said
        .lines()
        .find(|line| line.starts_with("CHOOSE_PARITY_CALL"))
        .unwrap();
    assert!(
        call.contains("parity choice ") && call.ends_with("differs"),
        "{said}"
    );
    assert!(said.contains("a made-up one was sent"), "{said}");
    let data = rerun(&joining, &["--as", "p02", "--json"]).json();
    assert_eq!(data.as_array().unwrap().len(), 3, "{data}");
    assert_eq!(
        (&data[0]["request"], &data[0]["same"]),
        (&"GAME_INVITATION".into(), &false.into())
    );

    let page = good(rerun(&stub("<html>hello</html>"), &[]));
    assert!(page.contains("a page for people instead of JSON"), "{page}");
    let unknown = rerun(&joining, &["--as", "P09"]);
    assert!(
        unknown
            .failed(1)
            .contains("but P01 and P02: choose with --as"),
        "{unknown:?}"
    );
    let nobody = rerun("http://127.0.0.1:1/mcp", &[]);
    assert!(
        nobody
            .failed(1)
            .starts_with("no agent answers at http://127.0.0.1:1/mcp"),
        "{nobody:?}"
    );
}

#[test]
fn an_agent_of_ours_refuses_a_made_up_token_and_the_reason_is_told() {
    let cli = Cli::new(crate::MATCHDAY);
    let [_, player, ..] = &played(&cli);
    let _manager = cli.manager(&["--store", "another.db"]);
    let agent = cli.agents(0, 1).pop().unwrap();
    let listening = agent.out();
    let url = listening
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let done = cli.run(&["replay", player, "--match", "R1M1", "--against", url]);
    let said = good(done);
    assert!(
        said.contains("E012") && said.contains("It refused a token"),
        "{said}"
    );
}

#[test]
fn an_agent_of_ours_that_registers_for_it_plays_its_match_again() {
    let cli = Cli::new(crate::MATCHDAY);
    let [_, player, ..] = &played(&cli);
    let listen = free_address();
    let mut replay = cli.start(&[
        "replay", player, "--match", "R1M1", "--wait", "--listen", &listen,
    ]);
    replay.until("waiting 60 s");
    let manager = format!("http://{listen}/mcp");
    let own = free_address();
    let agent = cli.start(&[
        "player",
        "--store",
        "again.db",
        "--listen",
        &own,
        "--manager",
        &manager,
    ]);
    assert_eq!(
        replay.wait().code(),
        Some(0),
        "{}{}",
        replay.out(),
        agent.err()
    );
    replay.until("The agent registered here");
    let said = replay.out();
    assert!(
        said.contains("CHOOSE_PARITY_RESPONSE, parity choice") && !said.contains("E012"),
        "{said}"
    );
    let late = cli.run(&[
        "replay",
        player,
        "--match",
        "R1M1",
        "--wait",
        "--listen",
        &listen,
        "--wait-for",
        "0.1",
    ]);
    assert!(
        late.err.contains("no agent has registered here in time"),
        "{late:?}"
    );
}

#[test]
fn an_agent_that_never_answers_is_given_up_in_time() {
    let cli = Cli::new(crate::MATCHDAY);
    let [_, player, ..] = &played(&cli);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let done = cli.run(&[
        "replay",
        player,
        "--match",
        "R1M1",
        "--against",
        &url,
        "--timeout",
        "0.2",
    ]);
    assert_eq!(
        (done.code, done.out.matches("no answer in time").count()),
        (1, 3),
        "{done:?}"
    );
}

#[test]
fn verify_says_that_stored_messages_are_outside_the_chain() {
    let cli = Cli::new(crate::MATCHDAY);
    for (exchanges, says_so) in [("on", true), ("off", false)] {
        let store = format!("{exchanges}.db");
        let league = [
            "run",
            "--players",
            "2",
            "--referees",
            "1",
            "--port-base",
            "0",
        ];
        let kept = ["--store", &store, "--exchanges", exchanges];
        assert_eq!(cli.run(&[&league[..], &kept].concat()).code, 0);
        let verified = cli.run(&["verify", &store]).out;
        assert_eq!(
            verified.contains("messages for replay, outside the chain"),
            says_so,
            "{verified}"
        );
        assert!(
            verified.ends_with("Verified: no contradictions.\n"),
            "{verified}"
        );
    }
}

#[test]
fn a_store_is_named_as_an_argument_or_by_an_option_alike() {
    let cli = Cli::new(crate::MATCHDAY);
    assert_eq!(
        cli.run(&[
            "run",
            "--port-base",
            "0",
            "--store",
            "league.db",
            "--quiet",
            "--no-stay"
        ])
        .code,
        0
    );
    for (as_argument, by_option) in [
        (
            &["stats", "league.db"][..],
            &["stats", "--store", "league.db"][..],
        ),
        (
            &["stats", "P01", "league.db"],
            &["stats", "P01", "--store", "league.db"],
        ),
        (
            &["stats", "league.db", "P01"],
            &["stats", "--store", "league.db", "P01"],
        ),
        (
            &["verify", "league.db"],
            &["verify", "--store", "league.db"],
        ),
    ] {
        assert_eq!(
            good(cli.run(as_argument)),
            good(cli.run(by_option)),
            "{as_argument:?}"
        );
    }
    good(cli.run(&["backup", "league.db", "--to", "one.db"]));
    good(cli.run(&["backup", "--store", "league.db", "--to", "two.db"]));
    for (wrong, why) in [
        (
            &["stats", "P01", "P02"][..],
            "two agents are named: compare them with --against",
        ),
        (
            &["stats", "one.db", "two.db"],
            "two stores are named: put the earlier one after --since",
        ),
        (
            &["stats", "--carry-over"],
            "--carry-over: name the store of the leagues",
        ),
    ] {
        assert_eq!(cli.run(wrong).failed(2), why);
    }
}
