//! What referees ask: to come to a match, and to choose in it. The same question always gets the same answer.

use super::durable::{ATTEMPTS_MAX, MATCHES_MAX, QUESTIONS_MAX};
use super::event::{Choice, PlayerEvent, Question};
use super::memory::Past;
use super::pondering::{Outside, PENDING_MAX, TakenUp, undecided};
use super::question::{Context, Options};
use super::signing::Place;
use super::strategy::Turn;
use super::trust::{Refusal, refusal};
use super::{Player, Response};
use crate::agent::{Agent, Content, RequestId};
use crate::entropy::Entropy;
use crate::fair::Scheme;
use crate::protocol::messages::{
    ChooseParityCall, ChooseParityResponse, GameInvitation, GameJoinAck, GameMoveCall, GameMoveResponse,
    MoveData, Parity, Record,
};
use crate::protocol::{
    Attempt, Body, Envelope, ErrorCode, GameType, MatchId, Message, MessageType, PlayerId, RoundId,
    Timestamp, UntrustedText,
};
use crate::timing::Timing;
use serde_json::Value;
use smol_str::SmolStr;
use std::time::Duration;

/// The game whose question is always the same one, in whatever words a referee asks it.
const EVEN_ODD: &str = "even_odd";
/// What referees call the move by which they ask for a parity.
const PARITY_MOVES: [&str; 2] = ["choose_parity", "parity_choose"];
/// A question, whichever message put it.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) match_id: MatchId,
    pub(super) player_id: PlayerId,
    pub(super) game_type: GameType,
    pub(super) round_id: Option<RoundId>,
    pub(super) opponent_id: Option<PlayerId>,
    pub(super) question: Question,
    pub(super) options: Options,
    pub(super) context: Context,
    pub(super) standings: Option<Record>,
    /// How long the referee waits for an answer.
    pub(super) window: Duration,
}

/// Who asked, and how the answer goes back. It is settled when the question is heard: whatever the player learns while
/// it thinks, it answers as the one that was asked.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) request: RequestId,
    envelope: Envelope,
    match_id: MatchId,
    player_id: PlayerId,
    pub(super) place: Place,
    form: Form,
}

/// By which message a question was put, and so which one answers it.
#[derive(Debug, Clone)]
enum Form {
    Parity,
    Move { game_type: GameType, move_type: SmolStr },
}

impl Asker {
    /// The choice as it goes out.
    pub(super) fn content(&self, now: Timestamp, choice: &Choice) -> Content {
        let (match_id, player_id) = (self.match_id.clone(), self.player_id.clone());
        let (nonce, signature) = (Some(choice.nonce.clone()), choice.signature);
        let body: Body = match &self.form {
            Form::Parity => {
                let Some(parity_choice) = choice.value.as_str().and_then(Parity::parse) else {
                    let why = "the choice kept for this match is neither even nor odd";
                    return self.refusal(now, refusal(ErrorCode::Internal, why));
                };
                ChooseParityResponse { match_id, player_id, parity_choice, nonce, signature }.into()
            }
            Form::Move { game_type, move_type } => GameMoveResponse {
                match_id,
                player_id,
                game_type: game_type.clone(),
                move_data: MoveData { move_type: move_type.clone(), choice: choice.value.clone() },
                nonce,
                signature,
            }
            .into(),
        };
        let envelope = Envelope { timestamp: now, ..self.envelope.clone() };
        Content::Message(Message::new(envelope, body))
    }

    pub(super) fn refusal(&self, now: Timestamp, mut refusal: Refusal) -> Content {
        let asked_by = match self.form {
            Form::Parity => MessageType::ChooseParityCall,
            Form::Move { .. } => MessageType::GameMoveCall,
        };
        refusal.original_message_type = Some(UntrustedText::new_static(asked_by.name()));
        let envelope = Envelope { timestamp: now, auth_token: None, ..self.envelope.clone() };
        Content::Message(Message::new(envelope, refusal))
    }
}

/// How long a referee waits, by its own clock alone: ours may show another time. A deadline that was over before the
/// question was put says nothing, and then the usual one holds.
fn window(asked_at: Timestamp, deadline: Timestamp) -> Duration {
    if deadline < asked_at { Timing::default().choice } else { deadline.since(asked_at) }
}

impl Player {
    pub(super) fn join(
        &mut self,
        now: Timestamp,
        envelope: &Envelope,
        invitation: &GameInvitation,
    ) -> Result<Response, Refusal> {
        let attempt = self.believe_referee(envelope, &invitation.match_id)?;
        self.believe_addressee(invitation.player_id.as_ref())?;
        self.believe_not_over(&invitation.match_id)?;
        self.believe_commitment(attempt, invitation)?;
        let accept = self.settings.game_types.contains(&invitation.game_type);
        let nonce_commitment = self.nonce_commitment(attempt, invitation).filter(|_| accept);
        let ack = GameJoinAck {
            match_id: invitation.match_id.clone(),
            player_id: self.own_id()?.clone(),
            arrival_timestamp: now,
            accept,
            nonce_commitment,
        };
        let mut events = Vec::new();
        if ack.accept && self.is_news(&invitation.match_id, attempt) {
            self.make_room(&invitation.match_id)?;
            events.push(PlayerEvent::Invited {
                match_id: invitation.match_id.clone(),
                round_id: invitation.round_id,
                game_type: invitation.game_type.clone(),
                opponent_id: invitation.opponent_id.clone(),
                role: invitation.role_in_match,
                attempt,
                draw_commitment: invitation.draw_commitment.clone(),
                draw_scheme: nonce_commitment.map(|_| SmolStr::new_static(Scheme::Draw2.name())),
            });
        }
        let reply = self.reply(now, envelope, &invitation.match_id, attempt, ack);
        Ok(Response::now(events, Content::Message(reply)))
    }

    fn is_news(&self, match_id: &MatchId, attempt: Attempt) -> bool {
        self.durable.find(match_id).is_none_or(|known| {
            !known.invitations.contains_key(&attempt) && known.invitations.len() < ATTEMPTS_MAX
        })
    }

    pub(super) fn choose_parity(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        request: RequestId,
        envelope: &Envelope,
        call: &ChooseParityCall,
    ) -> Result<Response, Refusal> {
        let attempt = self.believe_referee(envelope, &call.match_id)?;
        let given = call.context.as_ref();
        let asked = Asked {
            round_id: call.round_id.or(given.and_then(|context| context.round_id)),
            opponent_id: given.and_then(|context| context.opponent_id.clone()),
            question: Question::Parity,
            options: Options::Parities,
            context: Context::OfParity(call.context.clone()),
            standings: given.and_then(|context| context.your_standings),
            window: window(envelope.timestamp, call.deadline),
            match_id: call.match_id.clone(),
            player_id: call.player_id.clone(),
            game_type: call.game_type.clone(),
        };
        let place = Place { attempt, turn: call.turn, opponent_nonce: call.opponent_nonce_commitment };
        let asker = self.asker(request, envelope, place, &asked, Form::Parity);
        self.choose(now, entropy, asked, asker)
    }

    pub(super) fn choose_move(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        request: RequestId,
        envelope: &Envelope,
        call: GameMoveCall,
    ) -> Result<Response, Refusal> {
        let attempt = self.believe_referee(envelope, &call.match_id)?;
        let wanted = call.move_request;
        let of_parity =
            call.game_type.as_str() == EVEN_ODD || PARITY_MOVES.contains(&wanted.move_type.as_str());
        let question = if of_parity { Question::Parity } else { Question::of_move(&wanted) };
        let opponent = wanted.context.get("opponent_id").and_then(Value::as_str);
        let place = Place { attempt, turn: call.turn, opponent_nonce: call.opponent_nonce_commitment };
        let form = Form::Move { game_type: call.game_type.clone(), move_type: wanted.move_type };
        let asked = Asked {
            match_id: call.match_id,
            player_id: call.player_id,
            game_type: call.game_type,
            round_id: call.round_id,
            opponent_id: opponent.map(PlayerId::new),
            question,
            options: if of_parity { Options::Parities } else { Options::Given(wanted.valid_options) },
            context: Context::OfMove(wanted.context),
            standings: None,
            window: window(envelope.timestamp, call.deadline),
        };
        let asker = self.asker(request, envelope, place, &asked, form);
        self.choose(now, entropy, asked, asker)
    }

    fn asker(
        &self,
        request: RequestId,
        envelope: &Envelope,
        place: Place,
        asked: &Asked,
        form: Form,
    ) -> Asker {
        let token = self.answer_token(&asked.match_id, place.attempt);
        let conversation = envelope.conversation_id.clone();
        Asker {
            request,
            envelope: Envelope::new(self.sender(), envelope.timestamp, conversation).with_token(token),
            match_id: asked.match_id.clone(),
            player_id: asked.player_id.clone(),
            place,
            form,
        }
    }

    /// The choice kept for this question, or a new one and the event that keeps it, or the promise of one.
    fn choose(
        &mut self,
        now: Timestamp,
        entropy: &mut Entropy,
        mut asked: Asked,
        asker: Asker,
    ) -> Result<Response, Refusal> {
        self.believe_addressee(Some(&asked.player_id))?;
        self.believe_match(&asked.match_id)?;
        let known = self.durable.find(&asked.match_id);
        let Place { attempt, turn, .. } = asker.place;
        if let Some(choice) = known.and_then(|known| known.answer(attempt, turn, &asked.question)) {
            return Ok(Response::now(Vec::new(), asker.content(now, choice)));
        }
        self.believe_not_over(&asked.match_id)?;
        self.believe_place(&asked.match_id, &asker.place)?;
        if asked.options.as_slice().is_empty() {
            let message = "move_request.valid_options: expected at least one move, got none";
            return Err(refusal(ErrorCode::InvalidFormat, message));
        }
        if known.is_some_and(|known| known.moves_in(attempt).len() >= QUESTIONS_MAX) {
            let message =
                format!("this player answers at most {QUESTIONS_MAX} different questions in a match");
            return Err(refusal(ErrorCode::InvalidState, message));
        }
        self.make_room(&asked.match_id)?;
        asked.opponent_id = known.and_then(|known| known.opponent_id.clone()).or(asked.opponent_id);
        // Another attempt asks the same: the choice stays, the nonce does not.
        if let Some(chosen) = known.and_then(|known| known.chosen(&asked.question)) {
            let value = chosen.value.clone();
            let (event, choice) = self.settled(entropy, &asked, &asker.place, value, None);
            return Ok(Response::now(vec![event], asker.content(now, &choice)));
        }
        let Some(outside) = &mut self.outside else {
            return Ok(self.answer_now(now, entropy, asked, &asker, None));
        };
        match outside.take_up(now, asked, asker) {
            TakenUp::New(inquiry) => Ok(Response::later(self.inquiry(now, inquiry))),
            TakenUp::Known => Ok(Response::later(None)),
            TakenUp::Busy => {
                let message = "this player is still thinking about another question of this match: ask again";
                Err(refusal(ErrorCode::InvalidState, message))
            }
            TakenUp::NoTime(question) => {
                let (asked, asker) = *question;
                let why = "the referee leaves no time to think".to_owned();
                if self.outside.as_ref().is_some_and(Outside::is_alone) {
                    return Err(undecided(&why));
                }
                Ok(self.answer_now(now, entropy, asked, &asker, Some(why)))
            }
            TakenUp::NoRoom => {
                let message = format!("this player is thinking about {PENDING_MAX} moves already: ask again");
                Err(refusal(ErrorCode::RateLimited, message))
            }
        }
    }

    /// Chooses by the player's own strategy: its only one, or the fallback, and then `fallback` says why.
    fn answer_now(
        &self,
        now: Timestamp,
        entropy: &mut Entropy,
        asked: Asked,
        asker: &Asker,
        fallback: Option<String>,
    ) -> Response {
        let value = self.own_choice(entropy, &asked);
        let (event, choice) = self.settled(entropy, &asked, &asker.place, value, fallback.as_deref());
        Response::now(vec![event], asker.content(now, &choice))
    }

    pub(super) fn own_choice(&self, entropy: &mut Entropy, asked: &Asked) -> Value {
        let turn = self.turn(asked);
        let chosen = self.strategy.choose(&turn, entropy);
        if asked.options.as_slice().contains(&chosen) { chosen } else { turn.any_option(entropy) }
    }

    pub(super) fn turn<'a>(&'a self, asked: &'a Asked) -> Turn<'a> {
        let history = self.history();
        let opponent_id = asked.opponent_id.as_ref();
        Turn {
            game_type: &asked.game_type,
            own_id: &asked.player_id,
            opponent_id,
            options: asked.options.as_slice(),
            context: &asked.context,
            against: opponent_id.map_or(Past::NONE, |opponent| history.against(opponent)),
            overall: history.overall(),
            record: asked.standings.unwrap_or_else(|| history.overall().record()),
        }
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
