//! `matchday doctor` and `matchday health`: what is wrong is one line with what to do, and an exit code.

use matchday_testkit::certificates::{Authority, Pair};
use matchday_testkit::cli::{Cli, Output, free_address};
use matchday_testkit::eventually::eventually;
use matchday_testkit::postgres::Cluster;
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

fn finding(doctor: &Output, check: &str) -> Value {
    let all = doctor.json();
    let found = all
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["check"] == check);
    found
        .unwrap_or_else(|| panic!("no {check}: {doctor:?}"))
        .clone()
}

#[test]
fn a_machine_on_which_a_manager_can_be_started_is_in_order() {
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address();
    let doctor = cli.run(&[
        "doctor",
        "manager",
        "--listen",
        &listen,
        "--connections-max",
        "16",
    ]);
    assert_eq!(doctor.code, 0, "{doctor:?}");
    for line in [
        "is free",
        "matchday.db is made at the first start",
        "only this machine can reach the agent",
    ] {
        assert!(doctor.out.contains(line), "{doctor:?}");
    }
    assert!(!cli.path().join("matchday.db").exists(), "nothing is made");
}

#[test]
fn a_port_that_another_program_has_is_told_from_one_that_an_agent_has() {
    let cli = Cli::new(crate::MATCHDAY);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = other.local_addr().unwrap().to_string();
    // It takes the call, and hangs up.
    std::thread::spawn(move || while other.accept().is_ok() {});
    let doctor = cli.run(&["doctor", "--json", "manager", "--listen", &listen]);
    assert_eq!(
        (doctor.code, &finding(&doctor, "port")["severity"]),
        (1, &"failed".into()),
        "{doctor:?}"
    );
    assert!(
        finding(&doctor, "port")["advice"]
            .as_str()
            .unwrap()
            .contains("--listen HOST:PORT")
    );
    let _manager = cli.manager(&[]);
    let listen = cli
        .manager
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/mcp")
        .unwrap();
    let doctor = cli.run(&["doctor", "--json", "manager", "--listen", listen]);
    assert_eq!(
        finding(&doctor, "port")["finding"],
        format!("an agent of Matchday listens on {listen}"),
        "{doctor:?}"
    );
}

#[test]
fn a_store_that_is_damaged_or_has_no_folder_fails() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::write(
        cli.path().join("damaged.db"),
        "no database at all, but long enough to be read as one".repeat(99),
    )
    .unwrap();
    let doctor = cli.run(&[
        "doctor",
        "--json",
        "manager",
        "--listen",
        "127.0.0.1:0",
        "--store",
        "damaged.db",
    ]);
    assert_eq!(
        (doctor.code, &finding(&doctor, "store")["severity"]),
        (1, &"failed".into()),
        "{doctor:?}"
    );
    let doctor = cli.run(&[
        "doctor",
        "--json",
        "manager",
        "--listen",
        "127.0.0.1:0",
        "--store",
        "nowhere/league.db",
    ]);
    assert_eq!(
        (doctor.code, &finding(&doctor, "disk")["severity"]),
        (1, &"failed".into()),
        "{doctor:?}"
    );
}

#[test]
fn a_registered_agent_that_cannot_be_reached_is_named() {
    let cli = Cli::new(crate::MATCHDAY);
    let _manager = cli.manager(&["--store", "league.db"]);
    let _here = cli.agents(1, 1);
    let gone = cli.agent(&["player", "--name", "Gone"]);
    gone.until("registered as");
    drop(gone);
    let doctor = cli.run(&[
        "doctor",
        "--json",
        "manager",
        "--listen",
        "127.0.0.1:0",
        "--store",
        "league.db",
    ]);
    assert_eq!(doctor.code, 0, "a warning: {doctor:?}");
    let lost = finding(&doctor, "agents");
    assert_eq!(lost["severity"], "warning");
    assert!(
        lost["finding"]
            .as_str()
            .unwrap()
            .starts_with("P02 (Gone) at http://127.0.0.1:"),
        "{lost}"
    );
    assert!(
        doctor
            .out
            .contains("registered agents that can be reached: 2"),
        "{doctor:?}"
    );
}

#[test]
fn a_player_without_its_manager_fails_and_with_it_compares_clocks() {
    let cli = Cli::new(crate::MATCHDAY);
    let player = ["doctor", "--json", "player", "--listen", "127.0.0.1:0"];
    let doctor = cli.ask(&player);
    assert_eq!(
        (doctor.code, &finding(&doctor, "manager")["severity"]),
        (1, &"failed".into()),
        "{doctor:?}"
    );
    let _manager = cli.manager(&[]);
    let doctor = cli.ask(&player);
    assert_eq!(doctor.code, 0, "{doctor:?}");
    assert!(
        finding(&doctor, "clock")["finding"]
            .as_str()
            .unwrap()
            .ends_with("as the manager's does"),
        "{doctor:?}"
    );
}

#[test]
fn a_certificate_and_a_key_that_do_not_fit_fail() {
    let cli = Cli::new(crate::MATCHDAY);
    let authority = Authority::new("league");
    let Pair { cert, key } = authority.issue(cli.path(), "agent", &["localhost"]);
    let other = authority.issue(cli.path(), "other", &["localhost"]).key;
    let doctor = |key: &std::path::Path| {
        let cert = cert.to_str().unwrap();
        let key = key.to_str().unwrap();
        cli.run(&[
            "doctor",
            "--json",
            "manager",
            "--listen",
            "127.0.0.1:0",
            "--tls-cert",
            cert,
            "--tls-key",
            key,
        ])
    };
    let fits = doctor(&key);
    assert_eq!(finding(&fits, "tls")["severity"], "ok", "{fits:?}");
    let unfit = doctor(&other);
    assert_eq!(
        (unfit.code, &finding(&unfit, "tls")["severity"]),
        (1, &"failed".into()),
        "{unfit:?}"
    );
}

#[test]
fn health_is_that_of_the_agent() {
    let cli = Cli::new(crate::MATCHDAY);
    let nobody = cli.run(&["health", &cli.manager]);
    assert!(nobody.failed(1).contains("does not answer"), "{nobody:?}");
    let player = cli.agent(&["player"]);
    player.until("cannot register");
    let _manager = cli.manager(&[]);
    let ready = cli.run(&["health", &cli.manager]);
    assert_eq!(
        (ready.code, ready.out.as_str()),
        (0, "ready\n"),
        "{ready:?}"
    );
}

#[test]
fn a_certificate_for_another_name_and_a_name_that_nobody_knows_are_found() {
    let cli = Cli::new(crate::MATCHDAY);
    let authority = Authority::new("league");
    let pair = authority.issue(cli.path(), "service", &["leagues.invalid"]);
    let doctor = |public: &str| {
        cli.run(&[
            "doctor",
            "--json",
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--tls-cert",
            pair.cert.to_str().unwrap(),
            "--tls-key",
            pair.key.to_str().unwrap(),
            "--public-url",
            public,
        ])
    };
    let unknown = doctor("https://leagues.invalid");
    let found = finding(&unknown, "url");
    assert_eq!((unknown.code, &found["severity"]), (0, &"warning".into()));
    assert!(
        found["finding"]
            .as_str()
            .unwrap()
            .contains("leagues.invalid is not found from here"),
        "{found}"
    );
    let other = doctor("https://localhost");
    assert_eq!(other.code, 1, "{other:?}");
    assert!(
        other.out.contains(
            "the certificate is not for localhost, but agents receive the address https://localhost"
        ),
        "{other:?}"
    );
}

#[test]
fn a_token_that_everyone_can_read_is_found_and_one_that_is_too_short_is_refused() {
    let cli = Cli::new(crate::MATCHDAY);
    let token = cli.path().join("token");
    let doctor = |text: &str, mode: u32| {
        fs::write(&token, text).unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(mode)).unwrap();
        let file = ["--service-token-file", token.to_str().unwrap()];
        cli.run(
            &[
                &["doctor", "--json", "serve", "--listen", "127.0.0.1:0"],
                &file[..],
            ]
            .concat(),
        )
    };
    let long = "tok_service_of_the_tests";
    let open = doctor(long, 0o644);
    assert_eq!(finding(&open, "secrets")["severity"], "warning", "{open:?}");
    assert!(!doctor(long, 0o600).out.contains("secrets"));
    let short = doctor("abcde", 0o600);
    assert!(
        short.code != 0 && short.err.contains("service-token"),
        "{short:?}"
    );
}

#[test]
fn a_database_is_no_folder_and_referees_of_the_house_are_not_called() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let cli = Cli::new(crate::MATCHDAY);
    let store = cluster.database();
    let listen = free_address();
    let token = "tok_service_of_the_tests";
    let settings = ["--listen", &listen, "--store", &store];
    let doctor = || cli.run(&[&["doctor", "--json", "serve"], &settings[..]].concat());
    let new = doctor();
    assert_eq!(new.code, 0, "{new:?}");
    let made = finding(&new, "store")["finding"].clone();
    assert!(
        made.as_str()
            .unwrap()
            .ends_with("is made at the first start"),
        "{made}"
    );
    let served = [&["serve", "--service-token", token], &settings[..]].concat();
    let mut service = cli.start(&served);
    service.until("leagues are served at");
    let url = format!("http://{listen}");
    let created = cli.run(&[
        "league",
        "create",
        "spring",
        "--service",
        &url,
        "--service-token",
        token,
    ]);
    assert_eq!(created.code, 0, "{created:?}");
    let manager = format!("{url}/leagues/spring/mcp");
    assert_eq!(cli.run(&["status", "--manager", &manager]).code, 0);
    eventually("a referee of the house", || {
        let league = cli.run(&["league", "show", "spring", "--json", "--service", &url]);
        if league.out.contains("\"referees\": 1") {
            Ok(())
        } else {
            Err(league)
        }
    });
    service.signal("TERM");
    assert!(service.wait().success());
    let again = doctor();
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(finding(&again, "store")["severity"], "ok", "{again:?}");
    assert!(!again.out.contains("cannot be reached"), "{again:?}");
}
