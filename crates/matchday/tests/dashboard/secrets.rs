//! What is nobody's to see, and what is the operator's.

use crate::league::{Shown, TOKEN, in_play, settings, until};
use matchday_runtime::Handle;
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::test_league::until as until_seen;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

const PAGES: &[&str] = &[
    "/api/league",
    "/api/standings",
    "/api/rounds",
    "/api/rounds/1",
    "/api/cross",
    "/api/players/P01",
    "/api/matches/R1M1",
    "/api/matches/R2M1",
    "/api/messages?bodies=1&limit=500",
    "/api/referees",
];

/// What must not be found in what is shown to anyone.
async fn secrets(shown: &Shown) -> BTreeSet<String> {
    let mut secrets = BTreeSet::from([TOKEN.to_owned()]);
    for player in &shown.players {
        secrets.insert(player.address().to_string());
        secrets.insert(until_known(player, |player| token(player.identity())).await);
    }
    for referee in &shown.referees {
        secrets.insert(referee.address().to_string());
        secrets.insert(until_known(referee, |referee| token(referee.identity())).await);
    }
    secrets
}

/// The manager knows of an agent a moment before the agent has its token.
async fn until_known<A: 'static>(agent: &Handle<A>, token: fn(&A) -> Option<String>) -> String {
    until_seen(
        agent,
        "the agent has its token",
        Duration::from_secs(60),
        move |agent| token(agent).is_some(),
    )
    .await;
    agent.inspect(token).await.flatten().unwrap()
}

fn token<I>(identity: Option<&matchday_core::registration::Identity<I>>) -> Option<String> {
    identity?
        .auth_token
        .as_ref()
        .map(|token| token.reveal().to_owned())
}

/// The longest text after `tok_` in a page: a token that was cut has no more than a few letters.
fn longest_token(text: &str) -> usize {
    let is_token = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    text.split("tok_")
        .skip(1)
        .map(|rest| rest.chars().take_while(is_token).count())
        .max()
        .unwrap_or(0)
}

#[tokio::test]
async fn a_league_can_be_watched_from_beginning_to_end_without_a_token_or_an_address_being_seen() {
    let shown = Shown::with_players(settings(), 4).await;
    let secrets = secrets(&shown).await;
    assert_eq!(
        secrets.len(),
        11,
        "tokens and addresses of five agents, and the operator's token"
    );
    shown.test_league.start(&shown.manager).await;
    let mut seen = 0;
    loop {
        let phase = shown.page("/api/league").await["phase"].clone();
        for path in PAGES {
            let reply = shown.get(path).await;
            if reply.status == 404 {
                continue;
            }
            assert_eq!(reply.status, 200, "{path}: {reply:?}");
            for secret in &secrets {
                assert!(
                    !reply.body.contains(secret.as_str()),
                    "{path} tells {secret}: {}",
                    reply.body
                );
            }
            assert!(longest_token(&reply.body) <= 8, "{path}: {}", reply.body);
            let addresses = reply.body.matches("http://").count();
            assert!(
                addresses == 0 || *path == "/api/league",
                "{path}: {}",
                reply.body
            );
            in_play_is_withheld(path, &reply.json());
            seen += 1;
        }
        if phase == "completed" {
            break;
        }
    }
    assert!(seen >= PAGES.len(), "every page was seen at least once");
}

fn in_play_is_withheld(path: &str, page: &Value) {
    if path.starts_with("/api/matches/") && page["state"] != "decided" {
        let nothing = page["messages"].as_array().unwrap().is_empty()
            && page["steps"].as_array().unwrap().is_empty();
        assert!(
            nothing && page.get("moves").is_none() && page.get("draw").is_none(),
            "{page}"
        );
    }
}

#[tokio::test]
async fn of_a_match_in_play_only_its_state_is_shown_but_to_the_operator() {
    let shown = in_play().await;
    let page = shown.page("/api/matches/R1M1").await;
    assert_eq!(
        (&page["state"], &page["attempts"]),
        (&"playing".into(), &1.into())
    );
    assert!(
        page["withheld"]
            .as_str()
            .unwrap()
            .contains("not decided yet"),
        "{page}"
    );
    in_play_is_withheld("/api/matches/R1M1", &page);
    let listed = shown.page("/api/messages?match_id=R1M1&bodies=1").await;
    assert_eq!(listed["messages"].as_array().unwrap().len(), 0, "{listed}");
    let listed = shown.page("/api/messages?bodies=1&limit=500").await;
    assert!(!listed.to_string().contains("parity_choice"), "{listed}");

    eventually_async("the invitation is shown", async || {
        let page = shown.see("/api/matches/R1M1").await.json();
        assert!(page.get("withheld").is_none(), "{page}");
        page["messages"]
            .as_array()
            .unwrap()
            .iter()
            .any(|message| message["type"] == "GAME_INVITATION")
    })
    .await;
}

#[tokio::test]
async fn the_operator_sees_addresses_and_still_no_token() {
    let shown = Shown::finished(settings(), 2).await;
    let secrets = secrets(&shown).await;
    let player = shown.players[0].address().to_string();
    until(&shown, "/api/messages", |page| {
        page["messages"].as_array().unwrap().len() > 5
    })
    .await;
    let mut told = false;
    for path in PAGES {
        let reply = shown.see(path).await;
        told |= reply.body.contains(&player);
        let tokens = secrets.iter().filter(|secret| secret.starts_with("tok_"));
        assert!(tokens.clone().count() >= 4);
        for token in tokens {
            assert!(!reply.body.contains(token.as_str()), "{path} tells {token}");
        }
        assert!(longest_token(&reply.body) <= 8, "{path}: {}", reply.body);
    }
    assert!(told, "the address of a player");
    assert_eq!(shown.see("/api/league").await.json()["operator"], true);
}
