//! What everyone meets: the help of every day, names that are nearly right, and addresses as they are pasted.

use matchday_testkit::cli::{Cli, output};

#[test]
fn the_help_shows_the_options_of_every_day_and_help_all_the_others_in_groups() {
    let cli = Cli::new(crate::MATCHDAY);
    let help = |flag: &str| {
        let mut command = cli.command(&["run", flag]);
        command.env("COLUMNS", "100");
        output(command).out
    };
    let short = help("--help");
    assert!(
        short.contains("--players") && short.contains("--help-all"),
        "{short}"
    );
    assert!(!short.contains("--otlp"), "{short}");
    insta::assert_snapshot!("run_help", short);
    let all = help("--help-all");
    assert!(
        all.contains("--otlp") && all.contains("Logs and metrics:"),
        "{all}"
    );
    assert!(
        !all.lines()
            .any(|line| line.trim_start().starts_with("--no-")),
        "{all}"
    );
}

#[test]
fn what_is_nearly_right_is_suggested() {
    let cli = Cli::new(crate::MATCHDAY);
    for (args, meant) in [
        (&["standngs"][..], "'standings'"),
        (&["run", "--plyers", "4"], "'--players'"),
        (
            &["run", "--game", "tic_tac_to"],
            "did you mean \"tic_tac_toe\"?",
        ),
        (&["run", "--format", "swis"], "did you mean \"swiss\"?"),
        (
            &["run", "--game", "nim", "--strategies", "optimall"],
            "choose one of",
        ),
        (&["games", "connect_for"], "did you mean \"connect_four\"?"),
        (&["man", "standing"], "did you mean \"standings\"?"),
    ] {
        let done = cli.run(args);
        assert!(done.failed(2).contains(meant), "{args:?}: {done:?}");
    }
}

#[test]
fn a_manager_is_found_by_any_of_its_addresses_and_started_once() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "600"]);
    let _agents = cli.agents(1, 2);
    let base = cli.manager.strip_suffix("/mcp").unwrap();
    let address = base.strip_prefix("http://").unwrap();
    for given in [
        address.to_owned(),
        format!("{base}/"),
        format!("{base}/#/rounds"),
        cli.manager.clone(),
    ] {
        let status = cli.run(&["status", "--json", "--manager", &given]);
        assert_eq!(status.json()["status"], "registration", "{given}");
    }
    assert_eq!(cli.ask(&["start"]).code, 0);
    let again = cli.ask(&["start"]);
    assert!(
        again.code == 0 && again.err.contains("is already started: it is running"),
        "{again:?}"
    );
}

#[test]
fn config_refuses_what_the_manager_refuses() {
    let cli = Cli::new(crate::MATCHDAY);
    for args in [
        &["--lead", "soon"][..],
        &["--rounds", "3"],
        &["--start-when", "players=500"],
        &["--score", "payoff"],
        &["--play-off", "--format", "knockout"],
    ] {
        let [config, manager] = [
            &["config", "manager"][..],
            &["manager", "--listen", "127.0.0.1:0"],
        ]
        .map(|command| cli.run(&[command, args].concat()));
        assert_eq!(config.failed(2), manager.failed(2), "{args:?}");
    }
    assert_eq!(cli.run(&["config"]).code, 0);
}

#[test]
fn shells_and_man_have_their_pages() {
    let cli = Cli::new(crate::MATCHDAY);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = cli.run(&["completions", shell]);
        assert!(
            script.code == 0 && script.out.contains("play-off"),
            "{shell}"
        );
    }
    let page = cli.run(&["man", "run"]);
    assert!(
        page.code == 0 && page.out.contains(".TH matchday"),
        "{page:?}"
    );
    assert_eq!(cli.run(&["man", "--out", "man1"]).code, 0);
    let pages = std::fs::read_dir(cli.path().join("man1")).unwrap().count();
    assert!(pages > 30, "{pages}");
}

#[test]
fn a_league_is_watched_as_json_until_it_is_over() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0", "--start-when", "players=2,referees=1"]);
    let _agents = cli.agents(1, 2);
    let watched = cli.ask(&["watch", "--json"]);
    assert_eq!(watched.code, 0, "{watched:?}");
    let last: serde_json::Value =
        serde_json::from_str(watched.out.lines().last().unwrap()).unwrap();
    assert_eq!(last["status"]["status"], "completed");
    assert_eq!(last["standings"].as_array().unwrap().len(), 2);
    assert_eq!(last["board"]["match_id"], "R1M1");
}
