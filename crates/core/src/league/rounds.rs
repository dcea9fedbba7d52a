//! The course of a round: announced, its matches released to referees with capacity, completed.

use super::checkpoints::Completion;
use super::event::LeagueEvent;
use super::fixture::Round;
use super::manager::{Ctx, Manager};
use super::notices::Notice;
use crate::agent::Agent;
use crate::protocol::ids::{PlayerId, RoundId};
use crate::protocol::messages::{
    Champion, FinalStanding, GameStatus, LeagueCompleted, Phase, RoundCompleted, RoundSummary, Shared,
};

impl Manager {
    /// After a restart: repeats every open announcement and assignment. Receivers are idempotent.
    pub(super) fn resume(&mut self, ctx: &mut Ctx<'_>) {
        if self.everyone().any(|agent| self.is_suspended(&agent)) {
            self.probe_at = Some(ctx.now + self.league.settings.probe_every);
        }
        if self.league.current_round == 0 {
            return self.start_roll_call(ctx);
        }
        // A clock that was set back must not extend the wait.
        let latest = ctx.now + self.league.settings.announce_lead;
        let starts_at = self.league.open_round().and_then(|round| round.starts_at);
        self.release_at = starts_at.map(|starts_at| starts_at.min(latest)).filter(|at| *at > ctx.now);
        self.tell_announcement(ctx);
        self.tell_standings(ctx);
        let open = self.in_hand(|_| true);
        self.send_assignments(ctx, open);
        self.advance(ctx);
    }

    /// Advances the league as far as possible.
    pub(super) fn advance(&mut self, ctx: &mut Ctx<'_>) {
        // A ladder that is paused or over pairs nobody.
        self.pair_at = None;
        // Nothing new is announced before everyone can be told what has ended.
        while self.league.phase == Phase::Running && !self.in_roll_call && self.unsigned.is_empty() {
            let idle = self.league.open_round().is_none() && self.league.undecided.is_empty();
            if idle && !self.announce_next(ctx) {
                if self.league.is_ladder() {
                    self.pair_at = self.league.next_pairing_at(ctx.now);
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
        let Some(round) = self.league.rounds.iter().find(|round| round.round_id == next) else {
            return false;
        };
        let plan = self.plan(round);
        let starts_at = ctx.now + self.league.settings.announce_lead;
        self.release_at = (starts_at > ctx.now).then_some(starts_at);
        self.record(ctx, LeagueEvent::RoundAnnounced { round_id: next, starts_at, plan });
        self.tell_announcement(ctx);
        true
    }

    /// A player has acknowledged the announcement, or cannot be reached: its match stops waiting for it.
    pub(super) fn on_announcement_told(&mut self, ctx: &mut Ctx<'_>, player: &PlayerId) {
        let Some(match_id) = self.unacknowledged.remove(player) else {
            return;
        };
        if self.unacknowledged.is_empty() {
            self.announcement_deadline = None;
        }
        let opponent = self.league.matches.get(&match_id).map(|game| game.opponent(player));
        if self.league.waiting.contains(&match_id)
            && opponent.is_none_or(|opponent| !self.unacknowledged.contains_key(opponent))
            && !self.backoff_until.contains_key(&match_id)
        {
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
        let summary = self.summary(round);
        self.record(ctx, LeagueEvent::RoundCompleted { round_id });
        self.draw_ahead(ctx);
        self.tell_standings(ctx);
        let next = RoundId(round_id.0.saturating_add(1));
        let follows = self.league.rounds.iter().any(|round| round.round_id == next);
        let completed = RoundCompleted {
            league_id: self.league.settings.league_id.clone(),
            round_id,
            matches_completed: summary.total_matches,
            matches_played: summary.total_matches,
            next_round_id: follows.then_some(next),
            summary,
            checkpoint: None,
        };
        self.tell_when_signed(ctx, Completion::Round(completed));
    }

    fn summary(&self, round: &Round) -> RoundSummary {
        let count = |wanted: GameStatus| {
            let decided = self.league.matches_of(round).filter_map(|(_, game)| game.decision.as_ref());
            u32::try_from(decided.filter(|decision| decision.status == wanted).count()).unwrap_or(u32::MAX)
        };
        RoundSummary {
            total_matches: u32::try_from(round.matches.len()).unwrap_or(u32::MAX),
            wins: count(GameStatus::Win),
            draws: count(GameStatus::Draw),
            technical_losses: count(GameStatus::TechnicalLoss),
        }
    }

    pub(super) fn complete_league(&mut self, ctx: &mut Ctx<'_>, by_order: bool) {
        let Some(champion) = self.league.table().into_iter().next().map(|place| place.player) else {
            return;
        };
        self.record(ctx, LeagueEvent::LeagueCompleted { champion, by_order });
        self.probe_at = None;
        self.tell_when_signed(ctx, Completion::League);
    }

    pub(super) fn tell_completed(&mut self, ctx: &mut Ctx<'_>) {
        if let Some(notice) = self.completion() {
            self.tell_everyone(ctx, &notice);
        }
    }

    pub(super) fn completion(&self) -> Option<Notice> {
        let rows = self.league.rows();
        let first = rows.first()?;
        let final_standings: Shared<_> = rows
            .iter()
            .map(|row| FinalStanding {
                rank: row.rank,
                player_id: row.player_id.clone(),
                display_name: Some(row.display_name.clone()),
                points: row.points,
            })
            .collect();
        let latest = self.league.checkpoints.latest.as_ref();
        let body = LeagueCompleted {
            league_id: self.league.settings.league_id.clone(),
            total_rounds: u32::try_from(self.league.rounds.len()).unwrap_or(u32::MAX),
            total_matches: self.league.matches_decided,
            champion: Champion {
                player_id: first.player_id.clone(),
                display_name: first.display_name.clone(),
                points: first.points,
            },
            joint_champions: self.league.joint_champions(),
            checkpoint: latest.filter(|note| final_standings.fits_message_with(note)).cloned(),
            final_standings,
        };
        Some(Notice::lasting("conv-league-complete".into(), body))
    }
}
