//! Simulations, as people and scripts start them.

use matchday_testkit::cli::{Cli, Process};
use matchday_testkit::eventually::eventually;
use matchday_testkit::tools;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn simulate(cli: &Cli, args: &[&str]) -> Value {
    let done = cli.run(&[&["simulate", "--json"], args].concat());
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    done.json()
}

fn script(cli: &Cli, name: &str, text: &str) {
    let path = cli.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// All that the seed decides.
fn without_time(mut report: Value) -> Value {
    report.as_object_mut().unwrap().remove("took").unwrap();
    report
}

#[test]
fn the_same_seed_gives_the_same_report_on_one_two_and_three_threads() {
    let cli = Cli::new(crate::MATCHDAY);
    let report = |seed: &str, threads: &str| {
        let args = [
            "--strategies",
            "random,pattern,mirror",
            "--matches",
            "100000",
            "--seed",
            seed,
        ];
        without_time(simulate(
            &cli,
            &[&args[..], &["--threads", threads]].concat(),
        ))
    };
    let first = report("5", "1");
    assert_eq!(first["matches"], 300_000);
    assert_eq!(first["pairs"][0]["a"], "random");
    assert_eq!(report("5", "2"), first);
    assert_eq!(report("5", "3"), first);
    assert_ne!(report("6", "1"), first);
}

#[test]
fn whole_leagues_tell_how_often_each_is_champion() {
    let cli = Cli::new(crate::MATCHDAY);
    let args = [
        "--game",
        "nim",
        "--strategies",
        "optimal,random,random",
        "--format",
        "round_robin",
    ];
    let report = simulate(&cli, &[&args[..], &["--leagues", "50"]].concat());
    assert_eq!(
        (&report["leagues"], &report["matches"]),
        (&Value::from(50), &Value::from(150))
    );
    let best = &report["strategies"][0];
    assert_eq!(best["strategy"], "optimal");
    assert!(best["champion"]["value"].as_f64().unwrap() > 0.9, "{best}");
    assert_eq!(report["strategies"].as_array().unwrap().len(), 3);
}

#[test]
fn a_question_is_dropped_as_soon_as_it_is_settled() {
    let cli = Cli::new(crate::MATCHDAY);
    let args = [
        "--game",
        "nim",
        "--strategies",
        "optimal,random",
        "--sprt",
        "0,100",
        "--series",
        "10",
    ];
    let report = simulate(&cli, &args);
    assert_eq!(report["sprt"]["answer"], "elo1", "{report}");
    assert!(report["matches"].as_u64().unwrap() < 200, "{report}");
    let sentence = report["sprt"]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("optimal is better than random"),
        "{sentence}"
    );
    let other = simulate(
        &cli,
        &[
            "--game",
            "nim",
            "--strategies",
            "random,optimal",
            "--sprt",
            "-20,20",
        ],
    );
    assert_eq!(other["sprt"]["answer"], "elo0", "{other}");
}

#[test]
fn programs_play_and_forfeit_what_they_do_not_decide() {
    let cli = Cli::new(crate::MATCHDAY);
    script(&cli, "even", "cat >/dev/null; echo even");
    script(&cli, "broken", "echo no idea >&2; exit 3");
    script(&cli, "slow", "exec sleep 60");
    let args = [
        "--strategies",
        "command:./even,command:./broken,command:./slow",
        "--matches",
        "2",
    ];
    let report = simulate(&cli, &[&args[..], &["--think-time", "0.2"]].concat());
    let forfeits = |name: &str| {
        let rows = report["strategies"].as_array().unwrap();
        rows.iter().find(|row| row["strategy"] == name).unwrap()["forfeits"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(forfeits("command:./even"), 0, "{report}");
    assert_eq!(
        (forfeits("command:./broken"), forfeits("command:./slow")),
        (4, 4),
        "{report}"
    );
    let complaints = report["complaints"].to_string();
    assert!(
        complaints.contains("the program failed") && complaints.contains("no idea"),
        "{complaints}"
    );
    assert!(
        complaints.contains("no decision within 0.2 s"),
        "{complaints}"
    );
    assert_eq!(report["strategies"][0]["strategy"], "command:./even");
}

#[test]
fn ctrl_c_ends_early_with_what_there_is() {
    let cli = Cli::new(crate::MATCHDAY);
    script(&cli, "even", "cat >/dev/null; touch begun; echo even");
    let args = [
        "simulate",
        "--json",
        "--strategies",
        "command:./even,random",
        "--matches",
        "1000000",
    ];
    let mut running = Process::start(cli.command(&args));
    eventually("it has begun", || cli.path().join("begun").exists());
    running.signal("INT");
    assert!(running.wait().success());
    running.until("matches_per_second");
    running.until("\n}");
    let report: Value = serde_json::from_str(&running.out()).unwrap();
    assert_eq!(report["interrupted"], true);
    assert!(report["matches"].as_u64().unwrap() < 1_000_000, "{report}");
}

#[test]
fn the_matrix_is_drawn_into_a_file() {
    let cli = Cli::new(crate::MATCHDAY);
    let args = [
        "simulate",
        "--strategies",
        "random,mirror,frequency",
        "--matches",
        "100",
        "--out",
        "matrix.svg",
    ];
    let done = cli.run(&args);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        done.out.contains("matches a second") && done.out.contains("STRATEGY"),
        "{done:?}"
    );
    let picture = fs::read_to_string(cli.path().join("matrix.svg")).unwrap();
    assert!(
        picture.starts_with("<svg") && picture.contains("frequency"),
        "{picture}"
    );
}

/// The table of matches, without the check, which goes over the rows before.
fn rows(cli: &Cli, file: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(cli.path().join(file)).unwrap();
    let mut rows: Vec<Vec<String>> = text
        .lines()
        .map(|line| line.splitn(17, ',').map(str::to_owned).collect())
        .collect();
    rows.iter_mut().for_each(|row| drop(row.remove(15)));
    rows
}

/// Both play the same matches, so that whoever has the table of one can compare it with the other.
#[test]
fn every_match_is_written_as_an_experiment_writes_it() {
    let cli = Cli::new(crate::MATCHDAY);
    let strategies = "random,frequency,mirror";
    for (format, settings) in [
        ("duels", &["--series", "4", "--matches", "40"][..]),
        ("swiss", &["--format", "swiss", "--leagues", "10"]),
    ] {
        let plan = format!(
            "name = \"x\"\ngames = [\"even_odd\"]\nstrategies = [\"random\", \"frequency\", \"mirror\"]\n\
             formats = [\"{format}\"]\nseeds = [7]\nseries = 4\nrepetitions = 10\n"
        );
        fs::write(cli.path().join("plan.toml"), plan).unwrap();
        let done = cli.run(&["experiment", "plan.toml", "--out", format]);
        assert_eq!(done.code, 0, "{done:?}");
        let expected = rows(&cli, &format!("{format}/matches.csv"));
        for threads in ["1", "3"] {
            let args = [
                &["simulate", "--strategies", strategies, "--seed", "7"][..],
                &["--threads", threads, "--out", "matches.csv"],
                settings,
            ];
            let done = cli.run(&args.concat());
            assert_eq!(done.code, 0, "{done:?}");
            assert!(
                done.err.contains("the matches are in matches.csv"),
                "{done:?}"
            );
            let mut found = rows(&cli, "matches.csv");
            let number = |text: &String| text.parse::<u64>().unwrap();
            found[1..].sort_by_key(|row| (number(&row[3]), number(&row[4])));
            assert_eq!(found, expected, "{format}, {threads} threads");
        }
        assert!(expected.len() > 20, "{expected:?}");
    }
}

#[test]
fn what_cannot_be_simulated_is_told_before_anything_starts() {
    let cli = Cli::new(crate::MATCHDAY);
    for (args, words) in [
        (
            &["--strategies", "random,patern"][..],
            "did you mean \"pattern\"?",
        ),
        (&["--strategies", "random"], "expected two or more"),
        (
            &["--game", "nim", "--strategies", "random,mirror"],
            "nim does not know the strategy mirror",
        ),
        (
            &["--strategies", "random,command:./nowhere"],
            "there is no program \"./nowhere\"",
        ),
        (
            &["--strategies", "random,pattern,mirror", "--sprt", "0,5"],
            "about two strategies",
        ),
        (
            &["--strategies", "random,pattern", "--sprt", "5,5"],
            "elo0 must be below elo1",
        ),
        (
            &["--strategies", "random,pattern", "--sprt", "5"],
            "expected two numbers",
        ),
        (
            &[
                "--strategies",
                "random,pattern",
                "--sprt",
                "0,5",
                "--alpha",
                "0.7",
            ],
            "alpha and beta",
        ),
        (
            &[
                "--strategies",
                "random,mirror",
                "--format",
                "swiss",
                "--rounds",
                "9",
            ],
            "rounds: 2 players can play",
        ),
        (
            &[
                "--strategies",
                "random,mirror",
                "--format",
                "knockout",
                "--groups",
                "2",
            ],
            "knockout has no such setting",
        ),
        (
            &["--strategies", "random,pattern", "--out", "matrix.png"],
            "ends in .csv",
        ),
        (
            &[
                "--strategies",
                "random,pattern",
                "--out",
                "nowhere/matrix.svg",
            ],
            "no folder nowhere",
        ),
    ] {
        let done = cli.run(&[&["simulate"], args].concat());
        assert!(done.failed(2).contains(words), "{args:?}: {done:?}");
    }
    for args in [
        &["--matches", "0"][..],
        &["--series", "0"],
        &["--leagues", "5"],
        &["--game", "chess"],
        &["--think-time", "0"],
    ] {
        let done = cli.run(&[&["simulate"], args].concat());
        assert_eq!(done.code, 2, "{args:?}: {done:?}");
    }
}

#[test]
fn strategies_that_repeat_themselves_are_told_so_and_openings_give_them_more_games() {
    let cli = Cli::new(crate::MATCHDAY);
    let args = [
        "--game",
        "tic_tac_toe",
        "--strategies",
        "perfect,perfect",
        "--matches",
        "100",
    ];
    let done = cli.run(&[&["simulate"], &args[..]].concat());
    assert!(
        done.out
            .contains("100 matches are 2 different games, because neither plays by chance"),
        "{done:?}"
    );
    assert!(done.out.contains("--openings N"), "{done:?}");
    let report = simulate(&cli, &[&args[..], &["--openings", "50"]].concat());
    assert_eq!(
        (&report["openings"], &report["pairs"][0]["different_games"]),
        (&50.into(), &Value::Null)
    );
    fs::write(cli.path().join("openings"), "[4]  # the middle\n[0, 4]\n").unwrap();
    let report = simulate(&cli, &[&args[..], &["--openings", "openings"]].concat());
    assert_eq!(
        report["pairs"][0]["different_games"], 4,
        "two openings, each from both seats: {report}"
    );
    // With swapped seats from the same opening, equal strategies score one point in every pair.
    assert_eq!(
        report["pairs"][0]["pairs"],
        serde_json::json!([0, 0, 50, 0, 0])
    );
}

#[test]
fn openings_that_cannot_be_played_are_told_with_their_line() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::write(cli.path().join("openings"), "[3]\n[9]\n").unwrap();
    for (args, words) in [
        (
            &["--game", "connect_four", "--openings", "openings"][..],
            "--openings: openings, line 2: expected one of 0, 1",
        ),
        (
            &["--game", "connect_four", "--openings", "nowhere"],
            "--openings: nowhere cannot be read",
        ),
        (
            &["--game", "nim", "--openings", "0"],
            "--openings: expected 1 to 1000000",
        ),
        (&["--openings", "5"], "--openings: even_odd has no openings"),
    ] {
        let done = cli.run(&[&["simulate"], args].concat());
        assert!(done.failed(2).contains(words), "{args:?}: {done:?}");
    }
}

#[test]
fn a_game_of_ones_own_is_simulated_by_its_program() {
    if !tools::require("python3") {
        return;
    }
    let cli = Cli::new(crate::MATCHDAY);
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/twenty_one.py");
    let args = [
        "--game-command",
        rules,
        "--strategies",
        "random,random",
        "--matches",
        "20",
    ];
    let report = simulate(&cli, &args);
    assert_eq!(
        (&report["game"], &report["matches"]),
        (&"twenty_one".into(), &20.into()),
        "{report}"
    );
    script(
        &cli,
        "broken",
        "read line; echo '{\"game_type\": \"broken\", \"turns_max\": 2}'; exit 1",
    );
    let report = simulate(
        &cli,
        &[
            "--game-command",
            "./broken",
            "--strategies",
            "random,random",
        ],
    );
    assert_eq!(
        (&report["interrupted"], &report["matches"]),
        (&true.into(), &0.into()),
        "{report}"
    );
    assert!(
        report["complaints"]
            .to_string()
            .contains("this is no position"),
        "{report}"
    );
}

/// A program sees the same seed in every turn of a match, another in the next match, and the same ones when repeated.
#[test]
fn programs_are_given_seeds() {
    let cli = Cli::new(crate::MATCHDAY);
    script(&cli, "seen", "grep -o '\"seed\":[0-9]*' >>seeds; echo even");
    let seeds = || {
        let _ = fs::remove_file(cli.path().join("seeds"));
        let args = [
            "--strategies",
            "command:./seen,always_odd",
            "--matches",
            "3",
            "--threads",
            "1",
        ];
        simulate(&cli, &args);
        let seen = fs::read_to_string(cli.path().join("seeds")).unwrap();
        seen.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let first = seeds();
    assert_eq!(first.len(), 3, "{first:?}");
    assert_ne!(first[0], first[1]);
    assert_eq!(seeds(), first);
}
