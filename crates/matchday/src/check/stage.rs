//! The league that a check pretends to run: who is in it, which tokens it shows, and its messages. Pure.

use matchday_core::entropy::Entropy;
use matchday_core::fair::{MatchDraw, Nonce, Scheme, Secret};
use matchday_core::game::{AskBy, Game, GameEntry, Outcome, Seat, Turn};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::text::RuleBroken;
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{
    Attempt, Body, ConversationId, DisplayName, Endpoint, Envelope, ErrorCode, GameType, LeagueId, MatchId,
    Message, PlayerId, RefereeId, RoundId, Sender, Timestamp, Token, UntrustedText, decode,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

const CHOICE_WINDOW: Duration = Duration::from_secs(30);

/// Who the player under check is to us.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) player_id: PlayerId,
    /// The token that it was given, if it was given one here.
    pub(crate) token: Option<Token>,
}

/// One match to check with.
#[derive(Debug, Clone)]
pub(crate) struct Fixture {
    pub(crate) round_id: RoundId,
    pub(crate) match_id: MatchId,
    pub(crate) conversation_id: ConversationId,
}

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) league_id: LeagueId,
    pub(crate) identity: Identity,
    opponent: PlayerId,
    referee: RefereeId,
    referee_endpoint: Endpoint,
    /// Shown where the player has no token by which a right one could be made.
    made_up: Token,
    secret: Secret,
    names: [DisplayName; 2],
    rounds: u32,
    /// What is played.
    pub(crate) game: &'static GameEntry,
}

impl Stage {
    pub(crate) fn new(
        league_id: LeagueId,
        identity: Identity,
        referee_endpoint: Endpoint,
        game: &'static GameEntry,
        entropy: &mut Entropy,
    ) -> Result<Self, RuleBroken> {
        let taken = identity.player_id == PlayerId::numbered(2);
        Ok(Self {
            league_id,
            opponent: PlayerId::numbered(if taken { 1 } else { 2 }),
            identity,
            referee: RefereeId::numbered(1),
            referee_endpoint,
            made_up: Token::issue("REF01", entropy),
            secret: Secret::draw(entropy),
            names: [DisplayName::parse("Checked")?, DisplayName::parse("Sparring partner")?],
            rounds: 0,
            game,
        })
    }

    /// The next match: the player has one in each round.
    pub(crate) fn next(&mut self) -> Fixture {
        self.rounds += 1;
        let round_id = RoundId(self.rounds);
        let match_id = MatchId::numbered(round_id, 1);
        let conversation_id = ConversationId::of_match(&match_id, Attempt::FIRST);
        Fixture { round_id, match_id, conversation_id }
    }

    /// Whether the player can know our messages by their tokens.
    pub(crate) fn is_known(&self) -> bool {
        self.identity.token.is_some()
    }

    /// Whether a sender is a player that nobody else in the league is: a name of the agent's own.
    pub(crate) fn is_nobodys(&self, sender: &str) -> bool {
        matches!(Sender::parse(sender), Some(Sender::Player(id)) if id != self.opponent)
    }

    fn match_token(&self, fixture: &Fixture, direction: Direction) -> Option<Token> {
        let own = self.identity.token.as_ref()?;
        Some(own.hash().match_token(&self.league_id, &fixture.match_id, Attempt::FIRST, direction))
    }

    /// What the player should show a referee in this match, if it can know.
    pub(crate) fn answer_token(&self, fixture: &Fixture) -> Option<Token> {
        self.match_token(fixture, Direction::PlayerToReferee)
    }

    fn as_referee(&self, now: Timestamp, fixture: &Fixture, body: impl Into<Body>) -> Message {
        let token =
            self.match_token(fixture, Direction::RefereeToPlayer).unwrap_or_else(|| self.made_up.clone());
        let sender = Sender::Referee(self.referee.clone());
        let envelope = Envelope::new(sender, now, fixture.conversation_id.clone()).with_token(Some(token));
        Message::new(envelope, body)
    }

    fn as_manager(&self, now: Timestamp, conversation: &str, body: impl Into<Body>) -> Message {
        let notice = self.identity.token.as_ref().map(|own| own.hash().notice_token(&self.league_id));
        let token = notice.unwrap_or_else(|| self.made_up.clone());
        let conversation = ConversationId::new(conversation);
        let envelope = Envelope::new(Sender::LeagueManager, now, conversation).with_token(Some(token));
        Message::new(envelope, body)
    }

    /// What a league knows about an answer to a question in this match, before it has read it.
    pub(crate) fn asked(&self, fixture: &Fixture) -> decode::Exchange {
        decode::Exchange {
            peer: Sender::Player(self.identity.player_id.clone()),
            conversation_id: fixture.conversation_id.clone(),
            league_id: Some(self.league_id.clone()),
            match_id: Some(fixture.match_id.clone()),
            player_id: Some(self.identity.player_id.clone()),
        }
    }

    /// An answer as it should be.
    pub(crate) fn answer(&self, now: Timestamp, fixture: &Fixture, body: impl Into<Body>) -> Message {
        let token = self.answer_token(fixture).unwrap_or_else(|| self.made_up.clone());
        let sender = Sender::Player(self.identity.player_id.clone());
        let envelope = Envelope::new(sender, now, fixture.conversation_id.clone()).with_token(Some(token));
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
        GameType::new(self.game.name)
    }

    /// Whether the game asks in the words of any game, and not in those of even/odd.
    pub(crate) fn asks_by_move(&self) -> bool {
        (self.game.new)().asks_by() == AskBy::Move
    }

    pub(crate) fn good_choice(&self, now: Timestamp, fixture: &Fixture) -> Message {
        if self.asks_by_move() {
            let MoveRequest { move_type, valid_options, .. } = (self.game.new)().request(Seat::A);
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
            nonce: None,
            signature: None,
        };
        self.answer(now, fixture, choice)
    }

    pub(crate) fn announcement(&self, now: Timestamp, fixtures: &[&Fixture]) -> Message {
        let matches: Vec<_> = fixtures.iter().map(|fixture| self.announced(fixture)).collect();
        let round_id = fixtures.first().map_or(RoundId(1), |fixture| fixture.round_id);
        let body = RoundAnnouncement {
            league_id: self.league_id.clone(),
            round_id,
            matches: matches.into(),
            starts_at: Some(now),
        };
        self.as_manager(now, &format!("conv-round-{round_id}-announce"), body)
    }

    fn announced(&self, fixture: &Fixture) -> AnnouncedMatch {
        AnnouncedMatch {
            match_id: fixture.match_id.clone(),
            game_type: self.game_type(),
            player_a_id: self.identity.player_id.clone(),
            player_b_id: self.opponent.clone(),
            referee_id: Some(self.referee.clone()),
            referee_endpoint: self.referee_endpoint.clone(),
            conversation_id: Some(fixture.conversation_id.clone()),
            match_tokens: Some(true),
            replay: None,
            briefing: None,
        }
    }

    /// The older scheme, which asks nothing of players but their choice.
    fn draw<'a>(&'a self, fixture: &'a Fixture) -> MatchDraw<'a> {
        let (league_id, match_id) = (&self.league_id, &fixture.match_id);
        MatchDraw { scheme: Scheme::Draw1, league_id, match_id, attempt: Attempt::FIRST }
    }

    pub(crate) fn invitation(&self, now: Timestamp, fixture: &Fixture) -> Message {
        let commitment = self.draw(fixture).commitment(&self.secret);
        let body = GameInvitation {
            league_id: self.league_id.clone(),
            round_id: fixture.round_id,
            match_id: fixture.match_id.clone(),
            game_type: self.game_type(),
            role_in_match: Role::PlayerA,
            opponent_id: self.opponent.clone(),
            player_id: Some(self.identity.player_id.clone()),
            draw_commitment: Some(commitment),
            draw_scheme: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// The first question of a match.
    pub(crate) fn question(&self, now: Timestamp, fixture: &Fixture) -> Message {
        if self.asks_by_move() {
            return self.question_in(now, fixture, (self.game.new)().as_ref());
        }
        let body = ChooseParityCall {
            league_id: Some(self.league_id.clone()),
            round_id: Some(fixture.round_id),
            match_id: fixture.match_id.clone(),
            player_id: self.identity.player_id.clone(),
            game_type: self.game_type(),
            context: Some(ChoiceContext {
                opponent_id: Some(self.opponent.clone()),
                round_id: Some(fixture.round_id),
                your_standings: Some(Record::default()),
            }),
            deadline: now + CHOICE_WINDOW,
            turn: Some(1),
            opponent_nonce_commitment: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// The question that a game puts to the player as it stands, in the words of any game. The player is always A.
    pub(crate) fn question_in(&self, now: Timestamp, fixture: &Fixture, game: &dyn Game) -> Message {
        let mut move_request = game.request(Seat::A);
        move_request.context.insert("opponent_id".into(), json!(self.opponent));
        move_request.context.insert("your_standings".into(), json!(Record::default()));
        let body = GameMoveCall {
            league_id: Some(self.league_id.clone()),
            round_id: Some(fixture.round_id),
            match_id: fixture.match_id.clone(),
            player_id: self.identity.player_id.clone(),
            game_type: self.game_type(),
            move_request,
            deadline: now + CHOICE_WINDOW,
            turn: None,
            opponent_nonce_commitment: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// The referee complains of a choice that was never made, and will ask again.
    pub(crate) fn game_error(&self, now: Timestamp, fixture: &Fixture) -> Message {
        let by_move = self.asks_by_move();
        let legal = (self.game.new)().request(Seat::A).valid_options;
        let (code, came, field, owed) = match by_move {
            true => (ErrorCode::InvalidMove, "no such move", "move_data.choice", "GAME_MOVE_RESPONSE"),
            false => (ErrorCode::InvalidParityChoice, "Odd", "parity_choice", "CHOOSE_PARITY_RESPONSE"),
        };
        let (name, player) = (code.name().to_owned(), self.identity.player_id.clone());
        let told: Vec<_> = legal.iter().map(Value::to_string).collect();
        let message = format!("{field}: expected exactly one of {}, got \"{came}\"", told.join(", "));
        let context = json!({"invalid_choice": came, "valid_choices": legal});
        let body = GameError {
            league_id: Some(self.league_id.clone()),
            round_id: Some(fixture.round_id),
            match_id: Some(fixture.match_id.clone()),
            player_id: Some(player.clone()),
            affected_player: Some(player),
            error_name: Some(name.clone().into()),
            error_description: name.into(),
            error_message: Some(message.into()),
            error_code: code,
            action_required: Some(owed.into()),
            game_state: Some("COLLECTING_CHOICES".into()),
            retryable: Some(true),
            retry_info: Some(RetryInfo {
                retry_count: Some(1),
                max_retries: Some(3),
                next_retry_at: None,
                time_remaining: Some(Seconds(18.5)),
            }),
            retry_count: Some(1),
            max_retries: Some(3),
            time_remaining: Some(Seconds(18.5)),
            context: context.as_object().cloned(),
            consequence: Some("Technical loss if valid choice not received before timeout".into()),
        };
        self.as_referee(now, fixture, body)
    }

    /// How the match ended that began with this choice.
    pub(crate) fn game_over(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        choice: Option<&Value>,
        nonce: Option<Nonce>,
    ) -> Message {
        if !self.asks_by_move() {
            let parity = choice.and_then(|choice| choice.as_str()).and_then(Parity::parse);
            return self.parity_over(now, fixture, parity.unwrap_or(Parity::Even), nonce);
        }
        let mut game = (self.game.new)();
        if let Some(choice) = choice {
            // It is legal, or it would not have been taken for a choice.
            let _ = game.play(Seat::A, choice);
        }
        play_on(game.as_mut());
        self.over(now, fixture, game.as_ref())
    }

    /// How a match ended whose every move was asked for.
    pub(crate) fn over(&self, now: Timestamp, fixture: &Fixture, game: &dyn Game) -> Message {
        let players = [self.identity.player_id.clone(), self.opponent.clone()];
        let winner = match game.outcome() {
            Some(Outcome::Win(seat)) => Some(seat.of(&players).clone()),
            Some(Outcome::Draw) | None => None,
        };
        let reason: Option<UntrustedText> = Some(game.reason(&players).into());
        let body = GameOver {
            league_id: Some(self.league_id.clone()),
            round_id: Some(fixture.round_id),
            match_id: fixture.match_id.clone(),
            game_type: self.game_type(),
            game_result: GameResult {
                status: if winner.is_some() { GameStatus::Win } else { GameStatus::Draw },
                winner_player_id: winner,
                details: game.details(&players),
                reason: reason.clone(),
                fairness: None,
            },
            reason,
        };
        self.as_referee(now, fixture, body)
    }

    /// A player that verifies draws finds this one in order, if `nonce` is the one it sent.
    fn parity_over(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        choice: Parity,
        nonce: Option<Nonce>,
    ) -> Message {
        let (own, other) = (self.identity.player_id.clone(), self.opponent.clone());
        let nonces = [nonce.unwrap_or_else(|| Nonce::absent(&own)), Nonce::absent(&other)];
        let [ours, theirs] = &nonces;
        let mut dice = self.draw(fixture).dice(&self.secret, [ours, theirs]);
        let number = u8::try_from(dice.uniform(1..=10)).unwrap_or(1);
        let parity = Parity::of(number);
        let winner = if choice == parity { own.clone() } else { other.clone() };
        let reason = UntrustedText::from(format!("{winner} chose {parity}, number was {number} ({parity})"));
        let choices = [(own.clone(), Some(choice)), (other.clone(), Some(choice.other()))];
        let [a, b] = nonces;
        let reveal = self.draw(fixture).reveal(&self.secret, ByPlayer::pair((own, a), (other, b)));
        let details = ParityDetails {
            drawn_number: Some(number),
            number_parity: Some(parity),
            choices: choices.into_iter().collect(),
        };
        let body = GameOver {
            league_id: Some(self.league_id.clone()),
            round_id: Some(fixture.round_id),
            match_id: fixture.match_id.clone(),
            game_type: self.game_type(),
            game_result: GameResult {
                status: GameStatus::Win,
                winner_player_id: Some(winner),
                details: GameDetails::Parity(details),
                reason: Some(reason.clone()),
                fairness: Some(reveal),
            },
            reason: Some(reason),
        };
        self.as_referee(now, fixture, body)
    }

    /// The table of a league of so many players.
    pub(crate) fn standings(&self, now: Timestamp, round_id: RoundId, players: u32) -> Message {
        let rows: Vec<_> = (1..=players.max(2)).map(|rank| self.row(rank)).collect();
        let body =
            LeagueStandingsUpdate { league_id: self.league_id.clone(), round_id, standings: rows.into() };
        self.as_manager(now, &format!("conv-round-{round_id}-standings"), body)
    }

    fn row(&self, rank: u32) -> StandingRow {
        let [own_name, other_name] = &self.names;
        let (player_id, display_name, won) = match rank {
            1 => (self.identity.player_id.clone(), own_name.clone(), 1),
            2 => (self.opponent.clone(), other_name.clone(), 0),
            other => (PlayerId::new(format!("C{other:02}")), other_name.clone(), 0),
        };
        StandingRow {
            rank,
            player_id,
            display_name,
            played: 1,
            wins: won,
            draws: 0,
            losses: 1 - won,
            points: 3 * won,
            technical_losses: Some(0),
            rank_reason: None,
        }
    }

    pub(crate) fn round_completed(&self, now: Timestamp, round_id: RoundId) -> Message {
        let body = RoundCompleted {
            league_id: self.league_id.clone(),
            round_id,
            matches_completed: 1,
            matches_played: 1,
            next_round_id: Some(RoundId(round_id.0 + 1)),
            summary: RoundSummary { total_matches: 1, wins: 1, draws: 0, technical_losses: 0 },
        };
        self.as_manager(now, &format!("conv-round-{round_id}-complete"), body)
    }

    pub(crate) fn league_error(&self, now: Timestamp) -> Message {
        let context = Map::from_iter([("reason".to_owned(), json!("this is a check"))]);
        let body = LeagueError::new(
            ErrorCode::InvalidState,
            "The league is not in a state that allows this.",
            Some("LEAGUE_QUERY".into()),
            Some(context),
        );
        self.as_manager(now, "conv-league-error", body)
    }

    pub(crate) fn league_completed(&self, now: Timestamp) -> Message {
        let (own, other) = (&self.identity.player_id, &self.opponent);
        let [own_name, other_name] = &self.names;
        let standing = |rank, id: &PlayerId, name: &DisplayName, points| FinalStanding {
            rank,
            player_id: id.clone(),
            display_name: Some(name.clone()),
            points,
        };
        let standings = vec![standing(1, own, own_name, 3), standing(2, other, other_name, 0)];
        let body = LeagueCompleted {
            league_id: self.league_id.clone(),
            total_rounds: self.rounds.max(1),
            total_matches: self.rounds.max(1),
            champion: Champion { player_id: own.clone(), display_name: own_name.clone(), points: 3 },
            final_standings: standings.into(),
        };
        self.as_manager(now, "conv-league-complete", body)
    }
}

/// Plays a game to its end by whichever move is first, for whoever is to move.
fn play_on(game: &mut dyn Game) {
    loop {
        let seats = match game.turn() {
            Turn::Both => &Seat::BOTH[..],
            Turn::One(Seat::A) => &[Seat::A],
            Turn::One(Seat::B) => &[Seat::B],
            Turn::Over | Turn::Chance | Turn::Outside => return,
        };
        let moved = seats.iter().filter(|seat| play_any(game, **seat, 0));
        if moved.count() == 0 {
            return;
        }
    }
}

/// Makes some legal move, another for another number; whether there was one.
pub(crate) fn play_any(game: &mut dyn Game, seat: Seat, number: usize) -> bool {
    let options = game.request(seat).valid_options;
    let option = number.checked_rem(options.len()).and_then(|place| options.get(place));
    option.is_some_and(|option| game.play(seat, option).is_ok())
}
