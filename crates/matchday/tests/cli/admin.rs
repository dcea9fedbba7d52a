//! The operator steps in, and nobody else does.

use crate::ground::{Done, Ground, TOKEN};

fn order(ground: &Ground, args: &[&str]) -> Done {
    ground.ask(&[&["admin", "--json", "--operator-token", TOKEN], args].concat())
}

#[test]
fn a_league_is_paused_resumed_mended_and_ended_by_its_operator() {
    let ground = Ground::new();
    let _manager = ground.manager(&["--lead", "0"]);
    let _agents = ground.agents(1, 4);
    assert_eq!(order(&ground, &["withdraw", "P04"]).json()["status"], "registration");
    assert_eq!(ground.ask(&["start"]).code, 0);
    ground.until_status("completed");
    let schedule = ground.ask(&["schedule", "--json"]).json();
    assert!(!schedule.to_string().contains("P04"), "a withdrawn player has no matches: {schedule}");

    assert_eq!(order(&ground, &["void", "R1M1"]).json()["status"], "running");
    ground.until_status("completed");
    assert!(order(&ground, &["void", "R9M9"]).failed(1).contains("there is no match R9M9"));
    assert!(order(&ground, &["pause"]).failed(1).contains("nothing to pause"));
}

#[test]
fn a_round_that_is_to_come_can_be_paused_resumed_and_ended() {
    let ground = Ground::new();
    let _manager = ground.manager(&["--lead", "600"]);
    let _agents = ground.agents(1, 2);
    assert_eq!(ground.ask(&["start"]).code, 0);
    ground.until_status("running");
    assert_eq!(order(&ground, &["pause"]).json()["status"], "paused");
    assert_eq!(order(&ground, &["resume"]).json()["status"], "running");
    let ended = ground.ask(&["admin", "end", "--operator-token", TOKEN]);
    assert!(ended.code == 0 && ended.out.contains("completed"), "{ended:?}");
}

#[test]
fn without_the_operators_token_nothing_is_done() {
    let ground = Ground::new();
    let _manager = ground.manager(&[]);
    let wrong = ground.ask(&["admin", "pause", "--operator-token", "tok_operator_guess"]);
    assert!(wrong.failed(1).contains("this is not the operator token"), "{wrong:?}");
    let none = ground.ask(&["admin", "pause"]);
    assert!(none.failed(2).contains("MATCHDAY_OPERATOR_TOKEN"), "{none:?}");
}
