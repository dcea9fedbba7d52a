//! The course of a league: its start with the roll call, rounds announced and completed, its end.

use super::{Ctx, Manager};
use crate::agent::{Agent, Answer, Failure};
use crate::league::cause::Suspicion;
use crate::league::deliveries::Purpose;
use crate::league::event::LeagueEvent;
use crate::league::request::{ReceivedMessage, RequestError};
use crate::league::settings::EndpointCheck;
use crate::league::signatures::Completion;
use crate::outbox::Sent;
use crate::protocol::Sender;
use crate::protocol::ids::{PlayerId, RoundId};
use crate::protocol::messages::{LeagueStatus, Phase, StartLeague};

/// The start.
impl Manager {
    pub(super) fn start_league(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
        start: &StartLeague,
    ) -> Result<(), RequestError> {
        self.league.check_id(&start.league_id)?;
        if self.league.phase == Phase::Registration {
            let (rounds, draw) = self.league.first_rounds(ctx.entropy)?;
            let proofs_required = self.league.can_require_proofs();
            self.record(
                ctx,
                LeagueEvent::LeagueStarted {
                    rounds,
                    draw,
                    proofs_required,
                },
            );
            self.draw_ahead(ctx);
            self.start_roll_call(ctx);
        }
        let status = self.league.status();
        // Before the round is announced, when it will be at the earliest.
        let is_first = self.league.phase == Phase::Running && self.league.current_round == 0;
        let earliest = is_first.then(|| ctx.now + self.league.settings.announce_lead);
        let status = LeagueStatus {
            starts_at: status.starts_at.or(earliest),
            ..status
        };
        self.reply(ctx, received, status);
        Ok(())
    }

    /// Probes every agent that has not answered yet; then the first round can be announced.
    fn start_roll_call(&mut self, ctx: &mut Ctx<'_>) {
        let probes = self.liveness.begin_roll_call(&self.league);
        self.send(ctx, probes);
        self.check_roll_call(ctx);
    }

    /// An agent that has registered again is probed where it is now, but no more often for it.
    pub(super) fn redirect_probes(&mut self, agent: &Sender) {
        if let Some(member) = self.league.member(agent) {
            let to = member.meta.contact_endpoint();
            self.outbox.redirect(
                |purpose| matches!(purpose, Purpose::Probe(probed) if probed == agent),
                to,
            );
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
            Answer::Undelivered(Failure::Ours) => self.liveness.record_unprobed(agent),
            Answer::Undelivered(Failure::NoConnection) => {
                drop(self.outbox.retry(ctx.now, sent));
            }
            _ => {}
        }
    }

    /// Ends the roll call once every probe is answered or has timed out, and opens the first round.
    pub(super) fn check_roll_call(&mut self, ctx: &mut Ctx<'_>) {
        if !self.liveness.is_in_roll_call() {
            return;
        }
        let checks = self.league.settings.endpoint_check == EndpointCheck::AtStart;
        if checks
            && self
                .outbox
                .contains(|purpose| matches!(purpose, Purpose::Probe(_)))
        {
            return;
        }
        for agent in self.liveness.end_roll_call(&self.league) {
            self.suspend(ctx, agent, Suspicion::NeverAnswered);
        }
        self.advance(ctx);
    }
}

/// Rounds.
impl Manager {
    /// After a restart: repeats every open announcement and assignment. Receivers are idempotent.
    pub(super) fn resume(&mut self, ctx: &mut Ctx<'_>) {
        if self
            .league
            .members()
            .any(|(_, member)| member.is_suspended())
        {
            self.liveness
                .schedule_probes(ctx.now + self.league.settings.probe_every);
        }
        if self.league.current_round == 0 {
            return self.start_roll_call(ctx);
        }
        // A clock that was set back must not extend the wait.
        let latest = ctx.now + self.league.settings.announce_lead;
        let starts_at = self.league.open_round().and_then(|round| round.starts_at);
        self.rounds
            .open(ctx.now, starts_at.map(|starts_at| starts_at.min(latest)));
        self.tell_announcement(ctx);
        self.tell_standings(ctx);
        let open = self.league.in_hand(|_| true);
        self.send_assignments(ctx, open);
        self.advance(ctx);
    }

    /// Advances the league as far as possible.
    pub(super) fn advance(&mut self, ctx: &mut Ctx<'_>) {
        // A ladder that is paused or over pairs nobody.
        self.rounds.pair_at(None);
        // Nothing new is announced before everyone can be told what has ended.
        while self.league.phase == Phase::Running
            && !self.liveness.is_in_roll_call()
            && !self.signatures.is_awaiting_checkpoint()
        {
            let idle = self.league.open_round().is_none() && self.league.undecided.is_empty();
            if idle && !self.announce_next(ctx) {
                if self.league.is_ladder() {
                    self.rounds.pair_at(self.league.next_pairing_at(ctx.now));
                    return;
                }
                return self.complete_league(ctx, false);
            }
            self.release_matches(ctx);
            if !self.league.undecided.is_empty() {
                return;
            }
            if self.league.open_round().is_some() {
                self.close_round(ctx);
            }
        }
    }

    /// Announces the next round; false if there is none.
    fn announce_next(&mut self, ctx: &mut Ctx<'_>) -> bool {
        self.draw_ahead(ctx);
        let next = RoundId(self.league.current_round.saturating_add(1));
        let Some(round) = self
            .league
            .rounds
            .iter()
            .find(|round| round.round_id == next)
        else {
            return false;
        };
        let plan = self.league.plan(round);
        let starts_at = ctx.now + self.league.settings.announce_lead;
        self.rounds.open(ctx.now, Some(starts_at));
        self.record(
            ctx,
            LeagueEvent::RoundAnnounced {
                round_id: next,
                starts_at,
                plan,
            },
        );
        self.tell_announcement(ctx);
        true
    }

    /// Records the rounds and lots that follow from the results so far.
    fn draw_ahead(&mut self, ctx: &mut Ctx<'_>) {
        for lot in self.league.lots_to_draw() {
            self.record(ctx, LeagueEvent::LotDrawn { lot });
        }
        for drawn in self.league.rounds_to_draw(ctx.now) {
            let round_id = RoundId(
                self.league
                    .rounds
                    .last()
                    .map_or(1, |last| last.round_id.0 + 1),
            );
            self.record(
                ctx,
                LeagueEvent::RoundDrawn {
                    round_id,
                    drawn: drawn.into(),
                },
            );
        }
    }

    /// A player has acknowledged the announcement, or cannot be reached.
    pub(super) fn on_announcement_told(&mut self, ctx: &mut Ctx<'_>, player: &PlayerId) {
        let Some(match_id) = self.rounds.acknowledge(&self.league, player) else {
            return;
        };
        if self.league.waiting.contains(&match_id) && !self.assignments.is_backing_off(&match_id) {
            self.release(ctx, vec![match_id]);
            if self.league.undecided.is_empty() {
                self.advance(ctx);
            }
        }
    }

    fn close_round(&mut self, ctx: &mut Ctx<'_>) {
        let Some(round) = self.league.open_round() else {
            return;
        };
        let round_id = round.round_id;
        self.record(ctx, LeagueEvent::RoundCompleted { round_id });
        self.draw_ahead(ctx);
        self.tell_standings(ctx);
        if let Some(completed) = self.league.round_completed(round_id) {
            self.tell_when_signed(ctx, Completion::Round(completed));
        }
    }

    pub(super) fn complete_league(&mut self, ctx: &mut Ctx<'_>, by_order: bool) {
        let Some(champion) = self
            .league
            .standings()
            .into_iter()
            .next()
            .map(|place| place.player)
        else {
            return;
        };
        self.record(ctx, LeagueEvent::LeagueCompleted { champion, by_order });
        self.liveness.stop_probes();
        self.tell_when_signed(ctx, Completion::League);
    }
}
