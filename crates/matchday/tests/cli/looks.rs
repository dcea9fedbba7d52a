//! What anyone may see of a league, for people and for programs.

use matchday_testkit::cli::{Cli, TOKEN};

#[test]
fn a_league_is_shown_before_and_after_it_is_played() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0"]);
    assert_eq!(
        cli.ask(&["standings"]).out,
        "no player has registered yet\n"
    );
    assert_eq!(
        cli.ask(&["schedule"]).out,
        "the rounds are scheduled when the league starts\n"
    );
    let _agents = cli.agents(1, 3);
    assert!(cli.ask(&["status"]).out.contains("registration"));
    let started = cli.ask(&["start", "--json"]);
    assert_eq!(started.json()["status"], "running");

    let watched = cli.ask(&["watch"]);
    assert_eq!(watched.code, 0);
    assert!(
        watched
            .out
            .contains("3 of 3 matches, round 3 of 3, over\nRANK  PLAYER"),
        "{watched:?}"
    );
    assert!(
        !watched.out.contains('\u{1b}'),
        "no control characters in a pipe"
    );

    let standings = cli.ask(&["standings"]).out;
    assert!(standings.starts_with("RANK  PLAYER  NAME"), "{standings}");
    assert_eq!(standings.lines().count(), 4);
    let schedule = cli.ask(&["schedule"]).out;
    assert_eq!(
        (schedule.lines().count(), schedule.matches("bye").count()),
        (7, 3),
        "{schedule}"
    );
    assert_eq!(
        cli.ask(&["schedule", "--round", "2"]).out.lines().count(),
        3
    );
    let data = cli.ask(&["schedule", "--round", "2", "--json"]).json();
    assert_eq!(data["rounds"][0]["matches"][0]["match_id"], "R2M1");

    let stats = cli.ask(&["stats", "P01"]).out;
    assert!(
        stats.starts_with("P01") && stats.contains("technical losses"),
        "{stats}"
    );
    assert_eq!(
        cli.ask(&["stats", "P01", "--json"]).json()["stats"]["played"],
        2
    );
    let referee = cli.ask(&["stats", "REF01"]).out;
    assert!(
        referee.starts_with("REF01") && referee.contains("matches decided  3"),
        "{referee}"
    );
    assert_eq!(
        cli.ask(&["stats", "REF01", "--json"]).json()["matches_decided"],
        3
    );
    let unknown = cli.ask(&["stats", "REF09"]);
    assert!(
        unknown
            .failed(1)
            .contains("no referee REF09: the league has REF01"),
        "{unknown:?}"
    );
    let unknown = cli.ask(&["stats", "P09"]);
    assert!(unknown.failed(1).contains("P09"), "{unknown:?}");
    let beyond = cli.ask(&["schedule", "--round", "9"]);
    assert!(
        beyond.failed(1).contains("expected 1 to 3, got 9"),
        "{beyond:?}"
    );
}

#[test]
fn rounds_that_follow_from_results_are_named_and_those_to_come_are_counted() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "600", "--format", "knockout"]);
    let _agents = cli.agents(1, 3);
    assert_eq!(cli.ask(&["start"]).code, 0);
    let status = cli.ask(&["status"]).out;
    assert!(status.contains("1 of 2 (Semifinals)"), "{status}");
    // Players are named by their ports.
    let is_port = |word: &&str| word.len() > 3 && word.parse::<u16>().is_ok();
    let words = |line: &str| {
        line.split_whitespace()
            .map(|word| if is_port(&word) { "PORT" } else { word })
            .collect::<Vec<_>>()
            .join(" ")
    };
    let schedule = cli
        .ask(&["schedule"])
        .out
        .lines()
        .map(words)
        .collect::<Vec<_>>()
        .join("\n");
    insta::assert_snapshot!(schedule, @r"
    ROUND TITLE MATCH PLAYER A PLAYER B REFEREE RESULT
    1 Semifinals R1M1 P02 Player PORT P03 Player PORT REF01 to come
    1 Semifinals - P01 Player PORT - - bye
    more rounds follow, at least 1: each is paired from the results before it
    ");
    let later = cli.ask(&["schedule", "--round", "2"]);
    assert!(
        later.failed(1).contains("round 2 is not paired yet"),
        "{later:?}"
    );
}

#[test]
fn a_manager_refuses_what_its_format_cannot_be() {
    let cli = Cli::new(crate::MATCHDAY);
    let refused = |args: &[&str]| {
        let words = [
            &[
                "manager",
                "--listen",
                "127.0.0.1:0",
                "--operator-token",
                TOKEN,
            ],
            args,
        ]
        .concat();
        cli.run(&words).failed(2).to_owned()
    };
    let said = refused(&["--rounds", "5"]);
    assert!(
        said.contains("--rounds: round_robin has no such setting; it goes with swiss"),
        "{said}"
    );
    let said = refused(&["--format", "pyramid"]);
    assert!(
        said.contains("--format: expected round_robin or double_round_robin or swiss"),
        "{said}"
    );
    let crowded = [
        "--format",
        "groups_knockout",
        "--groups",
        "3",
        "--start-when",
        "players=5",
    ];
    let said = refused(&crowded);
    assert!(
        said.contains("--groups: 5 players cannot be put into 3 groups of at least 2"),
        "{said}"
    );
}

/// The league's data as both ways of asking give it: from the manager, and from its store.
fn both_ways(cli: &Cli, agent: &[&str]) -> [serde_json::Value; 2] {
    let words = |more: &[&'static str]| [&["stats"], agent, more, &["--json"]].concat();
    let asked = cli.ask(&words(&[]));
    let read = cli.run(&words(&["--store", "league.db"]));
    assert_eq!((asked.code, read.code), (0, 0), "{asked:?} {read:?}");
    [asked.json(), read.json()]
}

#[test]
fn what_results_mean_is_told_by_a_manager_and_by_its_store_alike() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0", "--store", "league.db"]);
    assert_eq!(cli.ask(&["stats"]).out, "no player has registered yet\n");
    let _agents = cli.agents(1, 3);
    let before = cli.ask(&["stats"]).out;
    assert!(
        before.contains("Luck meter  No match has been played out yet"),
        "{before}"
    );
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");

    for agent in [&[] as &[&str], &["P01"], &["REF01"]] {
        let [asked, read] = both_ways(&cli, agent);
        assert_eq!(asked, read, "{agent:?}");
    }
    let [league, _] = both_ways(&cli, &[]);
    assert_eq!(
        (&league["matches"], &league["forfeits"]),
        (&3.into(), &0.into()),
        "{league}"
    );
    assert_eq!(league["neighbours"].as_array().unwrap().len(), 2);
    let [player, _] = both_ways(&cli, &["P01"]);
    assert!(
        player["statistics"]["bradley_terry"]["low"].is_number(),
        "{player}"
    );

    let said = cli.run(&["stats", "--store", "league.db"]).out;
    for words in ["RATING", "95 %", "Luck meter  ", " of the time.", "Top two"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(
        !said.contains("PAIRING"),
        "only a ladder has such a rating: {said}"
    );
    let of_player = cli.run(&["stats", "P01", "--store", "league.db"]).out;
    assert!(
        of_player.contains("as good by chance") && of_player.contains(" from 2 matches "),
        "{of_player}"
    );
    let unknown = cli.run(&["stats", "P09", "--store", "league.db"]);
    assert_eq!(
        unknown.failed(1),
        "no player P09: the league has P01, P02, P03"
    );
}
