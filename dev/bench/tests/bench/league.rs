//! The bench, with the smallest league there is to measure: what it prints, never how fast it was.

use matchday_testkit::cli::Cli;
use matchday_testkit::tools::require_that;
use serde_json::Value;

fn figures(cli: &Cli, args: &[&str]) -> Value {
    let small = ["--quick", "--sizes", "4/1", "--json"];
    let done = cli.run(&[&small, args].concat());
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    done.json()
}

#[test]
fn a_small_bench_measures_everything_it_promises() {
    let cli = Cli::new(crate::BENCH);
    let kept = figures(&cli, &["--save", "kept.json"]);
    let leagues = kept["leagues"].as_array().unwrap();
    let kinds: Vec<&Value> = leagues.iter().map(|league| &league["kind"]).collect();
    assert_eq!(kinds, ["one_process", "outside_players"]);
    for league in leagues {
        let run = &league["runs"][0];
        assert_eq!(
            (&run["matches"], &run["technical_losses"]),
            (&Value::from(6), &Value::from(0)),
            "{run}"
        );
        // Seven exchanges a match, and what is told to all.
        assert!(run["exchanges"].as_u64().unwrap() >= 42, "{run}");
        for figure in [
            "seconds",
            "ceiling_per_s",
            "log_bytes_per_match",
            "cpu_us_per_match",
        ] {
            assert!(run[figure].as_f64().unwrap() > 0.0, "{figure}: {run}");
        }
        assert!(
            run["memory"]["most_bytes"].as_u64() >= run["memory"]["start_bytes"].as_u64(),
            "{run}"
        );
        assert!(
            league["standings"]["p99_ms"].as_f64().unwrap() > 0.0,
            "{league}"
        );
        let types: Vec<&Value> = league["answers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|answers| &answers["message_type"])
            .collect();
        for kind in [
            "GAME_INVITATION",
            "CHOOSE_PARITY_CALL",
            "GAME_OVER",
            "MATCH_RESULT_REPORT",
        ] {
            assert!(
                types.iter().any(|found| *found == kind),
                "{kind} in {types:?}"
            );
        }
    }
    assert!(kept["player_bytes"].as_u64().unwrap() > 0, "{kept}");
    assert_eq!(
        kept["queries"]["took"].as_array().unwrap().len(),
        3,
        "{kept}"
    );
    assert_eq!(
        kept["core"][0]["matches_per_s"].as_array().unwrap().len(),
        1,
        "{kept}"
    );
    assert_eq!(
        kept["first_match_ms"].as_array().unwrap().len(),
        1,
        "{kept}"
    );
    let left: Vec<_> = std::fs::read_dir(cli.path())
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(left, ["kept.json"], "nothing else may be left behind");

    // One run is too little to tell a difference by, whatever it found.
    let compared = figures(&cli, &["--one-process", "--against", "kept.json"]);
    let changes = compared["changes"].as_array().unwrap();
    assert!(changes.len() >= 4, "{compared}");
    assert!(
        changes
            .iter()
            .all(|change| change["verdict"] == "cannot_be_told"),
        "{compared}"
    );
}

#[test]
fn a_short_bench_of_postgres_measures_everything_it_promises() {
    if !require_that(
        std::path::Path::new("/usr/lib/postgresql").is_dir(),
        "postgresql is not installed",
    ) {
        return;
    }
    let cli = Cli::new(crate::BENCH);
    let done = cli.run(&["--postgres", "--quick", "--json"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    let found = done.json();
    for store in ["sqlite", "postgres"] {
        for figure in [
            "matches_per_s",
            "bytes_per_match",
            "at_once_per_s",
            "commit_p99_ms",
        ] {
            assert!(
                found[store][figure].as_f64().unwrap() > 0.0,
                "{store} {figure}: {found}"
            );
        }
        assert_eq!(found[store]["technical_losses"], 0, "{found}");
    }
    assert!(
        found["two_services_per_s"].as_f64().unwrap() > 0.0,
        "{found}"
    );
    assert_eq!(found["targets"].as_array().unwrap().len(), 5, "{found}");
    assert_eq!(
        std::fs::read_dir(cli.path()).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn what_cannot_be_measured_or_compared_is_told_before_anything_starts() {
    let cli = Cli::new(crate::BENCH);
    std::fs::write(cli.path().join("other.json"), "{}").unwrap();
    for (args, code, why) in [
        (["--against", "nowhere.json"], 1, "cannot read nowhere.json"),
        (
            ["--against", "other.json"],
            1,
            "other.json holds no figures",
        ),
        (["--folder", "nowhere"], 2, "nowhere is no folder"),
        (["--sizes", "100/1"], 2, "PLAYERS/REFEREES"),
    ] {
        let wrong = cli.run(&args);
        assert!(
            wrong.code == code && wrong.err.contains(why),
            "{args:?}: {wrong:?}"
        );
    }
}
