//! What referees ask: to come to a match, and to choose in it. The same question always gets the same answer.

use super::durable::{ATTEMPTS_MAX, MATCHES_MAX, QUESTIONS_MAX};
use super::event::{Choice, PlayerEvent, Question};
use super::memory::Past;
use super::strategy::Turn;
use super::trust::{Refusal, refusal};
use super::{Player, Response};
use crate::agent::Agent;
use crate::entropy::Entropy;
use crate::fair::Nonce;
use crate::protocol::messages::{
    ChooseParityCall, ChooseParityResponse, GameInvitation, GameJoinAck, GameMoveCall, GameMoveResponse,
    MoveData, Parity, Record,
};
use crate::protocol::{
    Attempt, Body, Envelope, ErrorCode, GameType, MatchId, Message, PlayerId, RoundId, Timestamp,
};
use serde_json::{Map, Value};

/// The game whose question is always the same one, in whatever words a referee asks it.
const EVEN_ODD: &str = "even_odd";
/// What referees call the move by which they ask for a parity.
const PARITY_MOVES: [&str; 2] = ["choose_parity", "parity_choose"];

/// A question, whichever message put it.
struct Asked<'a> {
    match_id: &'a MatchId,
    player_id: &'a PlayerId,
    game_type: &'a GameType,
    round_id: Option<RoundId>,
    opponent_id: Option<PlayerId>,
    question: Question,
    options: &'a [Value],
    context: &'a Map<String, Value>,
    standings: Option<Record>,
}

impl Player {
    pub(super) fn join(
        &self,
        now: Timestamp,
        envelope: &Envelope,
        invitation: GameInvitation,
    ) -> Result<Response, Refusal> {
        let attempt = self.believe_referee(envelope, &invitation.match_id)?;
        self.believe_addressee(invitation.player_id.as_ref())?;
        let ack = GameJoinAck {
            match_id: invitation.match_id.clone(),
            player_id: self.own_id()?.clone(),
            arrival_timestamp: now,
            accept: self.settings.game_types.contains(&invitation.game_type),
        };
        let mut events = Vec::new();
        if ack.accept && self.is_news(&invitation.match_id, attempt) {
            self.make_room(&invitation.match_id)?;
            events.push(PlayerEvent::Invited {
                match_id: invitation.match_id,
                round_id: invitation.round_id,
                game_type: invitation.game_type,
                opponent_id: invitation.opponent_id,
                role: invitation.role_in_match,
                attempt,
                draw_commitment: invitation.draw_commitment,
            });
        }
        let match_id = ack.match_id.clone();
        Ok(Response::message(events, self.reply(now, envelope, &match_id, attempt, ack)))
    }

    fn is_news(&self, match_id: &MatchId, attempt: Attempt) -> bool {
        self.durable.find(match_id).is_none_or(|known| {
            !known.invitations.contains_key(&attempt) && known.invitations.len() < ATTEMPTS_MAX
        })
    }

    pub(super) fn choose_parity(
        &self,
        now: Timestamp,
        entropy: &mut Entropy,
        envelope: &Envelope,
        call: ChooseParityCall,
    ) -> Result<Response, Refusal> {
        let attempt = self.believe_referee(envelope, &call.match_id)?;
        let given = call.context.as_ref();
        let context = given.map(shown_context).unwrap_or_default();
        let asked = Asked {
            match_id: &call.match_id,
            player_id: &call.player_id,
            game_type: &call.game_type,
            round_id: call.round_id.or(given.and_then(|context| context.round_id)),
            opponent_id: given.and_then(|context| context.opponent_id.clone()),
            question: Question::Parity,
            options: &parities(),
            context: &context,
            standings: given.and_then(|context| context.your_standings),
        };
        let (events, choice) = self.choose(entropy, asked)?;
        let Some(parity_choice) = choice.value.as_str().and_then(Parity::parse) else {
            return Err(refusal(
                ErrorCode::Internal,
                "the choice kept for this match is neither even nor odd",
            ));
        };
        let answer = ChooseParityResponse {
            match_id: call.match_id.clone(),
            player_id: call.player_id,
            parity_choice,
            nonce: Some(choice.nonce),
        };
        Ok(Response::message(events, self.reply(now, envelope, &call.match_id, attempt, answer)))
    }

    pub(super) fn choose_move(
        &self,
        now: Timestamp,
        entropy: &mut Entropy,
        envelope: &Envelope,
        call: GameMoveCall,
    ) -> Result<Response, Refusal> {
        let attempt = self.believe_referee(envelope, &call.match_id)?;
        let parities = parities();
        let request = &call.move_request;
        let of_parity =
            call.game_type.as_str() == EVEN_ODD || PARITY_MOVES.contains(&request.move_type.as_str());
        let (question, options) = if of_parity {
            (Question::Parity, parities.as_slice())
        } else {
            (Question::of_move(request), request.valid_options.as_slice())
        };
        let opponent = request.context.get("opponent_id").and_then(Value::as_str);
        let asked = Asked {
            match_id: &call.match_id,
            player_id: &call.player_id,
            game_type: &call.game_type,
            round_id: call.round_id,
            opponent_id: opponent.map(PlayerId::new),
            question,
            options,
            context: &request.context,
            standings: None,
        };
        let (events, choice) = self.choose(entropy, asked)?;
        let answer = GameMoveResponse {
            match_id: call.match_id.clone(),
            player_id: call.player_id,
            game_type: call.game_type,
            move_data: MoveData { move_type: call.move_request.move_type, choice: choice.value },
            nonce: Some(choice.nonce),
        };
        Ok(Response::message(events, self.reply(now, envelope, &call.match_id, attempt, answer)))
    }

    /// The choice kept for this question, or a new one and the event that keeps it.
    fn choose(&self, entropy: &mut Entropy, asked: Asked<'_>) -> Result<(Vec<PlayerEvent>, Choice), Refusal> {
        self.believe_addressee(Some(asked.player_id))?;
        self.believe_match(asked.match_id)?;
        let known = self.durable.find(asked.match_id);
        if let Some(choice) = known.and_then(|known| known.choices.get(&asked.question)) {
            return Ok((Vec::new(), choice.clone()));
        }
        if asked.options.is_empty() {
            let message = "move_request.valid_options: expected at least one move, got none";
            return Err(refusal(ErrorCode::InvalidFormat, message));
        }
        if known.is_some_and(|known| known.choices.len() >= QUESTIONS_MAX) {
            let message =
                format!("this player answers at most {QUESTIONS_MAX} different questions in a match");
            return Err(refusal(ErrorCode::InvalidState, message));
        }
        self.make_room(asked.match_id)?;
        let announced = known.and_then(|known| known.opponent_id.clone());
        let opponent_id = announced.or(asked.opponent_id);
        let history = self.history();
        let turn = Turn {
            game_type: asked.game_type,
            own_id: self.own_id()?,
            opponent_id: opponent_id.as_ref(),
            options: asked.options,
            context: asked.context,
            against: opponent_id.as_ref().map_or(Past::NONE, |opponent| history.against(opponent)),
            overall: history.overall(),
            record: asked.standings.unwrap_or_else(|| history.overall().record()),
        };
        let chosen = self.strategy.choose(&turn, entropy);
        let value = if asked.options.contains(&chosen) { chosen } else { turn.any_option(entropy) };
        let choice = Choice { value, nonce: Nonce(hex::encode(entropy.bytes::<16>()).into()) };
        let event = PlayerEvent::Chosen {
            match_id: asked.match_id.clone(),
            round_id: asked.round_id,
            opponent_id,
            question: asked.question,
            choice: choice.clone(),
        };
        Ok((vec![event], choice))
    }

    /// Refuses rather than forget a match that is under way.
    fn make_room(&self, match_id: &MatchId) -> Result<(), Refusal> {
        if self.durable.has_room_for(match_id) {
            return Ok(());
        }
        let message =
            format!("this player has {MATCHES_MAX} matches open already: finish some of them first");
        Err(refusal(ErrorCode::RateLimited, message))
    }

    fn reply(
        &self,
        now: Timestamp,
        envelope: &Envelope,
        match_id: &MatchId,
        attempt: Attempt,
        body: impl Into<Body>,
    ) -> Message {
        let own = Envelope::new(self.sender(), now, envelope.conversation_id.clone())
            .with_token(self.answer_token(match_id, attempt));
        Message::new(own, body)
    }
}

fn parities() -> [Value; 2] {
    Parity::ALL.map(|parity| Value::from(parity.as_str()))
}

fn shown_context(context: &crate::protocol::messages::ChoiceContext) -> Map<String, Value> {
    match serde_json::to_value(context) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
