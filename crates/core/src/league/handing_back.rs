//! Attempts at matches that came to nothing, by no fault of the players: the match is given to another referee, or to
//! the same a little later.

use super::event::{LeagueEvent, LossCause, Suspicion};
use super::manager::{Act, Asked, Manager, Purpose, Refusal};
use crate::agent::{Answer, Content, Failure, Parcel, Reply};
use crate::post::{Errand, Tries};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, RefereeId};
use crate::protocol::messages::{Culprit, LeagueError, Phase};
use crate::protocol::{Sender, UntrustedText};
use std::time::Duration;

/// How long a match that was handed back rests at least: whatever kept its referee from playing it may pass.
const REST: Duration = Duration::from_secs(1);

/// How many attempts at one match a referee may lose after it has begun them. A referee that may not call a player gives
/// the match back four times and then decides it, so there are no fewer.
pub const ATTEMPTS_PER_REFEREE_MAX: usize = 5;
/// A referee that has lost more attempts than this, and more than this share of those it was given, is suspended.
pub const LOST_MAX: u32 = 5;
pub const LOST_PERCENT_MAX: u64 = 10;

impl Manager {
    /// A referee says that it cannot play a match. What it says of one that is not its own any more means nothing.
    pub(super) fn take_back(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        referee: &RefereeId,
        error: &LeagueError,
    ) -> Result<(), Refusal> {
        let named = error.context.as_ref().and_then(|context| context.get("match_id")?.as_str());
        let (Some(named), ErrorCode::Internal) = (named, &error.error_code) else {
            let message = "a manager takes LEAGUE_ERROR only to have a match back that cannot be played: \
                           error_code E020 with context.match_id";
            return Err(Refusal::new(ErrorCode::InvalidState, message));
        };
        let match_id = MatchId::new(named);
        let Some(game) = self.league.matches.get(&match_id) else {
            let message = format!("there is no match {match_id} in this league");
            return Err(Refusal::new(ErrorCode::MatchNotFound, message));
        };
        if !game.attempts.contains(referee) {
            let message = format!("{match_id} was not given to {referee}");
            return Err(Refusal::new(ErrorCode::TokenInvalid, message));
        }
        let attempt = asked.envelope.conversation_id.attempt_of(&match_id);
        let is_its_own = game.in_play && game.referee() == Some(referee);
        if is_its_own && attempt.is_none_or(|attempt| game.attempt() == Some(attempt)) {
            let reason = error.error_message.clone().unwrap_or_default();
            self.lose_attempt(act, &match_id, Culprit::Infrastructure, LossCause::HandedBack, reason.raw());
            let pause = self.league.settings.timing.retry.pause(1).unwrap_or_default().max(REST);
            self.resting.insert(match_id.clone(), act.now + pause);
            self.call_witness(act, &match_id);
            self.advance(act);
        }
        act.step.replies.push(Reply { to: asked.request, content: Content::Received });
        Ok(())
    }

    /// A match that is handed back again and again may have players that nobody can reach. Of that we make sure ourselves:
    /// what two say who see it from different places is no fault of either.
    fn call_witness(&mut self, act: &mut Act<'_>, match_id: &MatchId) {
        let game = self.league.matches.get(match_id).filter(|game| game.returned > 1);
        let players = game.map(|game| [game.a.clone(), game.b.clone()]);
        for player in players.into_iter().flatten().map(Sender::Player) {
            if let Some((to, dialect)) = self.address(&player) {
                let errand = Errand {
                    to,
                    dialect,
                    parcel: Parcel::Probe,
                    purpose: Purpose::Witness(player),
                    timeout: self.league.settings.probe_timeout,
                    tries: Tries::Once,
                };
                self.post.send(act.now, errand, &mut act.step.outbox);
            }
        }
    }

    pub(super) fn on_witnessed(&mut self, act: &mut Act<'_>, player: Sender, answer: &Answer) {
        let unreachable = matches!(answer, Answer::Undelivered(failure) if *failure != Failure::Ours);
        if unreachable && self.league.phase == Phase::Running {
            self.suspend(act, player, Suspicion::Unreachable);
            self.advance(act);
        }
    }

    /// Nothing will come of the attempt that is under way.
    pub(super) fn lose_attempt(
        &mut self,
        act: &mut Act<'_>,
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
        let (match_id, reason, cause) = (match_id.clone(), UntrustedText::from(reason), Some(cause));
        let referee = referee_id.clone();
        self.record(act, LeagueEvent::AttemptLost { match_id, attempt, referee_id, culprit, reason, cause });
        self.bar(act, &referee);
    }

    /// Suspends a referee too many of whose attempts came to nothing after it had begun them: each of them might have been
    /// a draw that it did not like.
    fn bar(&mut self, act: &mut Act<'_>, referee: &RefereeId) {
        let known = self.league.referees.get(referee).filter(|known| !known.barred);
        let is_over = known.is_some_and(|known| {
            known.lost > LOST_MAX && u64::from(known.lost) * 100 > u64::from(known.given) * LOST_PERCENT_MAX
        });
        if is_over {
            let (agent, cause) = (Sender::Referee(referee.clone()), Suspicion::HandBacks);
            self.record(act, LeagueEvent::AgentSuspended { agent, cause });
        }
    }

    /// Whether nobody is left for this match: of the referees that answer, each has lost it as often as one may.
    pub(super) fn is_exhausted(&self, match_id: &MatchId) -> bool {
        let game = self.league.matches.get(match_id);
        game.is_some_and(|game| game.is_exhausted(&self.league.referees))
    }

    /// Everything that a referee has in hand is taken from it.
    pub(super) fn lose_attempts_of(&mut self, act: &mut Act<'_>, referee: &RefereeId, reason: &str) {
        let held = self.league.awaited().filter(|(_, game)| game.in_play && game.referee() == Some(referee));
        let held: Vec<MatchId> = held.map(|(id, _)| id.clone()).collect();
        for match_id in held {
            let attempt = self.league.matches.get(&match_id).and_then(|game| game.attempt());
            self.lose_attempt(act, &match_id, Culprit::Referee, LossCause::Revoked, reason);
            if let Some(attempt) = attempt {
                self.tell_moot(act, Sender::Referee(referee.clone()), &match_id, attempt);
            }
        }
    }
}
