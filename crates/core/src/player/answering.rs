//! Invitations and calls for moves. The same question always gets the same answer.

use super::authentication::league_error;
use super::durable::{ATTEMPTS_MAX, MATCHES_MAX, QUESTIONS_MAX};
use super::event::{Choice, PlayerEvent, Question};
use super::external_decision::{EnqueueOutcome, ExternalDecider, PENDING_MAX, undecided};
use super::signing::TurnRef;
use super::{Ctx, Player};
use crate::agent::{Agent, Content, RequestId};
use crate::entropy::Entropy;
use crate::game::context::{Context, Options};
use crate::game::past::Past;
use crate::game::strategy::Turn;
use crate::protocol::messages::{
    ChooseParityCall, ChooseParityResponse, GameInvitation, GameJoinAck, GameMoveCall,
    GameMoveResponse, LeagueError, MoveData, Parity, Record,
};
use crate::protocol::{
    Attempt, Body, ConversationId, Envelope, ErrorCode, GameType, MatchId, Message, MessageType,
    PlayerId, RoundId, Timestamp, UntrustedText,
};
use crate::timing::Timing;
use serde_json::Value;
use smol_str::SmolStr;
use std::time::Duration;

/// The move types by which referees ask for a parity.
const PARITY_MOVES: [&str; 2] = ["choose_parity", "parity_choose"];
/// A question, from CHOOSE_PARITY_CALL or GAME_MOVE_CALL.
#[derive(Debug, Clone)]
pub(super) struct MoveQuestion {
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

/// A request that waits for the choice. Identity and tokens are those of the time of the request, whatever changes
/// until the reply.
#[derive(Debug, Clone)]
pub(super) struct PendingReply {
    pub(super) request: RequestId,
    envelope: Envelope,
    match_id: MatchId,
    player_id: PlayerId,
    pub(super) turn_ref: TurnRef,
    form: AnswerForm,
    /// Whether the referee is not one of ours, as far as that can be known.
    foreign_referee: bool,
}

/// The message type of the question, which determines that of the answer.
#[derive(Debug, Clone)]
enum AnswerForm {
    Parity,
    Move {
        game_type: GameType,
        move_type: SmolStr,
    },
}

impl PendingReply {
    pub(super) fn conversation_id(&self) -> &ConversationId {
        &self.envelope.conversation_id
    }

    /// The reply with the choice.
    pub(super) fn content(&self, now: Timestamp, choice: &Choice) -> Content {
        let match_id = self.match_id.clone();
        let player_id = self.player_id.clone();
        let nonce = Some(choice.nonce.clone());
        let signature = choice.signature;
        let body: Body = match &self.form {
            AnswerForm::Parity => {
                let Some(parity_choice) = choice.value.as_str().and_then(Parity::parse) else {
                    let why = "the choice kept for this match is neither even nor odd";
                    return self.league_error(now, league_error(ErrorCode::Internal, why));
                };
                let choice = self.foreign_referee.then_some(parity_choice);
                ChooseParityResponse {
                    match_id,
                    player_id,
                    parity_choice,
                    choice,
                    nonce,
                    signature,
                }
                .into()
            }
            AnswerForm::Move {
                game_type,
                move_type,
            } => GameMoveResponse {
                match_id,
                player_id,
                game_type: game_type.clone(),
                move_data: MoveData {
                    move_type: move_type.clone(),
                    choice: choice.value.clone(),
                },
                nonce,
                signature,
            }
            .into(),
        };
        let envelope = Envelope {
            timestamp: now,
            ..self.envelope.clone()
        };
        Content::Message(Message::new(envelope, body))
    }

    pub(super) fn league_error(&self, now: Timestamp, mut error: LeagueError) -> Content {
        let asked_by = match self.form {
            AnswerForm::Parity => MessageType::ChooseParityCall,
            AnswerForm::Move { .. } => MessageType::GameMoveCall,
        };
        error.original_message_type = Some(UntrustedText::new_static(asked_by.name()));
        let envelope = Envelope {
            timestamp: now,
            auth_token: None,
            ..self.envelope.clone()
        };
        Content::Message(Message::new(envelope, error))
    }
}

/// How long a referee waits, by its own clock alone, since ours may differ. A deadline before the question's timestamp
/// is ignored in favour of the default.
fn window(asked_at: Timestamp, deadline: Timestamp) -> Duration {
    if deadline < asked_at {
        Timing::default().choice
    } else {
        deadline.since(asked_at)
    }
}

impl Player {
    pub(super) fn join(
        &mut self,
        ctx: &mut Ctx<'_>,
        envelope: &Envelope,
        invitation: &GameInvitation,
    ) -> Result<Content, LeagueError> {
        let attempt = self.authenticate_referee(envelope, &invitation.match_id)?;
        self.check_addressee(invitation.player_id.as_ref())?;
        self.check_not_over(&invitation.match_id)?;
        self.check_commitment(attempt, invitation)?;
        let accept = self.settings.game_types.contains(&invitation.game_type);
        let nonce_commitment = self
            .nonce_commitment(attempt, invitation)
            .filter(|_| accept);
        let ack = GameJoinAck {
            match_id: invitation.match_id.clone(),
            player_id: self.own_id()?.clone(),
            arrival_timestamp: ctx.now,
            accept,
            nonce_commitment,
        };
        if ack.accept && self.is_news(&invitation.match_id, attempt) {
            self.make_room(&invitation.match_id)?;
            let commitment_signature = self.commitment_signature(ctx, attempt, invitation);
            let invited = PlayerEvent::Invited {
                match_id: invitation.match_id.clone(),
                round_id: invitation.round_id,
                game_type: invitation.game_type.clone(),
                opponent_id: invitation.opponent_id.clone(),
                role: invitation.role_in_match,
                attempt,
                draw_commitment: invitation.draw_commitment.clone(),
                commitment_signature,
                signs: nonce_commitment.is_some(),
            };
            self.record(ctx, invited);
        }
        let reply = self.reply(ctx.now, envelope, &invitation.match_id, attempt, ack);
        Ok(Content::Message(reply))
    }

    fn is_news(&self, match_id: &MatchId, attempt: Attempt) -> bool {
        self.durable.find(match_id).is_none_or(|known| {
            !known.invitations.contains_key(&attempt) && known.invitations.len() < ATTEMPTS_MAX
        })
    }

    pub(super) fn choose_parity(
        &mut self,
        ctx: &mut Ctx<'_>,
        request: RequestId,
        envelope: &Envelope,
        call: &ChooseParityCall,
    ) -> Result<Option<Content>, LeagueError> {
        let attempt = self.authenticate_referee(envelope, &call.match_id)?;
        let given = call.context.as_ref();
        let asked = MoveQuestion {
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
        let turn_ref = TurnRef {
            attempt,
            turn: call.turn,
            opponent_nonce: call.opponent_nonce_commitment,
        };
        let reply = self.pending_reply(request, envelope, turn_ref, &asked, AnswerForm::Parity);
        self.choose(ctx, asked, reply)
    }

    pub(super) fn choose_move(
        &mut self,
        ctx: &mut Ctx<'_>,
        request: RequestId,
        envelope: &Envelope,
        call: GameMoveCall,
    ) -> Result<Option<Content>, LeagueError> {
        let attempt = self.authenticate_referee(envelope, &call.match_id)?;
        let wanted = call.move_request;
        let of_parity =
            call.game_type.is_even_odd() || PARITY_MOVES.contains(&wanted.move_type.as_str());
        let question = if of_parity {
            Question::Parity
        } else {
            Question::of_move(&wanted)
        };
        let opponent = wanted.context.get("opponent_id").and_then(Value::as_str);
        let turn_ref = TurnRef {
            attempt,
            turn: call.turn,
            opponent_nonce: call.opponent_nonce_commitment,
        };
        let form = AnswerForm::Move {
            game_type: call.game_type.clone(),
            move_type: wanted.move_type,
        };
        let asked = MoveQuestion {
            match_id: call.match_id,
            player_id: call.player_id,
            game_type: call.game_type,
            round_id: call.round_id,
            opponent_id: opponent.map(PlayerId::new),
            question,
            options: if of_parity {
                Options::Parities
            } else {
                Options::Given(wanted.valid_options)
            },
            context: Context::OfMove(wanted.context),
            standings: None,
            window: window(envelope.timestamp, call.deadline),
        };
        let reply = self.pending_reply(request, envelope, turn_ref, &asked, form);
        self.choose(ctx, asked, reply)
    }

    fn pending_reply(
        &self,
        request: RequestId,
        envelope: &Envelope,
        turn_ref: TurnRef,
        asked: &MoveQuestion,
        form: AnswerForm,
    ) -> PendingReply {
        let token = self.answer_token(&asked.match_id, turn_ref.attempt);
        let conversation = envelope.conversation_id.clone();
        PendingReply {
            request,
            envelope: Envelope::new(self.sender(), envelope.timestamp, conversation)
                .with_token(token),
            match_id: asked.match_id.clone(),
            player_id: asked.player_id.clone(),
            turn_ref,
            form,
            foreign_referee: self.is_foreign_referee(&asked.match_id),
        }
    }

    /// The reply with the stored choice or with a new one; `None` if it comes in a later step.
    fn choose(
        &mut self,
        ctx: &mut Ctx<'_>,
        mut asked: MoveQuestion,
        reply: PendingReply,
    ) -> Result<Option<Content>, LeagueError> {
        self.check_addressee(Some(&asked.player_id))?;
        self.check_match_known(&asked.match_id)?;
        let known = self.durable.find(&asked.match_id);
        let TurnRef { attempt, turn, .. } = reply.turn_ref;
        if let Some(choice) = known.and_then(|known| known.answer(attempt, turn, &asked.question)) {
            return Ok(Some(reply.content(ctx.now, choice)));
        }
        self.check_not_over(&asked.match_id)?;
        self.check_turn(&asked.match_id, &reply.turn_ref)?;
        if asked.options.as_slice().is_empty() {
            let message = "move_request.valid_options: expected at least one move, got none";
            return Err(league_error(ErrorCode::InvalidFormat, message));
        }
        if known.is_some_and(|known| known.moves_in(attempt).len() >= QUESTIONS_MAX) {
            let message = format!(
                "this player answers at most {QUESTIONS_MAX} different questions in a match"
            );
            return Err(league_error(ErrorCode::InvalidState, message));
        }
        self.make_room(&asked.match_id)?;
        asked.opponent_id = known
            .and_then(|known| known.opponent_id.clone())
            .or(asked.opponent_id);
        // Another attempt asks the same question: the same choice with another nonce.
        if let Some(chosen) = known.and_then(|known| known.chosen(&asked.question)) {
            let value = chosen.value.clone();
            let choice = self.sign_choice(ctx, &asked, &reply.turn_ref, value, None, None);
            return Ok(Some(reply.content(ctx.now, &choice)));
        }
        let Some(decider) = &mut self.decider else {
            return Ok(Some(self.answer_now(ctx, &asked, &reply, None)));
        };
        match decider.enqueue(ctx.now, asked, reply) {
            EnqueueOutcome::New(id) => {
                ctx.step
                    .decision_requests
                    .extend(self.decision_request(ctx.now, id));
                Ok(None)
            }
            EnqueueOutcome::Known => Ok(None),
            EnqueueOutcome::Busy => {
                let message =
                    "this player is still thinking about another question of this match: ask again";
                Err(league_error(ErrorCode::InvalidState, message))
            }
            EnqueueOutcome::NoTime(question) => {
                let (asked, reply) = *question;
                let why = "the referee leaves no time to think".to_owned();
                if self.decider.as_ref().is_some_and(ExternalDecider::is_alone) {
                    return Err(undecided(&why));
                }
                Ok(Some(self.answer_now(ctx, &asked, &reply, Some(&why))))
            }
            EnqueueOutcome::NoRoom => {
                let message =
                    format!("this player is thinking about {PENDING_MAX} moves already: ask again");
                Err(league_error(ErrorCode::RateLimited, message))
            }
        }
    }

    /// Chooses by the player's strategy; `fallback` says why, if it stands in for the external decider.
    fn answer_now(
        &mut self,
        ctx: &mut Ctx<'_>,
        asked: &MoveQuestion,
        reply: &PendingReply,
        fallback: Option<&str>,
    ) -> Content {
        let value = self.own_choice(ctx.entropy, asked);
        let choice = self.sign_choice(ctx, asked, &reply.turn_ref, value, fallback, None);
        reply.content(ctx.now, &choice)
    }

    pub(super) fn own_choice(&self, entropy: &mut Entropy, asked: &MoveQuestion) -> Value {
        let turn = self.turn(asked);
        let chosen = self.strategy.choose(&turn, entropy);
        if asked.options.as_slice().contains(&chosen) {
            chosen
        } else {
            turn.any_option(entropy)
        }
    }

    pub(super) fn turn<'a>(&'a self, asked: &'a MoveQuestion) -> Turn<'a> {
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
            record: asked
                .standings
                .unwrap_or_else(|| history.overall().record()),
        }
    }

    /// Rejects a new match rather than forget one that is under way.
    fn make_room(&self, match_id: &MatchId) -> Result<(), LeagueError> {
        if self.durable.has_room_for(match_id) {
            return Ok(());
        }
        let message = format!(
            "this player has {MATCHES_MAX} matches open already: finish some of them first"
        );
        Err(league_error(ErrorCode::RateLimited, message))
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
