//! The starter agents as authors use them: written by `matchday new`, tested by their own tests, checked by `matchday
//! check`, and played in a league, each in its own language. A language whose tools are not on the machine is left out,
//! with a line that says so; `./test` installs what can be installed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../cli/ground.rs"]
#[allow(dead_code, reason = "shared with the tests of the commands, which use all of it")]
mod ground;
mod starter;

use ground::{Ground, Running, free_address};
use starter::Starter;

macro_rules! languages {
    ($($language:ident)*) => {$(
        mod $language {
            #[test]
            fn passes_its_own_tests() {
                super::passes_its_own_tests(stringify!($language));
            }

            #[test]
            fn passes_the_check() {
                super::passes_the_check(stringify!($language));
            }

            #[test]
            fn plays_a_league() {
                super::plays_a_league(stringify!($language));
            }
        }
    )*};
}

languages! { python typescript rust go }

fn passes_its_own_tests(language: &str) {
    let ground = Ground::new();
    let Some(starter) = Starter::write(&ground, language) else { return };
    starter.test();
}

fn passes_the_check(language: &str) {
    let ground = Ground::new();
    let Some(starter) = Starter::write(&ground, language) else { return };
    let listen = free_address();
    // The agent is up first: it must keep trying until there is a manager.
    let mut agent = Running::new(starter.run(&format!("http://{listen}/mcp")));
    agent.until("no answer from");
    let done = ground.run(&["check", "player", "--wait", "--listen", &listen, "--json"]);
    let report = done.json();
    let rules = report["rules"].as_array().unwrap();
    let wrong: Vec<_> = rules.iter().filter(|rule| rule["verdict"] != "pass").collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", agent.err());
    assert!(rules.len() > 50 && done.code == 0, "{done:?}");
    agent.signal("INT");
    assert_eq!(agent.wait().code(), Some(0), "{}", agent.err());
}

fn plays_a_league(language: &str) {
    let ground = Ground::new();
    let Some(starter) = Starter::write(&ground, language) else { return };
    let _manager = ground.manager(&["--lead", "0"]);
    let _others = ground.agents(1, 2);
    let agent = Running::new(starter.run(&ground.manager));
    agent.until("registered as P03");
    assert_eq!(ground.ask(&["start", "--operator-token", ground::TOKEN]).code, 0);
    ground.until_status("completed");
    let standings = ground.ask(&["standings", "--json"]).json();
    let table = standings["standings"].as_array().unwrap();
    let row = table.iter().find(|row| row["player_id"] == "P03").unwrap();
    assert_eq!(row["display_name"], starter::NAME);
    assert_eq!((&row["played"], &row["technical_losses"]), (&2.into(), &0.into()), "{}", agent.err());
    agent.until(" is over: ");
}
