//! Seven terminals, the manager's last.

use matchday_testkit::cli::{Cli, Process};
use serde_json::Value;

fn agents(cli: &Cli) -> Vec<Process> {
    let log = ["--log", "json"];
    let referees = (0..2).map(|_| cli.agent(&[&["referee"], &log[..]].concat()));
    let players = (0..4).map(|_| cli.agent(&[&["player"], &log[..]].concat()));
    referees.chain(players).collect()
}

/// Every line is an object with exactly the fields that are promised.
fn assert_structured(lines: &str) {
    let mut fields = [
        "timestamp",
        "level",
        "component",
        "agent_id",
        "event_type",
        "message_type",
        "conversation_id",
        "match_id",
        "message",
        "details",
    ];
    fields.sort_unstable();
    assert!(lines.lines().count() > 5, "{lines}");
    for line in lines.lines() {
        let entry: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let mut found: Vec<_> = entry
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        found.sort_unstable();
        assert_eq!(found, fields, "{line}");
    }
}

fn assert_no_token(text: &str) {
    let tokens = text.match_indices("tok_").filter(|(at, _)| {
        let token = text[*at..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_');
        token.count() > 8
    });
    assert_eq!(tokens.count(), 0, "a token was written down: {text}");
}

#[test]
fn agents_that_are_there_before_their_manager_play_a_whole_league() {
    let cli = Cli::new(crate::MATCHDAY);
    let agents = agents(&cli);
    agents
        .iter()
        .for_each(|agent| agent.until("cannot register with the manager"));
    let manager = cli.manager(&["--lead", "0", "--log", "json"]);
    agents.iter().for_each(|agent| agent.until("registered as"));
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("completed");

    let standings = cli.ask(&["standings", "--json"]).json();
    let rows = standings["standings"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row["played"] == 3 && row["technical_losses"] == 0),
        "{standings}"
    );
    for agent in agents.iter().chain([&manager]) {
        assert_structured(&agent.out());
        assert_no_token(&agent.out());
    }
}

#[test]
fn a_manager_told_when_to_start_needs_nobody_to_start_it() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0", "--start-when", "players=2,referees=1"]);
    let _agents = cli.agents(1, 2);
    cli.until_status("completed");
}
