//! What players hear over HTTP, and when: of their round before their match, of wrong answers before the next question, of
//! the end of every match; and by whose clock they are judged.

use matchday_core::league::{League, LeagueSettings};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{MatchId, PlayerId};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_store::{Direction, Exchange, Store, Stored, Stream};
use matchday_testkit::fake_peer::{FakePeer, Rule};
use matchday_testkit::test_league::{
    TestLeague, endpoint, quick, short, until_completed, until_registered,
};
use serde_json::{Value, json};
use std::time::Duration;

const AT_ONCE: Duration = Duration::ZERO;

/// A league of honest players and one stub, played to its end by a referee that was started with the default timeouts.
struct Played {
    league: League,
    exchanges: Vec<Exchange>,
    /// How often the league gave a referee up.
    suspensions: usize,
}

impl Played {
    async fn with(settings: LeagueSettings, honest: u32, habit: Rule) -> Self {
        let test_league = TestLeague::new(matchday_server::agent_options);
        let manager = test_league.manager(settings).await;
        let at = endpoint(manager.address());
        let referee = test_league.referee(1, &at, Timing::default()).await;
        until_registered(&manager, 0, 1).await;
        let mut players = Vec::new();
        for number in 1..=honest {
            players.push(test_league.player(number, &at, "always_even").await);
            until_registered(&manager, players.len(), 1).await;
        }
        let stub = FakePeer::by_rule(habit).await;
        test_league
            .register_player(stub.address, manager.address())
            .await;
        test_league.start(&manager).await;
        let league = until_completed(&manager, Duration::from_secs(60)).await;
        for player in players {
            player.shutdown().await.unwrap();
        }
        referee.shutdown().await.unwrap();
        manager.shutdown().await.unwrap();
        let exchanges = test_league.exchanges();
        let log = Store::open_read_only(test_league.file())
            .unwrap()
            .load(&Stream("league".into()))
            .unwrap();
        let gave_up = |stored: &&Stored| {
            stored.line.contains("agent_suspended") && stored.line.contains("REF01")
        };
        let suspensions = log.iter().filter(gave_up).count();
        Self {
            league,
            exchanges,
            suspensions,
        }
    }

    /// What was sent to a player, in order.
    fn sent_to(&self, player: &str, message_type: &str) -> Vec<&Exchange> {
        let endpoint = self.league.players[&PlayerId::new(player)]
            .meta
            .contact_endpoint
            .clone();
        let sent = self
            .exchanges
            .iter()
            .filter(|it| it.direction == Direction::Out);
        let mut sent: Vec<_> = sent
            .filter(|it| it.peer == endpoint.raw() && it.message_type == message_type)
            .collect();
        sent.sort_by_key(|exchange| exchange.at);
        sent
    }

    /// To the stub, which is the last player.
    fn sent_to_stub(&self, message_type: &str) -> Vec<&Exchange> {
        let (stub, _) = self.league.players.last_key_value().unwrap();
        self.sent_to(stub.as_str(), message_type)
    }
}

/// The right answer to a question, under the token that the question showed.
fn answer(request: &Value, choice: &str) -> Value {
    let asked = &request["params"];
    let (kind, extra) = match asked["message_type"].as_str() {
        Some("GAME_INVITATION") => (
            "GAME_JOIN_ACK",
            json!({"accept": true, "arrival_timestamp": asked["timestamp"]}),
        ),
        Some("CHOOSE_PARITY_CALL") => ("CHOOSE_PARITY_RESPONSE", json!({"parity_choice": choice})),
        _ => {
            return json!({"jsonrpc": "2.0", "id": request["id"], "result": {"status": "received"}});
        }
    };
    let mut result = json!({
        "protocol": "league.v2", "message_type": kind, "timestamp": asked["timestamp"],
        "sender": format!("player:{}", asked["player_id"].as_str().unwrap()),
        "conversation_id": asked["conversation_id"], "auth_token": asked["auth_token"],
        "match_id": asked["match_id"], "player_id": asked["player_id"],
    });
    result
        .as_object_mut()
        .unwrap()
        .extend(extra.as_object().unwrap().clone());
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

fn is(request: &Value, message_type: &str) -> bool {
    request["params"]["message_type"] == message_type
}

fn silent(request: &Value) -> (u16, Value, Duration) {
    let asked = is(request, "GAME_INVITATION") || is(request, "CHOOSE_PARITY_CALL");
    (
        200,
        answer(request, "odd"),
        if asked {
            Duration::from_secs(60)
        } else {
            AT_ONCE
        },
    )
}

/// Shows that it is there, and answers nothing.
fn mute(request: &Value) -> (u16, Value, Duration) {
    let pause = if request["method"] == "ping" {
        AT_ONCE
    } else {
        Duration::from_secs(60)
    };
    (200, answer(request, "odd"), pause)
}

/// Takes longer to join than its window is, and less long than the pause after it.
fn slow(request: &Value) -> (u16, Value, Duration) {
    let pause = if is(request, "GAME_INVITATION") {
        Duration::from_millis(600)
    } else {
        AT_ONCE
    };
    (200, answer(request, "odd"), pause)
}

fn wrong(request: &Value) -> (u16, Value, Duration) {
    (200, answer(request, "Odd"), AT_ONCE)
}

/// Hears of a round at leisure.
fn leisurely(request: &Value) -> (u16, Value, Duration) {
    let pause = if is(request, "ROUND_ANNOUNCEMENT") {
        Duration::from_millis(300)
    } else {
        AT_ONCE
    };
    (200, answer(request, "odd"), pause)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referee_with_other_timeouts_plays_by_its_managers() {
    let played = Played::with(quick(short()), 1, silent).await;
    let game = &played.league.matches[&MatchId::new("R1M1")];
    assert_eq!(
        game.decision.as_ref().unwrap().status,
        GameStatus::TechnicalLoss
    );
    assert_eq!(game.attempts.len(), 1, "nobody was asked by two attempts");
    assert_eq!(played.suspensions, 0, "the referee did what it could");
    assert_eq!(
        played.sent_to_stub("GAME_INVITATION").len(),
        2,
        "one retry, as the manager has it"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_invited_before_both_have_heard_of_the_round() {
    let played = Played::with(quick(Timing::default()), 1, leisurely).await;
    let told = ["P01", "P02"].map(|player| {
        played.sent_to(player, "ROUND_ANNOUNCEMENT")[0]
            .done_at
            .unwrap()
    });
    for player in ["P01", "P02"] {
        let invited = played.sent_to(player, "GAME_INVITATION")[0].at;
        assert!(
            told.iter().all(|told| *told <= invited),
            "{player} invited at {invited}, told at {told:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_that_suspension_decides_ends_with_game_over_too() {
    let settings = LeagueSettings {
        suspend_after: 1,
        probe_every: Duration::from_secs(60),
        ..quick(short())
    };
    let played = Played::with(settings, 2, mute).await;
    let reasons: Vec<_> = (played.league.matches.values())
        .filter_map(|game| game.decision.as_ref()?.result.reason.clone())
        .filter(|reason| reason.raw().contains("P03"))
        .collect();
    assert!(
        reasons
            .iter()
            .any(|reason| reason.raw().contains("is suspended")),
        "{reasons:?}"
    );
    for player in ["P01", "P02"] {
        let of_it =
            |game: &&matchday_core::league::fixture::Match| game.has(&PlayerId::new(player));
        let matches = played.league.matches.values().filter(of_it).count();
        let overs = played.sent_to(player, "GAME_OVER").len();
        assert_eq!(
            overs, matches,
            "{player} hears of the end of each of its matches"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_comes_in_the_retry_delay_of_the_same_exchange_counts() {
    let retry = RetryPolicy {
        retries: 1,
        backoff: Backoff::Fixed {
            delay: Duration::from_secs(2),
        },
    };
    let settings = quick(Timing {
        join: Duration::from_millis(300),
        retry,
        ..Timing::default()
    });
    let played = Played::with(settings, 1, slow).await;
    let decision = played.league.matches[&MatchId::new("R1M1")]
        .decision
        .clone()
        .unwrap();
    assert_ne!(
        decision.status,
        GameStatus::TechnicalLoss,
        "{:?}",
        decision.result.reason
    );
    assert_eq!(played.sent_to_stub("GAME_INVITATION").len(), 1);
    assert_eq!(
        played.sent_to_stub("GAME_ERROR").len(),
        1,
        "it was told that it is late"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_wrong_answer_comes_the_error_and_at_least_a_second_later_the_question() {
    let settings = quick(Timing {
        choice: Duration::from_millis(3_500),
        ..Timing::default()
    });
    let played = Played::with(settings, 1, wrong).await;
    let questions = played.sent_to_stub("CHOOSE_PARITY_CALL");
    let errors = played.sent_to_stub("GAME_ERROR");
    assert_eq!((questions.len(), errors.len()), (3, 3), "at 0, 1 and 3 s");
    for (pair, error) in questions.windows(2).zip(&errors) {
        assert!(pair[1].at.since(pair[0].done_at.unwrap()) >= Duration::from_secs(1));
        assert!(error.at < pair[1].at);
        assert!(
            error.request.contains("\"retryable\":true"),
            "{}",
            error.request
        );
    }
    let over = played.sent_to_stub("GAME_OVER")[0];
    assert!(
        errors.iter().all(|error| error.done_at.unwrap() <= over.at),
        "nothing comes after GAME_OVER"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_false_token_in_an_answer_is_e012() {
    fn false_token(request: &Value) -> (u16, Value, Duration) {
        let mut answer = answer(request, "odd");
        if let Some(token) = answer["result"].get_mut("auth_token") {
            *token = json!("tok_p02_guess");
        }
        (200, answer, AT_ONCE)
    }
    let settings = LeagueSettings {
        conformance: Conformance::Strict,
        ..quick(Timing {
            join: Duration::from_millis(500),
            ..short()
        })
    };
    let played = Played::with(settings, 1, false_token).await;
    let errors = played.sent_to_stub("GAME_ERROR");
    assert!(
        errors.iter().all(|error| error.request.contains("E012")),
        "{:?}",
        errors[0].request
    );
    let decision = played.league.matches[&MatchId::new("R1M1")]
        .decision
        .clone()
        .unwrap();
    assert_eq!(decision.status, GameStatus::TechnicalLoss);
}
