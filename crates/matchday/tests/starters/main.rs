//! The starter agents as authors use them: written by `matchday new`, tested by their own tests, checked by `matchday
//! check`, and played in a league, each in its own language. A language whose tools are missing is skipped,
//! with a line that says so, and fails in the gate; `./test` installs what can be installed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod everywhere;
mod model;
#[cfg(unix)]
mod page;

use matchday_testkit::cli::{Cli, Process, free_address};
use matchday_testkit::starter::{self, Starter};

/// The program under test.
const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");

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
                super::plays_a_league(stringify!($language), "even_odd");
            }

            #[test]
            fn plays_a_league_of_another_game() {
                super::plays_a_league(stringify!($language), "connect_four");
            }
        }
    )*};
}

languages! { python typescript rust go }

fn passes_its_own_tests(language: &str) {
    let cli = Cli::new(MATCHDAY);
    let Some(starter) = Starter::write(&cli, language) else {
        return;
    };
    starter.test();
}

fn passes_the_check(language: &str) {
    let cli = Cli::new(MATCHDAY);
    let Some(starter) = Starter::write(&cli, language) else {
        return;
    };
    let listen = free_address();
    // The agent is up first: it must keep trying until there is a manager.
    let mut agent = Process::start(starter.run(&format!("http://{listen}/mcp")));
    agent.until("no answer from");
    let done = cli.run(&["check", "player", "--wait", "--listen", &listen, "--json"]);
    let report = done.json();
    let rules = report["rules"].as_array().unwrap();
    let wrong: Vec<_> = rules
        .iter()
        .filter(|rule| rule["verdict"] != "pass")
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", agent.err());
    assert!(rules.len() > 50 && done.code == 0, "{done:?}");
    agent.signal("INT");
    assert_eq!(agent.wait().code(), Some(0), "{}", agent.err());
}

/// On Node 20, too, which does not run TypeScript as it is.
#[test]
fn typescript_can_be_compiled() {
    let cli = Cli::new(MATCHDAY);
    let Some(starter) = Starter::write_with(&cli, "typescript", &["--game", "nim"]) else {
        return;
    };
    starter.compile_and_test();
}

#[test]
fn every_game_has_a_starter_that_passes_the_check() {
    let games = Cli::new(MATCHDAY).run(&["games", "--json"]).json();
    for game in games["games"]
        .as_array()
        .unwrap()
        .iter()
        .map(|game| game["game_type"].as_str().unwrap())
    {
        let cli = Cli::new(MATCHDAY);
        let Some(starter) = Starter::write_with(&cli, "python", &["--game", game]) else {
            return;
        };
        let listen = free_address();
        let agent = Process::start(starter.run(&format!("http://{listen}/mcp")));
        let done = cli.run(&[
            "check", "player", "--wait", "--listen", &listen, "--game", game, "--json",
        ]);
        let report = done.json();
        let rules = report["rules"].as_array().unwrap();
        let wrong: Vec<_> = rules
            .iter()
            .filter(|rule| rule["verdict"] == "fail")
            .collect();
        assert!(
            wrong.is_empty() && done.code == 0,
            "{game}: {wrong:#?}\n{}",
            agent.err()
        );
    }
}

fn plays_a_league(language: &str, game: &str) {
    let cli = Cli::new(MATCHDAY);
    let Some(starter) = Starter::write_with(&cli, language, &["--game", game]) else {
        return;
    };
    let _manager = cli.manager(&["--lead", "0", "--game", game]);
    let _others = cli.agents(1, 2);
    let agent = Process::start(starter.run(&cli.manager));
    agent.until("registered as P03");
    assert_eq!(
        cli.ask(&["start", "--operator-token", matchday_testkit::cli::TOKEN])
            .code,
        0
    );
    cli.until_status("completed");
    let standings = cli.ask(&["standings", "--json"]).json();
    let table = standings["standings"].as_array().unwrap();
    let row = table.iter().find(|row| row["player_id"] == "P03").unwrap();
    assert_eq!(row["display_name"], starter::NAME);
    assert_eq!(
        (&row["played"], &row["technical_losses"]),
        (&2.into(), &0.into()),
        "{}",
        agent.err()
    );
    agent.until(" is over: ");
}
