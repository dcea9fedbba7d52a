//! Attempts that ended without a result and without fault of the players: the match is reassigned to another referee,
//! or to the same one after a backoff.

use super::{Ctx, Manager};
use crate::agent::{Agent, Answer, Content, Failure};
use crate::league::cause::{LossCause, Suspicion};
use crate::league::deliveries::{Purpose, probe};
use crate::league::event::LeagueEvent;
use crate::league::request::{ReceivedMessage, RequestError};
use crate::outbox::Tries;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, PlayerId, RefereeId};
use crate::protocol::messages::{Culprit, LeagueError, Phase};
use crate::protocol::{Sender, UntrustedText};

/// A referee that has lost more attempts than this, and more than this share of those it was given, is suspended.
pub const LOST_MAX: u32 = 5;
/// The share, in percent, that goes with [`LOST_MAX`].
pub const LOST_PERCENT_MAX: u64 = 10;

impl Manager {
    /// A referee hands a match back. Ignored if the match is no longer its own.
    pub(super) fn on_hand_back(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        referee: &RefereeId,
        error: &LeagueError,
    ) -> Result<(), RequestError> {
        let named = error
            .context
            .as_ref()
            .and_then(|context| context.get("match_id")?.as_str());
        let (Some(named), ErrorCode::Internal) = (named, &error.error_code) else {
            let message = "a manager accepts LEAGUE_ERROR only for a match that a referee hands back: \
                           error_code E020 with context.match_id";
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        };
        let match_id = MatchId::new(named);
        let Some(fixture) = self.league.matches.get(&match_id) else {
            let message = format!("there is no match {match_id} in this league");
            return Err(RequestError::new(ErrorCode::MatchNotFound, message));
        };
        if !fixture.attempts.contains(referee) {
            let message = format!("{match_id} was not given to {referee}");
            return Err(RequestError::new(ErrorCode::TokenInvalid, message));
        }
        let attempt = received.envelope.conversation_id.attempt_of(&match_id);
        let is_its_own = fixture.in_play && fixture.referee() == Some(referee);
        if is_its_own && attempt.is_none_or(|attempt| fixture.attempt() == Some(attempt)) {
            let reason = error.error_message.clone().unwrap_or_default();
            self.lose_attempt(
                ctx,
                &match_id,
                Culprit::Infrastructure,
                LossCause::HandedBack,
                reason.raw(),
            );
            self.assignments.back_off(&self.league, ctx.now, &match_id);
            self.verify_reachability(ctx, &match_id);
            self.advance(ctx);
        }
        ctx.reply(received.request, Content::Received);
        Ok(())
    }

    /// A match that is handed back repeatedly may have unreachable players. The manager probes them itself, because one
    /// vantage point is no proof.
    fn verify_reachability(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let fixture = self
            .league
            .matches
            .get(match_id)
            .filter(|fixture| fixture.returned > 1);
        let players = fixture.map(|fixture| [fixture.a.clone(), fixture.b.clone()]);
        for player in players.into_iter().flatten().map(Sender::Player) {
            let probe = probe(
                &self.league,
                &player,
                Purpose::VerifyReachability,
                Tries::Once,
            );
            self.send(ctx, probe);
        }
    }

    pub(super) fn on_reachability_verified(
        &mut self,
        ctx: &mut Ctx<'_>,
        player: Sender,
        answer: &Answer,
    ) {
        let unreachable = matches!(
            answer,
            Answer::Undelivered(failure) if !matches!(failure, Failure::Ours | Failure::Closed)
        );
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
        self.assignments.lose(match_id);
        let fixture = self
            .league
            .matches
            .get(match_id)
            .filter(|fixture| fixture.in_play);
        let Some((attempt, referee_id)) =
            fixture.and_then(|fixture| fixture.attempt().zip(fixture.referee().cloned()))
        else {
            return;
        };
        let match_id = match_id.clone();
        let referee = referee_id.clone();
        let reason = UntrustedText::from(reason);
        self.record(
            ctx,
            LeagueEvent::AttemptLost {
                match_id,
                attempt,
                referee_id,
                culprit,
                reason,
                cause,
            },
        );
        self.suspend_if_over_loss_limit(ctx, &referee);
    }

    /// Suspends a referee that lost too many begun attempts: each may have been a draw that it did not like.
    fn suspend_if_over_loss_limit(&mut self, ctx: &mut Ctx<'_>, referee: &RefereeId) {
        let known = self
            .league
            .referees
            .get(referee)
            .filter(|known| !known.barred);
        let is_over = known.is_some_and(|known| {
            known.lost > LOST_MAX
                && u64::from(known.lost) * 100 > u64::from(known.given) * LOST_PERCENT_MAX
        });
        if is_over {
            let agent = Sender::Referee(referee.clone());
            let cause = Suspicion::HandBacks;
            self.record(ctx, LeagueEvent::AgentSuspended { agent, cause });
        }
    }

    /// Takes all matches from a referee.
    pub(super) fn lose_attempts_of(
        &mut self,
        ctx: &mut Ctx<'_>,
        referee: &RefereeId,
        reason: &str,
    ) {
        for (match_id, _) in self.league.in_hand(|id| id == referee) {
            self.stop_attempt(
                ctx,
                &match_id,
                (Culprit::Referee, LossCause::Revoked),
                reason,
            );
        }
    }

    /// Ends the current attempts of a player that is out: its matches are reassigned, to be decided as forfeits.
    pub(super) fn lose_attempts_with(&mut self, ctx: &mut Ctx<'_>, player: &PlayerId) {
        let reason = format!("{player} was removed from the league");
        for (match_id, _) in self.league.in_hand(|_| true) {
            if self
                .league
                .matches
                .get(&match_id)
                .is_some_and(|fixture| fixture.has(player))
            {
                self.stop_attempt(
                    ctx,
                    &match_id,
                    (Culprit::Player, LossCause::PlayerOut),
                    &reason,
                );
            }
        }
    }

    fn stop_attempt(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        (culprit, cause): (Culprit, LossCause),
        reason: &str,
    ) {
        self.lose_attempt(ctx, match_id, culprit, cause, reason);
        self.stop_referee(ctx, match_id);
    }

    /// Tells the referee of a match to stop it.
    pub(super) fn stop_referee(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let fixture = self.league.matches.get(match_id);
        let held = fixture.and_then(|fixture| fixture.referee().cloned().zip(fixture.attempt()));
        if let Some((referee, attempt)) = held {
            self.tell_superseded(ctx, Sender::Referee(referee), match_id, attempt);
        }
    }
}
