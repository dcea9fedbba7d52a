//! The league of the specification, every message over HTTP.

use matchday_core::fair;
use matchday_core::league::League;
use matchday_core::protocol::messages::{GameDetails, GameStatus};
use matchday_core::timing::Timing;
use matchday_runtime::{LocalRoutes, log};
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, until_completed, until_registered,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Every draw follows from what was committed to and from both players' shares.
fn assert_draws_are_proven(league: &League) {
    for (match_id, game) in &league.matches {
        let decision = game.decision.as_ref().expect("decided");
        let reveal = decision.result.details.fairness.as_ref().expect("revealed");
        let league_id = &league.settings.league_id;
        let mut dice = fair::verify(
            reveal,
            league_id,
            match_id,
            decision.attempt,
            &game.a,
            &game.b,
        )
        .expect("fair");
        let GameDetails::Parity(details) = &decision.result.details.game else {
            panic!("a game of parity")
        };
        assert_eq!(
            details.drawn_number.map(u32::from),
            Some(dice.uniform(1..=10)),
            "{match_id}"
        );
    }
}

/// Plays it, and gives back the league, every token in it, and all that was written about it.
async fn play(strategies: [&str; 4]) -> (League, Vec<String>, String) {
    let mut test_league = TestLeague::new(matchday_server::agent_options);
    test_league.routes = Some(LocalRoutes::default());
    let lines = Arc::new(Mutex::new(String::new()));
    let written = Arc::clone(&lines);
    test_league.log = log::dispatch(tracing::Level::DEBUG, move |entry| {
        let mut lines = written.lock().unwrap();
        lines.push_str(&entry.as_json());
        lines.push_str(&entry.for_people());
        lines.push('\n');
    });
    let manager = test_league.manager(quick(Timing::default())).await;
    let at = endpoint(manager.address());
    let referees = [
        test_league.referee(1, &at, Timing::default()).await,
        test_league.referee(2, &at, Timing::default()).await,
    ];
    let mut players = Vec::new();
    for (number, strategy) in (1..).zip(strategies) {
        players.push(test_league.player(number, &at, strategy).await);
        until_registered(&manager, players.len(), referees.len().min(2)).await;
    }
    test_league.start(&manager).await;
    let league = until_completed(&manager, Duration::from_secs(60)).await;
    let mut tokens = Vec::new();
    for player in players {
        tokens.push(
            player
                .inspect(|player| player.identity().cloned())
                .await
                .flatten()
                .unwrap()
                .auth_token,
        );
        player.shutdown().await.unwrap();
    }
    for referee in referees {
        tokens.push(
            referee
                .inspect(|referee| referee.identity().cloned())
                .await
                .flatten()
                .unwrap()
                .auth_token,
        );
        referee.shutdown().await.unwrap();
    }
    manager.shutdown().await.unwrap();
    let tokens = tokens
        .into_iter()
        .flatten()
        .map(|token| token.reveal().to_owned())
        .collect();
    let mut all = lines.lock().unwrap().clone();
    for exchange in test_league.exchanges() {
        all.push_str(&format!("{exchange:?}\n"));
    }
    (league, tokens, all)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_league_ends_with_the_table_that_its_proven_draws_make() {
    let (league, _, _) = play(["always_even", "always_odd", "always_even", "always_odd"]).await;
    assert_eq!(league.matches.len(), 6);
    assert!(league.matches.values().all(|game| {
        game.decision
            .as_ref()
            .is_some_and(|decision| decision.status != GameStatus::TechnicalLoss)
    }));
    assert_draws_are_proven(&league);
    let table = league.standings();
    let points: u32 = table.iter().map(|place| place.tally.points()).sum();
    let drawn = league.matches.values().filter(|game| {
        game.decision
            .as_ref()
            .is_some_and(|decision| decision.status == GameStatus::Draw)
    });
    let drawn = u32::try_from(drawn.count()).unwrap();
    assert_eq!(points, 2 * drawn + 3 * (6 - drawn));
    assert_eq!(Some(&table[0].player), league.champion.as_ref());
    assert!(table.iter().all(|place| place.tally.played() == 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exchanges_and_log_tell_of_everything_but_tokens() {
    let (_, tokens, written) = play(["random"; 4]).await;
    assert_eq!(tokens.len(), 6);
    for token in tokens {
        assert!(!written.contains(&token[..12]), "a token was written down");
    }
    let secrets = written.match_indices("tok_").filter(|(at, _)| {
        written[at + 4..]
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .count()
            > 4
    });
    assert_eq!(secrets.count(), 0, "a match's token was written down");
    for kind in [
        "LEAGUE_REGISTER_REQUEST",
        "GAME_INVITATION",
        "CHOOSE_PARITY_CALL",
        "MATCH_RESULT_REPORT",
    ] {
        let told = |direction| {
            written
                .lines()
                .any(|line| line.contains(kind) && line.contains(direction))
        };
        assert!(told("direction: Out"), "{kind}");
        assert!(
            !told("direction: In"),
            "{kind}: the caller is in this process and has told of it"
        );
        assert!(
            written.contains(&format!("\"message_type\":\"{kind}\"")),
            "{kind} in the log"
        );
    }
    assert!(written.contains("registered as player:P01"), "{written}");
    let decided = written
        .lines()
        .filter(|line| line.contains("\"event_type\":\"match_decided\""));
    let by_manager = decided.filter(|line| line.contains("\"component\":\"league_manager\""));
    assert_eq!(by_manager.count(), 6, "a line for each result");
}
