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
