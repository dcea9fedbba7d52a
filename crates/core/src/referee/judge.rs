//! Validation of a player's answer: the sender first, then the content.

use super::game_error::AnswerError;
use super::one_match::{OngoingMatch, Phase, PlayerAnswer};
use super::side::{Credentials, Via};
use crate::game::{MoveMessage, Seat};
use crate::protocol::decode::{Conformance, Deviation, DeviationKind, Incoming};
use crate::protocol::messages::{ChooseParityResponse, GameMoveResponse};
use crate::protocol::{Body, Envelope, ErrorCode, MatchId, PlayerId, Sender};
use serde_json::Value;

impl OngoingMatch {
    /// Validates an answer of the player in `seat`.
    pub(super) fn judge(
        &mut self,
        seat: Seat,
        incoming: &Incoming,
        via: Via,
        has_tokens: bool,
    ) -> Result<PlayerAnswer, AnswerError> {
        // A refusal shows no token, and says more than that it lacks one.
        if let (Ok(Body::LeagueError(error)), Via::Exchange) = (&incoming.body, via) {
            let owed = self.owed();
            let message = format!(
                "expected {owed}, and the player refused: {}",
                error.own_words()
            );
            return Err(AnswerError::new(ErrorCode::InvalidFormat, message));
        }
        self.admit(seat, &incoming.envelope, via, has_tokens)?;
        let asked = &self.assignment.conversation_id;
        let came = &incoming.envelope.conversation_id;
        if asked != came && self.conformance == Conformance::Strict {
            let message = format!("conversation_id: expected {asked}, got {came}");
            return Err(AnswerError::new(ErrorCode::MatchIdMismatch, message)
                .with("expected", asked.as_str())
                .with("came", came.as_str()));
        }
        match &incoming.body {
            Err(rejection) => Err(AnswerError::unreadable(
                rejection,
                self.game.request(seat).valid_options,
            )),
            Ok(body) => self.read(seat, body, via),
        }
    }

    /// Authenticates the player in `seat` by its name and token. `has_tokens`: whether the manager gives out any.
    pub(super) fn admit(
        &mut self,
        seat: Seat,
        envelope: &Envelope,
        via: Via,
        has_tokens: bool,
    ) -> Result<(), AnswerError> {
        let assignment = self.assignment.clone();
        let player = assignment.player(seat);
        let own_name = match &envelope.sender {
            Sender::Player(id) => self.is_name_of(seat, id, via),
            Sender::LeagueManager | Sender::Launcher | Sender::Referee(_) => false,
        };
        if !own_name {
            let message = format!(
                "sender: expected player:{}, got {}",
                player.player_id, envelope.sender
            );
            return Err(AnswerError::new(ErrorCode::TokenInvalid, message));
        }
        let token = envelope.auth_token.as_ref();
        let credentials = Credentials {
            token,
            proven: token.and_then(|token| assignment.recognises(seat, token)),
            is_keyed: player.public_key.is_some(),
            has_tokens,
        };
        let conformance = self.conformance;
        self.side_mut(seat)
            .admit(&credentials, via, conformance)
            .map_err(|code| match token {
                None => AnswerError::new(code, "auth_token: expected the player's token, got none"),
                Some(token) => AnswerError::not_its_token(token),
            })
    }

    /// Whether the player in `seat` may use this id. Under lenient conformance it may call itself anything in an answer of
    /// the same exchange: the exchange says who answers.
    fn is_name_of(&self, seat: Seat, id: &PlayerId, via: Via) -> bool {
        let may_have_own_name = self.conformance == Conformance::Lenient && via == Via::Exchange;
        may_have_own_name || *id == self.assignment.player(seat).player_id
    }

    /// How an answer that was taken departs from the rules, beyond what its reading has told.
    pub(super) fn deviations_of(&self, seat: Seat, incoming: &Incoming) -> Vec<Deviation> {
        let player = &self.assignment.player(seat).player_id;
        let deviation = |kind, path: &str| Deviation {
            kind,
            path: path.to_owned(),
        };
        let mut found = Vec::new();
        if !matches!(&incoming.envelope.sender, Sender::Player(id) if id == player) {
            found.push(deviation(DeviationKind::OwnName, "sender"));
        }
        match &incoming.envelope.auth_token {
            None => found.push(deviation(DeviationKind::Missing, "auth_token")),
            Some(token) if self.assignment.is_shown(seat, token) => {
                found.push(deviation(DeviationKind::Echoed, "auth_token"));
            }
            Some(token) if self.assignment.recognises(seat, token) == Some(false) => {
                found.push(deviation(DeviationKind::Mismatch, "auth_token"));
            }
            Some(_) => {}
        }
        let filled_in = incoming
            .deviations
            .iter()
            .any(|noted| noted.path == "conversation_id");
        if incoming.envelope.conversation_id != self.assignment.conversation_id && !filled_in {
            found.push(deviation(DeviationKind::Mismatch, "conversation_id"));
        }
        let (named, move_type) = match &incoming.body {
            Ok(Body::GameJoinAck(ack)) => (Some(&ack.player_id), None),
            Ok(Body::ChooseParityResponse(choice)) => (Some(&choice.player_id), None),
            Ok(Body::GameMoveResponse(made)) => {
                (Some(&made.player_id), Some(&made.move_data.move_type))
            }
            _ => (None, None),
        };
        if named.is_some_and(|named| named != player) {
            found.push(deviation(DeviationKind::OwnName, "player_id"));
        }
        if move_type.is_some_and(|came| *came != self.game.request(seat).move_type) {
            found.push(deviation(DeviationKind::Alias, "move_data.move_type"));
        }
        found
    }

    fn read(&self, seat: Seat, body: &Body, via: Via) -> Result<PlayerAnswer, AnswerError> {
        match (body, self.phase) {
            (Body::GameJoinAck(ack), Phase::WaitingForPlayers) => {
                self.names(seat, &ack.match_id, &ack.player_id, via)?;
                Ok(PlayerAnswer::Join {
                    accept: ack.accept,
                    nonce_commitment: ack.nonce_commitment,
                })
            }
            (Body::ChooseParityResponse(response), Phase::CollectingChoices)
                if self.game.move_message() == MoveMessage::ChooseParity =>
            {
                let ChooseParityResponse {
                    match_id,
                    player_id,
                    parity_choice,
                    nonce,
                    signature,
                    ..
                } = &**response;
                self.names(seat, match_id, player_id, via)?;
                let choice = Value::from(parity_choice.as_str());
                Ok(PlayerAnswer::Play {
                    choice,
                    nonce: nonce.clone(),
                    signature: *signature,
                })
            }
            (Body::GameMoveResponse(response), Phase::CollectingChoices) => {
                self.names(seat, &response.match_id, &response.player_id, via)?;
                self.right_game(seat, response)?;
                let choice = response.move_data.choice.clone();
                Ok(PlayerAnswer::Play {
                    choice,
                    nonce: response.nonce.clone(),
                    signature: response.signature,
                })
            }
            (other, _) => {
                let owed = self.owed();
                let came = other.message_type();
                let message = format!("message_type: expected {owed}, got {came}");
                Err(AnswerError::new(ErrorCode::InvalidFormat, message))
            }
        }
    }

    /// Checks the match and the player of an answer.
    fn names(
        &self,
        seat: Seat,
        match_id: &MatchId,
        player_id: &PlayerId,
        via: Via,
    ) -> Result<(), AnswerError> {
        let ours = &self.assignment.match_id;
        let owner = &self.assignment.player(seat).player_id;
        if match_id != ours {
            let message = format!("match_id: expected {ours}, got {match_id}");
            return Err(AnswerError::new(ErrorCode::MatchIdMismatch, message)
                .with("expected", ours.as_str())
                .with("came", match_id.as_str()));
        }
        if !self.is_name_of(seat, player_id, via) {
            let message = format!("player_id: expected {owner}, got {player_id}");
            return Err(AnswerError::new(ErrorCode::TokenInvalid, message));
        }
        Ok(())
    }

    fn right_game(&self, seat: Seat, response: &GameMoveResponse) -> Result<(), AnswerError> {
        let game_type = &self.assignment.game_type;
        if response.game_type != *game_type {
            let message = format!(
                "game_type: expected {game_type}, got {}",
                response.game_type
            );
            return Err(AnswerError::new(ErrorCode::InvalidFormat, message));
        }
        let wanted = self.game.request(seat).move_type;
        let came = &response.move_data.move_type;
        if *came != wanted && self.conformance == Conformance::Strict {
            let message = format!("move_data.move_type: expected {wanted}, got {came}");
            return Err(AnswerError::new(ErrorCode::InvalidFormat, message));
        }
        Ok(())
    }
}
