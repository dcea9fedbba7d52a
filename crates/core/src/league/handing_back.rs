//! Attempts that ended without a result and without fault of the players: the match is reassigned to another referee,
//! or to the same one after a backoff.

use super::cause::{LossCause, Suspicion};
use super::event::LeagueEvent;
use super::fixture::Match;
use super::manager::{Ctx, Manager, Purpose};
use super::request::{ReceivedMessage, RequestError};
use super::state::League;
use crate::agent::{Agent, Answer, Content, Failure, Parcel};
use crate::outbox::{Delivery, Tries};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, RefereeId};
use crate::protocol::messages::{Culprit, LeagueError, Phase};
use crate::protocol::{Sender, Timestamp, UntrustedText};
use std::time::Duration;

/// The shortest backoff of a match that was handed back.
const BACKOFF_MIN: Duration = Duration::from_secs(1);

/// How many begun attempts at one match a referee may lose. A referee that may not call a player hands the match back
/// four times and then decides it, so the limit cannot be lower.
pub const ATTEMPTS_PER_REFEREE_MAX: usize = 5;
/// A referee that has lost more attempts than this, and more than this share of those it was given, is suspended.
pub const LOST_MAX: u32 = 5;
/// The share, in percent, that goes with [`LOST_MAX`].
pub const LOST_PERCENT_MAX: u64 = 10;

impl League {
    /// Whether every available referee that may run this match has used up its attempts at it.
    pub fn is_exhausted(&self, game: &Match) -> bool {
        let is_used_up = |id: &RefereeId| game.lost_attempts(id) >= ATTEMPTS_PER_REFEREE_MAX;
        let able = || self.referees.iter().filter(|(_, known)| self.may_run(known, game));
        able().any(|(id, _)| is_used_up(id))
            && able().filter(|(_, known)| known.is_available()).all(|(id, _)| is_used_up(id))
    }
}

impl Manager {
    /// A referee hands a match back. Ignored if the match is no longer its own.
    pub(super) fn on_hand_back(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        referee: &RefereeId,
        error: &LeagueError,
    ) -> Result<(), RequestError> {
        let named = error.context.as_ref().and_then(|context| context.get("match_id")?.as_str());
        let (Some(named), ErrorCode::Internal) = (named, &error.error_code) else {
            let message = "a manager takes LEAGUE_ERROR only to have a match back that cannot be played: \
                           error_code E020 with context.match_id";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        };
        let match_id = MatchId::new(named);
        let Some(game) = self.league.matches.get(&match_id) else {
            let message = format!("there is no match {match_id} in this league");
            return Err(RequestError::new(ErrorCode::MatchNotFound, message));
        };
        if !game.attempts.contains(referee) {
            let message = format!("{match_id} was not given to {referee}");
            return Err(RequestError::new(ErrorCode::TokenInvalid, message));
        }
        let attempt = received.envelope.conversation_id.attempt_of(&match_id);
        let is_its_own = game.in_play && game.referee() == Some(referee);
        if is_its_own && attempt.is_none_or(|attempt| game.attempt() == Some(attempt)) {
            let reason = error.error_message.clone().unwrap_or_default();
            self.lose_attempt(ctx, &match_id, Culprit::Infrastructure, LossCause::HandedBack, reason.raw());
            self.back_off(ctx.now, &match_id);
            self.verify_reachability(ctx, &match_id);
            self.advance(ctx);
        }
        ctx.reply(received.request, Content::Received);
        Ok(())
    }

    /// The match waits before its next attempt.
    pub(super) fn back_off(&mut self, now: Timestamp, match_id: &MatchId) {
        let pause = self.league.settings.timing.retry.pause(1).unwrap_or_default().max(BACKOFF_MIN);
        self.backoff_until.insert(match_id.clone(), now + pause);
    }

    /// A match that is handed back repeatedly may have unreachable players. The manager probes them itself, because one
    /// vantage point is no proof.
    fn verify_reachability(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let game = self.league.matches.get(match_id).filter(|game| game.returned > 1);
        let players = game.map(|game| [game.a.clone(), game.b.clone()]);
        for player in players.into_iter().flatten().map(Sender::Player) {
            if let Some((to, dialect)) = self.address(&player) {
                let delivery = Delivery {
                    to,
                    dialect,
                    parcel: Parcel::Probe,
                    purpose: Purpose::VerifyReachability(player),
                    timeout: self.league.settings.probe_timeout,
                    tries: Tries::Once,
                };
                self.outbox.send(ctx.now, delivery, &mut ctx.step.outbox);
            }
        }
    }

    pub(super) fn on_reachability_verified(&mut self, ctx: &mut Ctx<'_>, player: Sender, answer: &Answer) {
        let unreachable = matches!(answer, Answer::Undelivered(failure) if *failure != Failure::Ours);
        if unreachable && self.league.phase == Phase::Running {
            self.suspend(ctx, player, Suspicion::Unreachable);
            self.advance(ctx);
        }
    }

    /// Records that the current attempt is lost.
    pub(super) fn lose_attempt(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        culprit: Culprit,
        cause: LossCause,
        reason: &str,
    ) {
        self.due.set(match_id, None);
        let game = self.league.matches.get(match_id).filter(|game| game.in_play);
        let Some((attempt, referee_id)) = game.and_then(|game| game.attempt().zip(game.referee().cloned()))
        else {
            return;
        };
        let (match_id, referee) = (match_id.clone(), referee_id.clone());
        let reason = UntrustedText::from(reason);
        self.record(ctx, LeagueEvent::AttemptLost { match_id, attempt, referee_id, culprit, reason, cause });
        self.suspend_if_over_loss_limit(ctx, &referee);
    }

    /// Suspends a referee that lost too many begun attempts: each may have been a draw that it did not like.
    fn suspend_if_over_loss_limit(&mut self, ctx: &mut Ctx<'_>, referee: &RefereeId) {
        let known = self.league.referees.get(referee).filter(|known| !known.barred);
        let is_over = known.is_some_and(|known| {
            known.lost > LOST_MAX && u64::from(known.lost) * 100 > u64::from(known.given) * LOST_PERCENT_MAX
        });
        if is_over {
            let (agent, cause) = (Sender::Referee(referee.clone()), Suspicion::HandBacks);
            self.record(ctx, LeagueEvent::AgentSuspended { agent, cause });
        }
    }

    pub(super) fn is_exhausted(&self, match_id: &MatchId) -> bool {
        self.league.matches.get(match_id).is_some_and(|game| self.league.is_exhausted(game))
    }

    /// Takes all matches from a referee.
    pub(super) fn lose_attempts_of(&mut self, ctx: &mut Ctx<'_>, referee: &RefereeId, reason: &str) {
        let held = self.league.awaited().filter(|(_, game)| game.in_play && game.referee() == Some(referee));
        let held: Vec<MatchId> = held.map(|(id, _)| id.clone()).collect();
        for match_id in held {
            let attempt = self.league.matches.get(&match_id).and_then(|game| game.attempt());
            self.lose_attempt(ctx, &match_id, Culprit::Referee, LossCause::Revoked, reason);
            if let Some(attempt) = attempt {
                self.tell_superseded(ctx, Sender::Referee(referee.clone()), &match_id, attempt);
            }
        }
    }
}
