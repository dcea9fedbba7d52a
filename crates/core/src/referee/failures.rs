//! Failures in a match: tries without an answer, invalid answers, and faults of the referee itself.

use super::game_error::{AnswerError, ErrorNotice};
use super::one_match::{Action, OngoingMatch, Phase};
use super::window::AnswerState;
use crate::agent::Failure;
use crate::game::Seat;
use crate::protocol::messages::{Cause, Seconds};
use crate::protocol::{Attempt, ErrorCode, Timestamp};
use serde_json::{Map, json};
use std::time::Duration;

/// A referee that notices the end of a try this late was stopped, or its clock was set: it may have missed an answer
/// that came in time.
const STALLED_AFTER: Duration = Duration::from_secs(2);

/// The attempt from which a referee that may not call a player decides the match instead of handing it back.
const FORBIDDEN_AT_LAST: Attempt = Attempt(5);

impl OngoingMatch {
    /// Handles the passing of time: tries end, and new ones begin.
    pub(super) fn on_time(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let closes = now + self.span();
        let owed = self.owed();
        for seat in Seat::BOTH {
            let side = self.side_mut(seat);
            let Some(window) = side.window_mut().filter(|window| window.due() <= now) else {
                continue;
            };
            let stalled = now.since(window.closes);
            if window.pause.is_some() {
                window.reopen(closes);
                actions.push(Action::Ask(seat));
            } else if now < window.closes {
                window.ask_again = None;
                window.asked_again = window.asked_again.saturating_add(1);
                actions.push(Action::Ask(seat));
            } else if stalled >= STALLED_AFTER {
                let why = format!("the referee was paused for {} seconds", stalled.as_secs());
                self.retry_after_own_fault(now, seat, why, actions);
            } else if window.last_invalid.is_some() {
                side.answer_state = window.forfeit(now, Cause::Invalid, owed);
            } else {
                self.fail(now, seat, Failure::TimedOut, actions);
            }
        }
        self.advance(now, actions);
    }

    /// The connection to the player failed, or was closed without an answer.
    pub(super) fn unreachable(
        &mut self,
        now: Timestamp,
        seat: Seat,
        failure: Failure,
        actions: &mut Vec<Action>,
    ) {
        self.fail(now, seat, failure, actions);
        self.advance(now, actions);
    }

    /// The egress policy forbids to call the player. Another referee may have another policy, so the match is handed
    /// back, up to a number of attempts.
    pub(super) fn forbidden(
        &mut self,
        now: Timestamp,
        seat: Seat,
        taken_back: bool,
        actions: &mut Vec<Action>,
    ) {
        if !taken_back || self.assignment.attempt >= FORBIDDEN_AT_LAST {
            return self.unreachable(now, seat, Failure::Forbidden, actions);
        }
        let player = &self.assignment.player(seat).player_id;
        let why = format!("the rules of the referee forbid it to call {player} (endpoint policy)");
        self.hand_back(why, actions);
    }

    /// A try failed for a local reason and does not count: the player is asked again after a pause. Without retries
    /// left the match is handed back.
    pub(super) fn retry_after_own_fault(
        &mut self,
        now: Timestamp,
        seat: Seat,
        why: String,
        actions: &mut Vec<Action>,
    ) {
        let policy = self.timing.retry;
        let Some(window) = self.side_mut(seat).window_mut() else {
            return;
        };
        window.own_failures = window.own_failures.saturating_add(1);
        window.own_failure = true;
        window.pause = policy.pause(window.own_failures).map(|pause| now + pause);
        if window.pause.is_none() {
            self.hand_back(why, actions);
        }
    }

    pub(super) fn hand_back(&mut self, why: String, actions: &mut Vec<Action>) {
        if self.phase != Phase::Finished {
            self.phase = Phase::Finished;
            actions.push(Action::HandBack(why));
        }
    }

    /// A try failed without an answer: there is another after a pause, or the player forfeits.
    fn fail(&mut self, now: Timestamp, seat: Seat, failure: Failure, actions: &mut Vec<Action>) {
        let policy = self.timing.retry;
        let span = self.span();
        let phase = self.phase;
        let owed = self.owed();
        let side = seat.of_mut(&mut self.sides);
        let instead = if side.answers_separately {
            ", only an acknowledgement"
        } else {
            ""
        };
        let AnswerState::Awaited(window) = &mut side.answer_state else {
            return;
        };
        let retry = window.retries.saturating_add(1);
        window.pause = policy.pause(retry).map(|pause| now + pause);
        let next = window.pause;
        let (cause, code, message, context) = match failure {
            Failure::Closed => (
                Cause::Unreachable,
                ErrorCode::Connection,
                format!(
                    "The connection to {} was closed without an answer.",
                    side.endpoint.escaped()
                ),
                ("endpoint", json!(side.endpoint)),
            ),
            Failure::NoConnection | Failure::NoRoute | Failure::Forbidden | Failure::Ours => (
                Cause::Unreachable,
                ErrorCode::Connection,
                format!(
                    "No connection to {}: is the agent listening there?",
                    side.endpoint.escaped()
                ),
                ("endpoint", json!(side.endpoint)),
            ),
            Failure::TimedOut => (
                Cause::Silent,
                ErrorCode::Timeout,
                format!(
                    "No {owed} came within {} seconds{instead}.",
                    span.as_secs_f64()
                ),
                ("timeout_sec", json!(Seconds::of(span))),
            ),
        };
        window.no_route &= failure == Failure::NoRoute;
        window.last = Some(format!("{code}: {message}"));
        if next.is_none() {
            side.answer_state = window.forfeit(now, cause, owed);
        }
        actions.push(Action::SendGameError(
            seat,
            ErrorNotice {
                error: AnswerError {
                    code,
                    message,
                    context: Map::from_iter([(context.0.to_owned(), context.1)]),
                },
                phase,
                owed,
                retry_count: retry.min(policy.retries),
                retryable: next.is_some(),
                next_retry_at: next,
                time_remaining: None,
                consequence: match next {
                    Some(_) => "Technical loss if max retries exceeded",
                    None => "Technical loss",
                },
            },
        ));
    }

    /// Rejects an invalid answer: the player gets GAME_ERROR at once, and is asked again within the same window.
    pub(super) fn reject_answer(
        &mut self,
        now: Timestamp,
        seat: Seat,
        error: AnswerError,
        actions: &mut Vec<Action>,
    ) {
        let most = self.timing.retry.retries;
        let phase = self.phase;
        let owed = self.owed();
        let Some(window) = self
            .side_mut(seat)
            .window_mut()
            .filter(|window| window.pause.is_none())
        else {
            return;
        };
        window.last_invalid = Some(if error.message.starts_with(error.code.code()) {
            error.message.clone()
        } else {
            format!("{}: {}", error.code, error.message)
        });
        window.no_route = false;
        window.plan_to_ask_again(now);
        let notice = ErrorNotice {
            error,
            phase,
            owed,
            retry_count: window.invalid_answers.min(most),
            // A valid answer before the window closes counts, whether the player is asked again or not.
            retryable: true,
            next_retry_at: None,
            time_remaining: Some(window.closes.since(now)),
            consequence: match phase {
                Phase::WaitingForPlayers => {
                    "Technical loss if valid answer not received before timeout"
                }
                _ => "Technical loss if valid choice not received before timeout",
            },
        };
        actions.push(Action::SendGameError(seat, notice));
    }
}
