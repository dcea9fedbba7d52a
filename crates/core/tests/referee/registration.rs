//! A referee asks the manager for registration, until it is told yes or no.

use crate::bench::*;
use matchday_core::agent::{Agent, Answer};
use matchday_core::protocol::MessageType::RefereeRegisterRequest;
use matchday_core::protocol::messages::{
    LeagueError, RefereeRegisterResponse, RegisterAnswer, RegisterStatus,
};
use matchday_core::protocol::{ErrorCode, RefereeId};
use matchday_core::referee::RefereeEvent;
use matchday_core::registration::{Identity, RegistrationState};
use matchday_core::signature::SigningKey;
use serde_json::json;

#[test]
fn it_says_all_that_a_manager_wants_to_know() {
    let bench = Bench::fresh(settings());
    let request = written(&bench.last(RefereeRegisterRequest));
    assert_eq!(request["sender"], "referee:Referee-Alpha");
    assert!(
        request["auth_token"]
            .as_str()
            .unwrap()
            .starts_with("tok_registration_")
    );
    assert_eq!(
        request["referee_meta"],
        json!({
            "display_name": "Referee Alpha",
            "version": "1.0.0",
            "game_types": ["even_odd", "tic_tac_toe", "rock_paper_scissors"],
            "contact_endpoint": "http://localhost:8001/mcp",
            "max_concurrent_matches": 2,
            "protocol_version": "2.1.0",
            "capabilities": ["match_tokens", "briefing", "draw-2", "ping"],
            "public_key": bench.key(),
        })
    );
}

#[test]
fn it_asks_every_two_seconds_while_the_manager_cannot_be_reached() {
    let mut bench = Bench::fresh(settings());
    for second in [2.0, 4.0, 6.0] {
        let call = bench.last(RefereeRegisterRequest).call;
        bench.answer(call, no_connection());
        bench.until(second);
    }
    assert_eq!(bench.all(RefereeRegisterRequest).len(), 4);
    bench.register(true);
    assert_eq!(bench.referee.identity().unwrap().id, RefereeId::numbered(1));
    assert!(matches!(
        bench.events[..],
        [
            RefereeEvent::Applied { .. },
            RefereeEvent::Registered { .. }
        ]
    ));
    assert_eq!(bench.referee.deadline(), None);
}

#[test]
fn a_refusal_is_taken_and_kept() {
    let mut bench = Bench::fresh(settings());
    let call = bench.last(RefereeRegisterRequest).call;
    let response = RefereeRegisterResponse {
        referee_id: None,
        answer: RegisterAnswer {
            status: RegisterStatus::Rejected,
            reason: Some("League already started".into()),
            league_id: None,
            match_tokens: None,
            manager_public_key: None,
            error_code: Some(ErrorCode::LateRegistration),
            error_name: None,
            context: None,
        },
    };
    let answer = Answer::Message(Ok(incoming(bench.manager_envelope(), response)));
    bench.answer(call, answer);
    let refused = RegistrationState::Refused {
        reason: "League already started".into(),
        code: Some(ErrorCode::LateRegistration),
    };
    assert_eq!(bench.referee.registration_state(), &refused);
    assert_eq!(bench.referee.deadline(), None);
}

#[test]
fn an_announcement_before_registration_is_refused() {
    let mut bench = Bench::fresh(settings());
    assert_eq!(refused(&bench.announce(&[even_odd("R1M1", 1, 2)])), "E008");
}

#[test]
fn killed_before_its_token_was_stored_it_asks_again_with_the_same_key() {
    let mut bench = Bench::fresh(settings());
    let asked = |bench: &Bench| {
        let request = written(&bench.last(RefereeRegisterRequest));
        (
            request["conversation_id"].clone(),
            request["auth_token"].clone(),
        )
    };
    let first = asked(&bench);
    bench.crash();
    assert_eq!(asked(&bench), first);
}

#[test]
fn a_manager_that_will_not_have_the_longer_list_of_games_is_asked_with_even_odd_alone() {
    let mut bench = Bench::fresh(settings());
    for (tries, games) in [(1, 3), (2, 1), (2, 1)] {
        let requests = bench.all(RefereeRegisterRequest);
        assert_eq!(requests.len(), tries);
        let request = written(&requests[tries - 1].1);
        assert_eq!(
            request["referee_meta"]["game_types"]
                .as_array()
                .unwrap()
                .len(),
            games
        );
        let ours = json!({"match_tokens": true}).as_object().cloned();
        let no = LeagueError::new(
            ErrorCode::InvalidFormat,
            "referee_meta.game_types: unknown game",
            None,
            ours,
        );
        let answer = Answer::Message(Ok(incoming(bench.manager_envelope(), no)));
        bench.answer(requests[tries - 1].1.call, answer);
    }
    assert!(matches!(
        bench.referee.registration_state(),
        RegistrationState::Refused { .. }
    ));
}

#[test]
fn the_third_try_says_only_what_the_message_catalogue_prints() {
    let mut bench = Bench::fresh(settings());
    for code in [ErrorCode::TokenInvalid, ErrorCode::MissingField] {
        let call = bench.last(RefereeRegisterRequest).call;
        let no = LeagueError::new(code, "no", None, None);
        let answer = Answer::Message(Ok(incoming(bench.manager_envelope(), no)));
        bench.answer(call, answer);
    }
    let request = written(&bench.last(RefereeRegisterRequest));
    assert_eq!(request.get("auth_token"), None);
    assert_eq!(
        request["referee_meta"],
        json!({
            "display_name": "Referee Alpha",
            "version": "1.0.0",
            "game_types": ["even_odd", "tic_tac_toe", "rock_paper_scissors"],
            "contact_endpoint": "http://localhost:8001/mcp",
            "max_concurrent_matches": 2,
        })
    );
}

#[test]
fn a_manager_that_has_rotated_its_key_is_still_the_same() {
    let mut bench = Bench::invited();
    let manager_key = Some(SigningKey::from_seed([9; 32]).public_key());
    let identity = Identity {
        manager_key,
        ..bench.referee.identity().unwrap().clone()
    };
    bench
        .referee
        .apply(bench.now, &RefereeEvent::Registered { identity });
    assert!(
        bench.referee.durable().open(&m("R1M1")).is_some(),
        "its match goes on"
    );
}
