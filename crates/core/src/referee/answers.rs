//! Routes players' answers to their matches: answers in the same exchange, and separate messages.

use super::game_error::AnswerError;
use super::notices::league_error;
use super::one_match::{OngoingMatch, Phase};
use super::side::Via;
use super::window::AnswerState;
use super::{AssignedMatch, Ctx, PendingQuestion, Referee, RefereeEvent};
use crate::agent::{Agent, Answer, CallId, Failure};
use crate::game::Seat;
use crate::protocol::decode::Incoming;
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::LeagueError;
use crate::protocol::{
    Body, ConversationId, Envelope, ErrorCode, MatchId, MessageType, PlayerId, Sender, Token,
};
use core::net::IpAddr;

impl Referee {
    /// A call to a player has ended.
    pub(super) fn player_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        call: CallId,
        question: &PendingQuestion,
        dialect: Dialect,
        answer: Answer,
    ) {
        let now = ctx.now;
        if matches!(answer, Answer::Message(_) | Answer::Received) {
            self.learn_dialect(ctx, question, dialect);
        }
        let Some(ongoing) = self.playing.get_mut(&question.match_id) else {
            return;
        };
        let Some(window) = ongoing
            .side(question.seat)
            .window()
            .filter(|_| ongoing.turn == question.turn)
        else {
            return;
        };
        // A late answer to an earlier try may still count; only the current try can fail.
        let current = window.call == Some(call) && window.pause.is_none();
        let seat = question.seat;
        let error = match answer {
            Answer::Undelivered(failure) => {
                if current {
                    self.call_failed(ctx, &question.match_id, seat, failure);
                }
                return;
            }
            Answer::Received => {
                ongoing.side_mut(seat).answers_separately = true;
                return;
            }
            Answer::NotUnderstood(what) | Answer::Garbled(what) => {
                let message = format!(
                    "expected {}, got something unreadable: {what}",
                    ongoing.owed()
                );
                Some(AnswerError::new(ErrorCode::InvalidFormat, message))
            }
            Answer::Message(Err(rejection)) => {
                let options = ongoing.game.request(seat).valid_options;
                Some(AnswerError::unreadable(&rejection, options))
            }
            Answer::Message(Ok(incoming)) => match incoming.under(ongoing.conformance) {
                Ok(incoming) => self
                    .take_answer(ctx, &question.match_id, seat, incoming, Via::Exchange)
                    .err(),
                Err(rejection) => {
                    let options = ongoing.game.request(seat).valid_options;
                    Some(AnswerError::unreadable(rejection, options))
                }
            },
        };
        if let Some(error) = error.filter(|_| current) {
            self.with(ctx, &question.match_id, |ongoing, actions| {
                ongoing.reject_answer(now, seat, error, actions)
            });
        }
    }

    /// The current call to a player has brought no answer.
    fn call_failed(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId, seat: Seat, failure: Failure) {
        let now = ctx.now;
        // A foreign manager takes nothing back, and a restart would fail the same way.
        let taken_back = self
            .durable
            .identity()
            .is_none_or(|identity| identity.match_tokens);
        self.with(ctx, match_id, |ongoing, actions| match failure {
            Failure::Forbidden => ongoing.forbidden(now, seat, taken_back, actions),
            Failure::NoConnection | Failure::NoRoute | Failure::Closed => {
                ongoing.unreachable(now, seat, failure, actions);
            }
            Failure::Ours => {
                let why = "the referee's machine could not make the call".to_owned();
                ongoing.retry_after_own_fault(now, seat, why, actions);
            }
            // The window ends a try: until then the answer may come as a separate message.
            Failure::TimedOut => {}
        });
    }

    /// Uses the dialect that the player understood from now on, in later matches too: the manager may never learn it.
    fn learn_dialect(&mut self, ctx: &mut Ctx<'_>, question: &PendingQuestion, dialect: Dialect) {
        let Some(ongoing) = self.playing.get_mut(&question.match_id) else {
            return;
        };
        let told = ongoing.assignment.player(question.seat).dialect;
        let side = ongoing.side_mut(question.seat);
        if side.dialect != dialect {
            side.dialect = dialect;
            let endpoint = side.endpoint.clone();
            self.record(
                ctx,
                RefereeEvent::DialectLearned {
                    endpoint,
                    told,
                    dialect,
                },
            );
        }
    }

    /// Some players answer a GAME_ERROR with the missing answer. Anything else is ignored.
    pub(super) fn notice_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        question: &PendingQuestion,
        answer: Answer,
    ) {
        let ongoing = self.playing.get_mut(&question.match_id);
        let ongoing = ongoing.filter(|ongoing| ongoing.assignment.attempt == question.attempt);
        if let Some(ongoing) = ongoing {
            let side = ongoing.side_mut(question.seat);
            side.errors_in_flight = side.errors_in_flight.saturating_sub(1);
            let is_current = ongoing.turn == question.turn;
            let conformance = ongoing.conformance;
            if let Answer::Message(Ok(incoming)) = answer
                && is_current
                && let Ok(incoming) = incoming.under(conformance)
            {
                let (match_id, seat) = (&question.match_id, question.seat);
                self.take_answer(ctx, match_id, seat, incoming, Via::Exchange)
                    .ok();
            }
        }
        self.release_game_over(ctx, question);
    }

    /// Takes an answer into its match. Idempotent.
    fn take_answer(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        seat: Seat,
        incoming: &Incoming,
        via: Via,
    ) -> Result<(), AnswerError> {
        let now = ctx.now;
        let token = incoming.envelope.auth_token.as_ref();
        if let Some(token) = token.filter(|token| self.is_of_another(match_id, seat, token)) {
            return Err(AnswerError::not_its_token(token));
        }
        let has_tokens = self.own_token().is_some();
        let outcome = self.with(ctx, match_id, |ongoing, actions| {
            let reply = ongoing.judge(seat, incoming, via, has_tokens)?;
            let deviations_of = ongoing.deviations_of(seat, incoming);
            // Before the answer is taken, because it may complete the match, and its deviations belong to the result.
            let side = ongoing.side_mut(seat);
            side.note(&incoming.deviations);
            side.note(&deviations_of);
            ongoing.take(now, seat, reply, actions)?;
            if let Ok(body) = &incoming.body {
                ongoing.side_mut(seat).last = Some((incoming.envelope.timestamp, body.clone()));
            }
            Ok(())
        });
        outcome.unwrap_or(Ok(()))
    }

    /// Whether a token is known to be that of another player or of another match.
    fn is_of_another(&self, match_id: &MatchId, seat: Seat, token: &Token) -> bool {
        let assignments = self
            .durable
            .matches()
            .iter()
            .filter_map(|(id, held)| match held {
                AssignedMatch::Open { assignment, .. }
                | AssignedMatch::Decided { assignment, .. } => Some((id == match_id, assignment)),
                AssignedMatch::Closed { .. } => None,
            });
        let own = self
            .durable
            .open(match_id)
            .is_some_and(|assignment| assignment.holds(seat, token));
        !own && assignments.into_iter().any(|(is_this, assignment)| {
            Seat::BOTH
                .into_iter()
                .any(|other| !(is_this && other == seat) && assignment.holds(other, token))
        })
    }

    /// An answer in a separate message. `client` is the address that it came from.
    pub(super) fn separate_answer(
        &mut self,
        ctx: &mut Ctx<'_>,
        incoming: &Incoming,
        client: Option<IpAddr>,
    ) -> Result<(), LeagueError> {
        let now = ctx.now;
        let (match_id, seat) = match &incoming.body {
            Ok(body) => self.addressed(body)?,
            Err(rejection) => match self.place_of(&incoming.envelope) {
                Some(place) => place,
                None => return Err(LeagueError::from(rejection)),
            },
        };
        let has_tokens = self.own_token().is_some();
        let Some(ongoing) = self.playing.get_mut(&match_id) else {
            return Ok(());
        };
        let incoming = incoming
            .under(ongoing.conformance)
            .map_err(LeagueError::from)?;
        // A manager that derives match tokens leaves nothing to be proven by an address.
        let from_endpoint = ongoing.assignment.player(seat).expects.is_none()
            && client.and_then(|client| ongoing.side(seat).endpoint.is_at(client)) == Some(true);
        let via = if from_endpoint {
            Via::FromEndpoint
        } else {
            Via::Separate
        };
        ongoing
            .admit(seat, &incoming.envelope, via, has_tokens)
            .map_err(to_league_error)?;
        if !ongoing.wants(seat, incoming)? {
            return Ok(());
        }
        let verdict = self.take_answer(ctx, &match_id, seat, incoming, via);
        verdict.map_err(|error| {
            let answer = to_league_error(error.clone());
            self.with(ctx, &match_id, |ongoing, actions| {
                ongoing.reject_answer(now, seat, error, actions)
            });
            answer
        })
    }

    /// The match and the seat that an answer names.
    fn addressed(&self, body: &Body) -> Result<(MatchId, Seat), LeagueError> {
        let Some((match_id, player_id)) = names(body) else {
            return Err(league_error(
                ErrorCode::InvalidState,
                "this is not an answer of a player",
            ));
        };
        let Some(ongoing) = self.playing.get(match_id) else {
            return Err(match self.durable.matches().get(match_id) {
                None => league_error(
                    ErrorCode::MatchNotFound,
                    format!("{match_id} is not played here"),
                ),
                Some(AssignedMatch::Open { .. }) => league_error(
                    ErrorCode::InvalidState,
                    format!("{match_id} has not begun yet"),
                ),
                Some(AssignedMatch::Decided { .. } | AssignedMatch::Closed { .. }) => league_error(
                    ErrorCode::InvalidState,
                    format!("{match_id} is over: the answer came too late"),
                ),
            });
        };
        match ongoing.assignment.seat_of(player_id) {
            Some(seat) => Ok((match_id.clone(), seat)),
            None => {
                let message = format!("player_id: {player_id} does not play in {match_id}");
                Err(league_error(ErrorCode::TokenInvalid, message))
            }
        }
    }

    /// The match and seat of an answer that could not be decoded, by its sender and conversation.
    fn place_of(&self, envelope: &Envelope) -> Option<(MatchId, Seat)> {
        let Sender::Player(player_id) = &envelope.sender else {
            return None;
        };
        let in_conversation = |id: &ConversationId| *id == envelope.conversation_id;
        self.playing.iter().find_map(|(match_id, ongoing)| {
            let seat = ongoing.assignment.seat_of(player_id)?;
            in_conversation(&ongoing.assignment.conversation_id).then(|| (match_id.clone(), seat))
        })
    }
}

impl OngoingMatch {
    /// Whether a separate answer is awaited now: no duplicate, not too early, not too late.
    fn wants(&self, seat: Seat, incoming: &Incoming) -> Result<bool, LeagueError> {
        let side = self.side(seat);
        let copy = match (&side.last, &incoming.body) {
            (Some((at, last)), Ok(body)) => *at == incoming.envelope.timestamp && last == body,
            _ => false,
        };
        let joining = incoming.message_type == MessageType::GameJoinAck;
        match &side.answer_state {
            AnswerState::Forfeit(_) => {
                let message = format!(
                    "{} is lost by forfeit: the answer came too late",
                    self.assignment.match_id
                );
                Err(league_error(ErrorCode::InvalidState, message))
            }
            _ if copy || (joining && self.phase != Phase::WaitingForPlayers) => Ok(false),
            _ if !joining && self.phase == Phase::WaitingForPlayers => {
                let message = format!(
                    "{} is still waiting for its players to join",
                    self.assignment.match_id
                );
                Err(league_error(ErrorCode::InvalidState, message))
            }
            AnswerState::NotAwaited => Ok(false),
            AnswerState::Awaited(_) => Ok(true),
        }
    }
}

fn to_league_error(error: AnswerError) -> LeagueError {
    LeagueError::new(error.code, error.message, None, Some(error.context))
}

fn names(body: &Body) -> Option<(&MatchId, &PlayerId)> {
    match body {
        Body::GameJoinAck(ack) => Some((&ack.match_id, &ack.player_id)),
        Body::ChooseParityResponse(choice) => Some((&choice.match_id, &choice.player_id)),
        Body::GameMoveResponse(made) => Some((&made.match_id, &made.player_id)),
        _ => None,
    }
}
