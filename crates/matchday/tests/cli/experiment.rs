//! Experiments by a plan, as researchers start them.

use matchday_testkit::cli::{Cli, Process};
use matchday_testkit::eventually::eventually;
use matchday_testkit::tools;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const PLAN: &str = "\
name = \"Dilemma and nim\"
games = [\"iterated_prisoners_dilemma\", \"nim\"]
strategies = [\"random\", \"tit_for_tat\", \"always_defect\", \"optimal\"]
formats = [\"duels\", \"swiss\"]
seeds = [1, 2]
repetitions = 40
";

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

fn plan(cli: &Cli, text: &str) {
    fs::write(cli.path().join("plan.toml"), text).unwrap();
}

#[test]
fn a_plan_gives_the_same_bytes_on_any_number_of_threads() {
    let cli = Cli::new(crate::MATCHDAY);
    plan(&cli, PLAN);
    for threads in ["1", "2", "3"] {
        let done = cli.run(&[
            "experiment",
            "plan.toml",
            "--out",
            threads,
            "--threads",
            threads,
        ]);
        assert_eq!(done.code, 0, "{done:?}");
        if threads == "1" {
            insta::assert_snapshot!(done.out);
        }
    }
    let first = files(&cli.path().join("1"));
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "experiment.json",
            "matches.csv",
            "report.html",
            "results.json"
        ]
    );
    assert_eq!(files(&cli.path().join("2")), first);
    assert_eq!(files(&cli.path().join("3")), first);
    let csv = String::from_utf8(first[1].1.clone()).unwrap();
    let results: Value = serde_json::from_slice(&first[3].1).unwrap();
    let matches = |group: usize| results["results"][group]["matches"].as_u64().unwrap();
    assert_eq!(
        matches(0),
        2 * 40 * 3 * 2,
        "two seeds, three pairs, series of two"
    );
    assert_eq!(
        csv.lines().count() as u64,
        1 + (0..4).map(matches).sum::<u64>()
    );
    assert_eq!(results["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(results["plan"], PLAN);
    assert_eq!(
        results["results"][0]["strategies"][0]["strategy"],
        "always_defect"
    );
    assert_eq!(
        results["results"][1]["leagues"][0]["strategy"],
        "always_defect"
    );
}

/// As `kill -9` leaves it: a run is ended by it ten times, at whatever row it has come to.
#[test]
fn killed_ten_times_it_ends_with_the_same_bytes() {
    let cli = Cli::new(crate::MATCHDAY);
    plan(
        &cli,
        &PLAN.replace("repetitions = 40", "repetitions = 12000"),
    );
    let args = |out| ["experiment", "plan.toml", "--out", out, "--threads", "2"];
    assert_eq!(cli.run(&args("whole")).code, 0);
    let csv = cli.path().join("killed/matches.csv");
    let size = || fs::metadata(&csv).map_or(0, |file| file.len());
    let mut kills = 0;
    while kills < 10 {
        let before = size();
        let mut running = Process::start(cli.command(&args("killed")));
        // The file grows from where it was cut off.
        eventually("a row is written", || {
            assert!(
                !cli.path().join("killed/results.json").exists(),
                "over after {kills} kills"
            );
            if size() > before {
                Ok(())
            } else {
                Err(running.err())
            }
        });
        running.signal("KILL");
        running.wait();
        kills += 1;
    }
    assert!(!cli.path().join("killed/results.json").exists());
    let done = cli.run(&args("killed"));
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(
        files(&cli.path().join("killed")),
        files(&cli.path().join("whole"))
    );
}

#[test]
fn a_torn_file_is_mended_and_a_finished_one_stays_as_it_is() {
    let cli = Cli::new(crate::MATCHDAY);
    plan(&cli, PLAN);
    assert_eq!(cli.run(&["experiment", "plan.toml"]).code, 0);
    let folder = cli.path().join("plan");
    let whole = files(&folder);
    let csv = &whole[1].1;
    for cut in [0, 10, csv.len() / 3, csv.len() - 1, csv.len()] {
        let mut torn = csv[..cut].to_vec();
        torn.extend_from_slice(b"\0\0\xff garbage");
        fs::write(folder.join("matches.csv"), torn).unwrap();
        assert_eq!(cli.run(&["experiment", "plan.toml"]).code, 0);
        assert_eq!(files(&folder), whole, "cut at {cut}");
    }
}

#[test]
fn a_row_that_was_changed_is_found() {
    let cli = Cli::new(crate::MATCHDAY);
    plan(&cli, PLAN);
    assert_eq!(cli.run(&["experiment", "plan.toml"]).code, 0);
    let csv = cli.path().join("plan/matches.csv");
    let whole = fs::read_to_string(&csv).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let line = |number: usize| lines[number - 1];
    let swapped = line(7)
        .replace(",a,", ",?,")
        .replace(",b,", ",a,")
        .replace(",?,", ",b,");
    let gone = format!("{}\n", line(7));
    for (changed, at) in [
        (whole.replacen(line(7), &swapped, 1), 7),
        (whole.replacen(&gone, "", 1), 7),
        (whole.replacen(&gone, "nonsense\n", 1), 7),
    ] {
        assert_ne!(changed, whole);
        fs::write(&csv, changed).unwrap();
        let done = cli.run(&["experiment", "plan.toml"]);
        let words = format!("matches.csv, line {at}: it was changed after it was written");
        assert!(done.failed(1).contains(&words), "{done:?}");
    }
}

#[test]
fn every_row_has_its_moves() {
    let cli = Cli::new(crate::MATCHDAY);
    plan(
        &cli,
        "games = [\"even_odd\", \"nim\", \"tic_tac_toe\"]\nstrategies = [\"random\", \"always_odd\", \"optimal\", \"perfect\"]\n\
         repetitions = 1\n",
    );
    let done = cli.run(&["experiment", "plan.toml"]);
    assert_eq!(done.code, 0, "{done:?}");
    let csv = fs::read_to_string(cli.path().join("plan/matches.csv")).unwrap();
    let mut rows = csv.lines();
    assert!(rows.next().unwrap().ends_with(",check,moves"));
    for row in rows {
        let moves = row.splitn(17, ',').last().unwrap();
        match row.split(',').next().unwrap() {
            "even_odd" => {
                let words: Vec<&str> = moves.split(' ').collect();
                assert!(words.len() == 3 && words[2].starts_with('*'), "{row}");
            }
            "nim" => assert!(moves.starts_with("\"{\"\"heap\"\":"), "{row}"),
            _ => assert!(moves.split(' ').count() >= 5, "{row}"),
        }
    }
}

#[test]
fn a_stopping_rule_ends_early_and_says_so() {
    let cli = Cli::new(crate::MATCHDAY);
    let text = "games = [\"nim\"]\nstrategies = [\"optimal\", \"random\"]\nrepetitions = 100000\n";
    plan(&cli, &format!("{text}stop = {{ sprt = [0, 50] }}"));
    let done = cli.run(&["experiment", "plan.toml", "--json"]);
    let results = done.json();
    let seed = &results["results"][0]["seeds"][0];
    assert_eq!(seed["sprt"]["answer"], "elo1", "{results}");
    assert!(seed["repetitions"].as_u64().unwrap() < 1_000, "{results}");
    plan(&cli, &format!("{text}stop = {{ margin = 0.02 }}"));
    let done = cli.run(&["experiment", "plan.toml", "--out", "margin", "--json"]);
    let repetitions = done.json()["results"][0]["repetitions"].as_u64().unwrap();
    assert!((20..100_000).contains(&repetitions), "{repetitions}");
}

#[test]
fn programs_take_part_and_replays_are_noticed() {
    if !tools::require("python3") {
        return;
    }
    let cli = Cli::new(crate::MATCHDAY);
    let program = cli.path().join("first");
    fs::write(&program, "#!/bin/sh\nexec python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin)[\"options\"][0]))'\n")
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    plan(
        &cli,
        "games = [\"nim\"]\nstrategies = [\"command:./first\", \"optimal\"]\nrepetitions = 3\n",
    );
    let done = cli.run(&["experiment", "plan.toml", "--json"]);
    let pair = &done.json()["results"][0]["pairs"][0];
    assert_eq!(
        (&pair["losses"], &pair["different_games"]),
        (&Value::from(6), &Value::from(2)),
        "{pair}"
    );
    let page = fs::read_to_string(cli.path().join("plan/report.html")).unwrap();
    assert!(
        page.contains("Pairs that leave nothing to chance"),
        "{page}"
    );
}

#[test]
fn a_circle_of_strategies_is_told() {
    let cli = Cli::new(crate::MATCHDAY);
    for hand in ["rock", "paper", "scissors"] {
        let program = cli.path().join(hand);
        fs::write(
            &program,
            format!("#!/bin/sh\ncat >/dev/null; echo {hand}\n"),
        )
        .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let strategies =
        "strategies = [\"command:./rock\", \"command:./paper\", \"command:./scissors\"]";
    plan(
        &cli,
        &format!("games = [\"rock_paper_scissors\"]\nrepetitions = 3\n{strategies}\n"),
    );
    let done = cli.run(&["experiment", "plan.toml", "--json"]);
    let circle = serde_json::json!([["command:./rock", "command:./scissors", "command:./paper"]]);
    assert_eq!(done.json()["results"][0]["cycles"], circle, "{done:?}");
    let page = fs::read_to_string(cli.path().join("plan/report.html")).unwrap();
    let words = "command:./rock &gt; command:./scissors &gt; command:./paper &gt; command:./rock";
    assert!(page.contains(words), "{page}");
}

#[test]
fn what_cannot_be_done_is_told_before_anything_is_played() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&["experiment", "nowhere.toml"]);
    assert!(
        done.failed(2).contains("nowhere.toml cannot be read"),
        "{done:?}"
    );
    plan(&cli, "games = [\"nimm\"]");
    let done = cli.run(&["experiment", "plan.toml"]);
    let words = "plan.toml: line 1: games: there is no game \"nimm\" - did you mean \"nim\"?";
    assert!(done.failed(2).contains(words), "{done:?}");
    assert!(!cli.path().join("plan").exists());
    plan(&cli, PLAN);
    assert_eq!(cli.run(&["experiment", "plan.toml"]).code, 0);
    plan(&cli, &PLAN.replace("40", "41"));
    let done = cli.run(&["experiment", "plan.toml"]);
    assert!(
        done.failed(1).contains("holds results of another plan"),
        "{done:?}"
    );
    let identity = cli.path().join("plan/experiment.json");
    let text = fs::read_to_string(&identity)
        .unwrap()
        .replace(env!("CARGO_PKG_VERSION"), "0.0.1");
    fs::write(&identity, text).unwrap();
    let done = cli.run(&["experiment", "plan.toml"]);
    assert!(
        done.failed(1).contains("was begun by matchday 0.0.1"),
        "{done:?}"
    );
}
