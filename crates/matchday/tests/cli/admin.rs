//! The operator steps in, and nobody else does.

use matchday_testkit::cli::{Cli, Output, TOKEN};

fn order(cli: &Cli, args: &[&str]) -> Output {
    cli.ask(&[&["admin", "--json", "--operator-token", TOKEN], args].concat())
}

#[test]
fn a_league_is_paused_resumed_mended_and_ended_by_its_operator() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0"]);
    let _agents = cli.agents(1, 4);
    assert_eq!(
        order(&cli, &["withdraw", "P04"]).json()["status"],
        "registration"
    );
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");
    let schedule = cli.ask(&["schedule", "--json"]).json();
    assert!(
        !schedule["rounds"].to_string().contains("P04"),
        "a withdrawn player has no matches: {schedule}"
    );

    assert_eq!(order(&cli, &["void", "R1M1"]).json()["status"], "running");
    cli.until_status("completed");
    assert!(
        order(&cli, &["void", "R9M9"])
            .failed(1)
            .contains("there is no match R9M9")
    );
    assert!(
        order(&cli, &["pause"])
            .failed(1)
            .contains("nothing to pause")
    );
}

#[test]
fn a_round_that_is_to_come_can_be_paused_resumed_and_ended() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "600"]);
    let _agents = cli.agents(1, 2);
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("running");
    assert_eq!(order(&cli, &["pause"]).json()["status"], "paused");
    assert_eq!(order(&cli, &["resume"]).json()["status"], "running");
    let ended = cli.ask(&["admin", "end", "--operator-token", TOKEN]);
    assert!(
        ended.code == 0 && ended.out.contains("completed"),
        "{ended:?}"
    );
}

#[test]
fn without_the_operators_token_nothing_is_done() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[]);
    let wrong = cli.ask(&["admin", "pause", "--operator-token", "tok_operator_guess"]);
    assert!(
        wrong.failed(1).contains("this is not the operator token"),
        "{wrong:?}"
    );
    let none = cli.ask(&["admin", "pause"]);
    assert!(
        none.failed(2).contains("MATCHDAY_OPERATOR_TOKEN"),
        "{none:?}"
    );
}
