//! Every message from every kind of sender with every kind of token: a referee does what the table of rights says.

use crate::bench::*;
use matchday_core::agent::{Ask, Content};
use matchday_core::protocol::decode::{Incoming, Rejection};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::methods::Party;
use matchday_core::protocol::rights::{Right, who_may};
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::*;

fn senders() -> [Sender; 7] {
    [
        Sender::LeagueManager,
        Sender::Launcher,
        Sender::Player(p(1)),
        Sender::Player(p(2)),
        Sender::Player(PlayerId::new("alpha")),
        Sender::Referee(RefereeId::numbered(1)),
        Sender::Referee(RefereeId::numbered(2)),
    ]
}

fn tokens_shown() -> Vec<(&'static str, Option<Token>)> {
    let of = |player: u32, attempt, direction| {
        Some(own_token(player).hash().match_token(
            &league(),
            &m("R1M1"),
            Attempt(attempt),
            direction,
        ))
    };
    vec![
        ("none", None),
        ("garbage", Some(Token::new("tok_p01_garbage"))),
        ("the referee's own", Some(referee_token())),
        (
            "the referee's notice",
            Some(referee_token().hash().notice_token(&league())),
        ),
        (
            "P01's notice",
            Some(own_token(1).hash().notice_token(&league())),
        ),
        ("P01's own", Some(own_token(1))),
        ("P02's own", Some(own_token(2))),
        ("from P01", of(1, 1, Direction::PlayerToReferee)),
        ("from P02", of(2, 1, Direction::PlayerToReferee)),
        ("to P01", of(1, 1, Direction::RefereeToPlayer)),
        (
            "from P01 in another attempt",
            of(1, 2, Direction::PlayerToReferee),
        ),
        ("operator's", Some(Token::new("tok_operator_secret"))),
    ]
}

const ADMITTED: ErrorCode = ErrorCode::MissingField;

/// A message that cannot be read, which is found out only when it has been let in.
fn unreadable(message: MessageType, sender: &Sender, token: Option<&Token>) -> Incoming {
    let conversation = ConversationId::of_match(&m("R1M1"), Attempt(1));
    Incoming {
        envelope: Envelope::new(sender.clone(), start(), conversation).with_token(token.cloned()),
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

fn code(content: &Content) -> ErrorCode {
    match content {
        Content::Message(Message {
            body: Body::LeagueError(error),
            ..
        }) => error.error_code.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn notices_are_the_managers_and_everything_else_is_nobodys() {
    let notice = referee_token().hash().notice_token(&league());
    let mut bench = Bench::invited();
    for message in MessageType::ALL {
        let right = who_may(Party::Referee, *message);
        if right == Right::PlayerOfMatch {
            continue;
        }
        for sender in senders() {
            for (kind, token) in tokens_shown() {
                let expected = match (right, &sender, &token) {
                    (Right::Nobody, ..) => ErrorCode::InvalidState,
                    (_, Sender::LeagueManager, None) => ErrorCode::TokenMissing,
                    (_, Sender::LeagueManager, Some(shown)) if *shown == notice => ADMITTED,
                    _ => ErrorCode::TokenInvalid,
                };
                let found = bench.request(Ask::Message(Ok(unreadable(
                    *message,
                    &sender,
                    token.as_ref(),
                ))));
                assert_eq!(
                    code(&found),
                    expected,
                    "{message} from {sender} with {kind} token"
                );
            }
        }
    }
}

/// What P01 owes at this point, in its name, from any sender.
fn answer(bench: &Bench, message: MessageType, sender: &Sender, token: Option<&Token>) -> Incoming {
    let mut incoming = match message {
        MessageType::GameJoinAck => bench.join_ack(1, "R1M1", true),
        MessageType::ChooseParityResponse => bench.choice(1, "R1M1", Parity::Even),
        _ => {
            let made = GameMoveResponse {
                match_id: m("R1M1"),
                player_id: p(1),
                game_type: GameType::new("even_odd"),
                move_data: MoveData {
                    move_type: "choose_parity".into(),
                    choice: "even".into(),
                },
                nonce: None,
                signature: None,
            };
            incoming(bench.player_envelope(1, &m("R1M1")), made)
        }
    };
    incoming.envelope.sender = sender.clone();
    incoming.envelope.auth_token = token.cloned();
    incoming
}

#[test]
fn an_answer_is_the_players_own_or_nobodys() {
    let right_one = tokens(1, &m("R1M1"), 1).from_player;
    let answers = MessageType::ALL
        .iter()
        .filter(|kind| who_may(Party::Referee, **kind) == Right::PlayerOfMatch);
    for message in answers {
        for sender in senders() {
            for (kind, token) in tokens_shown() {
                let mut bench = if *message == MessageType::GameJoinAck {
                    Bench::invited()
                } else {
                    Bench::joined()
                };
                let own = sender == Sender::Player(p(1));
                let expected = match &token {
                    Some(shown) if own && (*shown == right_one || *shown == own_token(1)) => None,
                    None if own => Some(ErrorCode::TokenMissing),
                    _ => Some(ErrorCode::TokenInvalid),
                };
                let incoming = answer(&bench, *message, &sender, token.as_ref());
                let found = match bench.request(Ask::Message(Ok(incoming))) {
                    Content::Received => None,
                    refused => Some(code(&refused)),
                };
                assert_eq!(found, expected, "{message} from {sender} with {kind} token");
            }
        }
    }
}

#[test]
fn before_it_is_registered_a_referee_believes_nobody() {
    for message in MessageType::ALL {
        if who_may(Party::Referee, *message) != Right::Manager {
            continue;
        }
        let mut bench = Bench::fresh(settings());
        for (kind, token) in tokens_shown() {
            let incoming = unreadable(*message, &Sender::LeagueManager, token.as_ref());
            let found = bench.request(Ask::Message(Ok(incoming)));
            assert_eq!(
                code(&found),
                ErrorCode::InvalidState,
                "{message} with {kind} token"
            );
        }
    }
}

#[test]
fn no_token_shows_in_what_can_be_printed_of_a_referee() {
    let bench = Bench::joined();
    let text = format!(
        "{:?} {:?} {:?} {:?}",
        bench.events, bench.sent, bench.replies, bench.referee
    );
    let of_match = [1, 2].map(|player| tokens(player, &m("R1M1"), 1));
    let of_match = of_match
        .into_iter()
        .flat_map(|made| [made.to_player, made.from_player]);
    for token in of_match.chain([
        referee_token(),
        referee_token().hash().notice_token(&league()),
    ]) {
        assert!(!text.contains(token.reveal()), "{text}");
    }
    assert!(
        text.contains("tok_r1m1..."),
        "they are there, and cut short"
    );
}
