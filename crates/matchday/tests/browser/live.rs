//! What happens to a page while it is looked at.

use crate::league::League;
use crate::script::{Script, can_be_run, plays};
use matchday_testkit::cli::TOKEN;

#[test]
fn standings_change_without_the_page_being_loaded_again() {
    if !can_be_run() {
        return;
    }
    let league = League::of(&["Ada", "Basho"]);
    let mut script = Script::start("live", &league.cli.manager, &[]);
    script.until("ready");
    league.start();
    script.succeeds();
}

#[test]
fn the_table_says_how_each_agent_is_connected() {
    if !can_be_run() {
        return;
    }
    let league = League::with_relay();
    plays("connections", &league.cli.manager, &[]);
}

#[test]
fn what_was_opened_and_typed_stays_through_a_change() {
    if !can_be_run() {
        return;
    }
    let league = League::of(&["Ada", "Basho"]);
    let mut script = Script::start("kept", &league.cli.manager, &[]);
    script.until("ready");
    league.start();
    script.succeeds();
}

#[test]
fn a_manager_that_is_gone_is_told_of_and_its_return_needs_nothing() {
    if !can_be_run() {
        return;
    }
    let mut league = League::empty();
    let mut script = Script::start("unreachable", &league.cli.manager, &[]);
    script.until("ready");
    league.kill_manager();
    script.until("told");
    league.revive_manager();
    script.succeeds();
}

#[test]
fn an_order_needs_the_operators_token_and_is_confirmed() {
    if !can_be_run() {
        return;
    }
    let league = League::of(&["Ada", "Basho"]);
    // A player that is held up keeps the league running for as long as the scenario lasts.
    league.agents.last().unwrap().signal("STOP");
    plays("operator", &league.cli.manager, &[TOKEN]);
}
