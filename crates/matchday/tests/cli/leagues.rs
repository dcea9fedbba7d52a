//! Several leagues in one store, one after the other, as people run them.

use matchday_testkit::cli::{Cli, Process};
use serde_json::Value;
use std::fs;

/// Plays a whole league in the store, with agents of its own.
fn play(cli: &Cli, league_id: &str) -> Process {
    let manager = cli.manager(&[
        "--store",
        "season.db",
        "--league-id",
        league_id,
        "--lead",
        "0",
    ]);
    let _agents = cli.agents(1, 2);
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    manager
}

fn stop(mut manager: Process) {
    manager.signal("TERM");
    assert!(manager.wait().success(), "{}", manager.err());
}

fn two_leagues() -> Cli {
    let cli = Cli::new(crate::MATCHDAY);
    stop(play(&cli, "spring_1"));
    let second = play(&cli, "spring_2");
    second.until("spring_1 is over: spring_2 begins in season.db as its league number 2");
    stop(second);
    cli
}

fn json(cli: &Cli, args: &[&str]) -> Value {
    let done = cli.run(args);
    assert_eq!(done.code, 0, "{done:?}");
    done.json()
}

#[test]
fn a_store_holds_one_league_after_the_other_and_every_command_finds_each() {
    let cli = two_leagues();
    let listed = json(&cli, &["league", "list", "--store", "season.db", "--json"]);
    let ids: Vec<&Value> = listed["leagues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["league_id"])
        .collect();
    assert_eq!(ids, ["spring_1", "spring_2"]);
    for league in listed["leagues"].as_array().unwrap() {
        assert_eq!(
            (&league["phase"], &league["matches_decided"]),
            (&"completed".into(), &1.into()),
            "{league}"
        );
        assert!(league["champion"]["player_id"].is_string(), "{league}");
    }

    let verified = json(&cli, &["verify", "season.db", "--json"]);
    assert_eq!(
        (&verified["league_id"], &verified["matches"]),
        (&"spring_2".into(), &1.into()),
        "{verified}"
    );
    assert_eq!(
        (&verified["others"][0]["league_id"], &verified["fault"]),
        (&"spring_1".into(), &Value::Null)
    );
    let first = cli.run(&["verify", "season.db", "--league", "spring_1"]);
    assert!(
        first.out.starts_with("spring_1: ") && first.out.contains("also spring_2: "),
        "{first:?}"
    );

    // Each league has a match of this name, and what was said in the other is not told.
    let record = |league: &str| {
        json(
            &cli,
            &[
                "replay",
                "season.db",
                "--match",
                "R1M1",
                "--json",
                "--league",
                league,
            ],
        )
    };
    let one = record("spring_1");
    let two = record("spring_2");
    for (record, id) in [(&one, "spring_1"), (&two, "spring_2")] {
        assert_eq!(record["league_id"], id);
        let said = record["transcript"].as_array().unwrap();
        assert!(!said.is_empty(), "{record}");
        assert!(
            said.iter()
                .all(|exchange| exchange["request"].as_str().unwrap().contains(id)),
            "{said:?}"
        );
    }

    let done = cli.run(&["export", "season.db", "--tables", "--out", "tables"]);
    assert_eq!(done.code, 0, "{done:?}");
    let leagues = fs::read_to_string(cli.path().join("tables/leagues.csv")).unwrap();
    let ids: Vec<&str> = leagues
        .lines()
        .map(|line| line.split(',').next().unwrap())
        .collect();
    assert_eq!(ids, ["league", "spring_1", "spring_2"]);

    let done = cli.run(&[
        "export",
        "season.db",
        "--out",
        "first",
        "--league",
        "spring_1",
    ]);
    assert_eq!(done.code, 0, "{done:?}");
    let events = fs::read_to_string(cli.path().join("first/events.jsonl")).unwrap();
    assert!(
        events.contains("spring_1") && !events.contains("league/2"),
        "{events}"
    );
}

#[test]
fn ratings_go_on_from_league_to_league() {
    let cli = two_leagues();
    let by_id = ["--known-by", "id"];
    let rated = json(
        &cli,
        &[
            &[
                "league",
                "list",
                "--store",
                "season.db",
                "--ratings",
                "--json",
            ],
            &by_id[..],
        ]
        .concat(),
    );
    let ratings = rated["ratings"].as_array().unwrap();
    assert_eq!(ratings.len(), 2, "{rated}");
    assert!(
        ratings
            .iter()
            .all(|player| player["leagues"] == 2 && player["matches"] == 2),
        "{rated}"
    );
    let carried = json(
        &cli,
        &[
            &["stats", "--store", "season.db", "--carry-over", "--json"],
            &by_id[..],
        ]
        .concat(),
    );
    assert_eq!(carried["ratings"], rated["ratings"]);
    let one = json(
        &cli,
        &[
            "stats",
            "--store",
            "season.db",
            "--league",
            "spring_1",
            "--json",
        ],
    );
    assert_eq!(one["matches"], 1, "{one}");
}

#[test]
fn a_player_is_compared_with_itself_in_an_earlier_league() {
    let cli = two_leagues();
    let since = [
        "--since",
        "season.db",
        "--since-league",
        "spring_1",
        "--known-by",
        "id",
    ];
    let told = json(
        &cli,
        &[&["stats", "P02", "season.db", "--json"], &since[..]].concat(),
    );
    assert_eq!(
        (&told["player_id"], &told["since"]["player"]["player_id"]),
        (&"P02".into(), &"P02".into())
    );
    assert_eq!(
        (&told["since"]["league_id"], &told["since"]["known_by"]),
        (&"spring_1".into(), &"id".into())
    );
    let differences = &told["since"]["differences"];
    for name in ["score", "rating", "technical_losses"] {
        let [low, high] = ["low", "high"].map(|end| differences[name][end].as_f64().unwrap());
        assert!(low <= 0.0 && high >= 0.0, "one match tells nothing: {told}");
    }
    assert!(differences["mean_answer_ms"].is_i64(), "{told}");
    let alone = json(&cli, &["stats", "P02", "season.db", "--json"]);
    assert_eq!(
        (&alone["stats"], &alone["statistics"]),
        (&told["stats"], &told["statistics"])
    );
}

/// Plays a league that is the same each time; the order in which players register gives their ids.
fn play_at_once(cli: &Cli, store: &str, more: &[&str]) {
    let league = [
        "run",
        "--port-base",
        "0",
        "--quiet",
        "--no-stay",
        "--store",
        store,
    ];
    let done = cli.run(&[&league[..], more].concat());
    assert_eq!(done.code, 0, "{done:?}");
}

#[test]
fn how_a_player_has_changed_is_told_in_plain_words() {
    let cli = Cli::new(crate::MATCHDAY);
    let game = ["--game", "nim", "--format", "double_round_robin"];
    let spring = [
        "--strategies",
        "optimal,random,random,random",
        "--seed",
        "1",
    ];
    let autumn = [
        "--strategies",
        "random,optimal,random,random",
        "--seed",
        "2",
    ];
    play_at_once(&cli, "spring.db", &[&game[..], &spring].concat());
    play_at_once(&cli, "autumn.db", &[&game[..], &autumn].concat());
    let done = cli.run(&[
        "stats",
        "P01",
        "autumn.db",
        "--since",
        "spring.db",
        "--known-by",
        "id",
    ]);
    assert_eq!(done.code, 0, "{done:?}");
    // Times to answer differ from run to run.
    let told: Vec<&str> = done
        .out
        .lines()
        .filter(|line| !line.starts_with("mean answer"))
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_player_that_is_not_in_the_earlier_league_is_not_guessed() {
    let cli = Cli::new(crate::MATCHDAY);
    play_at_once(&cli, "two.db", &["--game", "nim", "--players", "2"]);
    play_at_once(&cli, "four.db", &["--game", "nim", "--players", "4"]);
    play_at_once(&cli, "other.db", &["--players", "2"]);
    let since = |agent: &str, file: &str, more: &[&str]| {
        cli.run(&[&["stats", agent, "four.db", "--since", file], more].concat())
    };
    let absent = since("P04", "two.db", &["--known-by", "id"]);
    let words = "--since: league_nim has no player P04: it has P01 Ada, P02 Blaise";
    assert_eq!(absent.failed(1), words);
    let unknown = since("P04", "two.db", &[]);
    let words =
        "no player of league_nim is called Dorothy, as P04 is here: it has P01 Ada, P02 Blaise; ";
    assert!(unknown.failed(1).contains(words), "{unknown:?}");
    let game = since("P01", "other.db", &[]);
    assert!(
        game.failed(1)
            .contains(" is a league of even_odd, and this one is of nim: name one of nim"),
        "{game:?}"
    );
    let league = since("P01", "two.db", &["--since-league", "one"]);
    assert_eq!(
        league.failed(1),
        "two.db holds no league one, but league_nim: choose one with --since-league"
    );
    let missing = since("P01", "none.db", &[]);
    assert!(missing.failed(1).starts_with("--since: "), "{missing:?}");
    for wrong in [
        &["stats", "four.db", "--since", "two.db"][..],
        &["stats", "--since", "two.db"],
    ] {
        let why = "--since: name one player to compare with itself, such as P01";
        assert_eq!(cli.run(wrong).failed(2), why);
    }
    let unnamed = cli.run(&["stats", "P01", "four.db", "--since-league", "two"]);
    assert_eq!(unnamed.code, 2, "{unnamed:?}");
}

#[test]
fn a_name_that_two_players_of_the_earlier_league_share_is_not_guessed() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--store", "league.db", "--lead", "0"]);
    let _agents = ["referee", "player", "player"].map(|role| {
        let agent = cli.agent(&[role, "--name", "Ada"]);
        agent.until("registered as");
        agent
    });
    stop(manager);
    let since = |more: &[&str]| {
        cli.run(&[&["stats", "P02", "league.db", "--since", "league.db"], more].concat())
    };
    let words = "has 2 players called Ada, P01, P02: --known-by id goes by ids instead";
    assert!(since(&[]).failed(1).contains(words), "{:?}", since(&[]));
    let by_id = since(&["--known-by", "id"]);
    assert!(by_id.out.contains("It was P02 Ada in "), "{by_id:?}");
    assert!(
        by_id.out.contains("not known in both leagues"),
        "nothing was played: {by_id:?}"
    );
}

#[test]
fn a_league_that_is_not_over_keeps_others_out_and_an_old_one_is_not_begun_again() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--store", "season.db", "--league-id", "spring_1"]);
    stop(manager);
    let another = [
        "manager",
        "--store",
        "season.db",
        "--listen",
        "127.0.0.1:0",
        "--league-id",
        "spring_2",
    ];
    let refused = cli.run(&another);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused
            .err
            .contains("season.db holds spring_1, which is not over"),
        "{refused:?}"
    );
    // Without a name, or by its own, it goes on.
    stop(cli.manager(&["--store", "season.db"]));
    stop(cli.manager(&["--store", "season.db", "--league-id", "spring_1"]));
}

#[test]
fn a_league_that_is_not_there_is_told_with_those_that_are() {
    let cli = two_leagues();
    for args in [
        &["verify", "season.db"][..],
        &["replay", "season.db"],
        &["export", "season.db", "--out", "out"],
        &["stats", "--store", "season.db"],
    ] {
        let done = cli.run(&[args, &["--league", "autumn"]].concat());
        let words = "season.db holds no league autumn, but spring_1, spring_2: choose one of these with --league";
        assert_eq!(done.failed(1), words, "{args:?}");
    }
    let again = [
        "manager",
        "--store",
        "season.db",
        "--listen",
        "127.0.0.1:0",
        "--league-id",
        "spring_1",
    ];
    let refused = cli.run(&again);
    assert!(
        refused.code == 1
            && refused
                .err
                .contains("a new league needs another --league-id"),
        "{refused:?}"
    );
}

#[test]
fn leagues_are_listed_of_a_store_or_of_a_service_and_not_of_both() {
    let cli = Cli::new(crate::MATCHDAY);
    let both = [
        "league",
        "list",
        "--store",
        "season.db",
        "--service",
        "http://localhost:1",
    ];
    let why =
        "--store lists the leagues of a store, and --service those of a service: give one of them";
    assert_eq!(cli.run(&both).failed(2), why);
    let ratings = cli.run(&["league", "list", "--ratings"]);
    assert!(
        ratings.code == 2 && ratings.err.contains("--store"),
        "{ratings:?}"
    );
}

#[test]
fn a_service_in_the_environment_does_not_keep_a_store_from_being_listed() {
    let cli = Cli::new(crate::MATCHDAY);
    play_at_once(&cli, "two.db", &["--players", "2"]);
    let mut command = cli.command(&["league", "list", "--store", "two.db", "--json"]);
    let done = command
        .env("MATCHDAY_SERVICE", "http://localhost:1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let listed: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(listed["leagues"][0]["phase"], "completed", "{listed}");
}
