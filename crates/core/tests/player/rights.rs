//! Every message from every kind of sender with every kind of token: a player does what the table of rights says.

use super::seat::*;
use matchday_core::agent::{Ask, Content};
use matchday_core::protocol::decode::{Incoming, Rejection};
use matchday_core::protocol::messages::{GameError, Parity};
use matchday_core::protocol::methods::Party;
use matchday_core::protocol::rights::{Right, who_may};
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::*;

fn senders() -> [Sender; 6] {
    [
        Sender::LeagueManager,
        Sender::Launcher,
        Sender::Player(p(1)),
        Sender::Player(p(2)),
        Sender::Referee(RefereeId::numbered(1)),
        Sender::Referee(RefereeId::new("alpha")),
    ]
}

fn tokens() -> Vec<(&'static str, Option<Token>)> {
    let id = m(1, 1);
    vec![
        ("none", None),
        ("garbage", Some(Token::new("tok_p01_garbage"))),
        ("its own", Some(own_token())),
        ("its notice", Some(notice_token())),
        (
            "another's notice",
            Some(Token::new("tok_p02_x").hash().notice_token(&league())),
        ),
        (
            "to it in this match",
            Some(match_token(&id, 1, Direction::RefereeToPlayer)),
        ),
        (
            "from it in this match",
            Some(match_token(&id, 1, Direction::PlayerToReferee)),
        ),
        (
            "to it in another attempt",
            Some(match_token(&id, 2, Direction::RefereeToPlayer)),
        ),
        (
            "to it in another match",
            Some(match_token(&m(1, 2), 1, Direction::RefereeToPlayer)),
        ),
        ("a referee's", Some(Token::new("tok_ref01_secret"))),
        ("operator's", Some(Token::new("tok_operator_secret"))),
    ]
}

const ADMITTED: ErrorCode = ErrorCode::MissingField;

fn unreadable(message: MessageType, sender: &Sender, token: Option<&Token>) -> Incoming {
    let conversation = ConversationId::of_match(&m(1, 1), Attempt(1));
    Incoming {
        envelope: Envelope::new(sender.clone(), Timestamp::EPOCH, conversation)
            .with_token(token.cloned()),
        message_type: message,
        body: Err(Rejection {
            code: ADMITTED,
            path: "anything".into(),
            expected: "a value".into(),
            came: "nothing".into(),
            message_type: Some(message.name().into()),
            conversation_id: None,
        }),
        deviations: Vec::new(),
        strict: None,
    }
}

fn code(content: &Content) -> Option<ErrorCode> {
    match content {
        Content::Message(Message {
            body: Body::LeagueError(error),
            ..
        }) => Some(error.error_code.clone()),
        _ => None,
    }
}

#[test]
fn notices_are_the_managers_and_everything_else_is_nobodys() {
    let mut seat = Seat::taken("random");
    for message in MessageType::ALL {
        let right = who_may(Party::Player, *message);
        if right == Right::RefereeOfMatch {
            continue;
        }
        for sender in senders() {
            for (kind, token) in tokens() {
                let expected = match (right, &sender, &token) {
                    (Right::Nobody, ..) => ErrorCode::InvalidState,
                    (_, Sender::LeagueManager, None) => ErrorCode::TokenMissing,
                    (_, Sender::LeagueManager, Some(shown)) if *shown == notice_token() => ADMITTED,
                    _ => ErrorCode::TokenInvalid,
                };
                let found = seat.ask(Ask::Message(Ok(unreadable(
                    *message,
                    &sender,
                    token.as_ref(),
                ))));
                assert_eq!(
                    code(&found),
                    Some(expected),
                    "{message} from {sender} with {kind} token"
                );
            }
        }
    }
}

fn game_error(match_id: &MatchId) -> GameError {
    GameError {
        league_id: Some(league()),
        round_id: Some(RoundId(1)),
        match_id: Some(match_id.clone()),
        affected_player: Some(p(1)),
        player_id: Some(p(1)),
        error_name: None,
        error_description: "TIMEOUT_ERROR".into(),
        error_code: ErrorCode::Timeout,
        error_message: None,
        action_required: Some("GAME_JOIN_ACK".into()),
        game_state: None,
        retryable: None,
        retry_info: None,
        retry_count: None,
        max_retries: None,
        time_remaining: None,
        context: None,
        consequence: Some("none".into()),
    }
}

fn from_whom(message: MessageType) -> Message {
    let id = m(1, 1);
    let body: Body = match message {
        MessageType::GameInvitation => invitation(&id, None).into(),
        MessageType::ChooseParityCall => parity_call(&id).into(),
        MessageType::GameMoveCall => move_call(
            &id,
            "even_odd",
            "choose_parity",
            &["even".into(), "odd".into()],
        )
        .into(),
        MessageType::GameOver => game_over(&id, p(2), Parity::Even, Parity::Odd, 4).into(),
        MessageType::GameError => game_error(&id).into(),
        other => panic!("a referee does not send {other} to players"),
    };
    from_referee(&id, 1, body)
}

#[test]
fn game_messages_are_the_referees_of_the_match() {
    let right_one = match_token(&m(1, 1), 1, Direction::RefereeToPlayer);
    let games = MessageType::ALL
        .iter()
        .filter(|kind| who_may(Party::Player, **kind) == Right::RefereeOfMatch);
    for message in games {
        for sender in senders() {
            for (kind, token) in tokens() {
                let expected = match (&sender, &token) {
                    (Sender::Player(_) | Sender::Launcher, _) => Some(ErrorCode::TokenInvalid),
                    (_, None) => Some(ErrorCode::TokenMissing),
                    // A sender that shows the match token has it from the manager, whatever it calls itself.
                    (_, Some(shown)) if *shown == right_one => None,
                    _ => Some(ErrorCode::TokenInvalid),
                };
                let mut sent = with_token(from_whom(*message), token);
                sent.envelope.sender = sender.clone();
                let found = Seat::taken("random").ask(Ask::Message(Ok(incoming(sent))));
                assert_eq!(
                    code(&found),
                    expected,
                    "{message} from {sender} with {kind} token"
                );
            }
        }
    }
}

#[test]
fn a_token_that_the_operator_gave_out_is_shown_instead_of_the_one_in_store() {
    let mut seat = Seat::taken("random");
    seat.crash();
    let given = Token::new("tok_p01_given_out");
    seat.player =
        std::mem::replace(&mut seat.player, build("random", false)).with_token(Some(given.clone()));
    let sent = seat.wake();
    let matchday_core::agent::Payload::Message(message) = &sent.payload else {
        panic!()
    };
    assert_eq!(message.envelope.auth_token, Some(given.clone()));
    let accepted = with_token(accepted(Some(true)), Some(given.clone()));
    let _ = seat.answer(
        sent.call,
        matchday_core::agent::Answer::Message(Ok(incoming(accepted))),
    );
    assert_eq!(
        seat.player.identity().unwrap().auth_token,
        Some(given),
        "and is kept from then on"
    );
}
