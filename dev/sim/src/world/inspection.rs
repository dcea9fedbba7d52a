//! When the checkers look at the world, and how the league's state becomes the plain facts that they judge.

use super::World;
use crate::agent_id::AgentId;
use crate::check::{self, Course, Drawn, Facts, Fixture, Kind, Outcome, Row, fixtures};
use crate::event::WorldEvent;
use crate::failure::{Checker, Fault};
use matchday_core::league::fixture::Match;
use matchday_core::league::{DecidedBy, Format, League, LeagueEvent};
use matchday_core::player::PlayerEvent;
use matchday_core::protocol::messages::{DRAW_2, GameStatus, MatchResult, Phase};
use matchday_core::protocol::{Attempt, MatchId, Message, PlayerId, Timestamp};
use matchday_core::timing::Timing;
use std::time::Duration;

/// How long everyone has to hear that the league is over.
const ECHO: Duration = Duration::from_secs(60);
/// How long an agent needs after its start to find its way back into the league and to be told how it stands.
const RETURN: Duration = Duration::from_secs(30);

/// What a league says of itself.
pub fn facts(league: &League) -> Facts {
    Facts {
        players: league.players.keys().cloned().collect(),
        fixtures: league
            .matches
            .iter()
            .map(|(id, game)| fixture(league, id, game))
            .collect(),
        table: (league.standings().into_iter())
            .map(|place| Row {
                rank: place.rank,
                player: place.player,
                played: place.tally.played(),
                wins: place.tally.wins,
                draws: place.tally.draws,
                losses: place.tally.losses,
                technical_losses: place.tally.technical_losses,
                points: place.tally.points(),
            })
            .collect(),
        completed: league.phase == Phase::Completed,
        course: course(league),
    }
}

fn course(league: &League) -> Course {
    let competition = &league.settings.competition;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let legs = count(competition.matches_per_pairing);
    let kind = match competition.format {
        Format::RoundRobin => Kind::All(legs),
        Format::DoubleRoundRobin => Kind::All(2 * legs),
        Format::Swiss => Kind::Swiss,
        Format::Knockout => Kind::Knockout,
        Format::GroupsKnockout => Kind::Groups,
        Format::Ladder => Kind::Ladder,
    };
    let rounds = league.rounds.iter().filter_map(|round| {
        let drawn = round.drawn.as_ref().filter(|drawn| !drawn.play_off)?;
        Some(Drawn {
            round: round.round_id,
            stage: drawn.stage,
            in_groups: drawn.title.starts_with("Group"),
            byes: drawn.byes.clone(),
            announced: round.starts_at.is_some(),
        })
    });
    let lots = league
        .lots
        .iter()
        .map(|lot| (lot.winner.clone(), lot.loser.clone()));
    Course {
        kind,
        legs,
        replays: count(competition.replays),
        rounds: rounds.collect(),
        lots: lots.collect(),
        champion: league.champion.clone(),
        play_off: competition.play_off,
    }
}

fn fixture(league: &League, id: &MatchId, game: &Match) -> Fixture {
    let round = league
        .rounds
        .iter()
        .find(|round| round.round_id == game.round_id);
    let drawn = round.and_then(|round| round.drawn.as_ref());
    Fixture {
        id: id.clone(),
        round: game.round_id,
        a: game.a.clone(),
        b: game.b.clone(),
        outcome: game
            .decision
            .as_ref()
            .map(|decision| outcome(decision.status, &decision.result)),
        series: drawn.filter(|drawn| drawn.play_off).map(|drawn| drawn.leg),
    }
}

fn outcome(status: GameStatus, result: &MatchResult) -> Outcome {
    match (status, result.winner.clone()) {
        (GameStatus::TechnicalLoss, Some(winner)) => Outcome::Forfeited { winner },
        (GameStatus::TechnicalLoss, None) => Outcome::BothForfeited,
        (_, Some(winner)) => Outcome::Won(winner),
        (_, None) => Outcome::Drawn,
    }
}

/// Whether a referee that proves registered before the league started.
fn is_prover_registered(log: &[(Timestamp, LeagueEvent)]) -> bool {
    let before = log
        .iter()
        .take_while(|(_, event)| !matches!(event, LeagueEvent::LeagueStarted { .. }));
    before.into_iter().any(|(_, event)| match event {
        LeagueEvent::RefereeRegistered { meta, .. } => meta.has_capability(DRAW_2),
        _ => false,
    })
}

impl World {
    /// After each step in which the league changed.
    pub(super) fn check_league(&mut self) -> Result<(), Fault> {
        let facts = facts(self.agents.league());
        check::always(&facts)?;
        self.ledger.agrees(&facts)?;
        if facts.completed && !self.ending {
            self.ending = true;
            self.completed_at = Some(self.now);
            let end = self.now.max(self.heals_at) + ECHO;
            self.queue.plan(end, WorldEvent::End);
        }
        Ok(())
    }

    /// Takes in a message that leaves one agent for another.
    pub(super) fn overhear(
        &mut self,
        from: AgentId,
        to: AgentId,
        message: &Message,
    ) -> Result<(), Fault> {
        self.wiretap
            .hear(from, to, message, &self.scenario.league_id)?;
        match to {
            AgentId::Player(number) if self.is_calm() => {
                self.conduct
                    .hear(to, self.scenario.behaviour(number).is_sound(), message)
            }
            _ => Ok(()),
        }
    }

    /// Whether nothing gets in the way of manager and referees, so that only players can do anything wrong.
    fn is_calm(&self) -> bool {
        let faults = &self.scenario.faults;
        let machines_work =
            faults.our_fault_percent == 0 && faults.cut_off == 0 && self.scenario.cheats.is_empty();
        let one_process = self.scenario.shared_store.is_none();
        self.scenario.answers_come_in_time()
            && machines_work
            && one_process
            && !self.crash_is_planned()
    }

    pub(super) fn is_completed(&self) -> bool {
        self.agents.league().phase == Phase::Completed
    }

    /// Takes in what has reached the manager's disk.
    pub(super) fn read_ledger(&mut self) -> Result<(), Fault> {
        let log = self.agents.manager.log();
        let fresh = log.get(self.ledger_read..).unwrap_or_default();
        for (at, event) in fresh {
            if let Some(rules) = &mut self.ladder_rules {
                rules.take(*at, event)?;
            }
            if matches!(event, LeagueEvent::LeagueStarted { .. }) {
                let unkeyed = 1..=self.scenario.unkeyed;
                let is_registered =
                    |event: &PlayerEvent| matches!(event, PlayerEvent::Registered { .. });
                let knows = |number: &u8| self.agents.player_events(*number).any(is_registered);
                self.unaware_at_start = unkeyed.filter(|number| !knows(number)).collect();
                self.has_prover = is_prover_registered(log);
            }
            if self.is_calm() {
                check::conduct::healthy_referee_stays(event)?;
            }
            if let LeagueEvent::MatchDecided {
                match_id,
                attempt,
                status,
                result,
                by,
                ..
            } = event
            {
                if matches!(by, DecidedBy::Referee(_)) {
                    self.check_signed(match_id, *attempt, *status, result)?;
                }
                let outcome = outcome(*status, result);
                if let Some(game) = self.agents.league().matches.get(match_id) {
                    let decided = Fixture {
                        outcome: Some(outcome.clone()),
                        ..fixture(self.agents.league(), match_id, game)
                    };
                    check::blame::names_the_losers(&decided, result)?;
                }
                self.ledger
                    .record(match_id, outcome, MatchResult::clone(result))?;
            }
        }
        self.ledger_read = log.len();
        Ok(())
    }

    /// Whether a recorded result is what its players' own disks say.
    fn check_signed(
        &self,
        match_id: &MatchId,
        attempt: Attempt,
        status: GameStatus,
        result: &MatchResult,
    ) -> Result<(), Fault> {
        // Where nobody proves, results are the referees' word, and a lie is not found.
        if !self.has_prover && !self.scenario.cheats.is_empty() {
            return Ok(());
        }
        let league = self.agents.league();
        if let Some(fixture) = league.matches.get(match_id) {
            let players = [&fixture.a, &fixture.b];
            check::signed::is_drawn(result, &self.scenario.league_id, match_id, attempt, players)?;
        }
        for (player, _) in result.score.iter() {
            let known = self.agents.league().players.get(player);
            let who = known.and_then(|known| AgentId::at(&known.meta.contact_endpoint));
            let has_key = known.is_some_and(|known| known.meta.public_key.is_some());
            if self.has_prover && has_key && status != GameStatus::TechnicalLoss {
                check::signed::is_signed(result, match_id, player)?;
            }
            if let Some(AgentId::Player(number)) = who {
                let made =
                    check::signed::chosen(self.agents.player_events(number), match_id, attempt);
                check::signed::are_made(result, match_id, player, &made)?;
            }
        }
        Ok(())
    }

    pub(super) fn check_in_time(&self) -> Result<(), Fault> {
        if self.is_completed() {
            return Ok(());
        }
        let league = self.agents.league();
        Err(Fault::new(
            Checker::EndsInTime,
            format!(
                "{:?}: {} of {} matches decided, round {} of {}, {} players, {} referees",
                league.phase,
                league.matches_decided,
                league.matches.len(),
                league.current_round,
                league.rounds.len(),
                league.players.len(),
                league.referees.len()
            ),
        ))
    }

    /// When all is over.
    pub(super) fn check_the_end(&mut self) -> Result<(), Fault> {
        self.check_in_time()?;
        let facts = facts(self.agents.league());
        check::always(&facts)?;
        self.ledger.agrees(&facts)?;
        self.count(&facts);
        if self.scenario.answers_come_in_time() && !self.crash_is_planned() {
            fixtures::none_forfeits(&facts, &self.sound_players())?;
        }
        if self.is_calm() {
            self.all_hear_of_the_end_of_their_matches()?;
        }
        if self.completed_at.is_some_and(|at| at > self.heals_at) {
            self.all_are_told()?;
        }
        self.no_request_open()
    }

    fn count(&mut self, facts: &Facts) {
        let bound = self.scenario.bound().as_micros().max(1);
        let taken = self
            .completed_at
            .map_or(0, |at| at.since(self.heals_at).as_micros());
        self.stats.bound_used_percent = u64::try_from(taken * 100 / bound).unwrap_or(u64::MAX);
        self.stats.completed_under_fault =
            u64::from(self.completed_at.is_some_and(|at| at < self.heals_at));
        self.stats.matches = facts.fixtures.len() as u64;
        self.stats.technical_losses = (facts.fixtures.iter())
            .filter(|fixture| {
                matches!(
                    fixture.outcome,
                    Some(Outcome::Forfeited { .. } | Outcome::BothForfeited)
                )
            })
            .count() as u64;
        self.stats.reassigned = (self.agents.league().matches.values())
            .filter(|game| game.attempts.len() > 1)
            .count() as u64;
    }

    /// The players that always answer, by the names that the league gives them.
    fn sound_players(&self) -> Vec<PlayerId> {
        (self.agents.league().players.iter())
            .filter(
                |(_, member)| match AgentId::at(&member.meta.contact_endpoint) {
                    Some(AgentId::Player(number)) => {
                        self.scenario.behaviour(number).is_sound()
                            && !self.unaware_at_start.contains(&number)
                    }
                    _ => false,
                },
            )
            .map(|(id, _)| id.clone())
            .collect()
    }

    fn all_hear_of_the_end_of_their_matches(&self) -> Result<(), Fault> {
        let league = self.agents.league();
        let ended = league
            .matches
            .iter()
            .filter(|(_, game)| game.decision.is_some());
        for (match_id, game) in ended {
            for player in [&game.a, &game.b]
                .into_iter()
                .filter_map(|id| league.players.get(id))
            {
                if let Some(who) = AgentId::at(&player.meta.contact_endpoint) {
                    self.conduct.was_told(who, match_id)?;
                }
            }
        }
        Ok(())
    }

    fn all_are_told(&self) -> Result<(), Fault> {
        let league = self.agents.league();
        let players = league
            .players
            .values()
            .map(|member| &member.meta.contact_endpoint);
        let referees = league
            .referees
            .values()
            .map(|member| &member.meta.contact_endpoint);
        for who in players.chain(referees).filter_map(AgentId::at) {
            // Who never answers is told one thing after the other, each with all its retries, and that takes long.
            let listens = self.up_for(who).is_some_and(|span| span >= RETURN) && !self.is_mute(who);
            if listens && !self.wiretap.told_the_end.contains(&who) {
                return Err(Fault::new(
                    Checker::AllAreTold,
                    format!("{who} was not told that the league is over"),
                ));
            }
        }
        Ok(())
    }

    /// Except new requests: an external decider may take as long as a referee waits.
    fn no_request_open(&self) -> Result<(), Fault> {
        let thinking = self.scenario.timing.choice.max(Timing::default().choice);
        let open = self.requests.values().find(|pending| {
            let machine = self.agents.machine(pending.at);
            let is_there = machine.is_some_and(|machine| machine.is_up() && machine.waiting() == 0);
            let is_its = pending.incarnation == self.incarnation(pending.at);
            is_there && is_its && self.now.since(pending.since) > thinking
        });
        match open {
            None => Ok(()),
            Some(pending) => Err(Fault::new(
                Checker::EveryRequestReplied,
                format!("{} never replied to call #{}", pending.at, pending.call),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::PendingRequest;
    use crate::wire::ReplyForm;
    use crate::{Options, Scenario};
    use matchday_core::agent::RequestId;

    #[test]
    fn a_request_that_is_never_replied_to_is_noticed() {
        let mut world = World::new(
            1,
            &Options {
                scenario: Some(Scenario::plain(2, 1)),
                ..Options::default()
            },
        );
        let since = world.now;
        let pending = PendingRequest {
            call: 0,
            at: AgentId::Manager,
            incarnation: 1,
            since,
            back: ReplyForm::AsIs,
            from_colocated: false,
            reported: None,
        };
        world.requests.insert(RequestId(1), pending);
        if let Some(manager) = world.agents.machine_mut(AgentId::Manager) {
            manager.start(since).unwrap();
            while manager.append().is_some() {}
            manager.commit().unwrap();
        }
        assert_eq!(world.no_request_open(), Ok(()), "it has just come");
        world.now = since + Duration::from_secs(31);
        assert_eq!(
            world.no_request_open().unwrap_err().checker,
            Checker::EveryRequestReplied
        );
        if let Some(manager) = world.agents.machine_mut(AgentId::Manager) {
            manager.crash(0);
        }
        assert_eq!(
            world.no_request_open(),
            Ok(()),
            "the manager is down, and its caller knows"
        );
    }
}
