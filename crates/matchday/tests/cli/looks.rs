//! What anyone may see of a league, for people and for programs.

use crate::ground::Ground;

#[test]
fn a_league_is_shown_before_and_after_it_is_played() {
    let ground = Ground::new();
    let _manager = ground.manager(&["--lead", "0"]);
    assert_eq!(ground.ask(&["standings"]).out, "no player has registered yet\n");
    assert_eq!(ground.ask(&["schedule"]).out, "the rounds are drawn up when the league starts\n");
    let _agents = ground.agents(1, 3);
    assert!(ground.ask(&["status"]).out.contains("registration"));
    let started = ground.ask(&["start", "--json"]);
    assert_eq!(started.json()["status"], "running");

    let watched = ground.ask(&["status", "--watch"]);
    assert_eq!(watched.code, 0);
    assert!(watched.out.trim_end().ends_with('3') && watched.out.contains("completed"), "{watched:?}");
    assert!(!watched.out.contains('\u{1b}'), "no control characters in a pipe");

    let standings = ground.ask(&["standings"]).out;
    assert!(standings.starts_with("RANK  PLAYER  NAME"), "{standings}");
    assert_eq!(standings.lines().count(), 4);
    let schedule = ground.ask(&["schedule"]).out;
    assert_eq!((schedule.lines().count(), schedule.matches("bye").count()), (7, 3), "{schedule}");
    assert_eq!(ground.ask(&["schedule", "--round", "2"]).out.lines().count(), 3);
    let data = ground.ask(&["schedule", "--round", "2", "--json"]).json();
    assert_eq!(data["rounds"][0]["matches"][0]["match_id"], "R2M1");

    let stats = ground.ask(&["stats", "P01"]).out;
    assert!(stats.starts_with("P01") && stats.contains("technical losses"), "{stats}");
    assert_eq!(ground.ask(&["stats", "P01", "--json"]).json()["stats"]["played"], 2);
    let referee = ground.ask(&["stats", "REF01"]).out;
    assert!(referee.starts_with("REF01") && referee.contains("matches decided            3"), "{referee}");
    assert_eq!(ground.ask(&["stats", "REF01", "--json"]).json()["matches_decided"], 3);
    let unknown = ground.ask(&["stats", "REF09"]);
    assert!(unknown.failed(1).contains("no referee REF09: the league has REF01"), "{unknown:?}");
    let unknown = ground.ask(&["stats", "P09"]);
    assert!(unknown.failed(1).contains("P09"), "{unknown:?}");
    let beyond = ground.ask(&["schedule", "--round", "9"]);
    assert!(beyond.failed(1).contains("expected 1 to 3, got 9"), "{beyond:?}");
}

#[test]
fn rounds_that_follow_from_results_are_named_and_those_to_come_are_counted() {
    let ground = Ground::new();
    let _manager = ground.manager(&["--lead", "600", "--format", "knockout"]);
    let _agents = ground.agents(1, 3);
    assert_eq!(ground.ask(&["start"]).code, 0);
    let status = ground.ask(&["status"]).out;
    assert!(status.contains("1 of 2 (Semifinals)"), "{status}");
    insta::assert_snapshot!(ground.ask(&["schedule"]).out, @r"
    ROUND  TITLE       MATCH  PLAYER A  PLAYER B  REFEREE  RESULT
        1  Semifinals  R1M1   P02       P03       REF01    to come
        1  Semifinals  -      P01       -         -        bye
    more rounds to come, at least 1: each is drawn from the results before it
    ");
    let later = ground.ask(&["schedule", "--round", "2"]);
    assert!(later.failed(1).contains("round 2 is not drawn yet"), "{later:?}");
}

#[test]
fn a_manager_refuses_what_its_format_cannot_be() {
    let ground = Ground::new();
    let refused = |args: &[&str]| {
        let words = [&["manager", "--listen", "127.0.0.1:0", "--operator-token", "t"], args].concat();
        ground.run(&words).failed(2).to_owned()
    };
    let said = refused(&["--rounds", "5"]);
    assert!(said.contains("--rounds: round_robin has no such setting; it goes with swiss"), "{said}");
    let said = refused(&["--format", "ladder"]);
    assert!(said.contains("--format: expected round_robin or double_round_robin or swiss"), "{said}");
    let crowded = ["--format", "groups_knockout", "--groups", "3", "--start-when", "players=5"];
    let said = refused(&crowded);
    assert!(said.contains("--groups: 5 players cannot be put into 3 groups of at least 2"), "{said}");
}

/// The league's data as both ways of asking give it: from the manager, and from its store.
fn both_ways(ground: &Ground, agent: &[&str]) -> [serde_json::Value; 2] {
    let words = |more: &[&'static str]| [&["stats"], agent, more, &["--json"]].concat();
    let (asked, read) = (ground.ask(&words(&[])), ground.run(&words(&["--store", "league.db"])));
    assert_eq!((asked.code, read.code), (0, 0), "{asked:?} {read:?}");
    [asked.json(), read.json()]
}

#[test]
fn what_results_mean_is_told_by_a_manager_and_by_its_store_alike() {
    let ground = Ground::new();
    let _manager = ground.manager(&["--lead", "0", "--store", "league.db"]);
    assert_eq!(ground.ask(&["stats"]).out, "no player has registered yet\n");
    let _agents = ground.agents(1, 3);
    let before = ground.ask(&["stats"]).out;
    assert!(before.contains("Luck meter  No match has been played out yet"), "{before}");
    assert_eq!(ground.ask(&["start"]).code, 0);
    ground.until_status("completed");

    for agent in [&[] as &[&str], &["P01"], &["REF01"]] {
        let [asked, read] = both_ways(&ground, agent);
        assert_eq!(asked, read, "{agent:?}");
    }
    let [league, _] = both_ways(&ground, &[]);
    assert_eq!((&league["matches"], &league["forfeits"]), (&3.into(), &0.into()), "{league}");
    assert_eq!(league["neighbours"].as_array().unwrap().len(), 2);
    let [player, _] = both_ways(&ground, &["P01"]);
    assert!(player["statistics"]["bradley_terry"]["low"].is_number(), "{player}");

    let said = ground.run(&["stats", "--store", "league.db"]).out;
    for words in
        ["BRADLEY-TERRY", "GLICKO-2", "Luck meter  This table", "Top two", "Calls       Whether players"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let of_player = ground.run(&["stats", "P01", "--store", "league.db"]).out;
    assert!(of_player.contains("as good by chance") && of_player.contains(" from 2 matches "), "{of_player}");
    let unknown = ground.run(&["stats", "P09", "--store", "league.db"]);
    assert_eq!(unknown.failed(1), "no player P09: the league has P01, P02, P03");
    let watched = ground.run(&["stats", "--store", "league.db", "--watch"]);
    assert_eq!(watched.code, 2, "{watched:?}");
}
