//! A league outlives its owner.

use crate::fixture::Services;
use matchday_testkit::cli::free_address;
use serde_json::json;

#[test]
fn a_league_of_one_service_is_played_through_another() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("spring", &json!({"start-when": "players=3"}));
    let _players: Vec<_> = (0..3).map(|_| services.player(&other, "spring")).collect();
    other.until("spring", |shown| shown["phase"] == "completed");
    assert!(owner.is(&services.owner(1)), "{}", services.owner(1));
    assert_eq!(services.technical_losses(), "0");
    services.verify("spring");
    let cluster = other.cluster();
    assert_eq!(
        cluster["processes"].as_array().unwrap().len(),
        2,
        "{cluster}"
    );
    assert!(
        cluster["this_process"]["forwards"].as_u64().unwrap() > 3,
        "{cluster}"
    );
}

#[test]
fn a_league_whose_owner_is_killed_goes_on_at_another_service() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("spring", &json!({"start-when": "players=4", "lead": "2"}));
    let _players: Vec<_> = (0..4).map(|_| services.player(&other, "spring")).collect();
    other.until("spring", |shown| shown["phase"] == "running");
    assert!(owner.is(&services.owner(1)));
    // Dropping a process kills it.
    drop(owner);
    other.until("spring", |shown| shown["phase"] == "completed");
    assert!(other.is(&services.owner(1)) && other.is(&services.owner(0)));
    assert_eq!(other.show("spring")["matches_decided"], 6);
    assert_eq!(services.technical_losses(), "0");
    services.verify("spring");
    assert!(
        other.cluster()["this_process"]["takeovers"]
            .as_u64()
            .unwrap()
            >= 2
    );
}

#[test]
fn a_service_that_is_told_to_stop_hands_its_leagues_over() {
    let Some(services) = Services::start() else {
        return;
    };
    let (mut owner, other) = services.two();
    owner.create("spring", &json!({"start-when": "players=4", "lead": "2"}));
    let _players: Vec<_> = (0..4).map(|_| services.player(&other, "spring")).collect();
    other.until("spring", |shown| shown["phase"] == "running");
    owner.process.signal("TERM");
    assert!(owner.process.wait().success());
    other.until("spring", |shown| shown["phase"] == "completed");
    assert_eq!(services.technical_losses(), "0");
    services.verify("spring");
    assert_eq!(
        other.cluster()["this_process"]["takeovers"],
        0,
        "it was handed over, not taken"
    );
}

#[test]
fn a_league_that_is_created_at_any_service_is_known_to_all() {
    let Some(services) = Services::start() else {
        return;
    };
    let (first, second) = services.two();
    second.create("autumn", &json!({}));
    assert_eq!(
        first.show("autumn")["phase"],
        second.show("autumn")["phase"]
    );
    let deleted = second.call("DELETE", "/api/leagues/autumn", &[], None);
    assert_eq!(deleted.status, 200, "{deleted:?}");
    assert_eq!(
        first.call("GET", "/api/leagues/autumn", &[], None).status,
        404
    );
}

#[test]
fn a_manager_and_its_built_in_referee_need_no_load_balancer_to_reach_each_other() {
    let Some(services) = Services::start() else {
        return;
    };
    let nobody = free_address();
    let service = services.serve_at(
        &free_address(),
        &services.store,
        &format!("http://{nobody}"),
    );
    service.create("spring", &json!({"start-when": "players=2"}));
    let _players: Vec<_> = (0..2)
        .map(|_| services.player(&service, "spring"))
        .collect();
    service.until("spring", |shown| shown["phase"] == "completed");
    assert_eq!(services.technical_losses(), "0");
    services.verify("spring");
}

#[test]
fn a_service_that_would_tell_agents_another_public_url_is_refused() {
    let Some(services) = Services::start() else {
        return;
    };
    let _first = services.serve(free_address());
    let args = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--public-url",
        "http://127.0.0.1:9",
        "--store",
        &services.store,
    ];
    let refused = services.cli.run(&args);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused
            .err
            .contains("start every service with the same --public-url"),
        "{refused:?}"
    );
}

#[test]
fn a_league_that_is_asked_while_the_database_takes_no_connections_is_not_put_into_quarantine() {
    let Some(services) = Services::start() else {
        return;
    };
    let mut service = services.serve(free_address());
    service.create("spring", &json!({}));
    service.process.signal("TERM");
    assert!(service.process.wait().success());
    let service = services.serve(free_address());
    services.refuse_connections(true);
    // Those that are kept for the next reader.
    services.postgres.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'ROLLBACK'",
    );
    let answer = service.call("GET", "/leagues/spring/api/standings", &[], None);
    assert!(
        answer.status == 503 && answer.body.contains("the database cannot be reached"),
        "{answer:?}"
    );
    services.refuse_connections(false);
    let answer = service.call("GET", "/leagues/spring/api/standings", &[], None);
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn services_that_start_at_the_same_moment_on_an_empty_database_all_serve() {
    let Some(services) = Services::start() else {
        return;
    };
    let listen: Vec<String> = (0..3).map(|_| free_address()).collect();
    let serve = |listen: &String| services.serve(listen.clone());
    let members: Vec<_> = std::thread::scope(|scope| {
        let starting: Vec<_> = listen
            .iter()
            .map(|listen| scope.spawn(move || serve(listen)))
            .collect();
        starting
            .into_iter()
            .map(|service| service.join().unwrap())
            .collect()
    });
    let processes = members[0].cluster()["processes"].as_array().unwrap().len();
    assert_eq!(processes, 3);
}

#[test]
fn players_that_dial_out_play_on_when_the_owner_of_their_mailboxes_is_killed() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("spring", &json!({"start-when": "players=3", "lead": "2"}));
    let _players: Vec<_> = ["ann", "ben", "eve"]
        .iter()
        .map(|name| services.dialled_player(&other, "spring", name))
        .collect();
    other.until("spring", |shown| shown["phase"] == "running");
    assert!(owner.is(&services.owner(1)));
    // Dropping a process kills it.
    drop(owner);
    other.until("spring", |shown| shown["phase"] == "completed");
    assert_eq!(services.technical_losses(), "0");
    services.verify("spring");
}

#[test]
fn the_backup_of_a_league_holds_no_private_stream() {
    let Some(services) = Services::start() else {
        return;
    };
    let service = services.serve(free_address());
    service.create("spring", &json!({}));
    assert_eq!(
        service
            .call("GET", "/leagues/spring/api/standings", &[], None)
            .status,
        200
    );
    let private =
        "SELECT count(*) > 0 FROM matchday_events WHERE league = 1 AND stream LIKE 'private/%'";
    assert_eq!(services.sql(private), "t", "the key of its checkpoints");
    let spring = format!("{}&league=spring", services.store);
    let kept = services.cli.run(&["backup", &spring, "--to", "kept.db"]);
    assert_eq!(kept.code, 0, "{kept:?}");
    let bytes = std::fs::read(services.cli.path().join("kept.db")).unwrap();
    let holds = |words: &str| {
        bytes
            .windows(words.len())
            .any(|piece| piece == words.as_bytes())
    };
    assert!(holds("league_created") && !holds("private/"));
}
