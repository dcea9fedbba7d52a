//! Several leagues in one store, one after the other, as people run them.

use matchday_testkit::cli::{Cli, Process};
use serde_json::Value;
use std::fs;

/// Plays a whole league in the store, with agents of its own.
fn play(cli: &Cli, league_id: &str) -> Process {
    let manager = cli.manager(&["--store", "season.db", "--league-id", league_id, "--lead", "0"]);
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
    let listed = json(&cli, &["leagues", "season.db", "--json"]);
    let ids: Vec<&Value> = listed["leagues"].as_array().unwrap().iter().map(|it| &it["league_id"]).collect();
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
    assert_eq!((&verified["league_id"], &verified["matches"]), (&"spring_2".into(), &1.into()), "{verified}");
    assert_eq!((&verified["others"][0]["league_id"], &verified["fault"]), (&"spring_1".into(), &Value::Null));
    let first = cli.run(&["verify", "season.db", "--league", "spring_1"]);
    assert!(first.out.starts_with("spring_1: ") && first.out.contains("also spring_2: "), "{first:?}");

    // Each league has a match of this name, and what was said in the other is not told.
    let record =
        |league: &str| json(&cli, &["replay", "season.db", "--match", "R1M1", "--json", "--league", league]);
    let (one, two) = (record("spring_1"), record("spring_2"));
    for (record, id) in [(&one, "spring_1"), (&two, "spring_2")] {
        assert_eq!(record["league_id"], id);
        let said = record["transcript"].as_array().unwrap();
        assert!(!said.is_empty(), "{record}");
        assert!(said.iter().all(|exchange| exchange["request"].as_str().unwrap().contains(id)), "{said:?}");
    }

    let done = cli.run(&["export", "season.db", "--out", "first", "--league", "spring_1"]);
    assert_eq!(done.code, 0, "{done:?}");
    let events = fs::read_to_string(cli.path().join("first/events.jsonl")).unwrap();
    assert!(events.contains("spring_1") && !events.contains("league/2"), "{events}");
}

#[test]
fn ratings_go_on_and_leagues_are_compared() {
    let cli = two_leagues();
    let by_id = ["--known-by", "id"];
    let rated = json(&cli, &[&["leagues", "season.db", "--ratings", "--json"], &by_id[..]].concat());
    let ratings = rated["ratings"].as_array().unwrap();
    assert_eq!(ratings.len(), 2, "{rated}");
    assert!(ratings.iter().all(|player| player["leagues"] == 2 && player["matches"] == 2), "{rated}");
    let carried =
        json(&cli, &[&["stats", "--store", "season.db", "--carry-over", "--json"], &by_id[..]].concat());
    assert_eq!(carried["ratings"], rated["ratings"]);
    let one = json(&cli, &["stats", "--store", "season.db", "--league", "spring_1", "--json"]);
    assert_eq!(one["matches"], 1, "{one}");

    let sides = ["--league-a", "spring_1", "--league-b", "spring_2"];
    let compare =
        |more: &[&str]| cli.run(&[&["compare", "season.db", "season.db"], &sides[..], &by_id, more].concat());
    let compared = compare(&["--json"]).json();
    assert_eq!(compared["leagues"], serde_json::json!(["spring_1", "spring_2"]));
    let players = compared["players"].as_array().unwrap();
    assert_eq!(players.len(), 2, "{compared}");
    for player in players {
        assert_eq!(player["difference"]["more_than_chance"], false, "one match tells nothing: {player}");
        assert!(player["first_conduct"]["mean_answer_ms"].is_u64(), "{player}");
        assert_eq!(player["second_conduct"]["technical_losses"], 0);
    }
    let told = compare(&[]);
    assert!(told.out.contains("No difference in strength is more than chance"), "{told:?}");
}

#[test]
fn a_league_that_is_not_over_keeps_others_out_and_an_old_one_is_not_begun_again() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&["--store", "season.db", "--league-id", "spring_1"]);
    stop(manager);
    let another = ["manager", "--store", "season.db", "--listen", "127.0.0.1:0", "--league-id", "spring_2"];
    let refused = cli.run(&another);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("season.db holds spring_1, which is not over"), "{refused:?}");
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
        let words =
            "season.db holds no league autumn, but spring_1, spring_2: choose one of these with --league";
        assert_eq!(done.failed(1), words, "{args:?}");
    }
    let again = ["manager", "--store", "season.db", "--listen", "127.0.0.1:0", "--league-id", "spring_1"];
    let refused = cli.run(&again);
    assert!(
        refused.code == 1 && refused.err.contains("a new league needs another --league-id"),
        "{refused:?}"
    );
}
