//! Settings: a flag wins over the environment, the environment over the file, the file over the default.

use crate::ground::{Ground, done, free_address};
use serde_json::json;
use std::fs;

const MANUAL: &str = include_str!("../../../../docs/operating.md");

#[test]
fn each_setting_is_shown_with_where_it_came_from() {
    let ground = Ground::new();
    let file = "[manager]\nlead = 3\nplayers-max = 7\nreferees_max = 8\nprobe-every = 9\ntie-breaks = \"wins\"\n\
                [player]\nstrategy = \"mirror\"\n";
    fs::write(ground.path().join("matchday.toml"), file).unwrap();
    let shown = |args: &[&str]| {
        let mut command = ground.command(args);
        command.env("MATCHDAY_LEAD", "2").env("MATCHDAY_PLAYERS_MAX", "6");
        command.env("MATCHDAY_TIE_BREAKS", "fewer_draws");
        done(command).json()
    };
    let manager = &shown(&["config", "--json", "manager", "--lead", "1"])["manager"];
    assert_eq!(manager["lead"], json!({"value": "1", "from": "--lead"}));
    assert_eq!(manager["players-max"], json!({"value": "6", "from": "MATCHDAY_PLAYERS_MAX"}));
    let from = "matchday.toml (manager.referees-max)";
    assert_eq!(manager["referees-max"], json!({"value": "8", "from": from}));
    let from = "matchday.toml (manager.probe-every)";
    assert_eq!(manager["probe-every"], json!({"value": "9", "from": from}));
    assert_eq!(manager["tie-breaks"], json!({"value": "fewer_draws", "from": "MATCHDAY_TIE_BREAKS"}));
    assert_eq!(manager["standings-pause"], json!({"value": "0.05", "from": "default"}));
    assert_eq!(manager["game"], json!({"value": "even_odd", "from": "default"}));

    let all = shown(&["config", "--json"]);
    assert_eq!(all["manager"]["lead"]["value"], "2");
    assert_eq!(all["player"]["strategy"]["value"], "mirror");
    assert_eq!(all["manager"]["retries"]["value"], "3");
    assert_eq!(all["referee"]["retries"]["value"], json!(null), "the manager's count");

    let table = ground.run(&["config"]).out;
    assert!(table.lines().any(|line| line.starts_with("manager.lead ") && line.contains(" 3 ")), "{table}");
}

#[test]
fn by_default_each_agent_listens_on_the_port_of_its_kind_and_looks_for_the_manager_on_8000() {
    let ground = Ground::new();
    let all = ground.run(&["config", "--json"]).json();
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
    let ground = Ground::new();
    let done = ground.run(&["config", "manager", "--operator-token", "hush-hush"]);
    assert!(done.out.contains("(set)") && !done.out.contains("hush-hush"), "{done:?}");
}

#[test]
fn the_key_of_a_model_is_not_shown_and_no_flag() {
    let ground = Ground::new();
    for args in [&["config"][..], &["config", "--json"], &["config", "player"], &["player", "--help"]] {
        let mut command = ground.command(args);
        command.env("MATCHDAY_LLM_API_KEY", "hush-hush");
        let done = done(command);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(!done.out.contains("hush-hush") && !done.err.contains("hush-hush"), "{done:?}");
    }
    assert_eq!(ground.run(&["player", "--llm-api-key", "hush-hush"]).code, 2);
}

#[test]
fn an_unknown_key_is_an_error_with_a_suggestion() {
    let ground = Ground::new();
    fs::write(ground.path().join("spring.toml"), "[referee]\njoin-timeuot = 1\n").unwrap();
    for command in ["config", "manager", "referee", "player"] {
        let done = ground.run(&[command, "--config", "spring.toml"]);
        let expected =
            "spring.toml: there is no setting referee.join-timeuot - did you mean \"join-timeout\"?";
        assert_eq!(done.failed(2), expected);
    }
    assert!(ground.run(&["config", "--config", "none.toml"]).failed(2).contains("none.toml cannot be read"));
}

#[test]
fn a_league_that_is_started_again_keeps_its_own_settings_and_says_so() {
    let ground = Ground::new();
    let listen = free_address();
    let start = |args: &[&str]| {
        let mut manager =
            ground.start(&[&["manager", "--listen", &listen, "--dashboard", "off"], args].concat());
        manager.until("listening on");
        manager.signal("TERM");
        assert!(manager.wait().success());
        manager.err()
    };
    let first = start(&["--lead", "0"]);
    assert!(first.contains("operator token, shown this once"), "{first}");
    let again = start(&["--lead", "5", "--game", "even_odd"]);
    assert_eq!(
        again,
        "matchday: the league in matchday.db keeps the settings it began with - ignored: 5 of --lead\n"
    );
    assert_eq!(start(&[]), "");
}

#[test]
fn every_setting_stands_in_the_manual_with_its_default() {
    let all = Ground::new().run(&["config", "--json"]).json();
    for (section, settings) in all.as_object().unwrap() {
        let of_section = MANUAL.split(&format!("\n### `[{section}]`\n")).nth(1).expect(section);
        let table = of_section.split("\n#").next().unwrap();
        for (name, setting) in settings.as_object().unwrap() {
            let variable = format!("MATCHDAY_{}", name.replace('-', "_").to_uppercase());
            let head = format!("| `{name}` | `--{name}` | `{variable}` | ");
            let row = table.lines().find_map(|line| line.strip_prefix(&head));
            let row = row.unwrap_or_else(|| panic!("[{section}] has no row that begins with {head}"));
            if let Some(default) = setting["value"].as_str() {
                assert!(row.starts_with(&format!("`{default}` | ")), "[{section}] {head}{row}");
            }
        }
    }
}

#[test]
fn the_example_in_the_manual_sets_everything_and_works() {
    let example = MANUAL.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let ground = Ground::new();
    fs::write(ground.path().join("matchday.toml"), example).unwrap();
    let all = ground.run(&["config", "--json"]).json();
    for (section, settings) in all.as_object().unwrap() {
        for (name, setting) in settings.as_object().unwrap() {
            assert_eq!(setting["from"], format!("matchday.toml ({section}.{name})"));
        }
    }
    let _manager = ground.manager(&[]);
    for agent in ["referee", "player"] {
        ground.agent(&[agent]).until("registered as");
    }
}
