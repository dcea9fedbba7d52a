//! What cannot work is told in one line, and nothing is half started.

use matchday_testkit::cli::{Cli, free_address};
use matchday_testkit::tools;
use std::net::TcpListener;
use std::process::Command;

#[test]
fn a_port_that_is_taken_is_named_with_the_flag_to_move() {
    let cli = Cli::new(crate::MATCHDAY);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for command in ["manager", "referee", "player"] {
        let done = cli.run(&[command, "--listen", &address]);
        let line = done.failed(1);
        assert!(
            line.contains(&address) && line.contains("--listen"),
            "{line}"
        );
    }
    assert_eq!(
        std::fs::read_dir(cli.path()).unwrap().count(),
        0,
        "no store was made"
    );
}

#[test]
fn several_passwords_in_arguments_are_refused_with_a_reason() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&["verify", "postgres://a:one@h/d,postgres://a:two@h/d"]);
    let line = done.failed(2);
    assert!(line.contains("different passwords"), "{line}");
}

#[test]
fn an_unknown_strategy_is_told_with_the_nearest_and_all_that_are_known() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&["player", "--strategy", "patern"]);
    let line = done.failed(2);
    assert!(
        line.contains("did you mean \"pattern\"?") && line.contains("win_stay_lose_shift"),
        "{line}"
    );
}

#[test]
fn a_manager_that_is_not_there_is_told_by_every_command_that_needs_one() {
    let cli = Cli::new(crate::MATCHDAY);
    for command in [
        &["start"][..],
        &["status"],
        &["watch", "--json"],
        &["schedule"],
        &["stats", "P01"],
        &["admin", "pause", "--operator-token", "x"],
    ] {
        let done = cli.ask(command);
        let line = done.failed(1);
        assert!(
            line.contains(&cli.manager) && line.contains("--manager"),
            "{line}"
        );
    }
}

#[test]
fn a_second_manager_on_one_store_is_refused() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&[]);
    let done = cli.run(&["manager", "--listen", &free_address()]);
    assert!(
        done.failed(1)
            .contains("matchday.db is in use by another Matchday"),
        "{done:?}"
    );
}

#[test]
fn a_store_that_cannot_be_used_is_one_line() {
    let cli = Cli::new(crate::MATCHDAY);
    std::fs::create_dir(cli.path().join("folder")).unwrap();
    std::fs::write(cli.path().join("notes.txt"), "not a store at all").unwrap();
    for (store, words) in [
        (
            "none/league.db",
            "none/league.db lies in a directory that does not exist: create it first",
        ),
        ("folder", "folder is a directory: name a file in it"),
        ("notes.txt", "notes.txt is not a store of Matchday"),
    ] {
        let done = cli.run(&["manager", "--listen", "127.0.0.1:0", "--store", store]);
        assert!(done.failed(1).starts_with(words), "{done:?}");
    }
}

/// A file system of one megabyte, which goes with it.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    /// `None` if this user may not mount one.
    fn at(path: std::path::PathBuf) -> Option<Self> {
        std::fs::create_dir(&path).unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(&path)
            .output();
        tools::require_mount(mounted.is_ok_and(|mounted| mounted.status.success()))
            .then_some(Self(path))
    }

    fn fill(&self) {
        std::fs::write(self.0.join("ballast"), vec![0; 2 << 20]).unwrap_err();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_once_with_what_to_do() {
    let cli = Cli::new(crate::MATCHDAY);
    let Some(disk) = SmallDisk::at(cli.path().join("disk")) else {
        return;
    };
    let mut manager = cli.manager(&["--lead", "0", "--store", "disk/league.db"]);
    let _agents = cli.agents(1, 2);
    disk.fill();
    let _ = cli.ask(&["start"]);
    manager.until(
        "matchday: disk/league.db cannot grow, because its disk is full: free space there, and start again",
    );
    assert_eq!(manager.wait().code(), Some(1));
    assert_eq!(
        manager.err().matches("full").count(),
        1,
        "{}",
        manager.err()
    );
    let done = cli.run(&[
        "player",
        "--listen",
        "127.0.0.1:0",
        "--store",
        "disk/player.db",
    ]);
    assert!(
        done.failed(1)
            .starts_with("disk/player.db cannot be made or grow, because its disk is full"),
        "{done:?}"
    );
}

#[test]
fn a_service_whose_disk_is_full_ends_with_that_and_goes_on_when_there_is_room() {
    let cli = Cli::new(crate::MATCHDAY);
    let Some(disk) = SmallDisk::at(cli.path().join("disk")) else {
        return;
    };
    let listen = free_address();
    let token = "tok_service_of_the_tests";
    let serve = || {
        let fixed = ["serve", "--listen", &listen, "--service-token", token];
        let service = cli.start(&[&fixed[..], &["--store", "disk/service.db"]].concat());
        service.until("leagues are served at");
        service
    };
    let service_url = format!("http://{listen}");
    let ask = |args: &[&str]| {
        let fixed = ["--service", &service_url, "--service-token", token];
        cli.run(&[&["league"], args, &fixed].concat())
    };
    let mut service = serve();
    assert_eq!(ask(&["create", "before"]).code, 0);
    disk.fill();
    assert_eq!(ask(&["create", "during"]).code, 1);
    assert_eq!(service.wait().code(), Some(1));
    let said = service.err();
    assert!(
        said.contains("matchday: disk/service.db cannot grow, because its disk is full: free space there, and start again"),
        "{said}"
    );
    assert!(!said.contains("quarantine"), "{said}");
    std::fs::remove_file(cli.path().join("disk/ballast")).unwrap();
    let _service = serve();
    assert_eq!(ask(&["create", "after"]).code, 0);
    let listed = ask(&["list"]);
    assert!(
        listed.out.contains("before") && listed.out.contains("after"),
        "{listed:?}"
    );
}

#[test]
fn a_player_that_comes_too_late_is_told_so_and_ends() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--lead", "0"]);
    let _agents = cli.agents(1, 2);
    assert_eq!(cli.ask(&["start"]).code, 0);
    let done = cli.ask(&["player", "--listen", &free_address()]);
    assert!(
        done.failed(1).contains("refuses the registration"),
        "{done:?}"
    );
}

#[test]
fn wrong_values_are_bad_usage() {
    let cli = Cli::new(crate::MATCHDAY);
    for (args, words) in [
        (
            &["manager", "--lead", "soon"][..],
            "--lead: expected seconds",
        ),
        (
            &["manager", "--game", "chess"],
            "--game: expected even_odd or tic_tac_toe",
        ),
        (
            &["manager", "--conformance", "lax"],
            "--conformance: expected strict or lenient",
        ),
        (
            &["manager", "--start-when", "4"],
            "--start-when: expected players=N,referees=N",
        ),
        (
            &["manager", "--listen", "8000"],
            "--listen: expected HOST:PORT",
        ),
        (
            &["manager", "--endpoint-check", "never"],
            "--endpoint-check: expected off or at_start or",
        ),
        (
            &["manager", "--tie-breaks", "wins,luck"],
            "--tie-breaks: expected some of head_to_head,",
        ),
        (
            &["manager", "--message-bytes-max", "12"],
            "--message-bytes-max: expected a whole number from 1024",
        ),
        (
            &["manager", "--join-timeout", "0"],
            "--join-timeout: expected seconds above 0",
        ),
        (
            &["referee", "--other-timeout", "-1"],
            "--other-timeout: expected seconds above 0",
        ),
        (
            &["referee", "--manager", "localhost"],
            "--manager: expected host:port or a URL",
        ),
        (
            &["referee", "--retries", "-1"],
            "--retries: expected a whole number",
        ),
        (
            &["player", "--log", "xml"],
            "--log: expected people or json",
        ),
        (
            &["player", "--fallback", "luck"],
            "--fallback: there is no strategy \"luck\"",
        ),
        (
            &["player", "--think-time", "0"],
            "--think-time: expected seconds above 0",
        ),
        (
            &["player", "--strategy", "command:"],
            "--strategy: command: needs a program",
        ),
        (
            &["player", "--strategy", "command:./none"],
            "--strategy: there is no program \"./none\"",
        ),
        (
            &["player", "--strategy", "llm"],
            "--strategy llm needs --llm-url",
        ),
        (
            &["player", "--strategy", "llm", "--llm-url", "x"],
            "--llm-url: expected a URL",
        ),
        (
            &[
                "player",
                "--strategy",
                "llm",
                "--llm-url",
                "http://localhost:1",
            ],
            "--strategy llm needs --llm-model",
        ),
        (
            &[
                "player",
                "--strategy=llm",
                "--llm-url=http://x:1",
                "--llm-model=m",
                "--llm-api=x",
            ],
            "--llm-api: expected openai or anthropic",
        ),
    ] {
        let done = cli.run(args);
        assert!(done.failed(2).starts_with(words), "{done:?}");
    }
    assert_eq!(cli.run(&["frobnicate"]).code, 2);
}
