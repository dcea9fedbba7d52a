//! The events of a match against the league that they were applied to: assignment, lost attempts, decision, voiding. Pure.

use super::{Auditor, Finding, ensure};
use crate::verify::moves::{self, Replay};
use crate::verify::result::{self, Draw, Played};
use matchday_core::league::fixture::Match;
use matchday_core::league::{DecidedBy, ResultProof};
use matchday_core::protocol::messages::{Cause, GameStatus, MatchResult, Phase};
use matchday_core::protocol::{Attempt, MatchId, PlayerId, RefereeId, Sender};

impl Auditor {
    /// A match that can be played now and has no result: one of the open round, or one whose result was voided.
    fn awaited(&self, match_id: &MatchId) -> Result<&Match, String> {
        let game = self
            .league
            .matches
            .get(match_id)
            .ok_or_else(|| format!("there is no match {match_id}"))?;
        ensure(game.decision.is_none(), || {
            format!("{match_id} was decided before")
        })?;
        ensure(self.league.undecided.contains(match_id), || {
            format!(
                "{match_id} is of round {}, which is not being played",
                game.round_id
            )
        })?;
        Ok(game)
    }

    pub(super) fn check_assignment(
        &self,
        match_id: &MatchId,
        attempt: Attempt,
        referee: &RefereeId,
    ) -> Finding {
        self.running()?;
        let game = self.awaited(match_id)?;
        let next = game.attempt().map_or(Attempt::FIRST, Attempt::next);
        ensure(attempt == next, || {
            format!("it is attempt {next} at {match_id}, not {attempt}")
        })?;
        self.member(&Sender::Referee(referee.clone()))?;
        let may_run = self
            .league
            .referees
            .get(referee)
            .is_some_and(|known| self.league.may_run(known, game));
        ensure(may_run, || {
            format!(
                "a player of {match_id} has a key, but its referee {referee} does not prove results"
            )
        })
    }

    /// Only who is out of the league loses a match before it begins.
    pub(super) fn check_forfeits(
        &self,
        match_id: &MatchId,
        forfeits: &[(PlayerId, Cause)],
    ) -> Finding {
        let game = self.awaited(match_id)?;
        forfeits.iter().try_for_each(|(player, _)| {
            ensure(game.has(player), || {
                format!("{player} does not play in {match_id}")
            })?;
            ensure(self.is_out(player), || {
                format!(
                    "{player} forfeits, but is neither suspended nor withdrawn and has its token"
                )
            })
        })
    }

    fn is_out(&self, player: &PlayerId) -> bool {
        let known = self.league.players.get(player);
        known.is_some_and(|known| !known.is_in() || known.is_suspended())
    }

    pub(super) fn check_lost_attempt(
        &self,
        match_id: &MatchId,
        attempt: Attempt,
        referee: &RefereeId,
    ) -> Finding {
        let game = self.awaited(match_id)?;
        ensure(
            game.in_play && game.attempt() == Some(attempt) && game.referee() == Some(referee),
            || format!("{referee} is not at attempt {attempt} at {match_id}"),
        )
    }

    pub(super) fn check_decision(
        &mut self,
        match_id: &MatchId,
        attempt: Attempt,
        status: GameStatus,
        result: &MatchResult,
        by: &DecidedBy,
    ) -> Result<ResultProof, String> {
        // What was being played when the league was paused is played out.
        ensure(
            matches!(self.league.phase, Phase::Running | Phase::Paused),
            || "the league is not running".into(),
        )?;
        let game = self.awaited(match_id)?;
        let played = Played::in_league(&self.league, match_id, game, attempt);
        result::check_score(&played, status, result)?;
        result::check_blame(&played, status, result)?;
        let referee = match by {
            DecidedBy::Manager => {
                self.check_unplayed(game, attempt, status, result)?;
                return Ok(ResultProof::Unprovable);
            }
            DecidedBy::Referee(referee) => {
                let place = usize::try_from(attempt.0)
                    .ok()
                    .and_then(|number| number.checked_sub(1));
                let given = place.and_then(|place| game.attempts.get(place));
                ensure(given == Some(referee), || {
                    format!("attempt {attempt} at {match_id} was not given to {referee}")
                })?;
                let voided = self.voided_after.get(match_id).copied().unwrap_or(0);
                ensure(place >= Some(voided), || {
                    format!(
                        "the result of attempt {attempt} at {match_id} was voided, but is recorded again"
                    )
                })?;
                let loses = |player| game.forfeits.iter().any(|(id, _)| id == player);
                let given_out_as_lost =
                    !game.forfeits.is_empty() && game.attempt() == Some(attempt);
                ensure(
                    !given_out_as_lost || !result.winner.as_ref().is_some_and(loses),
                    || {
                        format!(
                            "{match_id} was assigned as a loss of the player that is recorded as its winner"
                        )
                    },
                )?;
                ensure(!game.is_void(attempt), || {
                    format!(
                        "attempt {attempt} at {match_id} was given back or refused, and is recorded"
                    )
                })?;
                referee
            }
        };
        let replay = moves::check(&played, status, result)?;
        let draw = result::check_draw(&played, status, result)?;
        let proof = self
            .league
            .check_proof((match_id, game), attempt, referee, status, result);
        let proof = proof.map_err(|invalid| format!("{match_id}: {invalid}"))?;
        match replay {
            Replay::Nothing => None,
            Replay::Agrees => self.replays.insert(match_id.clone(), true),
            Replay::Untold => self.replays.insert(match_id.clone(), false),
        };
        match draw {
            Draw::None => None,
            Draw::Proven => self.draws.insert(match_id.clone(), true),
            Draw::Unproven => self.draws.insert(match_id.clone(), false),
        };
        Ok(proof)
    }

    /// What is recorded of a proof is what the check of the result comes to.
    pub(super) fn check_recorded_proof(
        &self,
        match_id: &MatchId,
        recorded: ResultProof,
        found: ResultProof,
    ) -> Finding {
        ensure(recorded == found, || {
            format!(
                "{match_id} is recorded as {}, but is {}",
                recorded.name(),
                found.name()
            )
        })
    }

    /// The manager itself decides a match if a player is out of the league, or no referee could play it.
    fn check_unplayed(
        &self,
        game: &Match,
        attempt: Attempt,
        status: GameStatus,
        result: &MatchResult,
    ) -> Finding {
        if status != GameStatus::Draw {
            return self.check_forfeit(game, attempt, status, result);
        }
        ensure(self.league.is_exhausted(game), || {
            "the manager calls it a draw, but a referee could still have played it".into()
        })
    }

    /// Only against players that are out of the league, for now or for good.
    fn check_forfeit(
        &self,
        game: &Match,
        attempt: Attempt,
        status: GameStatus,
        result: &MatchResult,
    ) -> Finding {
        ensure(status == GameStatus::TechnicalLoss, || {
            "the manager played no match itself".into()
        })?;
        let expected = game.attempt().unwrap_or(Attempt::FIRST);
        ensure(attempt == expected, || {
            format!("it is attempt {expected}, not {attempt}")
        })?;
        for player in [&game.a, &game.b] {
            let absent = self.is_out(player);
            let won = result.winner.as_ref() == Some(player);
            ensure(absent != won, || {
                if won {
                    format!("{player} wins by default, but is out of the league")
                } else {
                    format!(
                        "{player} forfeits, but is neither suspended nor withdrawn and has its token"
                    )
                }
            })?;
        }
        Ok(())
    }

    pub(super) fn check_voiding(&mut self, match_id: &MatchId) -> Finding {
        let game = self
            .league
            .matches
            .get(match_id)
            .ok_or_else(|| format!("there is no match {match_id}"))?;
        ensure(game.decision.is_some(), || {
            format!("{match_id} has no result that could be voided")
        })?;
        if let Some(later) = self.league.drawn_from(match_id) {
            return Err(format!(
                "{match_id} is voided, and round {} was drawn from its result",
                later.round_id
            ));
        }
        self.voided_after
            .insert(match_id.clone(), game.attempts.len());
        self.draws.remove(match_id);
        self.replays.remove(match_id);
        Ok(())
    }
}
