//! A league from beginning to end.

use crate::program::Program;
use serde_json::Value;

#[test]
fn a_league_of_four_ends_with_table_champion_and_a_file_that_verifies() {
    let program = Program::new();
    let ran = program.league(&[]);
    for line in [
        "round 3 of 3",
        "RANK  PLAYER  NAME",
        "Champion",
        "Matches   6 of 6",
        "Data      league.db",
    ] {
        assert!(ran.out.contains(line), "{line:?} in {}", ran.out);
    }
    assert!(
        !ran.out.contains('\u{1b}'),
        "no colour in a pipe: {}",
        ran.out
    );
    let verified = program.run(&["verify", "league.db"]);
    assert_eq!(verified.code, 0, "{}", verified.out);
    assert!(
        verified.out.contains("Verified: no contradictions."),
        "{}",
        verified.out
    );
}

#[test]
fn a_league_without_tokens_says_so_whenever_its_results_are_looked_at() {
    let program = Program::new();
    program.league(&["--tokens", "optional"]);
    let verified = program.run(&["verify", "league.db"]);
    assert!(
        verified.out.contains("tokens   optional"),
        "{}",
        verified.out
    );
}

#[test]
fn json_is_all_that_is_printed_and_says_what_verify_finds() {
    let program = Program::new();
    let ran = program
        .league(&[
            "--json",
            "--players",
            "5",
            "--strategies",
            "always-even,random",
        ])
        .json();
    assert_eq!(
        (&ran["completed"], &ran["matches"], &ran["matches_decided"]),
        (&true.into(), &10.into(), &10.into())
    );
    assert_eq!(
        (&ran["technical_losses"], &ran["store"]),
        (&0.into(), &"league.db".into())
    );
    let found = program.run(&["verify", "league.db", "--json"]).json();
    assert_eq!(ran["champion"], found["champion"]);
    let rows = ran["standings"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    for (row, verified) in rows.iter().zip(found["table"].as_array().unwrap()) {
        assert_eq!(
            (&row["id"], &row["points"]),
            (&verified["player_id"], &verified["points"])
        );
        let strategy = if ["P02", "P04"].contains(&row["id"].as_str().unwrap()) {
            "random"
        } else {
            "always_even"
        };
        assert_eq!(row["strategy"], strategy);
    }
}

#[test]
fn quiet_leaves_out_the_rounds() {
    let ran = Program::new().league(&["--quiet", "--players", "2", "--referees", "1"]);
    assert!(
        ran.out.trim_start().starts_with("RANK  PLAYER"),
        "{}",
        ran.out
    );
}

/// Each referee has one match at a time here, so that chance comes to everyone in the same order.
#[test]
fn the_same_seed_gives_the_same_table() {
    let table = |seed: &str| -> Value {
        Program::new().league(&["--json", "--seed", seed]).json()["standings"].take()
    };
    let first = table("7");
    assert_eq!(first, table("7"));
    assert!(
        (8..20).any(|seed| table(&seed.to_string()) != first),
        "the seed changes nothing"
    );
}

/// A league of three with the game's own strategies: without a technical loss, and the moves lead to the results.
fn league_of(game: &str) {
    let program = Program::new();
    let ran = program
        .league(&[
            "--json",
            "--players",
            "3",
            "--referees",
            "1",
            "--game",
            game,
        ])
        .json();
    assert_eq!(
        (&ran["matches_decided"], &ran["technical_losses"]),
        (&3.into(), &0.into()),
        "{game}"
    );
    let found = program.run(&["verify", "league.db", "--json"]).json();
    assert_eq!(
        (&found["matches_replayed"], &found["matches_untold"]),
        (&3.into(), &0.into()),
        "{game}: {found}"
    );
    assert_eq!(found["fault"], Value::Null, "{game}");
}

#[test]
fn tic_tac_toe_is_played() {
    league_of("tic_tac_toe");
}

#[test]
fn rock_paper_scissors_is_played() {
    league_of("rock_paper_scissors");
}

#[test]
fn matching_pennies_is_played() {
    league_of("matching_pennies");
}

#[test]
fn the_iterated_prisoners_dilemma_is_played() {
    league_of("iterated_prisoners_dilemma");
}

/// Who always defects wins every match; those who cooperate with each other are paid more.
#[test]
fn the_dilemma_is_ranked_by_payoff_unless_asked_otherwise() {
    let strategies = "always_defect,tit_for_tat,tit_for_tat,tit_for_tat";
    let game = [
        "--game",
        "iterated_prisoners_dilemma",
        "--strategies",
        strategies,
    ];
    let program = Program::new();
    let ran = program.league(&game);
    assert!(ran.out.contains("on payoff"), "{}", ran.out);
    assert!(
        !ran.out.contains("Champion  P01") && ran.out.contains("with a payoff of 1"),
        "{}",
        ran.out
    );
    assert_eq!(program.run(&["verify", "league.db"]).code, 0);
    let by_matches = Program::new().league(&[&game[..], &["--score", "match"]].concat());
    assert!(
        by_matches.out.contains("Champion  P01"),
        "{}",
        by_matches.out
    );
    let refused = Program::new().run(&["run", "--game", "nim", "--score", "payoff"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("--score: nim has no payoffs"),
        "{}",
        refused.err
    );
}

#[test]
fn who_has_one_side_only_is_named_where_the_side_matters() {
    let said = |flags: &[&str]| Program::new().league(flags).out;
    let sides = "Sides     P02 is on side B in all of its matches";
    let nim = said(&["--game", "nim"]);
    assert!(nim.contains(sides), "{nim}");
    assert!(!said(&["--game", "nim", "--format", "double_round_robin"]).contains("Sides"));
    assert!(!said(&["--game", "even_odd"]).contains("Sides"));
}

#[test]
fn connect_four_is_played() {
    league_of("connect_four");
}

#[test]
fn nim_is_played() {
    league_of("nim");
}

#[test]
fn each_run_without_a_name_for_its_file_makes_a_new_one() {
    let program = Program::new();
    for _ in 0..2 {
        assert_eq!(program.run(&["run", "--port-base", "0", "--quiet"]).code, 0);
    }
    let files = program.files();
    let stores = files
        .iter()
        .filter(|name| name.starts_with("matchday-run-") && name.ends_with(".db"));
    assert_eq!(stores.count(), 2, "{files:?}");
}

#[test]
fn the_file_of_a_league_that_is_over_is_left_alone() {
    let program = Program::new();
    program.league(&["--quiet"]);
    let before = std::fs::read(program.path("league.db")).unwrap();
    let again = program.run(&["run", "--port-base", "0", "--store", "league.db"]);
    assert_eq!(again.code, 1);
    assert!(
        again.err.contains("the league in league.db is over"),
        "{}",
        again.err
    );
    assert_eq!(std::fs::read(program.path("league.db")).unwrap(), before);
}

#[test]
fn a_mistake_on_the_command_line_is_named_and_exits_2() {
    let mistakes: &[(&[&str], &str)] = &[
        (&["--strategies", "randon"], "did you mean \"random\"?"),
        (
            &["--game", "chess"],
            "--game: expected even_odd or tic_tac_toe",
        ),
        (
            &["--players", "1"],
            "--players: expected a whole number from 2 to 99, got \"1\"",
        ),
        (
            &["--lead", "soon"],
            "--lead: expected seconds, such as 2 or 0.5, got \"soon\"",
        ),
        (
            &["--game", "nim", "--strategies", "pattern"],
            "choose one of: random, optimal",
        ),
    ];
    for (words, says) in mistakes {
        let program = Program::new();
        let ran = program.run(&[&["run"], *words].concat());
        assert_eq!(ran.code, 2, "{words:?}");
        assert!(ran.err.contains(says), "{words:?}: {}", ran.err);
        assert!(program.files().is_empty());
    }
}
