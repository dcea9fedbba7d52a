//! The addresses of a service: leagues beneath theirs, one league also at the old ones, and an unknown league named as such.

use crate::fixture::{Fixture, SERVICE_TOKEN, registration, standings};
use matchday_testkit::eventually::eventually;

#[test]
fn an_unknown_league_is_answered_with_e007_and_with_those_that_there_are() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(&["spring", "autumn"], &[]);
    for path in ["/leagues/sprang/mcp", "/mcp"] {
        let answer = fixture.post(path, registration()).json();
        assert_eq!(answer["error_code"], "E007", "{answer}");
        let words = answer["error_message"].as_str().unwrap();
        assert!(
            words.contains(&fixture.manager("autumn"))
                && words.contains(&fixture.manager("spring")),
            "{words}"
        );
    }
    assert_eq!(
        fixture.call("GET", "/leagues/sprang/", None, None).status,
        404
    );
}

#[test]
fn a_registration_that_names_no_league_goes_to_that_of_its_path() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(&["spring", "autumn"], &[]);
    let answer = fixture.post("/leagues/autumn/mcp", registration()).json();
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    assert_eq!(
        (
            &fixture.show("autumn")["players"],
            &fixture.show("spring")["players"]
        ),
        (&1.into(), &0.into())
    );
}

#[test]
fn with_one_league_the_old_addresses_are_its_own() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    assert_eq!(
        fixture.post("/mcp", standings("spring")).json()["result"]["error_code"],
        "E007",
        "there is none yet"
    );
    fixture.create(&["spring"], &[]);
    let answer = fixture.post("/mcp", standings("spring")).json();
    assert_eq!(answer["result"]["success"], true, "{answer}");
    for page in ["/", "/leagues/spring/"] {
        let page = fixture.call("GET", page, None, None);
        assert!(
            page.status == 200 && page.body.contains("app.js"),
            "the dashboard: {page:?}"
        );
    }
    let redirect = fixture.call("GET", "/leagues/spring", None, None);
    assert_eq!(redirect.status, 308);
    for path in ["health/live", "api/league", "schemas/openrpc.manager.json"] {
        assert_ne!(
            fixture
                .call("GET", &format!("/leagues/spring/{path}"), None, None)
                .status,
            503,
            "{path}"
        );
    }
}

#[test]
fn the_list_shows_what_the_viewer_may_see() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(&["spring", "autumn"], &[]);
    let tokens = fixture.create(&["secret"], &["--public-reads", "off"]);
    let page = |token: Option<&str>| fixture.call("GET", "/api/leagues", token, None).body;
    assert!(page(None).contains("spring") && !page(None).contains("secret"));
    assert!(page(Some(SERVICE_TOKEN)).contains("secret"));
    assert!(
        page(Some(&tokens[0])).contains("secret"),
        "its operator sees it"
    );
    assert_eq!(
        fixture
            .call("GET", "/api/leagues/secret", None, None)
            .status,
        404
    );
    let listed = fixture
        .call("GET", "/api/leagues", Some(&tokens[0]), None)
        .json();
    let names: Vec<&str> = listed["leagues"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|league| league["league_id"].as_str())
        .collect();
    assert_eq!(
        names,
        ["autumn", "secret", "spring"],
        "in alphabetical order"
    );
}

#[test]
fn a_rotated_operator_token_decides_who_sees_the_league() {
    let fixture = Fixture::new();
    let service = fixture.serve(&[]);
    let old = fixture
        .create(&["secret"], &["--public-reads", "off"])
        .remove(0);
    let manager = fixture.manager("secret");
    let at = [
        "--manager",
        &manager,
        "--league-id",
        "secret",
        "--operator-token",
        &old,
        "--json",
    ];
    let rotated = fixture
        .cli
        .run(&[&["admin"], &at[..], &["rotate", "operator"]].concat());
    assert_eq!(rotated.code, 0, "{rotated:?}");
    let new = rotated.json()["auth_token"].as_str().unwrap().to_owned();
    let sees = |token: &str| {
        fixture
            .call("GET", "/api/leagues/secret", Some(token), None)
            .status
            == 200
    };
    eventually("the list knows the new token alone", || {
        !sees(&old) && sees(&new)
    });
    drop(service);
    let _service = fixture.serve(&[]);
    assert!(sees(&new) && !sees(&old), "also after a crash");
}

#[test]
fn a_request_to_a_name_that_is_not_the_services_own_is_refused_wherever_the_name_stands() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(&["spring"], &[]);
    for path in [
        "/leagues/spring",
        "/leagues/spring/",
        "/leagues/spring/mcp",
        "/leagues/spring/referees/1/mcp",
        "/api/leagues",
        "/",
    ] {
        for (authority, status) in [("evil.example", 403), ("evil.example:80", 403)] {
            let refused = fixture.call("GET", &format!("http://{authority}{path}"), None, None);
            assert_eq!(refused.status, status, "{authority} {path}: {refused:?}");
        }
        let own = fixture.call(
            "GET",
            &format!("http://{}{path}", fixture.listen),
            None,
            None,
        );
        assert_ne!(own.status, 403, "{path}: {own:?}");
    }
}
