//! What the operator orders from the page, and who may not.

use crate::league::{Reply, Shown, TOKEN, send, settings, until};
use matchday_core::league;

async fn order(shown: &Shown, headers: &[(&str, &str)], body: &str) -> Reply {
    send(shown.address(), "POST", "/api/orders", headers, body).await
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

async fn ordered(shown: &Shown, body: &str) -> Reply {
    let token = bearer(TOKEN);
    order(
        shown,
        &[
            ("authorization", &token),
            ("content-type", "application/json"),
        ],
        body,
    )
    .await
}

#[tokio::test]
async fn a_league_is_started_paused_resumed_and_ended() {
    let slow = league::LeagueSettings {
        announce_lead: std::time::Duration::from_secs(600),
        ..settings()
    };
    let shown = Shown::with_players(slow, 2).await;
    for (body, phase, words) in [
        (r#"{"order":"start"}"#, "running", "started"),
        (r#"{"order":"pause"}"#, "paused", "paused"),
        (r#"{"order":"resume"}"#, "running", "continues"),
        (r#"{"order":"end"}"#, "completed", "ended"),
    ] {
        let reply = ordered(&shown, body).await;
        assert_eq!(reply.status, 200, "{body}: {reply:?}");
        assert!(
            reply.json()["said"].as_str().unwrap().contains(words),
            "{reply:?}"
        );
        until(&shown, "/api/league", |league| league["phase"] == phase).await;
    }
    let reply = ordered(&shown, r#"{"order":"pause"}"#).await;
    assert_eq!(reply.status, 409, "{reply:?}");
    assert!(reply.error().contains("nothing to pause"), "{reply:?}");
}

#[tokio::test]
async fn a_player_is_withdrawn_and_a_result_is_struck() {
    let shown = Shown::finished(settings(), 2).await;
    let reply = ordered(&shown, r#"{"order":"void","match_id":"R1M1"}"#).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.json()["said"].as_str().unwrap().contains("R1M1"));
    for (body, status, words) in [
        (
            r#"{"order":"void","match_id":"R7M1"}"#,
            400,
            "there is no match R7M1",
        ),
        (r#"{"order":"void"}"#, 400, "name in match_id"),
        (r#"{"order":"withdraw"}"#, 400, "name in player_id"),
        (r#"{"order":"rotate"}"#, 400, "name in agent_id"),
        (r#"{"order":"dance"}"#, 400, "one of start, pause"),
        ("no json", 400, "an order is like"),
    ] {
        let reply = ordered(&shown, body).await;
        assert_eq!(reply.status, status, "{body}: {reply:?}");
        assert!(reply.error().contains(words), "{body}: {reply:?}");
    }
    until(&shown, "/api/league", |league| {
        league["phase"] == "completed"
    })
    .await;
}

#[tokio::test]
async fn orders_need_the_operator_token_even_on_this_machine() {
    let shown = Shown::with_players(settings(), 2).await;
    let json = ("content-type", "application/json");
    let nothing = order(&shown, &[json], r#"{"order":"start"}"#).await;
    assert_eq!(nothing.status, 401, "{nothing:?}");
    assert_eq!(nothing.headers["www-authenticate"], "Bearer");
    for wrong in [
        bearer("tok_operator_wrong"),
        "Basic abc".to_owned(),
        "Bearer".to_owned(),
    ] {
        let reply = order(
            &shown,
            &[json, ("authorization", &wrong)],
            r#"{"order":"start"}"#,
        )
        .await;
        assert!(matches!(reply.status, 401 | 403), "{wrong}: {reply:?}");
        assert!(!reply.body.contains("tok_operator_wrong"), "{reply:?}");
    }
    assert_eq!(shown.page("/api/league").await["phase"], "registration");
}

#[tokio::test]
async fn orders_from_other_pages_are_refused() {
    let shown = Shown::with_players(settings(), 2).await;
    let token = bearer(TOKEN);
    let own = format!("http://{}", shown.address());
    let with = |more: &[(&'static str, String)]| {
        let mut headers = vec![("authorization".to_owned(), token.clone())];
        headers.extend(
            more.iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone())),
        );
        headers
    };
    let json = || ("content-type", "application/json".to_owned());
    for (headers, status) in [
        (
            with(&[json(), ("origin", "http://localhost:1".into())]),
            403,
        ),
        (
            with(&[json(), ("origin", "http://evil.example".into())]),
            403,
        ),
        (
            with(&[
                json(),
                ("origin", own.clone()),
                ("sec-fetch-site", "cross-site".into()),
            ]),
            403,
        ),
        (with(&[("content-type", "text/plain".into())]), 415),
        (with(&[]), 415),
        (
            with(&[
                json(),
                ("origin", own),
                ("sec-fetch-site", "same-origin".into()),
            ]),
            200,
        ),
    ] {
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let reply = order(&shown, &headers, r#"{"order":"start"}"#).await;
        assert_eq!(reply.status, status, "{headers:?}: {reply:?}");
    }
}

#[tokio::test]
async fn guessing_the_operator_token_is_slowed_down_wherever_it_is_tried() {
    let wary = league::LeagueSettings {
        token_guesses_max: 4,
        ..settings()
    };
    let shown = Shown::with_players(wary, 2).await;
    let json = ("content-type", "application/json");
    let mut statuses = Vec::new();
    for number in 0..3 {
        let wrong = bearer(&format!("tok_operator_guess_{number}"));
        statuses.push(
            send(
                shown.address(),
                "GET",
                "/api/league",
                &[("authorization", &wrong)],
                "",
            )
            .await
            .status,
        );
        let pause = r#"{"order":"pause"}"#;
        statuses.push(
            order(&shown, &[json, ("authorization", &wrong)], pause)
                .await
                .status,
        );
    }
    assert_eq!(statuses, [403, 403, 403, 403, 429, 429]);
    assert_eq!(
        shown.see("/api/league").await.status,
        200,
        "the right one is never kept waiting"
    );
}
