//! Resources and the prompt: what can be read, and what cannot.

use matchday_core::league::{EndpointCheck, LeagueSettings};
use matchday_core::timing::Timing;
use matchday_testkit::mcp_client::{Legacy, ask, call};
use matchday_testkit::test_league::{
    TestLeague, endpoint, free_port, quick, short, until, until_completed, until_registered,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

async fn listed(of: SocketAddr) -> Vec<String> {
    let mut uris = Vec::new();
    let mut page = json!({});
    loop {
        let answer = ask(of, "resources/list", page).await.json();
        let resources = answer["result"]["resources"].as_array().unwrap().clone();
        assert!(resources.len() <= 100, "a page has an end");
        uris.extend(
            resources
                .iter()
                .map(|resource| resource["uri"].as_str().unwrap().to_owned()),
        );
        match answer["result"].get("nextCursor") {
            Some(next) => page = json!({"cursor": next}),
            None => return uris,
        }
    }
}

async fn read(of: SocketAddr, uri: &str) -> (String, String) {
    let answer = ask(of, "resources/read", json!({"uri": uri})).await.json();
    let content = &answer["result"]["contents"][0];
    let text = |name: &str| {
        content[name]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    };
    assert_eq!(text("uri"), uri);
    (text("mimeType"), text("text"))
}

async fn read_json(of: SocketAddr, uri: &str) -> Value {
    let (kind, text) = read(of, uri).await;
    assert_eq!(kind, "application/json");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_whole_league_can_be_read_match_by_match() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let mut players = Vec::new();
    for number in 1..=4 {
        players.push(test_league.player(number, &to, "random").await);
    }
    until_registered(&manager, 4, 1).await;
    test_league.start(&manager).await;
    until_completed(&manager, Duration::from_secs(30)).await;
    let own = listed(manager.address()).await;
    for uri in [
        "league://standings",
        "league://schedule",
        "league://rules/even_odd",
        "league://matches/R1M1",
    ] {
        assert!(own.iter().any(|known| known == uri), "{uri} in {own:?}");
    }
    assert_eq!(
        own.iter()
            .filter(|uri| uri.starts_with("league://matches/"))
            .count(),
        6
    );
    for uri in own
        .iter()
        .filter(|uri| uri.starts_with("league://matches/"))
    {
        let shown = read_json(manager.address(), uri).await;
        assert_eq!(
            (&shown["state"], shown["round_id"].is_u64()),
            (&json!("decided"), true),
            "{shown}"
        );
        assert!(
            shown["result"]["reason"]
                .as_str()
                .is_some_and(|why| !why.is_empty()),
            "{shown}"
        );
    }
    let table = read_json(manager.address(), "league://standings").await;
    assert_eq!(table["standings"].as_array().unwrap().len(), 4);
    let (kind, rules) = read(manager.address(), "league://rules/tic_tac_toe").await;
    assert!(
        kind == "text/markdown" && rules.contains("GAME_MOVE_CALL"),
        "{rules}"
    );
    assert!(read_json(referee.address(), "league://matches").await["matches"].is_array());
    let state = read_json(players[0].address(), "league://player").await;
    assert_eq!(state["totals"]["played"], 3, "{state}");
}

#[tokio::test]
async fn a_referees_match_can_be_read_while_it_is_played() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let settings = LeagueSettings {
        endpoint_check: EndpointCheck::Off,
        ..quick(Timing {
            other: Duration::from_secs(1),
            ..Timing::default()
        })
    };
    let manager = test_league.manager(settings).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, Timing::default()).await;
    let _player = test_league.player(1, &to, "random").await;
    until_registered(&manager, 1, 1).await;
    // Someone who never answers, so that the match goes on for as long as it may.
    let silent = free_port().await;
    let meta = json!({"display_name": "Silent", "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": endpoint(silent.local_addr().unwrap()).raw()});
    call(
        manager.address(),
        "register_player",
        json!({"player_meta": meta}),
    )
    .await;
    test_league.start(&manager).await;
    // It is not invited before it has had the time to hear of the round.
    until(
        &referee,
        "a match is played",
        Duration::from_secs(60),
        |referee| referee.matches().next().is_some(),
    )
    .await;
    assert!(
        listed(referee.address())
            .await
            .contains(&"league://matches/R1M1".to_owned())
    );
    let shown = read_json(referee.address(), "league://matches/R1M1").await;
    assert_eq!(
        (&shown["match_id"], &shown["game_type"]),
        (&json!("R1M1"), &json!("even_odd")),
        "{shown}"
    );
    let state = call(referee.address(), "get_match_state", json!({})).await;
    assert_eq!(
        state["structuredContent"]["matches"][0]["match_id"], "R1M1",
        "{state}"
    );
    let listed = read_json(manager.address(), "league://matches/R1M1").await;
    assert_eq!(
        (&listed["state"], listed.get("result")),
        (&json!("playing"), None),
        "{listed}"
    );
}

#[tokio::test]
async fn long_lists_come_in_pages() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league
        .manager(LeagueSettings {
            announce_lead: Duration::from_secs(600),
            ..quick(short())
        })
        .await;
    let to = endpoint(manager.address());
    let _referee = test_league.referee(1, &to, short()).await;
    let mut players = Vec::new();
    for number in 1..=16 {
        players.push(test_league.player(number, &to, "random").await);
    }
    until_registered(&manager, 16, 1).await;
    test_league.start(&manager).await;
    let mut uris = listed(manager.address()).await;
    let all = uris.len();
    uris.sort();
    uris.dedup();
    assert_eq!(
        (
            uris.len(),
            uris.iter().filter(|uri| uri.contains("/matches/")).count()
        ),
        (all, 120)
    );
    let wrong = ask(
        manager.address(),
        "resources/list",
        json!({"cursor": "yesterday"}),
    )
    .await
    .json();
    assert_eq!(wrong["error"]["code"], -32602);
}

#[tokio::test]
async fn a_resource_that_is_not_there_is_told_in_each_revisions_way() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let client = Legacy::connect(manager.address()).await;
    for uri in [
        "league://matches/R9M9",
        "league://rules/chess",
        "league://nothing",
        "file:///etc/passwd",
    ] {
        let newer = ask(manager.address(), "resources/read", json!({"uri": uri}))
            .await
            .json();
        assert_eq!(
            (&newer["error"]["code"], &newer["error"]["data"]["uri"]),
            (&json!(-32602), &json!(uri))
        );
        let older = client.ask("resources/read", json!({"uri": uri})).await;
        assert_eq!(older["error"]["code"], -32002, "{older}");
    }
}

#[tokio::test]
async fn a_league_closed_to_readers_shows_them_nothing() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league
        .manager(LeagueSettings {
            public_reads: false,
            ..quick(short())
        })
        .await;
    let player = test_league
        .player(1, &endpoint(manager.address()), "random")
        .await;
    until_registered(&manager, 1, 0).await;
    for uri in [
        "league://standings",
        "league://schedule",
        "league://matches/R1M1",
    ] {
        let refused = ask(manager.address(), "resources/read", json!({"uri": uri}))
            .await
            .json();
        assert_eq!(refused["error"]["data"]["error_code"], "E011", "{refused}");
    }
    let client = Legacy::connect(manager.address()).await;
    let refused = client
        .ask("resources/subscribe", json!({"uri": "league://standings"}))
        .await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("not open to readers"),
        "{refused}"
    );
    let prompt = ask(
        manager.address(),
        "prompts/get",
        json!({"name": "play_this_league"}),
    )
    .await
    .json();
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(
        text.contains("members only") && !text.contains("league_2025"),
        "{text}"
    );
    drop(player);
}

#[tokio::test]
async fn nothing_that_is_read_tells_where_agents_listen_or_what_they_hold() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let to = endpoint(manager.address());
    let referee = test_league.referee(1, &to, short()).await;
    let players = [
        test_league.player(1, &to, "random").await,
        test_league.player(2, &to, "random").await,
    ];
    until_registered(&manager, 2, 1).await;
    test_league.start(&manager).await;
    until_completed(&manager, Duration::from_secs(30)).await;
    for address in [
        manager.address(),
        referee.address(),
        players[0].address(),
        players[1].address(),
    ] {
        for uri in listed(address).await {
            let (_, text) = read(address, &uri).await;
            assert!(
                !text.contains("http://") && !text.contains("tok_"),
                "{uri}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn the_prompt_says_how_to_play_this_league() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let manager = test_league.manager(quick(short())).await;
    let listed = ask(manager.address(), "prompts/list", json!({}))
        .await
        .json();
    assert_eq!(
        listed["result"]["prompts"][0]["name"], "play_this_league",
        "{listed}"
    );
    let arguments = json!({"name": "play_this_league", "arguments": {"display_name": "Ann"}});
    let got = ask(manager.address(), "prompts/get", arguments)
        .await
        .json();
    let text = got["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    for words in [
        "league_2025_even_odd is open for registration",
        "\"Ann\"",
        "register_player",
        "# even_odd",
    ] {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    let unknown = ask(manager.address(), "prompts/get", json!({"name": "other"}))
        .await
        .json();
    assert_eq!(unknown["error"]["code"], -32602);
}
