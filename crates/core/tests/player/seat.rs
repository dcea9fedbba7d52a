//! A player under test, and all the keys that its manager and its referees hold.

use matchday_core::agent::{
    Agent, Answer, Ask, CallId, Content, Input, Outgoing, Request, RequestId, Step,
};
use matchday_core::entropy::Entropy;
use matchday_core::game::strategy;
use matchday_core::player::{Player, PlayerEvent, PlayerSettings, THINK_TIME};
use matchday_core::protocol::decode::Incoming;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::draw::Commitment;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::*;
use matchday_testkit::schemas::assert_step_fits;
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct Seat {
    pub(crate) player: Player,
    pub(crate) entropy: Entropy,
    pub(crate) now: Timestamp,
    /// Everything that was stored, and after each step a fresh player must come to the same state by it.
    pub(crate) stored: Vec<PlayerEvent>,
    pub(crate) strategy: &'static str,
    /// Whether the strategy is only the fallback of an external decider.
    pub(crate) outside: bool,
}

pub(crate) fn league() -> LeagueId {
    LeagueId::new("league_1")
}

pub(crate) fn own_token() -> Token {
    Token::new("tok_p01_of_its_own")
}

pub(crate) fn p(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

pub(crate) fn m(round: u32, number: u32) -> MatchId {
    MatchId::numbered(RoundId(round), number)
}

pub(crate) fn even_odd() -> GameType {
    GameType::new("even_odd")
}

pub(crate) fn settings() -> PlayerSettings {
    PlayerSettings {
        manager: Endpoint::parse("http://localhost:8000/mcp").unwrap(),
        contact_endpoint: Endpoint::parse("http://localhost:8101/mcp").unwrap(),
        display_name: DisplayName::parse("Agent Alpha!").unwrap(),
        version: Version::parse("1.0.0").unwrap(),
        game_types: vec![even_odd(), GameType::new("tic_tac_toe")],
        strategy: None,
    }
}

pub(crate) fn build(name: &str, outside: bool) -> Player {
    let strategy = strategy::find(name).unwrap().build();
    if outside {
        Player::with_external_decider(settings(), strategy, THINK_TIME)
    } else {
        Player::new(settings(), strategy)
    }
}

pub(crate) fn match_token(match_id: &MatchId, attempt: u32, direction: Direction) -> Token {
    own_token()
        .hash()
        .match_token(&league(), match_id, Attempt(attempt), direction)
}

pub(crate) fn notice_token() -> Token {
    own_token().hash().notice_token(&league())
}

/// A message as a referee of ours sends it.
pub(crate) fn from_referee(match_id: &MatchId, attempt: u32, body: impl Into<Body>) -> Message {
    let token = match_token(match_id, attempt, Direction::RefereeToPlayer);
    let conversation = ConversationId::of_match(match_id, Attempt(attempt));
    let sender = Sender::Referee(RefereeId::numbered(1));
    let envelope = Envelope::new(sender, Timestamp::EPOCH, conversation).with_token(Some(token));
    Message::new(envelope, body)
}

/// A message as our manager sends it.
pub(crate) fn from_manager(body: impl Into<Body>) -> Message {
    let conversation = ConversationId::new("conv-notice-001");
    let envelope = Envelope::new(Sender::LeagueManager, Timestamp::EPOCH, conversation);
    Message::new(envelope.with_token(Some(notice_token())), body)
}

pub(crate) fn with_token(mut message: Message, token: Option<Token>) -> Message {
    message.envelope.auth_token = token;
    message
}

pub(crate) fn invitation(match_id: &MatchId, commitment: Option<Commitment>) -> GameInvitation {
    GameInvitation {
        league_id: league(),
        round_id: RoundId(1),
        match_id: match_id.clone(),
        game_type: even_odd(),
        role_in_match: Role::PlayerA,
        opponent_id: p(2),
        player_id: Some(p(1)),
        draw_commitment: commitment,
        draw_scheme: None,
        commitment_signature: None,
    }
}

pub(crate) fn parity_call(match_id: &MatchId) -> ChooseParityCall {
    ChooseParityCall {
        league_id: Some(league()),
        round_id: Some(RoundId(1)),
        match_id: match_id.clone(),
        player_id: p(1),
        game_type: even_odd(),
        context: None,
        deadline: Timestamp::EPOCH,
        turn: None,
        opponent_nonce_commitment: None,
    }
}

pub(crate) fn move_call(
    match_id: &MatchId,
    game: &str,
    move_type: &str,
    options: &[Value],
) -> GameMoveCall {
    GameMoveCall {
        league_id: Some(league()),
        round_id: Some(RoundId(1)),
        match_id: match_id.clone(),
        player_id: p(1),
        game_type: GameType::new(game),
        move_request: MoveRequest {
            move_type: move_type.into(),
            valid_options: options.to_vec(),
            context: serde_json::Map::new(),
        },
        deadline: Timestamp::EPOCH,
        turn: None,
        opponent_nonce_commitment: None,
    }
}

/// How even/odd ended between us, who chose `own`, and `opponent`, who chose `theirs`.
pub(crate) fn game_over(
    match_id: &MatchId,
    opponent: PlayerId,
    own: Parity,
    theirs: Parity,
    number: u8,
) -> GameOver {
    let drawn = Parity::of(number);
    let (winner, status) = match (own == drawn, theirs == drawn) {
        (true, false) => (Some(p(1)), GameStatus::Win),
        (false, true) => (Some(opponent.clone()), GameStatus::Win),
        _ => (None, GameStatus::Draw),
    };
    GameOver {
        league_id: Some(league()),
        round_id: Some(RoundId(1)),
        match_id: match_id.clone(),
        game_type: even_odd(),
        game_result: GameResult {
            status,
            winner_player_id: winner,
            details: GameDetails::Parity(ParityDetails {
                drawn_number: Some(number),
                number_parity: Some(drawn),
                choices: ByPlayer::pair((p(1), Some(own)), (opponent, Some(theirs))),
            }),
            reason: None,
            fairness: None,
        },
        reason: None,
        signature: None,
    }
}

pub(crate) fn announcement(round: u32, matches: Vec<AnnouncedMatch>) -> RoundAnnouncement {
    RoundAnnouncement {
        league_id: league(),
        round_id: RoundId(round),
        matches: matches.into(),
        starts_at: None,
        remark: None,
    }
}

pub(crate) fn announced(
    match_id: &MatchId,
    attempt: u32,
    match_tokens: Option<bool>,
) -> AnnouncedMatch {
    AnnouncedMatch {
        match_id: match_id.clone(),
        game_type: even_odd(),
        player_a_id: p(3),
        player_b_id: p(1),
        referee_id: None,
        referee_endpoint: Endpoint::parse("http://localhost:8001/mcp").unwrap(),
        conversation_id: Some(ConversationId::of_match(match_id, Attempt(attempt))),
        match_tokens,
        referee_public_key: None,
        replay: None,
        briefing: None,
    }
}

pub(crate) fn round_completed(round: u32) -> RoundCompleted {
    RoundCompleted {
        league_id: league(),
        round_id: RoundId(round),
        matches_completed: 1,
        matches_played: 1,
        next_round_id: None,
        summary: RoundSummary {
            total_matches: 1,
            wins: 1,
            draws: 0,
            technical_losses: 0,
        },
        checkpoint: None,
    }
}

pub(crate) fn league_completed() -> LeagueCompleted {
    LeagueCompleted {
        league_id: league(),
        total_rounds: 1,
        total_matches: 1,
        champion: Champion {
            player_id: p(1),
            display_name: DisplayName::parse("Alpha").unwrap(),
            points: 3,
        },
        champions: Vec::new(),
        final_standings: Vec::new().into(),
        checkpoint: None,
    }
}

pub(crate) fn accepted(match_tokens: Option<bool>) -> Message {
    let body = LeagueRegisterResponse {
        player_id: Some(p(1)),
        answer: RegisterAnswer {
            status: RegisterStatus::Accepted,
            reason: None,
            league_id: Some(league()),
            match_tokens,
            manager_public_key: None,
            error_code: None,
            error_name: None,
            context: None,
        },
    };
    with_token(from_manager(body), Some(own_token()))
}

pub(crate) fn incoming(message: Message) -> Incoming {
    Incoming {
        message_type: message.message_type(),
        envelope: message.envelope,
        body: Ok(message.body),
        deviations: Vec::new(),
        strict: None,
    }
}

impl Seat {
    /// A player that has just been built.
    pub(crate) fn empty(strategy: &'static str) -> Self {
        Self {
            player: build(strategy, false),
            entropy: Entropy::numbered(1),
            now: Timestamp::from_micros(1_000_000_000),
            stored: Vec::new(),
            strategy,
            outside: false,
        }
    }

    /// A player that a manager of ours has accepted, and that has an external decider.
    pub(crate) fn thinking(fallback: &'static str) -> Self {
        let mut seat = Self::taken(fallback);
        seat.outside = true;
        seat.crash();
        let call = seat.wake().call;
        let _ = seat.answer(call, Answer::Message(Ok(incoming(accepted(Some(true))))));
        seat
    }

    /// A player that a manager of ours has accepted.
    pub(crate) fn taken(strategy: &'static str) -> Self {
        Self::registered(strategy, Some(true))
    }

    /// A player that somebody else's manager has accepted.
    pub(crate) fn foreign(strategy: &'static str) -> Self {
        Self::registered(strategy, None)
    }

    fn registered(strategy: &'static str, match_tokens: Option<bool>) -> Self {
        let mut seat = Self::empty(strategy);
        let call = seat.wake().call;
        let _ = seat.answer(call, Answer::Message(Ok(incoming(accepted(match_tokens)))));
        seat
    }

    pub(crate) fn step(&mut self, input: Input) -> Step<PlayerEvent> {
        let step = self.player.handle(self.now, &mut self.entropy, input);
        assert_step_fits(&step);
        for event in &step.events {
            let text = serde_json::to_string(event).unwrap();
            let read: PlayerEvent = serde_json::from_str(&text).unwrap();
            assert_eq!(&read, event, "an event reads as it was written: {text}");
            self.stored.push(read);
        }
        assert_eq!(
            self.rebuilt().durable(),
            self.player.durable(),
            "replay equals live"
        );
        step
    }

    fn rebuilt(&self) -> Player {
        let mut player = build(self.strategy, self.outside);
        for event in &self.stored {
            player.apply(self.now, event);
        }
        player
    }

    /// Everything but the stored events is lost, and chance goes another way.
    pub(crate) fn crash(&mut self) {
        self.player = self.rebuilt();
        self.entropy = Entropy::numbered(self.stored.len() as u64 + 1_000);
    }

    pub(crate) fn wake(&mut self) -> Outgoing {
        self.step(Input::Wake).outbox.pop().expect("it registers")
    }

    pub(crate) fn answer(&mut self, call: CallId, answer: Answer) -> Step<PlayerEvent> {
        let dialect = Dialect::Standard;
        self.step(Input::Answer {
            call,
            dialect,
            answer,
        })
    }

    /// Hands in a request under a number of its own.
    pub(crate) fn put(&mut self, number: u64, ask: Ask) -> Step<PlayerEvent> {
        let id = RequestId(number);
        let dialect = Dialect::Standard;
        self.step(Input::Request(Request {
            id,
            ask,
            dialect,
            local: true,
            objection: None,
            client: None,
            join_code: None,
        }))
    }

    pub(crate) fn ask(&mut self, ask: Ask) -> Content {
        let mut step = self.put(7, ask);
        let reply = step.replies.pop().expect("every request has its reply");
        assert!(step.replies.is_empty() && step.outbox.is_empty());
        assert_eq!(reply.to, RequestId(7));
        reply.content
    }

    /// Tells the player something that needs no answer.
    pub(crate) fn tell(&mut self, message: Message) {
        let content = self.ask(Ask::Message(Ok(incoming(message))));
        assert_eq!(content, Content::Received);
    }

    /// Asks the player, and gets its league message.
    pub(crate) fn say(&mut self, message: Message) -> Message {
        match self.ask(Ask::Message(Ok(incoming(message)))) {
            Content::Message(message) => message,
            other => panic!("a message, not {other:?}"),
        }
    }

    /// The player must refuse, and nothing may change.
    pub(crate) fn refused(&mut self, message: Message) -> LeagueError {
        let before = self.stored.len();
        let original = message.message_type();
        let Body::LeagueError(error) = self.say(message).body else {
            panic!("refused");
        };
        assert_eq!(self.stored.len(), before, "nothing is stored");
        assert_eq!(error.original_message_type, Some(original.name().into()));
        Arc::unwrap_or_clone(error)
    }

    pub(crate) fn parity(&mut self, message: Message) -> ChooseParityResponse {
        match self.say(message).body {
            Body::ChooseParityResponse(response) => Arc::unwrap_or_clone(response),
            other => panic!("a choice, not {other:?}"),
        }
    }

    pub(crate) fn moves(&mut self, message: Message) -> GameMoveResponse {
        match self.say(message).body {
            Body::GameMoveResponse(response) => Arc::unwrap_or_clone(response),
            other => panic!("a move, not {other:?}"),
        }
    }
}
