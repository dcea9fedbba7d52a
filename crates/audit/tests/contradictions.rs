//! What a referee says of a player is held against what that player wrote down itself, in whichever stores are at hand.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use matchday_audit::verify::{Fault, verify, verify_files};
use matchday_core::event_codec;
use matchday_core::player::PlayerEvent;
use matchday_core::player::event::{Choice, Question};
use matchday_core::protocol::draw::Commitment;
use matchday_core::protocol::messages::{Blame, Cause, GameDetails, GameStatus, MatchResult, Role};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, GameType, MatchId, PlayerId, RoundId, Sender, Timestamp};
use matchday_core::registration::Identity;
use matchday_store::{Direction, Exchange, Store};
use matchday_testkit::event_lines::{append, append_with, chained, silence, stream};
use matchday_testkit::instant_league::{Fixture, InstantLeague, fair_referee, plain_referee};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

const BEGIN: Timestamp = Timestamp::from_micros(1_736_937_000_000_000);

/// One match of P01 and P02, as the manager has it.
fn manager(referee: fn(&Fixture) -> MatchResult) -> InstantLeague {
    let mut league = InstantLeague::started(2, referee);
    league.play_one();
    assert!(!league.is_running());
    league
}

fn recorded(league: &InstantLeague) -> MatchResult {
    let line = league
        .lines
        .iter()
        .find(|line| line.contains("match_decided"))
        .unwrap();
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    serde_json::from_value(value["event"]["result"].clone()).unwrap()
}

/// What P01 wrote down: the commitment of its invitation, and its choice.
fn player(league: &InstantLeague, commitment: &str, choice: &str, nonce: &str) -> Vec<String> {
    let token = league.token(&Sender::Player(PlayerId::new("P01")));
    let events = [
        PlayerEvent::Registered {
            identity: Identity {
                id: PlayerId::new("P01"),
                league_id: Some(league.league_id()),
                auth_token: Some(token),
                match_tokens: true,
                manager_key: None,
            },
        },
        PlayerEvent::Invited {
            match_id: MatchId::new("R1M1"),
            round_id: RoundId(1),
            game_type: GameType::new("even_odd"),
            opponent_id: PlayerId::new("P02"),
            role: Role::PlayerA,
            attempt: Attempt(1),
            draw_commitment: Some(Commitment(commitment.into())),
            commitment_signature: None,
            signs: false,
        },
        PlayerEvent::Chosen {
            match_id: MatchId::new("R1M1"),
            round_id: Some(RoundId(1)),
            opponent_id: Some(PlayerId::new("P02")),
            question: Question::Parity,
            choice: Choice {
                value: json!(choice),
                nonce: Nonce(nonce.into()),
                signature: None,
            },
            fallback: None,
            attempt: Attempt(1),
            turn: Some(1),
            opponent_nonce_commitment: None,
            usage: None,
        },
    ];
    events
        .iter()
        .map(|event| event_codec::encode(BEGIN, event).unwrap())
        .collect()
}

/// The fault that is found with the manager's and the player's events.
fn fault(league: &InstantLeague, player: &[String]) -> Option<Fault> {
    let league = (stream("league"), chained("league", &league.lines));
    verify([league, (stream("player/1"), chained("player/1", player))]).fault
}

fn honest(league: &InstantLeague) -> (String, &'static str, String) {
    let reveal = recorded(league).details.fairness.unwrap();
    let nonce = reveal
        .nonces
        .get(&PlayerId::new("P01"))
        .unwrap()
        .0
        .to_string();
    (reveal.commitment.0.to_string(), "odd", nonce)
}

#[test]
fn a_player_that_was_told_of_rightly_contradicts_nobody() {
    let league = manager(fair_referee);
    let (commitment, choice, nonce) = honest(&league);
    assert_eq!(
        fault(&league, &player(&league, &commitment, choice, &nonce)),
        None
    );
}

#[test]
fn another_choice_commitment_or_nonce_than_the_players_own_is_a_contradiction_that_names_both() {
    let league = manager(fair_referee);
    let (commitment, choice, nonce) = honest(&league);
    let other = "00".repeat(32);
    for (commitment, choice, nonce, why) in [
        (
            commitment.as_str(),
            "even",
            nonce.as_str(),
            "that P01 chose \"odd\", and P01 chose \"even\"",
        ),
        (&other, choice, nonce.as_str(), "that its commitment was"),
        (&commitment, choice, "pepper", "that P01 gave the nonce"),
    ] {
        let fault = fault(&league, &player(&league, commitment, choice, nonce)).expect(why);
        assert!(
            fault.why.starts_with("REF01 says of attempt 1 at R1M1 "),
            "{fault}"
        );
        assert!(fault.why.contains(why), "{fault}");
    }
}

#[test]
fn a_choice_of_a_player_that_made_none_is_a_contradiction() {
    let league = manager(fair_referee);
    let (commitment, choice, nonce) = honest(&league);
    let mut lines = player(&league, &commitment, choice, &nonce);
    lines.pop();
    let fault = fault(&league, &lines).expect("a contradiction");
    assert!(
        fault
            .why
            .contains("that P01 chose \"odd\", and P01 chose nothing"),
        "{fault}"
    );
}

/// P01 is said to have been silent.
fn referee_of_the_silenced(fixture: &Fixture) -> MatchResult {
    let mut result = plain_referee(fixture);
    let a = &fixture.a;
    let b = &fixture.b;
    result.score = [(a.clone(), 0), (b.clone(), 3)].into_iter().collect();
    (result.winner, result.status) = (Some(b.clone()), Some(GameStatus::TechnicalLoss));
    if let GameDetails::Parity(details) = &mut result.details.game {
        (details.drawn_number, details.number_parity) = (None, None);
        details.choices = [(a.clone(), None), (b.clone(), None)].into_iter().collect();
    }
    let blame = [(a.clone(), Blame::on_player(Cause::Silent))]
        .into_iter()
        .collect();
    result.details.blame = Some(Box::new(blame));
    result
}

/// The question of the match and the answer to it, as P01 recorded them, so many seconds apart.
fn answered(seconds: u64) -> Exchange {
    let message = |kind: &str, rest: serde_json::Value| {
        let mut message =
            json!({"protocol": "league.v2", "message_type": kind, "match_id": "R1M1"});
        message
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        message
    };
    let question = message(
        "CHOOSE_PARITY_CALL",
        json!({"timestamp": "2025-01-15T10:30:00Z", "deadline": "2025-01-15T10:30:30Z"}),
    );
    let answer = message("CHOOSE_PARITY_RESPONSE", json!({"parity_choice": "odd"}));
    Exchange {
        at: BEGIN,
        done_at: Some(BEGIN + Duration::from_secs(seconds)),
        agent: "P01".into(),
        direction: Direction::In,
        message_type: "CHOOSE_PARITY_CALL".into(),
        request: json!({"jsonrpc": "2.0", "id": 1, "method": "choose_parity", "params": question})
            .to_string(),
        answer: Some(json!({"jsonrpc": "2.0", "id": 1, "result": answer}).to_string()),
        outcome: "answered".into(),
        error_code: None,
        ..silence()
    }
}

fn silenced(folder: &Path, exchanges: Vec<Exchange>) -> Option<Fault> {
    let league = manager(referee_of_the_silenced);
    let file = folder.join("league.db");
    let own = folder.join("p01.db");
    let store = Store::open(&file).unwrap();
    append(&store, "league", league.lines.clone()).unwrap();
    store.close().unwrap();
    let store = Store::open(&own).unwrap();
    append_with(
        &store,
        "player/1",
        player(&league, &"00".repeat(32), "odd", "salt"),
        exchanges,
    )
    .unwrap();
    store.close().unwrap();
    verify_files(&[file.into(), own.into()]).unwrap().fault
}

#[test]
fn a_player_that_answered_in_time_and_is_said_to_have_been_silent_is_a_contradiction_that_names_both()
 {
    let folder = tempfile::tempdir().unwrap();
    let fault = silenced(folder.path(), vec![answered(2)]).expect("a contradiction");
    let why = "REF01 says of attempt 1 at R1M1 that P01 was silent, and P01 answered in time, by its own store";
    assert_eq!(fault.why, why);
}

#[test]
fn an_answer_that_came_too_late_or_never_went_out_contradicts_nobody() {
    for exchanges in [vec![answered(31)], vec![]] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(silenced(folder.path(), exchanges), None);
    }
}
