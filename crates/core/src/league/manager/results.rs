//! Match results: accepted once, from the assigned referee, if they are valid.

use super::{Ctx, Manager};
use crate::agent::Agent;
use crate::league::cause::{LossCause, Suspicion};
use crate::league::event::LeagueEvent;
use crate::league::fixture::{DecidedBy, Decision, Match, ResultProof};
use crate::league::request::{ReceivedMessage, RequestError};
use crate::league::settings::LeagueSettings;
use crate::league::standings::{POINTS_DRAW, POINTS_WIN};
use crate::league::state::check_result;
use crate::protocol::Sender;
use crate::protocol::decode::{Conformance, Deviation, DeviationKind, Rejection};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{Attempt, MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{
    AckStatus, Blame, ByPlayer, Cause, Culprit, GameDetails, GameStatus, MATCH_TOKENS, MatchResult,
    MatchResultAck, MatchResultReport, Parity, Phase, ResultDetails,
};
use std::fmt;
use std::sync::Arc;

impl Manager {
    pub(super) fn accept_report(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        referee: &RefereeId,
        report: &MatchResultReport,
    ) -> Result<(), RequestError> {
        self.league.check_id(&report.league_id)?;
        let match_id = report.match_id.clone();
        let fixture = self.league.matches.get(&match_id).ok_or_else(|| {
            RequestError::new(
                ErrorCode::MatchNotFound,
                format!("there is no match {match_id} in this league"),
            )
        })?;
        let named = received.envelope.conversation_id.attempt_of(&match_id);
        let attempt = self.reported_attempt(&match_id, fixture, referee, named)?;
        if let Err(error) = self.check_frame(fixture, report) {
            self.reject_result(ctx, &match_id, attempt, referee, &error);
            return Err(error);
        }
        let played = as_played(&self.league.settings, &report.result);
        let has_deviated = played.is_some();
        let result = played.unwrap_or_else(|| Arc::clone(&report.result));
        let checked = check_result(&self.league.settings, fixture, &result);
        if let Some(decision) = &fixture.decision {
            checked?;
            let same =
                decision.by == DecidedBy::Referee(referee.clone()) && decision.result == result;
            if !same {
                return Err(conflict(
                    &match_id,
                    " is decided already; its result stays as it was recorded",
                ));
            }
            self.acknowledge(ctx, received, match_id, Some(true));
            return Ok(());
        }
        let checked = checked.and_then(|status| {
            check_forfeits(fixture, attempt, &result)?;
            let of_match = (&match_id, fixture);
            let proof = self
                .league
                .check_proof(of_match, attempt, referee, status, &result)?;
            Ok((status, proof))
        });
        let (status, proof) = match checked {
            Ok(checked) => checked,
            Err(error) => {
                self.reject_result(ctx, &match_id, attempt, referee, &error);
                return Err(error);
            }
        };
        let superseded = fixture
            .referee()
            .filter(|current| *current != referee)
            .cloned()
            .zip(fixture.attempt());
        let by = DecidedBy::Referee(referee.clone());
        if has_deviated {
            let deviation = Deviation {
                kind: DeviationKind::Mismatch,
                path: "result.score".to_owned(),
            };
            self.record_deviations(ctx, &Sender::Referee(referee.clone()), &[deviation]);
        }
        self.decide(
            ctx,
            &match_id,
            Decision {
                status,
                result,
                by,
                attempt,
                proof,
                at: ctx.now,
            },
        );
        self.acknowledge(ctx, received, match_id.clone(), None);
        if let Some((current, attempt)) = superseded {
            self.tell_superseded(ctx, Sender::Referee(current), &match_id, attempt);
        }
        self.advance(ctx);
        Ok(())
    }

    /// The report was invalid: the match is replayed, by another referee if there is one.
    fn reject_result(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        attempt: Attempt,
        referee: &RefereeId,
        error: &RequestError,
    ) {
        let fixture = self.league.matches.get(match_id);
        let is_its_own = fixture.is_some_and(|fixture| {
            fixture.in_play
                && fixture.referee() == Some(referee)
                && fixture.attempt() == Some(attempt)
        });
        // It would report the same again, and the match would wait for nothing.
        if is_its_own {
            let reason = format!("its report was refused: {}", error.message);
            self.lose_attempt(ctx, match_id, Culprit::Referee, LossCause::Refused, &reason);
            self.advance(ctx);
        }
    }

    /// A report without a token, which anybody could have sent, is not taken. If it came from where the referee is and that
    /// has never shown a token, the match goes to another referee, if there is one; it is no lost attempt.
    pub(super) fn on_unproven_report(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        match_id: &MatchId,
    ) {
        let (None, Sender::Referee(referee)) =
            (&received.envelope.auth_token, &received.envelope.sender)
        else {
            return;
        };
        let Some(known) = self.league.referees.get(referee) else {
            return;
        };
        let endpoint = &known.meta.contact_endpoint;
        let is_from_there = received.client.and_then(|client| endpoint.is_at(client)) == Some(true);
        let fixture = self.league.matches.get(match_id);
        let is_its_own =
            fixture.is_some_and(|fixture| fixture.in_play && fixture.referee() == Some(referee));
        let has_others = self
            .league
            .referees
            .iter()
            .any(|(id, other)| id != referee && !other.is_suspended() && !other.revoked);
        let never_had_one = !known.token_shown && !known.meta.has_capability(MATCH_TOKENS);
        if !(is_from_there && is_its_own && has_others && never_had_one) {
            return;
        }
        let referee = referee.clone();
        let why = "it reports without its token";
        self.suspend(ctx, Sender::Referee(referee), Suspicion::NoToken);
        self.lose_attempt(ctx, match_id, Culprit::Referee, LossCause::NoToken, why);
        self.advance(ctx);
    }

    /// A referee that has shown its token reports what cannot be read. If it has one match alone, that is the one.
    pub(super) fn on_unreadable_report(
        &mut self,
        ctx: &mut Ctx<'_>,
        referee: &RefereeId,
        rejection: &Rejection,
    ) {
        let in_hand = self.league.in_hand(|id| id == referee);
        let [(match_id, _)] = in_hand.as_slice() else {
            return;
        };
        let attempt = self
            .league
            .matches
            .get(match_id)
            .and_then(|fixture| fixture.attempt());
        if let Some(attempt) = attempt {
            let error = RequestError::from(rejection.clone());
            self.reject_result(ctx, match_id, attempt, referee, &error);
        }
    }

    /// The attempt of a report, if its referee may report it.
    fn reported_attempt(
        &self,
        match_id: &MatchId,
        fixture: &Match,
        referee: &RefereeId,
        named: Option<Attempt>,
    ) -> Result<Attempt, RequestError> {
        let over = self.league.phase == Phase::Completed && fixture.decision.is_none();
        if over || is_voided(fixture, referee, named) {
            let why = ": this result has been voided, or the league was ended without it";
            return Err(conflict(match_id, why));
        }
        if named.is_some_and(|named| fixture.is_void(named)) {
            let why = ": this attempt was given back or refused, and no result of it is taken";
            return Err(conflict(match_id, why));
        }
        attempt_of(fixture, referee, named).ok_or_else(|| {
            let message = format!(
                "{match_id} was not given to {referee}: only its own referee can report it"
            );
            RequestError::new(ErrorCode::TokenInvalid, message)
        })
    }

    fn acknowledge(
        &self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        match_id: MatchId,
        duplicate: Option<bool>,
    ) {
        self.reply(
            ctx,
            received,
            MatchResultAck {
                match_id,
                status: AckStatus::Recorded,
                duplicate,
            },
        );
    }

    fn check_frame(&self, fixture: &Match, report: &MatchResultReport) -> Result<(), RequestError> {
        fn expect<T: PartialEq + fmt::Display>(
            path: &str,
            expected: &T,
            came: &T,
        ) -> Result<(), RequestError> {
            if expected == came {
                return Ok(());
            }
            Err(RequestError::new(
                ErrorCode::InvalidFormat,
                format!("{path}: expected {expected}, got {came}"),
            )
            .with("path", path))
        }
        expect("round_id", &fixture.round_id, &report.round_id)?;
        expect(
            "game_type",
            &self.league.settings.game_type,
            &report.game_type,
        )
    }

    fn decide(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId, decision: Decision) {
        let Decision {
            status,
            result,
            by,
            attempt,
            proof,
            ..
        } = decision;
        self.record(
            ctx,
            LeagueEvent::MatchDecided {
                match_id: match_id.clone(),
                attempt,
                status,
                result,
                by,
                proof,
            },
        );
        self.assignments.decide(match_id);
        self.notices
            .schedule_standings(ctx.now + self.league.settings.standings_pause);
        self.suspend_the_absent(ctx, match_id);
    }

    fn decide_without_referee(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        (attempt, status): (Attempt, GameStatus),
        result: MatchResult,
    ) {
        let result = Arc::new(result);
        let by = DecidedBy::Manager;
        let proof = ResultProof::Unprovable;
        self.decide(
            ctx,
            match_id,
            Decision {
                status,
                result,
                by,
                attempt,
                proof,
                at: ctx.now,
            },
        );
    }

    /// Suspends players with too many technical losses in a row.
    fn suspend_the_absent(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let Some(fixture) = self.league.matches.get(match_id) else {
            return;
        };
        let limit = self.league.settings.suspend_after.max(1);
        for player in [fixture.a.clone(), fixture.b.clone()] {
            if self
                .league
                .players
                .get(&player)
                .is_some_and(|known| known.streak >= limit)
            {
                self.suspend(ctx, Sender::Player(player), Suspicion::TechnicalLosses);
            }
        }
    }

    /// Decides a match that no referee could finish as a draw, without blame.
    pub(super) fn decide_unplayed(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let Some(fixture) = self.league.matches.get(match_id) else {
            return;
        };
        let a = fixture.a.clone();
        let b = fixture.b.clone();
        let lost = fixture.lost.len();
        let last = fixture
            .lost
            .last()
            .map(|lost| lost.reason.raw())
            .filter(|reason| !reason.is_empty());
        let last = last.map_or_else(String::new, |reason| format!(" ({reason})"));
        let attempt = fixture.attempt().unwrap_or(Attempt::FIRST);
        let score = ByPlayer::pair((a.clone(), POINTS_DRAW), (b.clone(), POINTS_DRAW));
        let reason = format!(
            "no referee could play it: {lost} attempts were aborted{last} - the points are shared"
        );
        let result = MatchResult {
            winner: None,
            score,
            details: ResultDetails::of(self.empty_details(a, b)),
            status: Some(GameStatus::Draw),
            reason: Some(reason.into()),
        };
        self.decide_without_referee(ctx, match_id, (attempt, GameStatus::Draw), result);
    }

    /// The details of a match that was not played.
    fn empty_details(&self, a: PlayerId, b: PlayerId) -> GameDetails {
        match crate::game::find(&self.league.settings.game_type) {
            Some(entry) => (entry.new)().details(&[a, b]),
            None => GameDetails::Other(serde_json::Map::new()),
        }
    }

    /// Decides a forfeited match without a referee.
    pub(super) fn forfeit(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        forfeits: &[(PlayerId, Cause)],
    ) {
        let Some(fixture) = self.league.matches.get(match_id) else {
            return;
        };
        let a = fixture.a.clone();
        let b = fixture.b.clone();
        let cause_of = |player: &PlayerId| {
            forfeits
                .iter()
                .find(|(id, _)| id == player)
                .map(|(_, why)| *why)
        };
        let (winner, reason) = match [cause_of(&a), cause_of(&b)]
            .map(|cause| cause.map(Cause::words))
        {
            [None, None] => return,
            [Some(why), None] => (Some(b.clone()), format!("{a} {why} - {b} wins by default")),
            [None, Some(why)] => (Some(a.clone()), format!("{b} {why} - {a} wins by default")),
            [Some(one), Some(other)] => (None, format!("{a} {one} and {b} {other} - both lose")),
        };
        let blame = forfeits
            .iter()
            .map(|(player, cause)| (player.clone(), Blame::on_player(*cause)));
        let blame = Some(Box::new(blame.collect()));
        let points = |player: &PlayerId| {
            if winner.as_ref() == Some(player) {
                POINTS_WIN
            } else {
                0
            }
        };
        let score = ByPlayer::pair((a.clone(), points(&a)), (b.clone(), points(&b)));
        let status = GameStatus::TechnicalLoss;
        let game_details = self.empty_details(a, b);
        let attempt = fixture.attempt().unwrap_or(Attempt::FIRST);
        let result = MatchResult {
            winner,
            score,
            details: ResultDetails {
                blame,
                ..ResultDetails::of(game_details)
            },
            status: Some(status),
            reason: Some(reason.into()),
        };
        self.decide_without_referee(ctx, match_id, (attempt, status), result);
    }
}

/// A match that was played to the end and reported without points, as referees do that know no points for a draw: with them.
/// Only where the report does not say that it was lost, and both players chose.
fn as_played(settings: &LeagueSettings, result: &MatchResult) -> Option<Arc<MatchResult>> {
    let GameDetails::Parity(details) = &result.details.game else {
        return None;
    };
    let number = details.drawn_number?;
    let chosen: Option<Vec<Parity>> = details.choices.iter().map(|(_, choice)| *choice).collect();
    let [one, other] = chosen?.try_into().ok()?;
    let is_right = |choice: Parity| choice == Parity::of(number);
    let is_level = is_right(one) == is_right(other);
    let has_no_points =
        result.winner.is_none() && result.score.iter().all(|(_, points)| *points == 0);
    let is_lenient = settings.conformance == Conformance::Lenient;
    if !is_lenient || !has_no_points || result.status == Some(GameStatus::TechnicalLoss) {
        return None;
    }
    let points = if is_level { POINTS_DRAW } else { 0 };
    let score = result
        .score
        .iter()
        .map(|(player, _)| (player.clone(), points))
        .collect();
    Some(Arc::new(MatchResult {
        score,
        status: Some(GameStatus::Draw),
        ..result.clone()
    }))
}

/// A match that was given out to be decided without play has the result that was asked for, and no other.
fn check_forfeits(
    fixture: &Match,
    attempt: Attempt,
    result: &MatchResult,
) -> Result<(), RequestError> {
    if fixture.forfeits.is_empty() || fixture.attempt() != Some(attempt) {
        return Ok(());
    }
    let loses = |player: &PlayerId| fixture.forfeits.iter().any(|(id, _)| id == player);
    let expected = [&fixture.a, &fixture.b]
        .into_iter()
        .find(|player| !loses(player));
    if result.status == Some(GameStatus::TechnicalLoss) && result.winner.as_ref() == expected {
        return Ok(());
    }
    let winner = expected.map_or("nobody", |player| player.as_str());
    let message =
        format!("result: expected a technical loss that {winner} wins, as the match was given out");
    Err(RequestError::new(ErrorCode::InvalidFormat, message).with("path", "result"))
}

/// Whether a report belongs to an attempt whose result the operator has voided.
fn is_voided(fixture: &Match, referee: &RefereeId, named: Option<Attempt>) -> bool {
    let mut voided = (1..)
        .map(Attempt)
        .zip(&fixture.attempts)
        .take(fixture.voided_attempts);
    voided.any(|(attempt, to)| to == referee && Some(attempt) == named)
}

fn conflict(match_id: &MatchId, why: &str) -> RequestError {
    RequestError::new(ErrorCode::ResultConflict, format!("{match_id}{why}"))
        .with("match_id", match_id.as_str())
}

/// The attempt that a referee reports: the one its conversation names, if it was assigned that one, or else its latest.
/// Voided attempts do not count.
fn attempt_of(fixture: &Match, referee: &RefereeId, named: Option<Attempt>) -> Option<Attempt> {
    let valid = || {
        (1..)
            .map(Attempt)
            .zip(&fixture.attempts)
            .skip(fixture.voided_attempts)
    };
    let given = || {
        let own = valid()
            .filter(|(_, to)| *to == referee)
            .map(|(attempt, _)| attempt);
        own.filter(|attempt| !fixture.is_void(*attempt))
    };
    given()
        .find(|attempt| Some(*attempt) == named)
        .or_else(|| given().last())
}
