//! Our manager and our players with referees that are none of ours.

use crate::agent_process::AgentProcess;
use crate::league::{
    ZooLeague, patient, start_agents, technical_losses, until, until_completed, until_members,
};
use matchday_core::league::{DecidedBy, League, Manager, ProofRule, ResultProof};
use matchday_core::player::Player;
use matchday_core::protocol::RefereeId;
use matchday_core::protocol::decode::Conformance;
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_core::timing::Timing;
use matchday_runtime::Handle;
use matchday_testkit::address::endpoint;
use matchday_testkit::tools;
use serde_json::{Value, json};
use std::time::Duration;

async fn two_players(zoo_league: &ZooLeague, manager: &Handle<Manager>) -> [Handle<Player>; 2] {
    let at = endpoint(manager.address());
    [
        zoo_league.player(1, at.raw()).await,
        zoo_league.player(2, at.raw()).await,
    ]
}

async fn listed(zoo_league: &ZooLeague, manager: &Handle<Manager>) -> Value {
    zoo_league
        .ask(manager.address(), "get_referees", json!({}))
        .await["data"]["referees"]
        .clone()
}

/// Two players of ours and some of the zoo's, all of whose matches this referee runs: nobody loses by default, ours hear
/// how their matches ended. Gives back what the manager tells of the referee, too.
async fn run_by(
    referee: &str,
    conformance: Conformance,
    others: &[&str],
) -> (League, AgentProcess, Value) {
    let zoo_league = ZooLeague::new(conformance, patient());
    let manager = zoo_league.manager().await;
    let mut whistle = start_agents("referees", &[referee], manager.address());
    let players = two_players(&zoo_league, &manager).await;
    let _zoo = start_agents("players", others, manager.address());
    until_members(&manager, 2 + others.len(), 1).await;
    zoo_league.start(&manager).await;
    let league = until_completed(&manager).await;
    for player in league.players.keys() {
        assert_eq!(
            technical_losses(&league, player),
            0,
            "{player} under {referee}"
        );
    }
    let mine = league.players.len() - 1;
    for player in &players {
        until(player, "every result heard", move |player| {
            player.history().overall().games().len() == mine
        })
        .await;
    }
    let listed = listed(&zoo_league, &manager).await;
    for player in players {
        player.shutdown().await.unwrap();
    }
    manager.shutdown().await.unwrap();
    (league, whistle.remove(0), listed[0].clone())
}

fn kinds(listing: &Value) -> Vec<&str> {
    listing["deviations"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referee_as_described_runs_a_strict_league() {
    if !tools::require("python3") {
        return;
    }
    let (league, _, listing) = run_by(
        "standard",
        Conformance::Strict,
        &["error_null", "fails_on_unknown"],
    )
    .await;
    assert_eq!(listing["matches_decided"], league.matches.len());
    assert!(!league.proofs_required, "nobody proves here");
    assert_eq!(
        league.results_unproven(),
        5,
        "all but the match of the two players without keys"
    );
    assert_eq!(kinds(&listing), Vec::<&str>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_without_details_and_a_winner_called_draw_are_taken_in_a_lenient_league() {
    if !tools::require("python3") {
        return;
    }
    let (league, terse, listing) = run_by("terse", Conformance::Lenient, &["type_as_method"]).await;
    assert_eq!(listing["matches_decided"], league.matches.len());
    assert_eq!(
        terse.told("unknown"),
        Vec::<Value>::new(),
        "it was spoken to in its own dialect"
    );
    let drawn = league
        .matches
        .values()
        .filter(|game| game.decision.as_ref().unwrap().result.winner.is_none());
    let drawn = drawn.count();
    assert_eq!(
        listing["deviations"]["missing result.details"],
        league.matches.len()
    );
    assert_eq!(
        listing["deviations"]
            .get("alias result.winner")
            .and_then(Value::as_u64)
            .unwrap_or(0),
        drawn as u64
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referee_in_lower_case_that_leaves_out_what_it_can_runs_a_lenient_league() {
    if !tools::require("python3") {
        return;
    }
    let (league, guest, listing) = run_by("lower_case", Conformance::Lenient, &[]).await;
    assert_eq!(listing["matches_decided"], league.matches.len());
    assert_eq!(guest.told("trouble"), Vec::<Value>::new());
    assert_eq!(
        kinds(&listing),
        [
            "missing conversation_id",
            "missing protocol",
            "missing round_id",
            "missing sender",
            "missing timestamp"
        ]
    );
}

/// The referee's own endpoint is no proof: a sender without a token has no say, in every reading.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_without_a_token_never_counts_and_its_match_goes_to_another_referee() {
    if !tools::require("python3") {
        return;
    }
    let window = Duration::from_millis(300);
    let retry = RetryPolicy {
        retries: 1,
        backoff: Backoff::Fixed {
            delay: Duration::from_millis(50),
        },
    };
    for conformance in [Conformance::Strict, Conformance::Lenient] {
        let timing = Timing {
            join: window,
            choice: window,
            report: window,
            other: window,
            retry,
            ..patient()
        };
        let mut zoo_league = ZooLeague::new(conformance, timing);
        zoo_league.proof = ProofRule::Optional;
        let manager = zoo_league.manager().await;
        let forger = start_agents("referees", &["null_token"], manager.address()).remove(0);
        until_members(&manager, 0, 1).await;
        let referee = zoo_league
            .referee(1, endpoint(manager.address()).raw())
            .await;
        let players = two_players(&zoo_league, &manager).await;
        until_members(&manager, 2, 2).await;
        zoo_league.start(&manager).await;
        let league = until_completed(&manager).await;
        assert_eq!(forger.until("answer").await, "E011");
        let decided_by: Vec<_> = league
            .matches
            .values()
            .map(|game| game.decision.as_ref().unwrap().by.clone())
            .collect();
        assert_eq!(decided_by, [DecidedBy::Referee(RefereeId::new("REF02"))]);
        for player in players {
            player.shutdown().await.unwrap();
        }
        referee.shutdown().await.unwrap();
        manager.shutdown().await.unwrap();
    }
}

/// None of them knows ROUND_ANNOUNCEMENT: what it was puzzled by comes before its first match, and never again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referee_that_is_given_matches_one_by_one_runs_a_league() {
    if !tools::require("python3") {
        return;
    }
    for referee in ["match_assignment", "start_match"] {
        let (league, guest, listing) = run_by(referee, Conformance::Strict, &["error_null"]).await;
        assert_eq!(
            listing["matches_decided"],
            league.matches.len(),
            "{referee}"
        );
        let attempts = league.matches.values().map(|game| game.attempts.len());
        assert_eq!(
            attempts.collect::<Vec<_>>(),
            vec![1; league.matches.len()],
            "{referee} has lost none"
        );
        let puzzled = guest.told("puzzled");
        let tried = |name: &str| puzzled.iter().filter(|method| **method == name).count();
        assert_eq!(tried("notify_round"), 1, "{referee}: {puzzled:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referee_that_reads_choice_alone_and_does_not_name_the_game_runs_a_league() {
    if !tools::require("python3") {
        return;
    }
    let (league, guest, listing) = run_by("reads_choice", Conformance::Strict, &[]).await;
    assert_eq!(listing["matches_decided"], league.matches.len());
    assert_eq!(guest.told("trouble"), Vec::<Value>::new());
}

/// By its own timeouts it would have minutes to report.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_referee_that_refuses_a_match_loses_it_at_once() {
    if !tools::require("python3") {
        return;
    }
    let mut zoo_league = ZooLeague::new(Conformance::Strict, patient());
    zoo_league.proof = ProofRule::Optional;
    let manager = zoo_league.manager().await;
    let busy = start_agents("referees", &["refuses"], manager.address()).remove(0);
    until_members(&manager, 0, 1).await;
    let referee = zoo_league
        .referee(1, endpoint(manager.address()).raw())
        .await;
    let players = two_players(&zoo_league, &manager).await;
    until_members(&manager, 2, 2).await;
    zoo_league.start(&manager).await;
    let league = until_completed(&manager).await;
    let game = league.matches.values().next().unwrap();
    assert_eq!(
        game.attempts,
        [RefereeId::new("REF01"), RefereeId::new("REF02")]
    );
    let asked = busy.told("puzzled");
    let forms: Vec<_> = asked.iter().filter_map(Value::as_str).take(3).collect();
    assert_eq!(forms, ["notify_round", "assign_match", "start_match"]);
    for player in players {
        player.shutdown().await.unwrap();
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beside_a_referee_of_ours_one_that_does_not_prove_is_given_only_matches_of_players_without_keys()
 {
    if !tools::require("python3") {
        return;
    }
    let zoo_league = ZooLeague::new(Conformance::Strict, patient());
    let manager = zoo_league.manager().await;
    let _standard = start_agents("referees", &["standard"], manager.address());
    until_members(&manager, 0, 1).await;
    let referee = zoo_league
        .referee(1, endpoint(manager.address()).raw())
        .await;
    let players = two_players(&zoo_league, &manager).await;
    let _zoo = start_agents(
        "players",
        &["error_null", "fails_on_unknown"],
        manager.address(),
    );
    until_members(&manager, 4, 2).await;
    zoo_league.start(&manager).await;
    let league = until_completed(&manager).await;
    for (match_id, game) in &league.matches {
        let decision = game.decision.as_ref().unwrap();
        match &game.keys {
            Some(_) => {
                assert_eq!(
                    decision.by,
                    DecidedBy::Referee(RefereeId::new("REF02")),
                    "{match_id}"
                );
                assert_eq!(decision.proof, ResultProof::Proven, "{match_id}");
            }
            None => assert_eq!(decision.proof, ResultProof::Unprovable, "{match_id}"),
        }
    }
    let listed = listed(&zoo_league, &manager).await;
    assert_eq!(listed[0]["without_keyed_matches"], json!(true));
    for player in players {
        player.shutdown().await.unwrap();
    }
    referee.shutdown().await.unwrap();
    manager.shutdown().await.unwrap();
}
