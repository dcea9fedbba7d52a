//! Players with an external decider: asked once a turn, and not waited for beyond the deadline.

use matchday_core::game::turn::TurnSheet;
use matchday_core::player::Player;
use matchday_core::protocol::messages::Parity;
use matchday_core::timing::Timing;
use matchday_runtime::decider::{Decider, Deciding};
use matchday_runtime::{Handle, log};
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, until_completed, until_registered,
};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a decider does with a turn: the value after a while, or silence.
#[derive(Debug)]
struct FixedDecider {
    value: Option<&'static str>,
    after: Duration,
    asked: Mutex<Vec<TurnSheet>>,
}

impl FixedDecider {
    fn new(value: Option<&'static str>, after: Duration) -> Arc<Self> {
        Arc::new(Self {
            value,
            after,
            asked: Mutex::default(),
        })
    }
}

impl Decider for FixedDecider {
    fn decide(&self, turn: TurnSheet) -> Deciding {
        self.asked.lock().unwrap().push(turn);
        let value = self.value;
        let after = self.after;
        Box::pin(async move {
            tokio::time::sleep(after).await;
            match value {
                Some(value) => Ok(json!(value)).into(),
                None => std::future::pending().await,
            }
        })
    }
}

async fn choices(player: &Handle<Player>) -> Vec<Option<Parity>> {
    let games = |player: &Player| {
        player
            .history()
            .overall()
            .games()
            .map(|game| game.own_choice)
            .collect()
    };
    player.inspect(games).await.unwrap()
}

async fn fallbacks(player: &Handle<Player>) -> (u32, Option<String>) {
    let told = |player: &Player| player.durable().fallbacks().clone();
    let told = player.inspect(told).await.unwrap();
    (told.count, told.last.map(|(_, why)| why))
}

/// A whole league of thinkers, with two seconds for a choice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_league_of_minds_ends_with_every_match_played() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let saying = Arc::clone(&said);
    let mut test_league = TestLeague::new(matchday_server::agent_options);
    test_league.log = log::dispatch(tracing::Level::DEBUG, move |entry| {
        saying.lock().unwrap().push(entry.clone())
    });
    let timing = Timing {
        choice: Duration::from_secs(2),
        ..Timing::default()
    };
    let manager = test_league.manager(quick(timing)).await;
    let at = endpoint(manager.address());
    let _referee = test_league.referee(1, &at, timing).await;
    let slow = FixedDecider::new(Some("odd"), Duration::from_millis(50));
    let silent = FixedDecider::new(None, Duration::ZERO);
    let wrong = FixedDecider::new(Some("Odd"), Duration::ZERO);
    let slow_player = test_league.player_with_decider(1, &at, slow.clone()).await;
    let silent_player = test_league.player_with_decider(2, &at, silent).await;
    let wrong_player = test_league.player_with_decider(3, &at, wrong).await;
    until_registered(&manager, 3, 1).await;
    test_league.start(&manager).await;
    let league = until_completed(&manager, Duration::from_secs(60)).await;

    let technical: u32 = league
        .rows()
        .iter()
        .filter_map(|row| row.technical_losses)
        .sum();
    assert_eq!(technical, 0, "{:?}", league.rows());
    for (player, count, why) in [
        (&slow_player, 0, None),
        (&silent_player, 2, Some("no decision within 0.8 s")),
        (&wrong_player, 2, Some("\"Odd\" is not one of the options")),
    ] {
        matchday_testkit::test_league::until(
            player,
            "both games",
            Duration::from_secs(60),
            |player| player.history().overall().played() == 2,
        )
        .await;
        let parity = if count == 0 {
            Parity::Odd
        } else {
            Parity::Even
        };
        assert_eq!(choices(player).await, [Some(parity); 2]);
        let (fell_back, last) = fallbacks(player).await;
        assert_eq!(fell_back, count);
        // Who came first, the clock of the shell or that of the player, is chance; both say that time was up.
        if why.is_none_or(|why| !why.contains("in 0.8 s")) {
            assert_eq!(last.as_deref(), why);
        }
    }
    assert_eq!(
        slow.asked.lock().unwrap().len(),
        2,
        "each turn is asked once"
    );
    let said = said.lock().unwrap();
    let decided: Vec<_> = said
        .iter()
        .filter(|entry| entry.event_type == "decided")
        .collect();
    assert!(
        decided
            .iter()
            .any(|entry| entry.message.starts_with("decided on \"odd\" in R"))
    );
    let fallback = "\"Odd\" is not one of the options";
    assert!(
        decided
            .iter()
            .any(|entry| entry.message.ends_with(fallback)),
        "{decided:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_player_that_thinks_answers_others_and_ends_when_it_is_told_to() {
    let test_league = TestLeague::new(matchday_server::agent_options);
    let timing = Timing::default();
    let manager = test_league.manager(quick(timing)).await;
    let at = endpoint(manager.address());
    let _referee = test_league.referee(1, &at, timing).await;
    let silent = FixedDecider::new(None, Duration::ZERO);
    let player = test_league
        .player_with_decider(1, &at, silent.clone())
        .await;
    let _other = test_league.player(2, &at, "random").await;
    until_registered(&manager, 2, 1).await;
    test_league.start(&manager).await;
    eventually_async("the decider is asked", async || {
        !silent.asked.lock().unwrap().is_empty()
    })
    .await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let (status, _) = test_league.post(player.address(), ping.to_string()).await;
    assert_eq!(status, 200);
    player.shutdown().await.unwrap();
}
