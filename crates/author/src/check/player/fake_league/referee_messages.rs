//! The messages of the fake referee: invitation, requests for a choice or move, GAME_ERROR, GAME_OVER. Pure.

use super::{FakeLeague, Fixture};
use matchday_core::game::{Game, Outcome, Seat, Turn};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{ErrorCode, Message, Timestamp, UntrustedText};
use serde_json::{Value, json};
use std::time::Duration;

const CHOICE_WINDOW: Duration = Duration::from_secs(30);

impl FakeLeague {
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
            commitment_signature: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// The first request of a match.
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

    /// GAME_MOVE_CALL for the current state of a game. The player always has seat A.
    pub(crate) fn question_in(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        game: &dyn Game,
    ) -> Message {
        let mut move_request = game.request(Seat::A);
        move_request
            .context
            .insert("opponent_id".into(), json!(self.opponent));
        move_request
            .context
            .insert("your_standings".into(), json!(Record::default()));
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

    /// GAME_ERROR for an invalid choice that was never made; a request follows.
    pub(crate) fn game_error(&self, now: Timestamp, fixture: &Fixture) -> Message {
        let by_move = self.asks_by_move();
        let legal = (self.game.new)().request(Seat::A).valid_options;
        let (code, came, field, owed) = if by_move {
            (
                ErrorCode::InvalidMove,
                "no such move",
                "move_data.choice",
                "GAME_MOVE_RESPONSE",
            )
        } else {
            (
                ErrorCode::InvalidParityChoice,
                "Odd",
                "parity_choice",
                "CHOOSE_PARITY_RESPONSE",
            )
        };
        let name = code.name().to_owned();
        let player = self.identity.player_id.clone();
        let options: Vec<_> = legal.iter().map(Value::to_string).collect();
        let message = format!(
            "{field}: expected exactly one of {}, got \"{came}\"",
            options.join(", ")
        );
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

    /// GAME_OVER of a match that began with this choice.
    pub(crate) fn game_over(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        choice: Option<&Value>,
        nonce: Option<Nonce>,
    ) -> Message {
        if !self.asks_by_move() {
            let parity = choice
                .and_then(|choice| choice.as_str())
                .and_then(Parity::parse);
            return self.parity_over(now, fixture, parity.unwrap_or(Parity::Even), nonce);
        }
        let mut game = (self.game.new)();
        if let Some(choice) = choice {
            // It was validated before.
            let _ = game.play(Seat::A, choice);
        }
        play_on(game.as_mut());
        self.over(now, fixture, game.as_ref())
    }

    /// GAME_OVER of a match that was played out move by move.
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
                status: if winner.is_some() {
                    GameStatus::Win
                } else {
                    GameStatus::Draw
                },
                winner_player_id: winner,
                details: game.details(&players),
                reason: reason.clone(),
                fairness: None,
            },
            reason,
            signature: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// GAME_OVER of a match to which the opponent did not come, or neither player.
    pub(crate) fn technical_loss(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        of_both: bool,
    ) -> Message {
        let players = [self.identity.player_id.clone(), self.opponent.clone()];
        let details = if self.asks_by_move() {
            (self.game.new)().details(&players)
        } else {
            GameDetails::Parity(ParityDetails {
                drawn_number: None,
                number_parity: None,
                choices: players
                    .iter()
                    .map(|player| (player.clone(), None))
                    .collect(),
            })
        };
        let [own, other] = players;
        let reason = UntrustedText::from(if of_both {
            "Both players failed to respond within timeout".to_owned()
        } else {
            format!("{other} failed to respond within timeout")
        });
        let game_result = GameResult {
            status: GameStatus::TechnicalLoss,
            winner_player_id: (!of_both).then_some(own),
            details,
            reason: Some(reason.clone()),
            fairness: None,
        };
        let body = GameOver {
            league_id: Some(self.league_id.clone()),
            round_id: Some(fixture.round_id),
            match_id: fixture.match_id.clone(),
            game_type: self.game_type(),
            game_result,
            reason: Some(reason),
            signature: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// The draw verifies if `nonce` is the one that the player sent.
    fn parity_over(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        choice: Parity,
        nonce: Option<Nonce>,
    ) -> Message {
        let own = self.identity.player_id.clone();
        let other = self.opponent.clone();
        let nonces = [
            nonce.unwrap_or_else(|| Nonce::absent(&own)),
            Nonce::absent(&other),
        ];
        let [ours, theirs] = &nonces;
        let mut dice = self.draw(fixture).dice(&self.secret, [ours, theirs]);
        let number = u8::try_from(dice.uniform(1..=10)).unwrap_or(1);
        let parity = Parity::of(number);
        let winner = if choice == parity {
            own.clone()
        } else {
            other.clone()
        };
        let reason = UntrustedText::from(format!(
            "{winner} chose {parity}, number was {number} ({parity})"
        ));
        let choices = [
            (own.clone(), Some(choice)),
            (other.clone(), Some(choice.other())),
        ];
        let [a, b] = nonces;
        let reveal = self
            .draw(fixture)
            .reveal(&self.secret, ByPlayer::pair((own, a), (other, b)));
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
            signature: None,
        };
        self.as_referee(now, fixture, body)
    }
}

/// Plays a game to its end by always making the first legal move.
fn play_on(game: &mut dyn Game) {
    loop {
        let seats = match game.turn() {
            Turn::Both => &Seat::BOTH[..],
            Turn::One(Seat::A) => &[Seat::A],
            Turn::One(Seat::B) => &[Seat::B],
            Turn::Over | Turn::Chance | Turn::External => return,
        };
        let moved = seats.iter().filter(|seat| play_any(game, **seat, 0));
        if moved.count() == 0 {
            return;
        }
    }
}

/// Makes a legal move chosen by `number`. Returns whether there was one.
pub(crate) fn play_any(game: &mut dyn Game, seat: Seat, number: usize) -> bool {
    let options = game.request(seat).valid_options;
    let option = number
        .checked_rem(options.len())
        .and_then(|place| options.get(place));
    option.is_some_and(|option| game.play(seat, option).is_ok())
}
