//! Settings: a flag wins over the environment, the environment over the file, the file over the default.

use matchday_testkit::cli::{Cli, free_address, output};
use serde_json::json;
use std::fs;

const PAGE: &str = include_str!("../../../../docs/configuration.md");

#[test]
fn each_setting_is_shown_with_where_it_came_from() {
    let cli = Cli::new(crate::MATCHDAY);
    let file = "[manager]\nlead = 3\nplayers-max = 7\nsuspend_after = 8\nretries = 9\ntie-breaks = \"wins\"\n\
                [player]\nstrategy = \"mirror\"\n";
    fs::write(cli.path().join("matchday.toml"), file).unwrap();
    let shown = |args: &[&str]| {
        let mut command = cli.command(args);
        command
            .env("MATCHDAY_LEAD", "2")
            .env("MATCHDAY_PLAYERS_MAX", "6");
        command.env("MATCHDAY_TIE_BREAKS", "fewer_draws");
        output(command).json()
    };
    let manager = &shown(&["config", "--json", "manager", "--lead", "1"])["manager"];
    assert_eq!(manager["lead"], json!({"value": "1", "from": "--lead"}));
    assert_eq!(
        manager["players-max"],
        json!({"value": "6", "from": "MATCHDAY_PLAYERS_MAX"})
    );
    let from = "matchday.toml (manager.suspend-after)";
    assert_eq!(
        manager["suspend-after"],
        json!({"value": "8", "from": from})
    );
    let from = "matchday.toml (manager.retries)";
    assert_eq!(manager["retries"], json!({"value": "9", "from": from}));
    assert_eq!(
        manager["tie-breaks"],
        json!({"value": "fewer_draws", "from": "MATCHDAY_TIE_BREAKS"})
    );
    assert_eq!(
        manager["join-timeout"],
        json!({"value": "5", "from": "default"})
    );
    assert_eq!(
        manager["game"],
        json!({"value": "even_odd", "from": "default"})
    );

    let all = shown(&["config", "--json"]);
    assert_eq!(all["manager"]["lead"]["value"], "2");
    assert_eq!(all["player"]["strategy"]["value"], "mirror");
    assert_eq!(all["manager"]["retries"]["value"], "9");
    assert_eq!(
        all["referee"]["retries"]["value"],
        json!(null),
        "the manager's count"
    );

    let table = cli.run(&["config"]).out;
    assert!(
        table
            .lines()
            .any(|line| line.starts_with("manager.lead ") && line.contains(" 3 ")),
        "{table}"
    );
}

#[test]
fn by_default_each_agent_listens_on_the_port_of_its_kind_and_looks_for_the_manager_on_8000() {
    let cli = Cli::new(crate::MATCHDAY);
    let all = cli.run(&["config", "--json"]).json();
    let value = |kind: &str, name: &str| all[kind][name]["value"].as_str().unwrap().to_owned();
    assert_eq!(value("manager", "listen"), "127.0.0.1:8000");
    assert_eq!(value("referee", "listen"), "127.0.0.1:8001");
    assert_eq!(value("player", "listen"), "127.0.0.1:8101");
    for kind in ["referee", "player"] {
        assert_eq!(value(kind, "manager"), "http://localhost:8000/mcp");
    }
}

#[test]
fn the_operator_token_is_not_shown() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&[
        "config",
        "manager",
        "--operator-token",
        "hush-hush-nobody-knows",
    ]);
    assert!(
        done.out.contains("(set)") && !done.out.contains("hush-hush"),
        "{done:?}"
    );
}

#[test]
fn the_password_of_no_store_is_shown() {
    let cli = Cli::new(crate::MATCHDAY);
    for args in [
        &["config"][..],
        &["config", "--json"],
        &["config", "manager"],
    ] {
        let mut command = cli.command(args);
        command.env(
            "MATCHDAY_DASHBOARD_STORES",
            "a.db,postgres://ann:hush-hush@h/x,postgres://ben:hush-hush@h/y",
        );
        let done = output(command);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(
            done.out.contains("postgres://ben@h/y") && !done.out.contains("hush-hush"),
            "{done:?}"
        );
    }
}

#[test]
fn the_key_of_a_model_is_not_shown_and_no_flag() {
    let cli = Cli::new(crate::MATCHDAY);
    for args in [
        &["config"][..],
        &["config", "--json"],
        &["config", "player"],
        &["player", "--help"],
    ] {
        let mut command = cli.command(args);
        command.env("MATCHDAY_LLM_API_KEY", "hush-hush");
        let done = output(command);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(
            !done.out.contains("hush-hush") && !done.err.contains("hush-hush"),
            "{done:?}"
        );
    }
    assert_eq!(cli.run(&["player", "--llm-api-key", "hush-hush"]).code, 2);
}

#[test]
fn an_unknown_key_is_an_error_with_a_suggestion() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::write(
        cli.path().join("spring.toml"),
        "[referee]\njoin-timeuot = 1\n",
    )
    .unwrap();
    for command in ["config", "manager", "referee", "player"] {
        let done = cli.run(&[command, "--config", "spring.toml"]);
        let expected = "spring.toml: line 2: there is no setting referee.join-timeuot - did you mean \"join-timeout\"?";
        assert_eq!(done.failed(2), expected);
    }
    assert!(
        cli.run(&["config", "--config", "none.toml"])
            .failed(2)
            .contains("none.toml cannot be read")
    );
}

#[test]
fn a_league_that_is_started_again_keeps_its_own_settings_and_says_so() {
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address();
    let start = |args: &[&str]| {
        let mut manager = cli.start(
            &[
                &["manager", "--listen", &listen, "--dashboard", "off"],
                args,
            ]
            .concat(),
        );
        manager.until("listening on");
        manager.signal("TERM");
        assert!(manager.wait().success());
        manager.err()
    };
    let first = start(&["--lead", "0"]);
    assert!(first.contains("operator token, shown only once"), "{first}");
    let again = start(&["--lead", "5", "--game", "even_odd"]);
    assert_eq!(
        again,
        "matchday: the league in matchday.db keeps the settings it began with - ignored: 5 of --lead\n"
    );
    assert_eq!(start(&[]), "");
}

#[test]
fn a_misspelt_variable_is_an_error_with_a_suggestion_for_every_command() {
    let cli = Cli::new(crate::MATCHDAY);
    for args in [
        &["config"][..],
        &["referee"],
        &["run", "--port-base", "0"],
        &["status"],
    ] {
        let mut command = cli.command(args);
        command.env("MATCHDAY_JOIN_TIMEUOT", "1");
        let expected = "MATCHDAY_JOIN_TIMEUOT: there is no such variable - did you mean MATCHDAY_JOIN_TIMEOUT?";
        assert_eq!(output(command).failed(2), expected);
    }
}

#[test]
fn a_value_out_of_range_is_told_as_it_was_given() {
    let cli = Cli::new(crate::MATCHDAY);
    let expected = "expected a whole number from 1024 to 16777216, got \"1\"";
    let told = |args: &[&str], variable: &str| {
        let mut command = cli.command(args);
        command.env(variable, "1");
        output(command).failed(2).to_owned()
    };
    assert_eq!(
        told(&["player", "--message-bytes-max", "1"], "X"),
        format!("--message-bytes-max: {expected}")
    );
    assert_eq!(
        told(&["player"], "MATCHDAY_MESSAGE_BYTES_MAX"),
        format!("MATCHDAY_MESSAGE_BYTES_MAX: {expected}")
    );
    fs::write(
        cli.path().join("matchday.toml"),
        "[player]\n\nmessage-bytes-max = 1\n",
    )
    .unwrap();
    assert_eq!(
        told(&["player"], "X"),
        format!("matchday.toml: line 3: player.message-bytes-max: {expected}")
    );
}

#[test]
fn run_takes_its_settings_from_the_environment_and_the_file_too() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::write(
        cli.path().join("matchday.toml"),
        "[run]\nplayers = 3\nreferees = 1\nport-base = 0\n",
    )
    .unwrap();
    let mut command = cli.command(&["run", "--json", "--referees", "2"]);
    command
        .env("MATCHDAY_STORE", "spring.db")
        .env("MATCHDAY_PLAYERS", "2");
    let done = output(command).json();
    assert_eq!(done["standings"].as_array().unwrap().len(), 2, "{done}");
    assert_eq!(done["store"], "spring.db");
}

#[test]
fn the_example_in_the_manual_works() {
    let example = PAGE
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let cli = Cli::new(crate::MATCHDAY);
    fs::write(cli.path().join("matchday.toml"), example).unwrap();
    let all = cli.run(&["config", "--json"]).json();
    assert_eq!(
        all["manager"]["lead"],
        json!({"value": "5", "from": "matchday.toml (manager.lead)"})
    );
    let _manager = cli.manager(&[]);
    for agent in ["referee", "player"] {
        cli.agent(&[agent]).until("registered as");
    }
}
