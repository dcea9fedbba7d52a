//! What each page shows.

use crate::league::{Shown, settings, until};
use matchday_core::league;
use matchday_testkit::fake_peer::FakePeer;
use serde_json::{Value, json};
use std::time::Duration;

fn is_time(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.len() == "2025-01-15T10:30:00.049Z".len() && text.ends_with('Z'))
}

#[tokio::test]
async fn an_empty_league_says_what_to_do_next() {
    let mut shown = Shown::empty(settings()).await;
    let page = until(&shown, "/api/league", |league| {
        league["created_at"].is_string()
    })
    .await;
    assert_eq!(
        (&page["phase"], &page["live"], &page["operator"]),
        (&json!("registration"), &json!(true), &json!(false))
    );
    assert_eq!(page["league_id"], "league_2025_even_odd");
    assert!(
        is_time(&page["now"]) && is_time(&page["created_at"]),
        "{page}"
    );
    let commands: Vec<&str> = page["next"]
        .as_array()
        .unwrap()
        .iter()
        .map(|next| next["command"].as_str().unwrap())
        .collect();
    let manager = shown.address();
    assert_eq!(
        commands,
        [
            format!("matchday referee --listen 127.0.0.1:0 --manager http://{manager}/mcp"),
            format!("matchday player --listen 127.0.0.1:0 --manager http://{manager}/mcp")
        ]
    );
    for path in [
        "/api/standings",
        "/api/rounds",
        "/api/cross",
        "/api/messages",
        "/api/referees",
    ] {
        assert!(shown.page(path).await["version"].is_u64(), "{path}");
    }
    shown.add_referee().await;
    shown.add_player(1).await;
    shown.add_player(2).await;
    let page = until(&shown, "/api/league", |league| league["players"] == 2).await;
    assert!(
        page["next"][0]["command"]
            .as_str()
            .unwrap()
            .starts_with("matchday start "),
        "{page}"
    );
}

#[tokio::test]
async fn a_finished_league_shows_its_table_its_rounds_and_who_beat_whom() {
    let shown = Shown::finished(settings(), 4).await;
    let league = shown.page("/api/league").await;
    assert_eq!(
        league["matches"],
        json!({"decided": 6, "playing": 0, "waiting": 0, "total": 6})
    );
    assert_eq!(
        (&league["round"]["current"], &league["round"]["total"]),
        (&json!(3), &json!(3))
    );
    assert!(
        is_time(&league["started_at"]) && is_time(&league["completed_at"]),
        "{league}"
    );
    assert_eq!(league["next"][0]["command"], "matchday verify league.db");

    let table = shown.page("/api/standings").await;
    let rows = table["rows"].as_array().unwrap();
    let ranks: Vec<u64> = rows
        .iter()
        .map(|row| row["rank"].as_u64().unwrap())
        .collect();
    assert!(
        ranks[0] == 1 && ranks.is_sorted(),
        "level players share a place: {ranks:?}"
    );
    assert_eq!(rows[0]["id"], league["champion"]["id"]);
    assert!(
        rows.iter()
            .all(|row| row["played"] == 3 && row["form"].as_array().unwrap().len() == 3),
        "{table}"
    );
    let reason = rows[0]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("ahead of ") || reason.starts_with("level with "),
        "{table}"
    );
    assert_eq!(table["tie_breaks"][0], "points");

    let rounds = shown.page("/api/rounds").await;
    assert_eq!(rounds["rounds"].as_array().unwrap().len(), 3);
    assert_eq!(rounds["rounds"][2]["state"], "completed");
    let round = shown.page("/api/rounds/2?offset=1&limit=1").await;
    assert_eq!(
        (&round["total"], round["matches"].as_array().unwrap().len()),
        (&json!(2), 1)
    );
    assert_eq!(round["matches"][0]["id"], "R2M2");
    assert!(round["matches"][0]["took_ms"].is_u64(), "{round}");

    let cross = shown.page("/api/cross").await;
    let cells = cross["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12, "each of the four has met the three others");
    assert_eq!(cross["players"][0]["id"], rows[0]["id"]);
    let first_wins: u64 = cells
        .iter()
        .filter(|cell| cell[0] == 0)
        .map(|cell| cell[2]["w"].as_u64().unwrap())
        .sum();
    assert_eq!(first_wins, rows[0]["wins"].as_u64().unwrap());

    let referees = shown.page("/api/referees").await;
    assert_eq!(
        (
            &referees["referees"][0]["refereed"],
            &referees["referees"][0]["in_hand"]
        ),
        (&json!(6), &json!(0))
    );
}

#[tokio::test]
async fn a_player_has_a_page_of_its_own() {
    let shown = Shown::finished(settings(), 3).await;
    // Messages are recorded a moment after they were answered.
    let page = until(&shown, "/api/players/p02", |page| {
        page["answers"]["by_type"]["GAME_INVITATION"]["count"] == 2
    })
    .await;
    assert_eq!(
        (&page["id"], &page["name"]),
        (&json!("P02"), &json!("Player 2"))
    );
    assert_eq!(page["form"].as_array().unwrap().len(), 2);
    let points = page["points_by_round"].as_array().unwrap();
    assert_eq!((points.len(), points.last()), (3, Some(&page["points"])));
    assert_eq!(page["against"].as_array().unwrap().len(), 2);
    let answers = &page["answers"];
    assert_eq!(
        (&answers["count"], &answers["deadline_ms"]),
        (&json!(2), &json!(300))
    );
    let invitations = &answers["by_type"]["GAME_INVITATION"];
    assert_eq!(
        (&invitations["late"], &invitations["deadline_ms"]),
        (&json!(0), &json!(300)),
        "{answers}"
    );
    let counted: u64 = answers["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bucket| bucket["count"].as_u64().unwrap())
        .sum();
    assert_eq!(counted, 2);
    let chosen: u64 = page["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| choice["count"].as_u64().unwrap())
        .sum();
    assert_eq!(chosen, 2);
    assert_eq!(page["matches"].as_array().unwrap().len(), 2);
    let rated = until(&shown, "/api/players/P02", |page| {
        page["rating"].is_object()
    })
    .await;
    assert!(
        rated["luck"].is_string() && rated["by_chance"].is_f64(),
        "{rated}"
    );
    let league = shown.page("/api/league").await;
    assert!(
        league["luck"].is_string() && league["top_two"].is_string(),
        "{league}"
    );
}

#[tokio::test]
async fn a_match_has_its_story_its_messages_and_a_draw_that_holds() {
    let shown = Shown::finished(settings(), 2).await;
    let page = until(&shown, "/api/matches/R1M1", |page| {
        let kinds = page["messages"].as_array().unwrap().iter();
        kinds
            .filter(|message| message["type"] == "GAME_OVER")
            .count()
            == 2
    })
    .await;
    assert_eq!(
        (&page["state"], &page["referee"], &page["attempts"]),
        (&json!("decided"), &json!("REF01"), &json!(1))
    );
    let steps: Vec<&str> = page["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["text"].as_str().unwrap())
        .collect();
    assert!(
        steps
            .iter()
            .any(|step| step.contains("R1M1 given to REF01")),
        "{steps:?}"
    );
    assert!(
        steps
            .iter()
            .any(|step| step.contains("R1M1 decided by REF01")),
        "{steps:?}"
    );
    let invited = page["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|message| message["type"] == "GAME_INVITATION");
    let invited = invited.unwrap();
    assert_eq!(
        (&invited["from"], &invited["outcome"]),
        (&json!("REF01"), &json!("ok"))
    );
    assert_eq!(invited["answer_type"], "GAME_JOIN_ACK");
    for time in [
        "sent_at",
        "connected_at",
        "first_byte_at",
        "answered_at",
        "deadline_at",
    ] {
        assert!(is_time(&invited[time]), "{time}: {invited}");
    }
    assert!(
        invited["request"]
            .as_str()
            .unwrap()
            .contains("GAME_INVITATION"),
        "{invited}"
    );
    assert_eq!(page["moves"].as_array().unwrap().len(), 2);
    let draw = &page["draw"];
    assert_eq!(draw["holds"], true, "{draw}");
    assert!(
        draw["commitment"].is_string()
            && draw["secret"].is_string()
            && draw["nonces"]["P01"].is_string(),
        "{draw}"
    );
    assert!(
        page.get("missing").is_none() && page.get("withheld").is_none(),
        "{page}"
    );
}

#[tokio::test]
async fn a_match_that_was_not_played_names_who_is_to_blame() {
    let mut shown = Shown::empty(settings()).await;
    shown.add_referee().await;
    shown.add_player(1).await;
    let silent = FakePeer::by_rule(|_| (200, json!({}), Duration::from_secs(5))).await;
    shown
        .test_league
        .register_player(silent.address, shown.address())
        .await;
    shown.test_league.start(&shown.manager).await;
    let page = until(&shown, "/api/matches/R1M1", |page| {
        page["state"] == "decided"
    })
    .await;
    assert_eq!(
        (&page["status"], &page["winner"]),
        (&json!("TECHNICAL_LOSS"), &json!("P01")),
        "{page}"
    );
    assert_eq!(
        (&page["blame"]["culprit"], &page["blame"]["players"]),
        (&json!("player"), &json!(["P02"]))
    );
    let cause = page["blame"]["cause"].as_str().unwrap();
    assert!(cause.starts_with("P02 "), "{cause}");
    let row = shown.page("/api/players/P02").await;
    assert_eq!(row["technical_losses"], 1);
    assert_eq!(row["technical_causes"].as_array().unwrap().len(), 1);
    assert_eq!(row["form"], json!(["T"]));
}

#[tokio::test]
async fn what_does_not_exist_is_said_in_words() {
    let shown = Shown::finished(settings(), 2).await;
    for (path, status, words) in [
        ("/api/players/P99", 404, "there is no player P99"),
        ("/api/matches/R9M9", 404, "there is no match R9M9"),
        ("/api/rounds/9", 404, "there is no round 9"),
        ("/api/rounds/x", 400, "a round has a number"),
        (
            "/api/rounds/1?limit=many",
            400,
            "limit: expected a whole number",
        ),
        ("/api/nothing", 404, "nothing at this address"),
        ("/assets/nothing.js", 404, "no such file"),
        ("/assets/..%2fCargo.toml", 404, "no such file"),
    ] {
        let reply = shown.get(path).await;
        assert_eq!(reply.status, status, "{path}");
        assert!(reply.error().contains(words), "{path}: {reply:?}");
    }
}

#[tokio::test]
async fn a_league_of_many_rounds_is_shown_while_it_is_played() {
    let slow = league::LeagueSettings {
        announce_lead: Duration::from_millis(300),
        ..settings()
    };
    let shown = Shown::with_players(slow, 2).await;
    shown.test_league.start(&shown.manager).await;
    let league = until(&shown, "/api/league", |league| {
        league["phase"] != "registration"
    })
    .await;
    assert!(league["started_at"].is_string(), "{league}");
    let round = until(&shown, "/api/rounds/1", |round| {
        round["state"] != "scheduled"
    })
    .await;
    assert!(round["starts_at"].is_string(), "{round}");
    until(&shown, "/api/league", |league| {
        league["phase"] == "completed"
    })
    .await;
}
