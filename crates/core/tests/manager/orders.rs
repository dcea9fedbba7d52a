//! The operator's orders, and the table they lead to.

use crate::desk::*;
use matchday_core::agent::{Ask, Content};
use matchday_core::league::LeagueSettings;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{
    Attempt, Body, ConversationId, ErrorCode, MatchId, PlayerId, Sender, Token,
};

pub(crate) fn operator() -> Token {
    Token::new("tok_operator_secret")
}

pub(crate) fn settings() -> LeagueSettings {
    LeagueSettings {
        operator_token: Some(operator().hash()),
        ..quick()
    }
}

pub(crate) fn give(
    desk: &mut Desk,
    order: Order,
    player: Option<&str>,
    match_id: Option<&str>,
) -> Body {
    let order = LeagueOrder {
        league_id: league_id(),
        order,
        player_id: player.map(PlayerId::new),
        match_id: match_id.map(MatchId::new),
        agent_id: None,
        join_code: None,
    };
    let mut message = desk.message(&Sender::Launcher, order);
    message.envelope.auth_token = Some(operator());
    desk.ask(message).body
}

fn phase(answer: &Body) -> Phase {
    match answer {
        Body::LeagueStatus(status) => status.status,
        other => panic!("expected LEAGUE_STATUS, got {other:?}"),
    }
}

#[test]
fn orders_need_the_operator_token_even_from_this_machine() {
    let mut desk = Desk::started(settings(), 2, 1);
    let order = LeagueOrder {
        league_id: league_id(),
        order: Order::Pause,
        player_id: None,
        match_id: None,
        agent_id: None,
        join_code: None,
    };
    let mut message = desk.message(&Sender::Launcher, order);
    for (token, expected) in [
        (None, ErrorCode::TokenMissing),
        (Some(Token::new("tok_guess")), ErrorCode::TokenInvalid),
    ] {
        message.envelope.auth_token = token;
        let ask = Ask::Message(Ok(incoming(message.clone())));
        let Some(Content::Message(answer)) = desk.ask_any(ask, true).pop() else {
            panic!("it is answered")
        };
        assert_eq!(error_code(&answer.body), expected);
    }
    assert_eq!(desk.manager.league().phase, Phase::Running);
}

#[test]
fn while_a_league_is_paused_open_matches_are_played_out_and_no_more_begin() {
    let mut desk = Desk::started(settings(), 4, 1);
    desk.settle_received();
    assert_eq!(
        phase(&give(&mut desk, Order::Pause, None, None)),
        Phase::Paused
    );
    desk.report("R1M1", (3, 0));
    desk.report("R1M2", (3, 0));
    assert_eq!(
        (
            desk.manager.league().current_round,
            desk.open_matches().len()
        ),
        (1, 0)
    );
    assert_eq!(
        phase(&give(&mut desk, Order::Resume, None, None)),
        Phase::Running
    );
    desk.settle_received();
    assert_eq!(
        (
            desk.manager.league().current_round,
            desk.open_matches().len()
        ),
        (2, 2)
    );
}

#[test]
fn a_pause_outlives_a_restart() {
    let mut desk = Desk::started(settings(), 4, 1);
    give(&mut desk, Order::Pause, None, None);
    desk.crash();
    assert_eq!(desk.manager.league().phase, Phase::Paused);
    desk.report("R1M1", (3, 0));
    desk.report("R1M2", (3, 0));
    assert_eq!(desk.manager.league().current_round, 1);
}

#[test]
fn a_withdrawn_player_forfeits_what_it_has_not_finished_and_keeps_what_it_has() {
    let mut desk = Desk::started(settings(), 4, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    give(&mut desk, Order::Withdraw, Some("P03"), None);
    let game = &desk.manager.league().matches[&MatchId::new("R1M2")];
    assert_eq!(game.forfeits, [(PlayerId::new("P03"), Cause::Withdrawn)]);
    let to_referee = desk.sent_to(&referee_endpoint(1));
    assert!(
        to_referee
            .iter()
            .any(|body| matches!(body, Body::LeagueError(error)
        if error.error_code == ErrorCode::ResultConflict))
    );
    desk.play_out();
    let league = desk.manager.league();
    let place = league
        .standings()
        .into_iter()
        .find(|place| place.player.as_str() == "P03")
        .unwrap();
    assert_eq!(
        (
            place.tally.losses,
            place.tally.technical_losses,
            league.matches_decided
        ),
        (3, 3, 6)
    );
}

#[test]
fn a_struck_result_does_not_count_and_its_match_is_played_again_as_a_new_attempt() {
    let mut desk = Desk::started(settings(), 2, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    assert_eq!(desk.manager.league().phase, Phase::Completed);
    assert_eq!(
        phase(&give(&mut desk, Order::Void, None, Some("R1M1"))),
        Phase::Running
    );
    assert_eq!(desk.manager.league().standings()[0].tally.points(), 0);
    let game = &desk.manager.league().matches[&MatchId::new("R1M1")];
    assert_eq!(game.attempt(), Some(Attempt(2)));
    desk.report("R1M1", (0, 3));
    let table = desk.manager.league().standings();
    assert_eq!(
        (table[0].player.as_str(), table[0].tally.points()),
        ("P02", 3)
    );
    assert_eq!(desk.manager.league().phase, Phase::Completed);
    let records: Vec<_> = desk
        .manager
        .league()
        .players
        .values()
        .map(|known| known.record.wins)
        .collect();
    assert_eq!(records, [0, 1]);
}

#[test]
fn a_match_of_an_earlier_round_can_be_played_again_beside_the_present_one() {
    let mut desk = Desk::started(settings(), 4, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    desk.report("R1M2", (3, 0));
    give(&mut desk, Order::Void, None, Some("R1M1"));
    desk.settle_received();
    let open: Vec<_> = desk
        .open_matches()
        .into_iter()
        .map(|(id, ..)| id.to_string())
        .collect();
    assert_eq!(open, ["R1M1", "R2M1", "R2M2"]);
    desk.play_out();
    assert_eq!(desk.manager.league().matches_decided, 6);
}

#[test]
fn ending_early_makes_the_table_final() {
    let mut desk = Desk::started(settings(), 4, 1);
    desk.settle_received();
    desk.report("R1M1", (0, 3));
    assert_eq!(
        phase(&give(&mut desk, Order::End, None, None)),
        Phase::Completed
    );
    assert_eq!(desk.manager.league().champion, Some(PlayerId::new("P02")));
    let before = desk.manager.league().clone();
    desk.crash();
    assert_eq!(*desk.manager.league(), before);
}

#[test]
fn an_order_that_makes_no_sense_is_refused_and_changes_nothing() {
    let mut desk = Desk::started(settings(), 4, 1);
    let before = desk.manager.league().clone();
    let cases: [(Order, Option<&str>, Option<&str>, ErrorCode); 4] = [
        (Order::Resume, None, None, ErrorCode::InvalidState),
        (
            Order::Withdraw,
            Some("P99"),
            None,
            ErrorCode::PlayerNotRegistered,
        ),
        (Order::Void, None, Some("R9M9"), ErrorCode::MatchNotFound),
        (Order::Void, None, Some("R1M1"), ErrorCode::InvalidState),
    ];
    for (order, player, match_id, expected) in cases {
        assert_eq!(
            error_code(&give(&mut desk, order, player, match_id)),
            expected,
            "{order:?}"
        );
    }
    assert_eq!(*desk.manager.league(), before);
}

#[test]
fn a_struck_result_does_not_come_back_when_its_referee_reports_it_again() {
    let mut desk = Desk::started(settings(), 4, 1);
    desk.settle_received();
    let (match_id, .., by) = desk.open_matches()[0].clone();
    let mut message = desk.message(&Sender::Referee(by), desk.report_of("R1M1", (3, 0)));
    message.envelope.conversation_id = ConversationId::of_match(&match_id, Attempt(1));
    desk.ask(message.clone());
    give(&mut desk, Order::Void, None, Some("R1M1"));
    assert_eq!(
        error_code(&desk.ask(message).body),
        ErrorCode::ResultConflict
    );
    assert!(desk.manager.league().matches[&match_id].decision.is_none());
}

#[test]
fn after_an_early_end_no_result_is_taken_and_none_is_struck() {
    let mut desk = Desk::started(settings(), 4, 1);
    desk.settle_received();
    desk.report("R1M1", (3, 0));
    let (.., by) = desk.open_matches()[0].clone();
    let late = desk.report_of("R1M2", (3, 0));
    give(&mut desk, Order::End, None, None);
    assert_eq!(
        error_code(&desk.ask_as(&Sender::Referee(by), late)),
        ErrorCode::ResultConflict
    );
    assert_eq!(
        error_code(&give(&mut desk, Order::Void, None, Some("R1M1"))),
        ErrorCode::InvalidState
    );
}
