//! Is this message the answer that a player owes? Who sent it is judged before what it says.

use super::complaint::Wrong;
use super::one_match::{Match, Phase, Reply};
use super::side::Via;
use crate::game::{AskBy, Seat};
use crate::protocol::decode::{Conformance, Incoming};
use crate::protocol::messages::{ChooseParityResponse, GameJoinAck, GameMoveResponse};
use crate::protocol::{Body, Envelope, ErrorCode, MatchId, PlayerId, Sender};
use serde_json::Value;

impl Match {
    /// Reads an answer of the player in `seat`.
    pub(super) fn judge(
        &mut self,
        seat: Seat,
        incoming: &Incoming,
        via: Via,
        conformance: Conformance,
    ) -> Result<Reply, Wrong> {
        self.admit(seat, &incoming.envelope, via, conformance)?;
        match &incoming.body {
            Err(rejection) => Err(Wrong::unreadable(rejection, self.game.request(seat).valid_options)),
            Ok(body) => self.read(seat, body, conformance),
        }
    }

    /// Whether the sender is the player in `seat`, by its name and its token.
    pub(super) fn admit(
        &mut self,
        seat: Seat,
        envelope: &Envelope,
        via: Via,
        conformance: Conformance,
    ) -> Result<(), Wrong> {
        let assignment = self.assignment.clone();
        let player = assignment.player(seat);
        let own_name = match &envelope.sender {
            Sender::Player(id) if *id == player.player_id => true,
            // Some agents keep a name of their own choice; none may have the opponent's.
            Sender::Player(id) => {
                conformance == Conformance::Lenient
                    && *id != assignment.player(seat.other()).player_id
                    && via == Via::Exchange
            }
            Sender::LeagueManager | Sender::Launcher | Sender::Referee(_) => false,
        };
        if !own_name {
            let message = format!("sender: expected player:{}, got {}", player.player_id, envelope.sender);
            return Err(Wrong::new(ErrorCode::TokenInvalid, message));
        }
        let token = envelope.auth_token.as_ref();
        let side = self.side_mut(seat);
        side.admit(token, player.expects.as_ref(), via, conformance).map_err(|code| match token {
            None => Wrong::new(code, "auth_token: expected the player's token, got none"),
            Some(token) => Wrong::new(code, "auth_token: this token does not prove who sends the answer")
                .with("provided_token", token.hint()),
        })
    }

    fn read(&self, seat: Seat, body: &Body, conformance: Conformance) -> Result<Reply, Wrong> {
        match (body, self.phase) {
            (
                Body::GameJoinAck(GameJoinAck { match_id, player_id, accept, .. }),
                Phase::WaitingForPlayers,
            ) => {
                self.names(seat, match_id, player_id)?;
                Ok(Reply::Join { accept: *accept })
            }
            (Body::ChooseParityResponse(response), Phase::CollectingChoices)
                if self.game.asks_by() == AskBy::Parity =>
            {
                let ChooseParityResponse { match_id, player_id, parity_choice, nonce } = response;
                self.names(seat, match_id, player_id)?;
                Ok(Reply::Play { choice: Value::from(parity_choice.as_str()), nonce: nonce.clone() })
            }
            (Body::GameMoveResponse(response), Phase::CollectingChoices) => {
                self.names(seat, &response.match_id, &response.player_id)?;
                self.right_game(seat, response, conformance)?;
                Ok(Reply::Play { choice: response.move_data.choice.clone(), nonce: response.nonce.clone() })
            }
            (other, _) => {
                let (owed, came) = (self.owed(), other.message_type());
                let message = format!("message_type: expected {owed}, got {came}");
                Err(Wrong::new(ErrorCode::InvalidFormat, message))
            }
        }
    }

    /// Whether an answer is for this match, and in this player's name.
    fn names(&self, seat: Seat, match_id: &MatchId, player_id: &PlayerId) -> Result<(), Wrong> {
        let (ours, owner) = (&self.assignment.match_id, &self.assignment.player(seat).player_id);
        if match_id != ours {
            let message = format!("match_id: expected {ours}, got {match_id}");
            return Err(Wrong::new(ErrorCode::MatchIdMismatch, message)
                .with("expected", ours.as_str())
                .with("came", match_id.as_str()));
        }
        if player_id != owner {
            let message = format!("player_id: expected {owner}, got {player_id}");
            return Err(Wrong::new(ErrorCode::TokenInvalid, message));
        }
        Ok(())
    }

    fn right_game(
        &self,
        seat: Seat,
        response: &GameMoveResponse,
        conformance: Conformance,
    ) -> Result<(), Wrong> {
        let game_type = &self.assignment.game_type;
        if response.game_type != *game_type {
            let message = format!("game_type: expected {game_type}, got {}", response.game_type);
            return Err(Wrong::new(ErrorCode::InvalidFormat, message));
        }
        let (wanted, came) = (self.game.request(seat).move_type, &response.move_data.move_type);
        if *came != wanted && conformance == Conformance::Strict {
            let message = format!("move_data.move_type: expected {wanted}, got {came}");
            return Err(Wrong::new(ErrorCode::InvalidFormat, message));
        }
        Ok(())
    }
}
