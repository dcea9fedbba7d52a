//! What stands on the pages of a league that has been played, or has not begun.

use crate::ground::TOKEN;
use crate::league::League;
use crate::script::{can_be_run, plays};

/// Markup, entities, and the longest name there may be. Characters that are not seen no name may have.
const HOSTILE: [&str; 3] = [
    "<img src=x onerror=\"window.hacked=1\">",
    "Ada<b><u>&lt;script&gt;",
    "</bdi><script>window.hacked=1</script>aaaaaaaaaaaa",
];

#[test]
fn a_match_page_explains_a_technical_loss() {
    if !can_be_run() {
        return;
    }
    let league = League::hurried(&["Ada", "Sleeper"]);
    league.agents.last().unwrap().signal("STOP");
    league.start();
    league.ground.until_status("completed");
    plays("technical", &league.ground.manager, &[]);
}

#[test]
fn a_hostile_name_stays_text_on_every_page() {
    if !can_be_run() {
        return;
    }
    assert_eq!(HOSTILE[2].chars().count(), 50);
    let league = League::played(&[&HOSTILE[..], &["Ada"]].concat());
    plays("hostile", &league.ground.manager, &[&serde_json::to_string(&HOSTILE).unwrap()]);
}

fn is_accessible(scheme: &str, width: &str) {
    if !can_be_run() {
        return;
    }
    let league = League::played(&["Ada", "Basho", "Clio", "Dag"]);
    plays("accessible", &league.ground.manager, &[scheme, width]);
}

#[test]
fn no_page_has_a_serious_fault_of_accessibility_by_day() {
    is_accessible("light", "1280");
}

#[test]
fn no_page_has_a_serious_fault_of_accessibility_by_night() {
    is_accessible("dark", "1280");
}

#[test]
fn no_page_has_a_serious_fault_of_accessibility_on_a_phone() {
    is_accessible("light", "390");
}

#[test]
fn an_empty_league_says_what_to_do() {
    if !can_be_run() {
        return;
    }
    let league = League::empty();
    plays("empty", &league.ground.manager, &[]);
}

#[test]
fn a_league_that_is_not_open_to_readers_asks_for_the_operators_token() {
    if !can_be_run() {
        return;
    }
    let league = League::closed("Ada");
    plays("closed", &league.ground.manager, &[TOKEN]);
}

#[test]
fn nothing_is_fetched_from_another_host() {
    if !can_be_run() {
        return;
    }
    let league = League::played(&["Ada", "Basho"]);
    plays("own_host", &league.ground.manager, &[]);
}

#[test]
fn the_inspector_finds_messages_and_shows_what_is_kept_of_them() {
    if !can_be_run() {
        return;
    }
    let league = League::played(&["Ada", "Basho", "Clio", "Dag"]);
    plays("inspector", &league.ground.manager, &[]);
}

#[test]
fn the_keyboard_reaches_the_whole_navigation() {
    if !can_be_run() {
        return;
    }
    let league = League::played(&["Ada", "Basho", "Clio", "Dag"]);
    plays("keyboard", &league.ground.manager, &[]);
}

#[test]
fn no_page_is_wider_than_a_small_phone() {
    if !can_be_run() {
        return;
    }
    let league = League::played(&[HOSTILE[2], HOSTILE[0], "Clio", "Dag"]);
    plays("narrow", &league.ground.manager, &[]);
}

#[test]
fn the_browser_recomputes_a_draw() {
    if !can_be_run() {
        return;
    }
    let league = League::played(&["Ada", "Basho"]);
    plays("draw", &league.ground.manager, &[]);
}
