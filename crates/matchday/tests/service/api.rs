//! What cannot be is refused in one line, and creates nothing.

use crate::fixture::{Fixture, SERVICE_TOKEN, registration};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

fn names(fixture: &Fixture) -> Vec<String> {
    let listed = fixture
        .call("GET", "/api/leagues", Some(SERVICE_TOKEN), None)
        .json();
    let leagues = listed["leagues"].as_array().unwrap().clone();
    leagues
        .iter()
        .map(|league| league["league_id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_cannot_be_is_one_line_with_what_to_do_and_nothing_is_created() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&["--quota-leagues", "3", "--quota-players", "99"]);
    fixture.create(&["spring"], &[]);
    let refused = |args: &[&str], code| {
        fixture
            .league(&[&["create"], args].concat())
            .failed(code)
            .to_owned()
    };
    assert_eq!(
        refused(&["autumn", "spring"], 1),
        "the league id spring is taken: choose another"
    );
    assert_eq!(
        refused(&["autumn", "--players-max", "100"], 1),
        "players-max: 100 is beyond the quota of 99: ask for less, or start the service with a larger --quota-players"
    );
    assert_eq!(
        refused(&["a", "b", "c"], 1),
        "the service has 3 leagues, which is its quota: archive one, or start it with a larger --quota-leagues"
    );
    assert!(refused(&["two words"], 2).starts_with("league_id: expected 1 to 64 letters, digits"));
    fs::write(
        fixture.cli.path().join("course.toml"),
        "[league]\nlaed = 5\n",
    )
    .unwrap();
    assert_eq!(
        refused(&["autumn", "--template", "course.toml"], 2),
        "course.toml: line 2: there is no setting league.laed - did you mean \"lead\"?"
    );
    let unknown = json!({"leagues": [{"league_id": "autumn", "settings": {"laed": "5"}}]});
    let answer = fixture.call("POST", "/api/leagues", Some(SERVICE_TOKEN), Some(unknown));
    assert_eq!(answer.status, 400);
    assert_eq!(
        answer.json()["error"],
        "there is no setting league.laed - did you mean \"lead\"?"
    );
    assert_eq!(names(&fixture), ["spring"]);
}

#[test]
fn only_the_service_token_creates_changes_and_removes() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let tokens = fixture.create(&["spring"], &[]);
    let body = Some(json!({"leagues": [{"league_id": "autumn"}]}));
    for token in [None, Some("tok_service_guessed"), Some(tokens[0].as_str())] {
        for (method, path) in [
            ("POST", "/api/leagues"),
            ("POST", "/api/leagues/import"),
            ("PATCH", "/api/leagues/spring"),
            ("DELETE", "/api/leagues/spring"),
            ("POST", "/api/leagues/spring/archive"),
        ] {
            assert_eq!(
                fixture.call(method, path, token, body.clone()).status,
                401,
                "{method} {path}"
            );
        }
    }
    assert_eq!(names(&fixture), ["spring"]);
}

#[test]
fn a_template_makes_twelve_sections_with_a_roster_each_in_one_command() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let path = fixture.cli.path();
    fs::write(
        path.join("course.toml"),
        "[league]\nlead = 5\nplayers-max = 30\n",
    )
    .unwrap();
    let sections: Vec<String> = (1..=12)
        .map(|number| format!("section-{number:02}"))
        .collect();
    for section in &sections {
        fs::write(
            path.join(format!("{section}.csv")),
            "Ann Lee,player\nBob Roy,player\n",
        )
        .unwrap();
    }
    let sections: Vec<&str> = sections.iter().map(String::as_str).collect();
    let args = ["--template", "course.toml", "--roster", "{}.csv"];
    let made = fixture.league(&[&["create"], &sections[..], &args].concat());
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(names(&fixture), sections);
    let shown = fixture.show("section-07");
    assert_eq!(
        (
            &shown["settings"]["lead"],
            &shown["settings"]["players-max"]
        ),
        (&json!("5"), &json!("30"))
    );
    let codes = &made.json()["leagues"][6]["join_codes"];
    assert_eq!(codes.as_array().unwrap().len(), 2);
    let url = codes[0]["url"].as_str().unwrap();
    assert!(url.contains("/leagues/section-07/join/tok_join_"), "{url}");
    let stored = fs::read(fixture.store()).unwrap();
    let code = codes[0]["join_code"].as_str().unwrap().as_bytes();
    assert!(
        !stored.windows(code.len()).any(|bytes| bytes == code),
        "only its hash is kept"
    );
}

#[test]
fn settings_can_change_until_the_league_has_begun() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    fixture.create(&["spring"], &[]);
    assert_eq!(
        fixture.league(&["configure", "spring", "--lead", "9"]).code,
        0
    );
    assert_eq!(fixture.show("spring")["settings"]["lead"], "9");
    fixture.post("/leagues/spring/mcp", crate::fixture::standings("spring"));
    let raised = fixture.league(&["configure", "spring", "--agents-per-address", "100"]);
    assert_eq!(raised.code, 0, "of a league that has begun: {raised:?}");
    let refused = fixture.league(&["configure", "spring", "--lead", "10"]);
    assert!(
        refused
            .failed(1)
            .starts_with("spring has begun, and keeps the settings"),
        "{refused:?}"
    );
    let refused = fixture.league(&["configure", "spring", "--referees", "2"]);
    assert!(
        refused
            .failed(2)
            .starts_with("referees is set when the league is created"),
        "{refused:?}"
    );
    let nothing = fixture.league(&["configure", "spring"]);
    assert!(
        nothing.failed(2).starts_with("name the settings to change"),
        "{nothing:?}"
    );
    assert_eq!(
        fixture
            .league(&["configure", "spring", "--start-when", "players=2"])
            .code,
        0
    );
    assert_eq!(
        fixture.show("spring")["settings"]["start-when"],
        "players=2"
    );
}

#[test]
fn a_program_beyond_the_quota_is_not_run() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let program = fixture.cli.path().join("rules");
    let trace = fixture.cli.path().join("trace");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", trace.display())).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let refused = fixture.league(&[
        "create",
        "spring",
        "--game-command",
        program.to_str().unwrap(),
    ]);
    assert!(
        refused.failed(1).contains("--quota-programs"),
        "{refused:?}"
    );
    assert!(!trace.exists());
    assert_eq!(names(&fixture), [""; 0]);
}

#[test]
fn leagues_are_listed_by_pages_with_how_far_they_are_and_found_by_name() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let names = ["autumn", "spring", "summer", "winter"];
    fixture.create(&names, &["--referees", "none"]);
    let registered = fixture.post("/leagues/spring/mcp", registration()).json();
    assert_eq!(registered["status"], "ACCEPTED", "{registered}");
    let page = |query: &str| {
        let listed = fixture.call("GET", &format!("/api/leagues?{query}"), None, None);
        listed.json()
    };
    let ids = |page: &Value| -> Vec<String> {
        let leagues = page["leagues"].as_array().unwrap().iter();
        leagues
            .map(|league| league["league_id"].as_str().unwrap().to_owned())
            .collect()
    };
    let first = page("limit=2");
    assert_eq!(ids(&first), ["autumn", "spring"]);
    assert_eq!(
        (&first["total"], &first["next"]),
        (&json!(4), &json!("spring"))
    );
    let spring = &first["leagues"][1];
    assert_eq!(
        (&spring["phase"], &spring["players"], &spring["leaders"]),
        (&json!("registration"), &json!(1), &json!([]))
    );
    let rest = page("limit=2&after=spring");
    assert_eq!(ids(&rest), ["summer", "winter"]);
    assert_eq!(rest["next"], Value::Null);
    let found = page("search=UM");
    assert_eq!(ids(&found), ["autumn", "summer"]);
    assert_eq!(found["total"], 2);
    assert_eq!(
        fixture
            .call("GET", "/api/leagues?limit=x", None, None)
            .status,
        400
    );

    let service = format!("http://{}", fixture.listen);
    let listed = fixture
        .cli
        .run(&["league", "list", "--service", &service, "--limit", "2"]);
    assert!(
        listed.out.contains("registration") && !listed.out.contains("asleep"),
        "{listed:?}"
    );
    assert!(
        listed
            .out
            .contains("2 of 4 leagues; the next ones: matchday league list --after spring"),
        "{listed:?}"
    );
    // The page is the same for everybody: its script asks the API.
    for path in ["/", "/leagues?search=spr", "/seasons/any"] {
        let page = fixture.call("GET", path, None, None);
        assert!(
            page.status == 200
                && page.body.contains("assets/service.js")
                && !page.body.contains("summer"),
            "{page:?}"
        );
    }
    let script = fixture.call("GET", "/assets/service.js", None, None);
    assert_eq!(script.status, 200, "{script:?}");
}

#[test]
fn a_season_is_shown_in_words() {
    let fixture = Fixture::new();
    let _service = fixture.serve(&[]);
    let service = format!("http://{}", fixture.listen);
    let at = ["--service", &service, "--service-token", SERVICE_TOKEN];
    let season = |words: &[&str]| fixture.cli.run(&[&["season"], words, &at[..]].concat());
    assert_eq!(season(&["create", "nightly"]).code, 0);
    let shown = season(&["show", "nightly"]).out;
    assert!(
        shown.contains("on demand: `matchday season run nightly`") && !shown.contains("null"),
        "{shown}"
    );
}
