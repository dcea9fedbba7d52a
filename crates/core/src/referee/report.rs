//! The end of a match: the decision is recorded, then GAME_OVER and the report are sent, the report until it is
//! acknowledged.

use super::{AssignedMatch, DelayedGameOver, PendingQuestion, Purpose, Referee, RefereeEvent};
use super::{Assignment, Ctx, messages_out};
use crate::agent::{Agent, Answer, Payload};
use crate::game::Seat;
use crate::outbox::{Delivery, Sent, Tries};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{LeagueError, MatchResult, MatchResultReport};
use crate::protocol::{
    Body, Endpoint, Envelope, ErrorCode, MatchId, Message, Sender, Token, UntrustedText,
};
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// Where GAME_OVER is sent.
struct Destination {
    endpoint: Endpoint,
    dialect: Dialect,
    /// GAME_ERRORs in flight to the player.
    errors_in_flight: u32,
}

impl Referee {
    pub(super) fn own_token(&self) -> Option<Token> {
        self.durable
            .identity()
            .and_then(|identity| identity.auth_token.clone())
    }

    pub(super) fn decide(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        result: Arc<MatchResult>,
    ) {
        let Some(ended) = self.playing.remove(match_id) else {
            return;
        };
        self.stop_waiting_for(match_id, &ended);
        let assignment = ended.assignment;
        let attempt = assignment.attempt;
        let event = RefereeEvent::Decided {
            match_id: match_id.clone(),
            attempt,
            result: Arc::clone(&result),
        };
        self.record(ctx, event);
        let places = ended.sides.map(|side| {
            Some(Destination {
                endpoint: side.endpoint,
                dialect: side.dialect,
                errors_in_flight: side.errors_in_flight,
            })
        });
        self.send_game_over(ctx, &assignment, &result, places);
        self.report(ctx, &assignment, result);
    }

    /// After a restart: sends GAME_OVER and the report again. At-least-once.
    pub(super) fn tell_the_end(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let Some((assignment, result)) = self.decided(match_id) else {
            return;
        };
        let places = assignment.players.each_ref();
        let places = places.map(|player| {
            let endpoint = player.endpoint.clone()?;
            let dialect = self.durable.dialect(&endpoint, player.dialect);
            Some(Destination {
                endpoint,
                dialect,
                errors_in_flight: 0,
            })
        });
        self.send_game_over(ctx, &assignment, &result, places);
        self.report(ctx, &assignment, result);
    }

    fn decided(&self, match_id: &MatchId) -> Option<(Arc<Assignment>, Arc<MatchResult>)> {
        match self.durable.matches().get(match_id)? {
            AssignedMatch::Decided { assignment, result } => {
                Some((assignment.clone(), result.clone()))
            }
            AssignedMatch::Open { .. } | AssignedMatch::Closed { .. } => None,
        }
    }

    fn send_game_over(
        &mut self,
        ctx: &mut Ctx<'_>,
        assignment: &Assignment,
        result: &MatchResult,
        places: [Option<Destination>; 2],
    ) {
        let retry = self.settings.timing.retry;
        let body = Body::from(messages_out::game_over(
            assignment,
            result,
            self.key.as_ref(),
        ));
        for (seat, place) in Seat::BOTH.into_iter().zip(places) {
            let Some(Destination {
                endpoint: to,
                dialect,
                errors_in_flight,
            }) = place
            else {
                continue;
            };
            let envelope = Envelope::new(
                Sender::Referee(self.name()),
                ctx.now,
                assignment.conversation_id.clone(),
            )
            .with_token(Some(assignment.player(seat).shows.clone()));
            let message = Message::new(envelope, body.clone());
            let delivery = Delivery {
                to,
                dialect,
                payload: Payload::Message(message),
                purpose: Purpose::GameOver,
                timeout: self.settings.timing.game_over,
                tries: Tries::Retry(retry.retries, retry.backoff),
            };
            if errors_in_flight == 0 {
                self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
            } else {
                // GAME_ERROR is delivered before GAME_OVER.
                let place = (assignment.match_id.clone(), assignment.attempt, seat);
                self.delayed_game_overs.insert(
                    place,
                    DelayedGameOver {
                        errors_in_flight,
                        game_over: delivery,
                    },
                );
            }
        }
    }

    /// A GAME_ERROR was delivered or failed: sends the GAME_OVER behind the last one.
    pub(super) fn release_game_over(&mut self, ctx: &mut Ctx<'_>, question: &PendingQuestion) {
        let Entry::Occupied(mut held) = self.delayed_game_overs.entry(question.place()) else {
            return;
        };
        held.get_mut().errors_in_flight = held.get().errors_in_flight.saturating_sub(1);
        if held.get().errors_in_flight == 0 {
            self.outbox
                .send(ctx.now, held.remove().game_over, &mut ctx.step.outbox);
        }
    }

    /// Sends the report at once instead of at its next retry.
    pub(super) fn report_again(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let report = Purpose::Report(match_id.clone());
        self.outbox.cancel(|purpose| *purpose == report);
        if let Some((assignment, result)) = self.decided(match_id) {
            self.report(ctx, &assignment, result);
        }
    }

    fn report(&mut self, ctx: &mut Ctx<'_>, assignment: &Assignment, result: Arc<MatchResult>) {
        let report = MatchResultReport {
            league_id: assignment.league_id.clone(),
            round_id: assignment.round_id,
            match_id: assignment.match_id.clone(),
            game_type: assignment.game_type.clone(),
            result,
        };
        let envelope = Envelope::new(
            Sender::Referee(self.name()),
            ctx.now,
            assignment.conversation_id.clone(),
        )
        .with_token(self.own_token());
        let delivery = Delivery {
            to: self.settings.manager.clone(),
            dialect: self.registration.dialect(),
            payload: Payload::Message(Message::new(envelope, report)),
            purpose: Purpose::Report(assignment.match_id.clone()),
            timeout: self.settings.timing.report,
            tries: Tries::Forever(self.settings.timing.retry.backoff),
        };
        self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
    }

    pub(super) fn report_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        sent: Box<Sent<Purpose>>,
        match_id: &MatchId,
        answer: Answer,
    ) {
        let Some((assignment, _)) = self.decided(match_id) else {
            return;
        };
        let match_id = match_id.clone();
        let attempt = assignment.attempt;
        match self.receipt(&match_id, answer) {
            Receipt::Recorded => self.record(ctx, RefereeEvent::Reported { match_id, attempt }),
            Receipt::Refused { code, reason } => {
                let event = RefereeEvent::ReportRefused {
                    match_id,
                    attempt,
                    code,
                    reason,
                };
                self.record(ctx, event);
            }
            Receipt::None => {
                // An delivery that is tried forever always has a next time.
                self.outbox.retry(ctx.now, sent).ok();
            }
        }
    }

    fn receipt(&self, match_id: &MatchId, answer: Answer) -> Receipt {
        // A foreign manager need not know MATCH_RESULT_ACK: any answer but an error acknowledges the report.
        let foreign = self
            .durable
            .identity()
            .is_some_and(|identity| !identity.match_tokens);
        let body = match answer {
            Answer::Message(Ok(incoming)) => incoming.body,
            Answer::Received if foreign => return Receipt::Recorded,
            _ => return Receipt::None,
        };
        match body {
            Ok(Body::MatchResultAck(ack)) if ack.match_id == *match_id => Receipt::Recorded,
            Ok(Body::LeagueError(error)) => league_error(Arc::unwrap_or_clone(error)),
            Ok(_) if foreign => Receipt::Recorded,
            _ => Receipt::None,
        }
    }
}

enum Receipt {
    Recorded,
    Refused {
        code: ErrorCode,
        reason: UntrustedText,
    },
    None,
}

/// Only these errors are permanent; a retry may succeed after any other.
fn league_error(error: LeagueError) -> Receipt {
    match error.error_code {
        ErrorCode::ResultConflict
        | ErrorCode::MatchNotFound
        | ErrorCode::LeagueNotFound
        // The same report would be invalid again.
        | ErrorCode::InvalidFormat
        | ErrorCode::TokenInvalid => Receipt::Refused {
            code: error.error_code,
            reason: error.error_message.unwrap_or(error.error_description),
        },
        _ => Receipt::None,
    }
}
