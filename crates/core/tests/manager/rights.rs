//! Every message from every kind of sender with every kind of token: the manager does what the table of rights says.

use crate::desk::*;
use matchday_core::agent::{Ask, Content};
use matchday_core::league::LeagueSettings;
use matchday_core::protocol::decode::{Incoming, Rejection};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::methods::Party;
use matchday_core::protocol::rights::{Right, who_may};
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{
    Attempt, Body, ConversationId, Envelope, ErrorCode, MatchId, Message, MessageType, PlayerId,
    RefereeId, Sender, Token,
};
use std::collections::BTreeMap;

/// What an admitted message is answered with here: every body is unreadable, and that is found out only afterwards.
const ADMITTED: ErrorCode = ErrorCode::MissingField;

struct World {
    desk: Desk,
    /// The token that each member has now.
    current: BTreeMap<Sender, Token>,
    tokens: Vec<(&'static str, Option<Token>)>,
    operator: Token,
}

fn register(desk: &mut Desk, sender: Sender, body: impl Into<Body>) -> (Sender, Token) {
    let message = desk.message(&sender, body);
    let answer = desk.ask(message);
    (answer_id(&answer.body), answer.envelope.auth_token.unwrap())
}

/// Two players, two referees, one of each with a token of its own and one with a dead one beside it.
fn world() -> World {
    let operator = Token::new("tok_operator_secret");
    let settings = LeagueSettings {
        operator_token: Some(operator.hash()),
        token_guesses_max: 0,
        ..quick()
    };
    let mut desk = Desk::new(settings);
    let mut current = BTreeMap::new();
    for number in 1..=2 {
        let request = LeagueRegisterRequest {
            player_meta: player_meta(number),
            join_code: None,
        };
        current.extend([register(
            &mut desk,
            Sender::Player(PlayerId::new(format!("a{number}"))),
            request,
        )]);
        let request = RefereeRegisterRequest {
            referee_meta: referee_meta(number, 10),
            join_code: None,
        };
        current.extend([register(
            &mut desk,
            Sender::Referee(RefereeId::new(format!("a{number}"))),
            request,
        )]);
    }
    let old = [player(1), referee(1)].map(|agent| current[&agent].clone());
    for agent in [player(1), referee(1)] {
        let order = LeagueOrder {
            league_id: league_id(),
            order: Order::Rotate,
            player_id: None,
            match_id: None,
            agent_id: Some(agent.id().into()),
            join_code: None,
        };
        let mut message = desk.message(&Sender::Launcher, order);
        message.envelope.auth_token = Some(operator.clone());
        current.insert(agent, desk.ask(message).envelope.auth_token.unwrap());
    }
    desk.start();
    let hash = current[&player(1)].hash();
    let of_match = |direction| {
        Some(hash.match_token(&league_id(), &MatchId::new("R1M1"), Attempt(1), direction))
    };
    let [old_player, old_referee] = old;
    let tokens = vec![
        ("none", None),
        ("garbage", Some(Token::new("tok_p01_garbage"))),
        ("another shape", Some(Token::new("Bearer of nothing"))),
        ("P01's", Some(current[&player(1)].clone())),
        ("P02's", Some(current[&player(2)].clone())),
        ("REF01's", Some(current[&referee(1)].clone())),
        ("REF02's", Some(current[&referee(2)].clone())),
        ("P01's old", Some(old_player)),
        ("REF01's old", Some(old_referee)),
        ("to the player", of_match(Direction::RefereeToPlayer)),
        ("from the player", of_match(Direction::PlayerToReferee)),
        ("notice", Some(hash.notice_token(&league_id()))),
        (
            "registration key",
            Some(Token::new(format!("tok_registration_{}", "0".repeat(64)))),
        ),
        ("operator's", Some(operator.clone())),
    ];
    World {
        desk,
        current,
        tokens,
        operator,
    }
}

fn senders() -> [Sender; 8] {
    [
        Sender::LeagueManager,
        Sender::Launcher,
        player(1),
        player(2),
        referee(1),
        referee(2),
        Sender::Player(PlayerId::new("alpha")),
        Sender::Referee(RefereeId::new("alpha")),
    ]
}

impl World {
    /// What the table makes of it.
    fn expected(
        &self,
        message: MessageType,
        sender: &Sender,
        token: Option<&Token>,
        local: bool,
    ) -> ErrorCode {
        let operator = |local: bool| match token {
            _ if *sender != Sender::Launcher => ErrorCode::TokenInvalid,
            None if local => ADMITTED,
            None => ErrorCode::TokenMissing,
            Some(token) if *token == self.operator => ADMITTED,
            Some(_) => ErrorCode::TokenInvalid,
        };
        let member = match (token, self.current.get(sender), sender) {
            (None, ..) => ErrorCode::TokenMissing,
            (Some(shown), Some(own), _) if shown == own => ADMITTED,
            (Some(_), None, Sender::Player(_)) => ErrorCode::PlayerNotRegistered,
            (Some(_), None, Sender::Referee(_)) => ErrorCode::RefereeNotRegistered,
            _ => ErrorCode::TokenInvalid,
        };
        match who_may(Party::Manager, message) {
            Right::NewPlayer if matches!(sender, Sender::Player(_)) => ADMITTED,
            Right::NewReferee if matches!(sender, Sender::Referee(_)) => ADMITTED,
            Right::NewPlayer | Right::NewReferee => ErrorCode::TokenInvalid,
            Right::Launcher => operator(local),
            Right::Operator => operator(false),
            Right::Member => member,
            Right::Referee if member == ADMITTED && !matches!(sender, Sender::Referee(_)) => {
                ErrorCode::TokenInvalid
            }
            Right::Referee => member,
            _ => ErrorCode::InvalidState,
        }
    }

    fn answer(
        &mut self,
        message: MessageType,
        sender: &Sender,
        token: Option<&Token>,
        local: bool,
    ) -> ErrorCode {
        let rejection = Rejection {
            code: ADMITTED,
            path: "anything".into(),
            expected: "a value".into(),
            came: "nothing".into(),
            message_type: Some(message.name().into()),
            conversation_id: None,
        };
        let envelope = Envelope::new(sender.clone(), self.desk.now, ConversationId::new("conv-x"));
        let incoming = Incoming {
            envelope: envelope.with_token(token.cloned()),
            message_type: message,
            body: Err(rejection),
            deviations: Vec::new(),
            strict: None,
        };
        match self
            .desk
            .ask_any(Ask::Message(Ok(incoming)), local)
            .as_slice()
        {
            [Content::Message(Message { body, .. })] => error_code(body),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn every_message_from_every_sender_with_every_token_is_judged_by_the_table() {
    let mut world = world();
    let tokens = world.tokens.clone();
    let mut admitted = 0;
    for message in MessageType::ALL {
        for sender in senders() {
            for (kind, token) in &tokens {
                for local in [false, true] {
                    let expected = world.expected(*message, &sender, token.as_ref(), local);
                    let found = world.answer(*message, &sender, token.as_ref(), local);
                    let case = format!("{message} from {sender} with {kind} token, local: {local}");
                    assert_eq!(found, expected, "{case}");
                    admitted += usize::from(found == ADMITTED);
                }
            }
        }
    }
    let all = MessageType::ALL.len() * senders().len() * tokens.len() * 2;
    let ways = admitted;
    assert!(ways > 0 && ways < all / 4, "{ways} of {all} are let in");
}
