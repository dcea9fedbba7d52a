//! Each kind of event against the league that it was applied to: could the manager have written this here? Pure.

use super::result::{self, Draw};
use super::schedule;
use crate::store::history::is_member;
use matchday_core::league::state::Match;
use matchday_core::league::{DecidedBy, League, LeagueEvent, Settings, Suspicion};
use matchday_core::protocol::messages::{GameStatus, MatchResult, Phase};
use matchday_core::protocol::{Attempt, MatchId, PlayerId, RefereeId, RoundId, Sender, Timestamp};
use std::collections::BTreeSet;

type Finding = Result<(), String>;

/// Follows a league, and objects.
#[derive(Debug)]
pub(super) struct Auditor {
    league: League,
    pub(super) draws_proven: u64,
    pub(super) draws_unproven: u64,
}

impl Default for Auditor {
    fn default() -> Self {
        Self { league: League::new(Settings::default()), draws_proven: 0, draws_unproven: 0 }
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Finding {
    if holds { Ok(()) } else { Err(otherwise()) }
}

impl Auditor {
    pub(super) fn league(&self) -> &League {
        &self.league
    }

    /// Takes in an event if it fits, and otherwise says why it does not.
    pub(super) fn take(&mut self, at: Timestamp, event: &LeagueEvent) -> Finding {
        let first = matches!(event, LeagueEvent::LeagueCreated { .. });
        ensure(first != self.league.created, || match first {
            true => "the league exists already".into(),
            false => "the league has not been created yet".into(),
        })?;
        self.check(event)?;
        self.league.apply(at, event);
        Ok(())
    }

    fn check(&mut self, event: &LeagueEvent) -> Finding {
        match event {
            LeagueEvent::LeagueCreated { .. } => Ok(()),
            LeagueEvent::PlayerRegistered { player_id, .. } => {
                let known = self.league.players.contains_key(player_id);
                self.check_registration(known, self.league.players.len(), self.league.settings.players_max)
            }
            LeagueEvent::RefereeRegistered { referee_id, .. } => {
                let known = self.league.referees.contains_key(referee_id);
                self.check_registration(known, self.league.referees.len(), self.league.settings.referees_max)
            }
            LeagueEvent::PlayerRejoined { player_id, .. } => self.member(&Sender::Player(player_id.clone())),
            LeagueEvent::RefereeRejoined { referee_id, .. } => {
                self.member(&Sender::Referee(referee_id.clone()))
            }
            LeagueEvent::LeagueStarted { rounds } => {
                ensure(self.league.phase == Phase::Registration, || "the league has started already".into())?;
                ensure(!self.league.referees.is_empty(), || "no referee has registered".into())?;
                schedule::check(self.league.players.keys(), rounds)
            }
            LeagueEvent::RoundAnnounced { round_id, plan, .. } => self.check_announcement(*round_id, plan),
            LeagueEvent::MatchAssigned { match_id, attempt, referee_id } => {
                self.check_assignment(match_id, *attempt, referee_id)
            }
            LeagueEvent::MatchDecided { match_id, attempt, status, result, by } => {
                self.check_decision(match_id, *attempt, *status, result, by)
            }
            LeagueEvent::RoundCompleted { round_id } => self.check_round_end(*round_id),
            LeagueEvent::LeagueCompleted { champion } => self.check_end(champion),
            LeagueEvent::AgentSuspended { agent, cause } => self.check_suspension(agent, *cause),
            LeagueEvent::AgentRecovered { agent }
            | LeagueEvent::DialectLearned { agent, .. }
            | LeagueEvent::DeviationsNoted { agent, .. } => self.member(agent),
        }
    }

    fn member(&self, agent: &Sender) -> Finding {
        ensure(is_member(&self.league, agent), || format!("{} has not registered", agent.id()))
    }

    fn check_registration(&self, known: bool, count: usize, max: u32) -> Finding {
        ensure(self.league.phase == Phase::Registration, || {
            "registration was closed when the league started".into()
        })?;
        ensure(known || count < max as usize, || format!("the league takes no more than {max}"))
    }

    fn running(&self) -> Finding {
        ensure(self.league.phase == Phase::Running, || "the league is not running".into())
    }

    fn check_announcement(&self, round_id: RoundId, plan: &[(MatchId, RefereeId)]) -> Finding {
        self.running()?;
        ensure(self.league.open_round().is_none(), || {
            format!("round {} is not over", self.league.current_round)
        })?;
        let next = self.league.current_round.saturating_add(1);
        ensure(round_id.0 == next, || format!("round {next} comes next"))?;
        let round = self.league.rounds.iter().find(|round| round.round_id == round_id);
        let round = round.ok_or_else(|| format!("the schedule has no round {round_id}"))?;
        let mut planned = BTreeSet::new();
        for (match_id, referee) in plan {
            ensure(round.matches.contains(match_id), || format!("{match_id} is not of round {round_id}"))?;
            ensure(planned.insert(match_id), || format!("{match_id} is planned twice"))?;
            self.member(&Sender::Referee(referee.clone()))?;
        }
        Ok(())
    }

    /// A match of the round that is being played, without a result.
    fn undecided(&self, match_id: &MatchId) -> Result<&Match, String> {
        self.running()?;
        let game =
            self.league.matches.get(match_id).ok_or_else(|| format!("there is no match {match_id}"))?;
        let open = self.league.open_round().map(|round| round.round_id);
        ensure(open == Some(game.round_id), || {
            format!("{match_id} is of round {}, which is not being played", game.round_id)
        })?;
        ensure(game.decision.is_none(), || format!("{match_id} was decided before"))?;
        Ok(game)
    }

    fn check_assignment(&self, match_id: &MatchId, attempt: Attempt, referee: &RefereeId) -> Finding {
        let game = self.undecided(match_id)?;
        let next = game.attempt().map_or(Attempt::FIRST, Attempt::next);
        ensure(attempt == next, || format!("it is attempt {next} at {match_id}, not {attempt}"))?;
        self.member(&Sender::Referee(referee.clone()))
    }

    fn check_decision(
        &mut self,
        match_id: &MatchId,
        attempt: Attempt,
        status: GameStatus,
        result: &MatchResult,
        by: &DecidedBy,
    ) -> Finding {
        let game = self.undecided(match_id)?;
        result::check_score(game, status, result)?;
        match by {
            DecidedBy::Manager => self.check_forfeit(game, attempt, status, result)?,
            DecidedBy::Referee(referee) => {
                let place = usize::try_from(attempt.0).ok().and_then(|number| number.checked_sub(1));
                let given = place.and_then(|place| game.attempts.get(place));
                ensure(given == Some(referee), || {
                    format!("attempt {attempt} at {match_id} was not given to {referee}")
                })?;
            }
        }
        match result::check_draw(&self.league.settings, match_id, game, attempt, status, result)? {
            Draw::None => {}
            Draw::Proven => self.draws_proven += 1,
            Draw::Unproven => self.draws_unproven += 1,
        }
        Ok(())
    }

    /// The manager itself decides a match only against players that it has suspended.
    fn check_forfeit(
        &self,
        game: &Match,
        attempt: Attempt,
        status: GameStatus,
        result: &MatchResult,
    ) -> Finding {
        ensure(status == GameStatus::TechnicalLoss, || "the manager played no match itself".into())?;
        let expected = game.attempt().unwrap_or(Attempt::FIRST);
        ensure(attempt == expected, || format!("it is attempt {expected}, not {attempt}"))?;
        for player in [&game.a, &game.b] {
            let suspended = self.league.players.get(player).is_some_and(|known| known.is_suspended());
            let won = result.winner.as_ref() == Some(player);
            ensure(suspended != won, || match won {
                true => format!("{player} wins by default, and is suspended itself"),
                false => format!("{player} forfeits, and is not suspended"),
            })?;
        }
        Ok(())
    }

    fn check_round_end(&self, round_id: RoundId) -> Finding {
        self.running()?;
        let open = self.league.open_round().filter(|round| round.round_id == round_id);
        let round = open.ok_or_else(|| format!("round {round_id} is not being played"))?;
        let mut matches = self.league.matches_of(round);
        match matches.find(|(_, game)| game.decision.is_none()) {
            Some((match_id, _)) => Err(format!("{match_id} has no result")),
            None => Ok(()),
        }
    }

    fn check_end(&self, champion: &PlayerId) -> Finding {
        self.running()?;
        if let Some(round) = self.league.rounds.iter().find(|round| !round.completed) {
            return Err(format!("round {} is not over", round.round_id));
        }
        let first = self.league.table().into_iter().next().map(|place| place.player);
        ensure(first.as_ref() == Some(champion), || {
            let first = first.as_ref().map_or("nobody", PlayerId::as_str);
            format!("the champion is {champion}, and the results put {first} first")
        })
    }

    fn check_suspension(&self, agent: &Sender, cause: Suspicion) -> Finding {
        self.member(agent)?;
        match (cause, agent) {
            (Suspicion::NeverAnswered, _) => ensure(self.league.current_round == 0, || {
                "only before the first round is anyone suspended for never having answered".into()
            }),
            (Suspicion::TechnicalLosses, Sender::Player(id)) => {
                let limit = self.league.settings.suspend_after.max(1);
                let streak = self.league.players.get(id).map_or(0, |player| player.streak);
                ensure(streak >= limit, || {
                    format!("{id} has {streak} technical losses in a row, and {limit} suspend")
                })
            }
            (Suspicion::Unreachable | Suspicion::Overdue, Sender::Referee(_)) => Ok(()),
            _ => Err(format!("{} cannot be suspended for that", agent.id())),
        }
    }
}
