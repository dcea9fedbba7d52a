//! The messages of the fake referee: invitation, requests for a choice or move, GAME_ERROR, GAME_OVER. Pure.

use super::{FakeLeague, Fixture};
use matchday_core::game::{Game, Outcome, Seat};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{ErrorCode, Message, Timestamp, UntrustedText};
use serde_json::{Value, json};
use std::time::Duration;

const CHOICE_WINDOW: Duration = Duration::from_secs(30);
/// Among so many draws there is one of each parity.
const NONCES_MAX: u32 = 64;

/// How a match that was played out ends for the player under check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Won,
    Lost,
    Drawn,
}

/// Who did not answer in a match that was not played out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    Opponent,
    Player,
    Both,
}

impl FakeLeague {
    pub(crate) fn invitation(&self, now: Timestamp, fixture: &Fixture) -> Message {
        let commitment = self.draw(fixture).commitment(&self.secret);
        let body = GameInvitation {
            league_id: self.league_id.clone(),
            round_id: fixture.round_id,
            match_id: fixture.match_id.clone(),
            game_type: self.game_type(),
            role_in_match: match fixture.seat {
                Seat::A => Role::PlayerA,
                Seat::B => Role::PlayerB,
            },
            opponent_id: fixture.opponent.clone(),
            player_id: Some(self.identity.player_id.clone()),
            draw_commitment: Some(commitment),
            draw_scheme: None,
            commitment_signature: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// The first request of a match.
    pub(crate) fn question(&self, now: Timestamp, fixture: &Fixture) -> Message {
        if self.game.asks_by_move() {
            return self.question_in(now, fixture, self.game.opening(fixture.seat).as_ref());
        }
        let body = ChooseParityCall {
            league_id: Some(self.league_id.clone()),
            round_id: Some(fixture.round_id),
            match_id: fixture.match_id.clone(),
            player_id: self.identity.player_id.clone(),
            game_type: self.game_type(),
            context: Some(ChoiceContext {
                opponent_id: Some(fixture.opponent.clone()),
                round_id: Some(fixture.round_id),
                your_standings: Some(Record::default()),
            }),
            deadline: now + CHOICE_WINDOW,
            turn: Some(1),
            opponent_nonce_commitment: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// GAME_MOVE_CALL for the current state of a game.
    pub(crate) fn question_in(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        game: &dyn Game,
    ) -> Message {
        let mut move_request = game.request(fixture.seat);
        move_request
            .context
            .insert("opponent_id".into(), json!(fixture.opponent));
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
        let by_move = self.game.asks_by_move();
        let opening = self.game.opening(fixture.seat);
        let legal = opening.request(fixture.seat).valid_options;
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

    /// GAME_OVER of a match that was played out move by move.
    pub(crate) fn over(&self, now: Timestamp, fixture: &Fixture, game: &dyn Game) -> Message {
        let players = self.players(fixture);
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

    /// GAME_OVER of a match that was not played out.
    pub(crate) fn technical_loss(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        absent: Absent,
    ) -> Message {
        let own = &self.identity.player_id;
        let other = &fixture.opponent;
        let players = self.players(fixture);
        let details = if self.game.asks_by_move() {
            self.game.opening(fixture.seat).details(&players)
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
        let (winner, lost) = match absent {
            Absent::Opponent => (Some(own), Some(other)),
            Absent::Player => (Some(other), Some(own)),
            Absent::Both => (None, None),
        };
        let reason = UntrustedText::from(match lost {
            Some(lost) => format!("{lost} failed to respond within timeout"),
            None => "Both players failed to respond within timeout".to_owned(),
        });
        let game_result = GameResult {
            status: GameStatus::TechnicalLoss,
            winner_player_id: winner.cloned(),
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

    /// GAME_OVER of even/odd that ends like this for the player, which chose this. The draw verifies if `nonce` is the one
    /// that the player sent.
    pub(crate) fn parity_over(
        &self,
        now: Timestamp,
        fixture: &Fixture,
        (choice, nonce): (Parity, Option<Nonce>),
        ending: Ending,
    ) -> Message {
        let own = self.identity.player_id.clone();
        let other = fixture.opponent.clone();
        let other_choice = match ending {
            Ending::Drawn => choice,
            Ending::Won | Ending::Lost => choice.other(),
        };
        let ours = nonce.unwrap_or_else(|| Nonce::absent(&own));
        // The opponent's nonce decides which number is drawn.
        let wanted = match ending {
            Ending::Won => Some(choice),
            Ending::Lost => Some(choice.other()),
            Ending::Drawn => None,
        };
        let drawn = |theirs: &Nonce| {
            let nonces = match fixture.seat {
                Seat::A => [&ours, theirs],
                Seat::B => [theirs, &ours],
            };
            let mut dice = self.draw(fixture).dice(&self.secret, nonces);
            u8::try_from(dice.uniform(1..=10)).unwrap_or(1)
        };
        let fits = |theirs: &Nonce| wanted.is_none_or(|wanted| Parity::of(drawn(theirs)) == wanted);
        let theirs = (0..NONCES_MAX)
            .map(|number| Nonce(format!("check-{number}").into()))
            .find(fits)
            .unwrap_or_else(|| Nonce::absent(&other));
        let number = drawn(&theirs);
        let parity = Parity::of(number);
        let winner = match ending {
            Ending::Drawn => None,
            _ if choice == parity => Some(own),
            _ => Some(other),
        };
        let reason = UntrustedText::from(match &winner {
            Some(winner) => format!("{winner} chose {parity}, number was {number} ({parity})"),
            None => format!("Both players chose {choice}, number was {number} ({parity})"),
        });
        let nonces = self.by_seat(fixture, ours, theirs);
        let reveal = self.draw(fixture).reveal(&self.secret, nonces);
        let details = ParityDetails {
            drawn_number: Some(number),
            number_parity: Some(parity),
            choices: self.by_seat(fixture, Some(choice), Some(other_choice)),
        };
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
                details: GameDetails::Parity(details),
                reason: Some(reason.clone()),
                fairness: Some(reveal),
            },
            reason: Some(reason),
            signature: None,
        };
        self.as_referee(now, fixture, body)
    }

    /// Something of the player and of its opponent, in the order of their seats, as referees write it.
    fn by_seat<T>(&self, fixture: &Fixture, own: T, other: T) -> ByPlayer<T> {
        let own = (self.identity.player_id.clone(), own);
        let other = (fixture.opponent.clone(), other);
        match fixture.seat {
            Seat::A => ByPlayer::pair(own, other),
            Seat::B => ByPlayer::pair(other, own),
        }
    }
}
