//! The start of a league: the operator's word, and the roll call of those who have not been heard of.

use super::event::{DrawnFrom, LeagueEvent, Suspicion};
use super::manager::{Act, Asked, Manager, Purpose, Refusal};
use super::schedule::Pairings;
use super::settings::EndpointCheck;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{LeagueId, PlayerId, RoundId};
use crate::protocol::messages::{LeagueStatus, Phase, StartLeague};
use crate::protocol::{Sender, Timestamp, UntrustedText};

/// The last chance to show oneself before the first round.
#[derive(Debug)]
pub(super) struct Roll {
    pub(super) until: Timestamp,
}

impl Manager {
    pub(super) fn start_league(
        &mut self,
        act: &mut Act<'_>,
        asked: &Asked,
        start: &StartLeague,
    ) -> Result<(), Refusal> {
        self.check_league(&start.league_id)?;
        if self.league.phase == Phase::Registration {
            self.check_strength()?;
            let (rounds, draw) = self.rounds_for(act, self.entrants())?;
            self.record(act, LeagueEvent::LeagueStarted { rounds, draw });
            self.draw_ahead(act);
            self.call_roll(act);
        }
        self.reply(act, asked, self.status());
        Ok(())
    }

    /// Who takes part: all who registered and were not withdrawn.
    fn entrants(&self) -> Vec<PlayerId> {
        let players = self.league.players.iter().filter(|(_, player)| !player.withdrawn);
        players.map(|(id, _)| id.clone()).collect()
    }

    /// The operator's fixtures, if all whom they name are there; otherwise what the format begins with.
    fn rounds_for(
        &self,
        act: &mut Act<'_>,
        entrants: Vec<PlayerId>,
    ) -> Result<(Vec<Pairings>, Option<DrawnFrom>), Refusal> {
        let Some(fixtures) = &self.league.settings.fixtures else {
            return self.first_draw(act, entrants);
        };
        let named = fixtures.iter().flat_map(|round| round.pairs.iter().flat_map(|(a, b)| [a, b]));
        match named.into_iter().find(|player| !entrants.contains(player)) {
            None => Ok((fixtures.clone(), None)),
            Some(absent) => Err(Refusal::new(
                ErrorCode::InvalidState,
                format!("the fixtures of this league name {absent}, who has not registered"),
            )
            .with("player_id", absent.as_str())),
        }
    }

    fn check_strength(&self) -> Result<(), Refusal> {
        let (players, referees) = (self.entrants().len(), self.league.referees.len());
        if players < 2 || referees < 1 {
            return Err(Refusal::new(
                ErrorCode::InvalidState,
                format!(
                    "a league needs at least 2 players and 1 referee; {players} players and {referees} referees \
                     have registered"
                ),
            )
            .with("players", players)
            .with("referees", referees));
        }
        Ok(())
    }

    pub(super) fn check_league(&self, league_id: &LeagueId) -> Result<(), Refusal> {
        let ours = &self.league.settings.league_id;
        if league_id == ours {
            return Ok(());
        }
        Err(Refusal::new(ErrorCode::LeagueNotFound, format!("league_id: expected {ours}, got {league_id}"))
            .with("league_id", ours.as_str()))
    }

    pub fn status(&self) -> LeagueStatus {
        // A league that has drawn its first round is in it, though the roll call may still delay the announcement.
        let current_round = self.league.current_round.max(u32::from(!self.league.rounds.is_empty()));
        LeagueStatus {
            league_id: self.league.settings.league_id.clone(),
            status: self.league.phase,
            current_round,
            total_rounds: self.league.rounds_in_all(),
            round_title: self.league.title(RoundId(current_round)).map(UntrustedText::from),
            matches_completed: self.league.matches_decided,
            roster: None,
        }
    }

    /// Asks everyone who has not been heard of whether they are there; then the first round can be announced.
    pub(super) fn call_roll(&mut self, act: &mut Act<'_>) {
        if self.league.settings.endpoint_check == EndpointCheck::AtStart {
            for agent in self.unheard() {
                if let Some((endpoint, dialect)) = self.address(&agent) {
                    self.probe(act, &agent, endpoint, dialect);
                }
            }
        }
        self.roll = Some(Roll { until: act.now + self.league.settings.probe_timeout });
        self.check_roll(act);
    }

    fn unheard(&self) -> Vec<Sender> {
        self.everyone().filter(|agent| !self.has_heard(agent)).collect()
    }

    /// Ends the roll call once everyone has answered or the time is up, and opens the first round.
    pub(super) fn check_roll(&mut self, act: &mut Act<'_>) {
        let Some(roll) = &self.roll else { return };
        let checks = self.league.settings.endpoint_check == EndpointCheck::AtStart;
        let waiting = checks && self.post.carries(|purpose| matches!(purpose, Purpose::Probe(_)));
        if waiting && act.now < roll.until {
            return;
        }
        self.roll = None;
        let unprobed = std::mem::take(&mut self.unprobed);
        if checks {
            for agent in self.unheard().into_iter().filter(|agent| !unprobed.contains(agent)) {
                self.suspend(act, agent, Suspicion::NeverAnswered);
            }
        }
        self.advance(act);
    }
}
