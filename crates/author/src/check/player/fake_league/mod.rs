//! The fake league for a player: its identity there, tokens, and the messages of manager and referee. Pure.

mod manager_messages;
mod referee_messages;

use super::checked_game::CheckedGame;
pub(super) use referee_messages::{Absent, Ending};

use matchday_core::entropy::Entropy;
use matchday_core::fair::{MatchDraw, Secret};
use matchday_core::game::Seat;
use matchday_core::protocol::messages::*;
use matchday_core::protocol::text::RuleBroken;
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{
    Attempt, Body, ConversationId, DisplayName, Endpoint, Envelope, GameType, LeagueId, MatchId,
    Message, PlayerId, RefereeId, RoundId, Sender, Timestamp, Token, decode,
};

/// The identity of the player under check.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub player_id: PlayerId,
    /// The token that we issued, if it registered here.
    pub token: Option<Token>,
    /// Whether it registered a public key: no league forgives such a player a wrong token.
    pub has_key: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Fixture {
    /// Of the player under check.
    pub seat: Seat,
    pub opponent: PlayerId,
    pub round_id: RoundId,
    pub match_id: MatchId,
    pub conversation_id: ConversationId,
}

#[derive(Debug)]
pub(crate) struct FakeLeague {
    pub league_id: LeagueId,
    pub identity: Identity,
    opponents: [PlayerId; 2],
    referee: RefereeId,
    referee_endpoint: Endpoint,
    /// Used where the player has no token of ours from which the right one could be derived.
    unrelated_token: Token,
    secret: Secret,
    names: [DisplayName; 2],
    rounds: u32,
    pub game: CheckedGame,
}

impl FakeLeague {
    pub(crate) fn new(
        league_id: LeagueId,
        identity: Identity,
        referee_endpoint: Endpoint,
        game: CheckedGame,
        entropy: &mut Entropy,
    ) -> Result<Self, RuleBroken> {
        // One before and one after most ids that a player is given, in every order of ids.
        let opponents = [[2, 3], [98, 97]].map(|numbers| {
            let ids = numbers.map(PlayerId::numbered);
            let [first, second] = ids;
            if first == identity.player_id {
                second
            } else {
                first
            }
        });
        Ok(Self {
            league_id,
            opponents,
            identity,
            referee: RefereeId::numbered(1),
            referee_endpoint,
            unrelated_token: Token::issue("REF01", entropy),
            secret: Secret::draw(entropy),
            names: [
                DisplayName::parse("Checked")?,
                DisplayName::parse("Sparring partner")?,
            ],
            // No first match is R1M1, so that an agent cannot have its name written down.
            rounds: 1,
            game,
        })
    }

    /// The next match, in which the player has the first seat: one in each round.
    pub(crate) fn next(&mut self) -> Fixture {
        self.next_as(Seat::A, 0)
    }

    /// The next match, in this seat against this one of the opponents.
    pub(crate) fn next_as(&mut self, seat: Seat, opponent: usize) -> Fixture {
        let [first, second] = &self.opponents;
        let opponent = if opponent == 0 { first } else { second }.clone();
        self.rounds += 1;
        let round_id = RoundId(self.rounds);
        let match_id = MatchId::numbered(round_id, 1);
        let conversation_id = ConversationId::of_match(&match_id, Attempt::FIRST);
        Fixture {
            seat,
            opponent,
            round_id,
            match_id,
            conversation_id,
        }
    }

    /// The players of a match: A, and B.
    fn players(&self, fixture: &Fixture) -> [PlayerId; 2] {
        let own = self.identity.player_id.clone();
        let opponent = fixture.opponent.clone();
        match fixture.seat {
            Seat::A => [own, opponent],
            Seat::B => [opponent, own],
        }
    }

    /// The next match, with this word in its name and its conversation's.
    pub(crate) fn next_named(&mut self, word: &str) -> Fixture {
        let plain = self.next();
        let match_id = MatchId::new(format!("{}-{word}", plain.match_id));
        let conversation_id = ConversationId::of_match(&match_id, Attempt::FIRST);
        Fixture {
            match_id,
            conversation_id,
            ..plain
        }
    }

    /// Whether the player can authenticate our messages.
    pub(crate) fn is_known(&self) -> bool {
        self.identity.token.is_some()
    }

    fn match_token(&self, fixture: &Fixture, direction: Direction) -> Option<Token> {
        let own = self.identity.token.as_ref()?;
        Some(own.hash().match_token(
            &self.league_id,
            &fixture.match_id,
            Attempt::FIRST,
            direction,
        ))
    }

    /// The token of the player's answers in this match, if it registered here.
    pub(crate) fn answer_token(&self, fixture: &Fixture) -> Option<Token> {
        self.match_token(fixture, Direction::PlayerToReferee)
    }

    /// The token that the player is shown in this match, if it registered here.
    pub(crate) fn shown_token(&self, fixture: &Fixture) -> Option<Token> {
        self.match_token(fixture, Direction::RefereeToPlayer)
    }

    fn as_referee(&self, now: Timestamp, fixture: &Fixture, body: impl Into<Body>) -> Message {
        let token = self
            .shown_token(fixture)
            .unwrap_or_else(|| self.unrelated_token.clone());
        let sender = Sender::Referee(self.referee.clone());
        let envelope =
            Envelope::new(sender, now, fixture.conversation_id.clone()).with_token(Some(token));
        Message::new(envelope, body)
    }

    fn as_manager(&self, now: Timestamp, conversation: &str, body: impl Into<Body>) -> Message {
        let notice = self
            .identity
            .token
            .as_ref()
            .map(|own| own.hash().notice_token(&self.league_id));
        let token = notice.unwrap_or_else(|| self.unrelated_token.clone());
        let conversation = ConversationId::new(conversation);
        let envelope =
            Envelope::new(Sender::LeagueManager, now, conversation).with_token(Some(token));
        Message::new(envelope, body)
    }

    /// What a league knows about an answer before it decodes it.
    pub(crate) fn asked(&self, fixture: &Fixture) -> decode::Exchange {
        decode::Exchange {
            peer: Sender::Player(self.identity.player_id.clone()),
            conversation_id: fixture.conversation_id.clone(),
            league_id: Some(self.league_id.clone()),
            match_id: Some(fixture.match_id.clone()),
            player_id: Some(self.identity.player_id.clone()),
        }
    }

    /// A valid answer.
    pub(crate) fn answer(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        body: impl Into<Body>,
    ) -> Message {
        let token = self
            .answer_token(fixture)
            .unwrap_or_else(|| self.unrelated_token.clone());
        let sender = Sender::Player(self.identity.player_id.clone());
        let envelope =
            Envelope::new(sender, now, fixture.conversation_id.clone()).with_token(Some(token));
        Message::new(envelope, body)
    }

    pub(crate) fn good_ack(&self, now: Timestamp, fixture: &Fixture) -> Message {
        let ack = GameJoinAck {
            match_id: fixture.match_id.clone(),
            player_id: self.identity.player_id.clone(),
            arrival_timestamp: now,
            accept: true,
            nonce_commitment: None,
        };
        self.answer(now, fixture, ack)
    }

    fn game_type(&self) -> GameType {
        GameType::new(self.game.entry.name)
    }

    pub(crate) fn good_choice(&self, now: Timestamp, fixture: &Fixture) -> Message {
        if self.game.asks_by_move() {
            let MoveRequest {
                move_type,
                valid_options,
                ..
            } = self.game.opening(fixture.seat).request(fixture.seat);
            let choice = valid_options.into_iter().next().unwrap_or_default();
            let response = GameMoveResponse {
                match_id: fixture.match_id.clone(),
                player_id: self.identity.player_id.clone(),
                game_type: self.game_type(),
                move_data: MoveData { move_type, choice },
                nonce: None,
                signature: None,
            };
            return self.answer(now, fixture, response);
        }
        let choice = ChooseParityResponse {
            match_id: fixture.match_id.clone(),
            player_id: self.identity.player_id.clone(),
            parity_choice: Parity::Even,
            choice: None,
            nonce: None,
            signature: None,
        };
        self.answer(now, fixture, choice)
    }

    /// The invitation names no scheme, so that the player commits itself to no nonce and signs nothing.
    fn draw<'a>(&'a self, fixture: &'a Fixture) -> MatchDraw<'a> {
        let league_id = &self.league_id;
        let match_id = &fixture.match_id;
        MatchDraw {
            league_id,
            match_id,
            attempt: Attempt::FIRST,
        }
    }
}
