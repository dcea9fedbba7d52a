//! The end of a match: the decision is kept first, then the players are told and the manager is, until it answers.

use super::{Asked, Held, HeldBack, Purpose, Referee, RefereeEvent, asks};
use crate::agent::{Answer, Parcel, Step};
use crate::game::Seat;
use crate::post::{Errand, Sent, Tries};
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::{LeagueError, MatchResult, MatchResultReport};
use crate::protocol::{
    Body, Endpoint, Envelope, ErrorCode, MatchId, Message, Sender, Timestamp, Token, UntrustedText,
};
use crate::referee::Assignment;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// Where a player is told how its match ended.
struct Place {
    endpoint: Endpoint,
    dialect: Dialect,
    /// How many GAME_ERRORs of the match are still on their way to it.
    complaints: u32,
}

impl Referee {
    pub(super) fn own_token(&self) -> Option<Token> {
        self.durable.identity().and_then(|identity| identity.auth_token.clone())
    }

    pub(super) fn decide(
        &mut self,
        now: Timestamp,
        match_id: &MatchId,
        result: Arc<MatchResult>,
        step: &mut Step<RefereeEvent>,
    ) {
        let Some(ended) = self.playing.remove(match_id) else {
            return;
        };
        self.let_go(match_id, &ended);
        let assignment = ended.assignment;
        let attempt = assignment.attempt;
        let event =
            RefereeEvent::Decided { match_id: match_id.clone(), attempt, result: Arc::clone(&result) };
        self.record(now, event, step);
        let places = ended.sides.map(|side| {
            Some(Place { endpoint: side.endpoint, dialect: side.dialect, complaints: side.complaints })
        });
        self.send_game_over(now, &assignment, &result, places, step);
        self.report(now, &assignment, result, step);
    }

    /// After a restart: players and manager may or may not have heard how the match ended.
    pub(super) fn tell_the_end(&mut self, now: Timestamp, match_id: &MatchId, step: &mut Step<RefereeEvent>) {
        let Some((assignment, result)) = self.decided(match_id) else {
            return;
        };
        let places = assignment.players.each_ref();
        let places = places.map(|player| {
            let endpoint = player.endpoint.clone()?;
            let dialect = self.durable.dialect(&endpoint, player.dialect);
            Some(Place { endpoint, dialect, complaints: 0 })
        });
        self.send_game_over(now, &assignment, &result, places, step);
        self.report(now, &assignment, result, step);
    }

    fn decided(&self, match_id: &MatchId) -> Option<(Arc<Assignment>, Arc<MatchResult>)> {
        match self.durable.matches().get(match_id)? {
            Held::Decided { assignment, result } => Some((assignment.clone(), result.clone())),
            Held::Open { .. } | Held::Settled { .. } => None,
        }
    }

    fn send_game_over(
        &mut self,
        now: Timestamp,
        assignment: &Assignment,
        result: &MatchResult,
        places: [Option<Place>; 2],
        step: &mut Step<RefereeEvent>,
    ) {
        let retry = self.settings.timing.retry;
        let body = Body::from(asks::game_over(assignment, result));
        for (seat, place) in Seat::BOTH.into_iter().zip(places) {
            let Some(Place { endpoint: to, dialect, complaints }) = place else {
                continue;
            };
            let envelope =
                Envelope::new(Sender::Referee(self.name()), now, assignment.conversation_id.clone())
                    .with_token(Some(assignment.player(seat).shows.clone()));
            let message = Message::new(envelope, body.clone());
            let errand = Errand {
                to,
                dialect,
                parcel: Parcel::Message(message),
                purpose: Purpose::GameOver,
                timeout: self.settings.timing.game_over,
                tries: Tries::Retry(retry.retries, retry.backoff),
            };
            if complaints == 0 {
                self.post.send(now, errand, &mut step.outbox);
            } else {
                // A player hears what went wrong before it hears how the match ended.
                let place = (assignment.match_id.clone(), assignment.attempt, seat);
                self.held_back.insert(place, HeldBack { complaints, game_over: errand });
            }
        }
    }

    /// A GAME_ERROR has reached its player, or cannot: the GAME_OVER behind it may go.
    pub(super) fn release_game_over(&mut self, now: Timestamp, told: &Asked, step: &mut Step<RefereeEvent>) {
        let Entry::Occupied(mut held) = self.held_back.entry(told.place()) else {
            return;
        };
        held.get_mut().complaints = held.get().complaints.saturating_sub(1);
        if held.get().complaints == 0 {
            self.post.send(now, held.remove().game_over, &mut step.outbox);
        }
    }

    /// Sends the report at once, instead of when its next try would be due.
    pub(super) fn report_again(&mut self, now: Timestamp, match_id: &MatchId, step: &mut Step<RefereeEvent>) {
        let report = Purpose::Report(match_id.clone());
        self.post.call_off(|purpose| *purpose == report);
        if let Some((assignment, result)) = self.decided(match_id) {
            self.report(now, &assignment, result, step);
        }
    }

    fn report(
        &mut self,
        now: Timestamp,
        assignment: &Assignment,
        result: Arc<MatchResult>,
        step: &mut Step<RefereeEvent>,
    ) {
        let report = MatchResultReport {
            league_id: assignment.league_id.clone(),
            round_id: assignment.round_id,
            match_id: assignment.match_id.clone(),
            game_type: assignment.game_type.clone(),
            result,
        };
        let envelope = Envelope::new(Sender::Referee(self.name()), now, assignment.conversation_id.clone())
            .with_token(self.own_token());
        let errand = Errand {
            to: self.settings.manager.clone(),
            dialect: self.manager_dialect,
            parcel: Parcel::Message(Message::new(envelope, report)),
            purpose: Purpose::Report(assignment.match_id.clone()),
            timeout: self.settings.timing.report,
            tries: Tries::Forever(self.settings.timing.retry.backoff),
        };
        self.post.send(now, errand, &mut step.outbox);
    }

    pub(super) fn report_answered(
        &mut self,
        now: Timestamp,
        sent: Box<Sent<Purpose>>,
        match_id: &MatchId,
        answer: Answer,
        step: &mut Step<RefereeEvent>,
    ) {
        let Some((assignment, _)) = self.decided(match_id) else {
            return;
        };
        let (match_id, attempt) = (match_id.clone(), assignment.attempt);
        match self.receipt(&match_id, answer) {
            Receipt::Recorded => self.record(now, RefereeEvent::Reported { match_id, attempt }, step),
            Receipt::Refused { code, reason } => {
                let event = RefereeEvent::ReportRefused { match_id, attempt, code, reason };
                self.record(now, event, step);
            }
            Receipt::None => {
                // An errand that is tried forever always has a next time.
                self.post.again(now, sent).ok();
            }
        }
    }

    fn receipt(&self, match_id: &MatchId, answer: Answer) -> Receipt {
        // A manager of another make need not know MATCH_RESULT_ACK: any answer but a refusal is its receipt.
        let foreign = self.durable.identity().is_some_and(|identity| !identity.match_tokens);
        let body = match answer {
            Answer::Message(Ok(incoming)) => incoming.body,
            Answer::Received if foreign => return Receipt::Recorded,
            _ => return Receipt::None,
        };
        match body {
            Ok(Body::MatchResultAck(ack)) if ack.match_id == *match_id => Receipt::Recorded,
            Ok(Body::LeagueError(error)) => refusal(Arc::unwrap_or_clone(error)),
            Ok(_) if foreign => Receipt::Recorded,
            _ => Receipt::None,
        }
    }
}

enum Receipt {
    Recorded,
    Refused { code: ErrorCode, reason: UntrustedText },
    None,
}

/// Only these mean that the report will never be taken; anything else may be mended before the next try.
fn refusal(error: LeagueError) -> Receipt {
    match error.error_code {
        ErrorCode::ResultConflict
        | ErrorCode::MatchNotFound
        | ErrorCode::LeagueNotFound
        // The same report would have the same faults the next time.
        | ErrorCode::InvalidFormat
        | ErrorCode::TokenInvalid => Receipt::Refused {
            code: error.error_code,
            reason: error.error_message.unwrap_or(error.error_description),
        },
        _ => Receipt::None,
    }
}
