//! What strangers reach at the public sockets of services that share a database: every row of the table of routes, and what is not
//! in it, with every credential, at the owner of the leagues and at a service that owns none.

use crate::fixture::{SERVICE_TOKEN, Service, Services};
use matchday_runtime::routes::{Part, Permission, ROUTES, Route};
use serde_json::{Value, json};

/// What the owner of the only league once took for calls of a service.
#[test]
fn no_path_of_a_stranger_is_a_call_of_a_service() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("only", &json!({}));
    let program = json!({"game_type": "even_odd", "program": {"command": ["/usr/bin/id"]}});
    let calls = [
        ("/cluster/leagues/only/over", Value::Null),
        ("/cluster/leagues/only/delete", Value::Null),
        (
            "/cluster/record",
            json!([{"type": "service_token_set", "token": "0".repeat(64)}]),
        ),
        (
            "/cluster/record",
            json!([{"type": "league_created", "number": 9, "plan": program}]),
        ),
        ("/cluster/look", Value::Null),
        (
            "/call",
            json!({"call": "delete_league", "league_id": "only"}),
        ),
        ("/forward", Value::Null),
        (
            "/leagues/only/call",
            json!({"call": "delete_league", "league_id": "only"}),
        ),
        ("/leagues/only/cluster/leagues/only/delete", Value::Null),
    ];
    let claimed = [
        ("matchday-forwarded-league", "0"),
        ("matchday-forwarded-target", "/call"),
        ("matchday-forwarded-method", "POST"),
        ("matchday-forwarded-for", "127.0.0.1"),
        ("matchday-forwarded-elapsed-us", "0"),
        ("matchday-call-league", "0"),
    ];
    for service in [&other, &owner] {
        for (path, body) in &calls {
            for headers in [&claimed[..], &[]] {
                let answer = service.call("POST", path, headers, Some(body.clone()));
                assert_eq!(answer.status, 404, "{path}: {answer:?}");
            }
        }
    }
    assert_eq!(other.show("only")["league_id"], "only");
}

/// A player's token is worth nothing at the API, nor is a token that is nearly right.
const CREDENTIALS: [(&str, Option<&str>); 4] = [
    ("nobody", None),
    ("a guess", Some("tok_service_of_the_testz")),
    ("a player", Some("tok_p01_00000000000000000000000000000000")),
    ("the service's operator", Some(SERVICE_TOKEN)),
];

#[test]
fn every_route_admits_whom_the_table_names_at_every_service() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    for league in [None, Some("spring"), Some("autumn")] {
        if let Some(league) = league {
            owner.create(league, &json!({"public-reads": "off"}));
        }
        let known: &[&str] = match league {
            None => &[],
            Some("spring") => &["spring"],
            Some(_) => &["spring", "autumn"],
        };
        for route in ROUTES {
            for &(who, token) in credentials(route) {
                for path in paths(route, known) {
                    if changes_something(route, &path, token) {
                        continue;
                    }
                    let ask = |service: &Service| status(service, route, &path, token);
                    let here = ask(&owner);
                    let there = ask(&other);
                    let what = format!("{} {path} by {who}, of {known:?}", route.method);
                    // The league has then seen too many wrong tokens, at whichever service.
                    let is_limited = here == 429 || there == 429;
                    assert!(
                        is_limited || here == there,
                        "{what}: the owner {here}, another service {there}"
                    );
                    let expected = expected(route, &path, token, known);
                    assert!(
                        expected.contains(&here),
                        "{what}: {here}, expected one of {expected:?}"
                    );
                }
            }
        }
    }
}

/// Who is tried. Where nobody is refused a token makes no difference, and a league takes a second over each wrong token.
fn credentials(route: &Route) -> &'static [(&'static str, Option<&'static str>)] {
    match (route.permission, route.target.part()) {
        (Permission::Reader, Part::Service) | (Permission::Service, _) => &CREDENTIALS,
        (Permission::Mailbox | Permission::Operator, _) => &CREDENTIALS[..2],
        _ => &CREDENTIALS[..1],
    }
}

/// Where a row is found: agents' rows beneath every league, and at the root too.
fn paths(route: &Route, known: &[&str]) -> Vec<String> {
    let filled = route
        .path
        .replace("{id}", "nothing")
        .replace("{name}", "nothing")
        .replace("{*name}", "nothing.json")
        .replace("{file}", "app.js")
        .replace("{round}", "1")
        .replace("{player}", "P01")
        .replace("{first}", "P01")
        .replace("{second}", "P02")
        .replace("{match}", "R1M1")
        .replace("{mailbox}", "00000000000000000000000000000000")
        .replace("{call}", "1")
        .replace("{seat}", "1")
        .replace("{referee}", "9")
        .replace("{code}", "tok_join_nothing");
    assert!(
        !filled.contains('{'),
        "{}: a placeholder that this test does not know",
        route.path
    );
    match route.target.part() {
        Part::Service => {
            let of_leagues = known.iter().map(|id| route.path.replace("{id}", id));
            let named = route.path.contains("{id}");
            std::iter::once(filled)
                .chain(of_leagues.filter(|_| named))
                .collect()
        }
        Part::Root => vec![filled],
        _ => known
            .last()
            .map(|id| format!("/leagues/{id}{filled}"))
            .into_iter()
            .chain([filled.clone(), format!("/leagues/nothing{filled}")])
            .collect(),
    }
}

/// Whether the request would be carried out: other tests do that.
fn changes_something(route: &Route, path: &str, token: Option<&str>) -> bool {
    route.is_change() && token == Some(SERVICE_TOKEN) && !path.contains("nothing")
}

fn status(service: &Service, route: &Route, path: &str, token: Option<&str>) -> u16 {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<(&str, &str)> = bearer
        .iter()
        .map(|bearer| ("Authorization", bearer.as_str()))
        .collect();
    let method = route.method.as_str();
    // A stream has no end.
    let mut head = String::new();
    let stream = service.send_as_is(method, path, &headers, "");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut head).unwrap();
    head.split(' ')
        .nth(1)
        .map_or(0, |status| status.parse().unwrap())
}

/// The statuses that may answer: the leagues are closed to readers, and hold nothing yet.
fn expected(route: &Route, path: &str, token: Option<&str>, known: &[&str]) -> &'static [u16] {
    let beneath = path
        .strip_prefix("/leagues/")
        .and_then(|rest| rest.split_once('/'));
    let is_of_league = match route.target.part() {
        Part::Service => false,
        Part::Root => known.len() == 1,
        _ => true,
    };
    if is_of_league {
        let is_known = match beneath {
            Some((id, _)) => known.contains(&id),
            // At the root: only of the only league, and not where the service has a row of the same path.
            None => known.len() == 1,
        };
        let is_services = beneath.is_none()
            && ROUTES
                .iter()
                .any(|own| own.target.part() == Part::Service && own.path == path);
        if !is_known || is_services {
            return &[200, 404, 405];
        }
    }
    match route.permission {
        Permission::Service if token == Some(SERVICE_TOKEN) => &[200, 400, 404],
        Permission::Service => &[401],
        // A league that the caller may not see is as one that there is not.
        Permission::Reader if route.target.part() == Part::Service => {
            if token == Some(SERVICE_TOKEN) {
                &[200, 404]
            } else {
                &[404]
            }
        }
        // The service's own token is no league's.
        Permission::Reader | Permission::Operator => &[401, 403, 404, 429],
        Permission::Mailbox => &[404],
        Permission::Agent => &[200, 404],
        Permission::Registrant => &[201, 401],
        // 503: a mailbox that nobody reads.
        Permission::Anyone => &[200, 308, 400, 404, 405, 406, 503],
    }
}

/// Paths of all kinds, each with a seed that says which.
#[test]
fn no_path_at_all_reaches_what_is_inside() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("only", &json!({}));
    let words = [
        "", ".", "..", "cluster", "record", "leagues", "only", "delete", "over", "start", "look",
        "call", "forward", "api", "%2e%2e", "%2F", "mcp", "nothing", "relay", "import", "metrics",
        "*", "?", "#",
    ];
    let body = json!({"call": "delete_league", "league_id": "only"});
    let mut seed = 20_261_118_u64;
    let mut next = |most: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % most
    };
    for _ in 0..400 {
        let length = 1 + next(6);
        let path: String = (0..length)
            .map(|_| format!("/{}", words[next(words.len())]))
            .collect();
        let method = ["POST", "DELETE", "PUT", "PATCH", "GET"][next(5)];
        let mut head = String::new();
        let headers = [
            ("matchday-call-league", "0"),
            ("matchday-forwarded-league", "0"),
        ];
        let stream = other.send_as_is(method, &path, &headers, &body.to_string());
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut head).unwrap();
        let status = head.split(' ').nth(1).unwrap_or_default();
        assert!(
            ["200", "308", "400", "401", "403", "404", "405", "413"].contains(&status),
            "{method} {path}: {head:?}"
        );
    }
    assert_eq!(owner.show("only")["league_id"], "only");
    assert_eq!(other.show("only")["league_id"], "only");
}

/// 40 of these once took 766 MB at the service that does not own the league.
#[test]
fn a_body_that_is_too_long_is_refused_where_it_comes_in() {
    let Some(services) = Services::start() else {
        return;
    };
    let (owner, other) = services.two();
    owner.create("spring", &json!({"message-bytes-max": "2000"}));
    let long = json!({"message_type": "LEAGUE_QUERY", "padding": "x".repeat(4_000)});
    for service in [&other, &owner] {
        let refused = service.call("POST", "/leagues/spring/mcp", &[], Some(long.clone()));
        assert_eq!(refused.status, 413, "{refused:?}");
        assert!(
            refused.body.contains("E002") && refused.body.contains("2000"),
            "{refused:?}"
        );
    }
}

#[test]
fn wrong_service_tokens_are_limited_and_said() {
    let Some(services) = Services::start() else {
        return;
    };
    let service = services.serve(matchday_testkit::cli::free_address());
    let guess = |token: &str| {
        let bearer = format!("Bearer {token}");
        let mut head = String::new();
        let stream = service.send_as_is("GET", "/api/cluster", &[("Authorization", &bearer)], "");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut head).unwrap();
        head
    };
    assert!(guess("tok_service_0000000000000000").contains("401"));
    service
        .process
        .until("a wrong service token from 127.0.0.1");
    let refused = (0..400).map(|number| guess(&format!("tok_service_{number:016}")));
    assert!(
        refused.into_iter().any(|head| head.contains("429")),
        "400 guesses were all looked at"
    );
}
