//! The start of a league: the operator's START_LEAGUE, and the roll call of agents whose endpoint has not answered yet.

use super::cause::Suspicion;
use super::event::{DrawnFrom, LeagueEvent};
use super::manager::{Ctx, Manager, Purpose};
use super::request::{ReceivedMessage, RequestError};
use super::schedule::Pairings;
use super::settings::EndpointCheck;
use crate::agent::{Agent, Answer, Failure};
use crate::outbox::{Sent, Tries};
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{LeagueId, PlayerId, RoundId};
use crate::protocol::messages::{LeagueStatus, Phase, StartLeague};
use crate::protocol::{Sender, UntrustedText};
use crate::retry::Backoff;
use std::time::Duration;

/// How long after a refused connection the roll call tries again.
const REFUSED_PROBE_PAUSE: Duration = Duration::from_millis(500);

impl Manager {
    pub(super) fn start_league(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        start: &StartLeague,
    ) -> Result<(), RequestError> {
        self.check_league(&start.league_id)?;
        if self.league.phase == Phase::Registration {
            self.check_strength()?;
            let (rounds, draw) = self.rounds_for(ctx, self.entrants())?;
            self.check_rounds(rounds.len())?;
            let proofs_required = self.league.can_require_proofs();
            self.record(ctx, LeagueEvent::LeagueStarted { rounds, draw, proofs_required });
            self.draw_ahead(ctx);
            self.start_roll_call(ctx);
        }
        self.reply(ctx, received, self.status());
        Ok(())
    }

    /// The participants: all registered players that were not withdrawn.
    fn entrants(&self) -> Vec<PlayerId> {
        let players = self.league.players.iter().filter(|(_, player)| !player.withdrawn);
        players.map(|(id, _)| id.clone()).collect()
    }

    /// The operator's fixtures, if all named players are registered; otherwise the first rounds of the format.
    fn rounds_for(
        &self,
        ctx: &mut Ctx<'_>,
        entrants: Vec<PlayerId>,
    ) -> Result<(Vec<Pairings>, Option<DrawnFrom>), RequestError> {
        let Some(fixtures) = &self.league.settings.fixtures else {
            return self.first_draw(ctx, entrants);
        };
        let named = fixtures.iter().flat_map(|round| round.pairs.iter().flat_map(|(a, b)| [a, b]));
        match named.into_iter().find(|player| !entrants.contains(player)) {
            None => Ok((fixtures.clone(), None)),
            Some(absent) => Err(RequestError::new(
                ErrorCode::InvalidState,
                format!("the fixtures of this league name {absent}, who has not registered"),
            )
            .with("player_id", absent.as_str())),
        }
    }

    fn check_strength(&self) -> Result<(), RequestError> {
        let (players, referees) = (self.entrants().len(), self.league.referees.len());
        if players < 2 || referees < 1 {
            return Err(RequestError::new(
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

    fn check_rounds(&self, rounds: usize) -> Result<(), RequestError> {
        let most = self.league.settings.competition.rounds_max();
        if rounds <= most {
            return Ok(());
        }
        let message = format!(
            "the league would have {rounds} rounds, and a league has {most} at most: lower matches_per_pairing, or let fewer \
             players take part"
        );
        Err(RequestError::new(ErrorCode::InvalidState, message).with("rounds", rounds))
    }

    pub(super) fn check_league(&self, league_id: &LeagueId) -> Result<(), RequestError> {
        let ours = &self.league.settings.league_id;
        if league_id == ours {
            return Ok(());
        }
        Err(RequestError::new(
            ErrorCode::LeagueNotFound,
            format!("league_id: expected {ours}, got {league_id}"),
        )
        .with("league_id", ours.as_str()))
    }

    /// The answer to status queries and to orders of the operator, without the roster.
    pub fn status(&self) -> LeagueStatus {
        // A started league counts as in its first round, though the roll call may still delay the announcement.
        let current_round = self.league.current_round.max(u32::from(!self.league.rounds.is_empty()));
        LeagueStatus {
            league_id: self.league.settings.league_id.clone(),
            status: self.league.phase,
            current_round,
            total_rounds: self.league.rounds_in_all(),
            round_title: self.league.title(RoundId(current_round)).map(UntrustedText::from),
            matches_completed: self.league.matches_decided,
            results_unproven: self.league.results_unproven(),
            matches_awaiting_prover: self.league.matches_awaiting_prover(),
            roster: None,
        }
    }

    /// Probes every agent that has not answered yet; then the first round can be announced.
    pub(super) fn start_roll_call(&mut self, ctx: &mut Ctx<'_>) {
        if self.league.settings.endpoint_check == EndpointCheck::AtStart {
            for agent in self.unresponsive() {
                self.probe(ctx, &agent, self.roll_call_tries());
            }
        }
        self.in_roll_call = true;
        self.check_roll_call(ctx);
    }

    /// An agent that is just being started refuses connections at first: it has as long to listen as a probe has to be answered.
    fn roll_call_tries(&self) -> Tries {
        let retries = self.league.settings.probe_timeout.as_millis() / REFUSED_PROBE_PAUSE.as_millis();
        let backoff = Backoff::Fixed { delay: REFUSED_PROBE_PAUSE };
        Tries::Retry(u32::try_from(retries).unwrap_or(u32::MAX), backoff)
    }

    /// An agent that has registered again is probed where it is now, but no more often for it.
    pub(super) fn redirect_probes(&mut self, agent: &Sender) {
        if let Some((to, _)) = self.address(agent) {
            self.outbox.redirect(|purpose| matches!(purpose, Purpose::Probe(probed) if probed == agent), &to);
        }
    }

    pub(super) fn on_probe_answered(
        &mut self,
        ctx: &mut Ctx<'_>,
        agent: Sender,
        sent: Box<Sent<Purpose>>,
        answer: &Answer,
    ) {
        match answer {
            Answer::Undelivered(Failure::Ours) => {
                self.unprobed.insert(agent);
            }
            Answer::Undelivered(Failure::NoConnection | Failure::Closed) => {
                self.try_again(ctx.now, sent);
            }
            _ => {}
        }
    }

    fn unresponsive(&self) -> Vec<Sender> {
        self.everyone().filter(|agent| !self.has_answered(agent)).collect()
    }

    /// Ends the roll call once every probe is answered or has timed out, and opens the first round.
    pub(super) fn check_roll_call(&mut self, ctx: &mut Ctx<'_>) {
        if !self.in_roll_call {
            return;
        }
        let checks = self.league.settings.endpoint_check == EndpointCheck::AtStart;
        let waiting = checks && self.outbox.contains(|purpose| matches!(purpose, Purpose::Probe(_)));
        if waiting {
            return;
        }
        self.in_roll_call = false;
        let unprobed = std::mem::take(&mut self.unprobed);
        if checks {
            for agent in self.unresponsive().into_iter().filter(|agent| !unprobed.contains(agent)) {
                self.suspend(ctx, agent, Suspicion::NeverAnswered);
            }
        }
        self.advance(ctx);
    }
}
