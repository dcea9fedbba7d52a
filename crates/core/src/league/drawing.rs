//! Rounds that depend on results: which rounds to draw next, and the events that record them.

use super::event::{DrawnFrom, LeagueEvent};
use super::fixture::Round;
use super::format::{Draw, Drawn, Lot, Played};
use super::manager::{Ctx, Manager};
use super::request::RequestError;
use super::schedule::{self, Pairings};
use super::settings::{LeagueSettings, TieBreak};
use super::state::League;
use crate::agent::Agent;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, RoundId};
use crate::protocol::messages::Phase;
use crate::protocol::{PlayerId, Timestamp};
use std::collections::BTreeSet;

impl LeagueSettings {
    /// Whether the rounds or the standings of this league need a seed.
    pub fn needs_draw(&self) -> bool {
        !self.competition.is_default() || self.tie_breaks.contains(&TieBreak::Lots)
    }
}

impl League {
    /// The announced rounds with their results, without those of a play-off.
    pub fn played(&self) -> Vec<Played<'_>> {
        let announced = self.rounds.iter().filter(|round| round.starts_at.is_some());
        let drawn = announced.filter_map(|round| Some((round, round.drawn.as_deref()?)));
        let drawn = drawn.filter(|(_, drawn)| !drawn.play_off);
        drawn.map(|(round, drawn)| Played { drawn, verdicts: self.verdicts(round) }).collect()
    }

    fn verdicts(&self, round: &Round) -> Vec<Option<super::standings::Verdict>> {
        let games = self.matches_of(round);
        games.map(|(_, game)| Some(game.decision.as_ref()?.verdict(game))).collect()
    }

    /// The draw, if rounds depend on results.
    fn open_draw(&self) -> Option<&Draw> {
        self.draw.as_deref().filter(|draw| !draw.competition().format.is_fixed())
    }

    /// The rounds to draw now: none while a drawn round is undecided, and none when the league is over. Only in a ladder it
    /// matters when that is.
    pub fn rounds_to_draw(&self, now: Timestamp) -> Vec<Drawn> {
        let all_announced = self.rounds.last().is_none_or(|last| last.round_id.0 <= self.current_round);
        if !all_announced || !self.undecided.is_empty() {
            return Vec::new();
        }
        if self.is_ladder() {
            let has_room = self.rounds.len() < self.settings.competition.rounds_max();
            let is_due = self.phase == Phase::Running && has_room;
            return is_due.then(|| self.ladder_round(now)).flatten().into_iter().collect();
        }
        let next = self.open_draw().map_or_else(Vec::new, |draw| {
            let gone = self.players.iter().filter(|(_, player)| player.withdrawn);
            let out: BTreeSet<PlayerId> = gone.map(|(id, _)| id.clone()).collect();
            draw.next(&self.played(), &out)
        });
        if next.is_empty() { self.next_play_off() } else { next }
    }

    /// The ties decided by lot that are not recorded yet.
    pub fn lots_to_draw(&self) -> Vec<Lot> {
        let draw = self.open_draw().filter(|_| !self.is_ladder());
        let lots = draw.map_or_else(Vec::new, |draw| draw.lots(&self.played()));
        lots.into_iter().filter(|lot| !self.lots.contains(lot)).collect()
    }

    /// The number of rounds, including those still to be drawn.
    pub fn rounds_in_all(&self) -> u32 {
        let known = u32::try_from(self.rounds.len()).unwrap_or(u32::MAX);
        match self.open_draw() {
            Some(draw) if self.phase != Phase::Completed && !self.is_ladder() => {
                known.max(draw.rounds_in_all(&self.played()))
            }
            _ => known,
        }
    }

    /// The round that was drawn from a match's result, if any: that result can no longer be voided.
    pub fn drawn_from(&self, match_id: &MatchId) -> Option<&Round> {
        let round_id = self.matches.get(match_id)?.round_id;
        let depends = |round: &&Round| round.drawn.as_ref().is_some_and(|drawn| !drawn.fixed);
        self.rounds.iter().filter(|round| round.round_id > round_id).find(depends)
    }

    /// The display name of a round, if it has one.
    pub fn title(&self, round_id: RoundId) -> Option<&str> {
        self.round(round_id)?.drawn.as_ref().map(|drawn| drawn.title.as_str())
    }
}

impl Manager {
    /// The rounds that are known at the start, and the seed from which others will be drawn.
    pub(super) fn first_draw(
        &self,
        ctx: &mut Ctx<'_>,
        entrants: Vec<PlayerId>,
    ) -> Result<(Vec<Pairings>, Option<DrawnFrom>), RequestError> {
        let settings = &self.league.settings;
        if !settings.needs_draw() {
            return Ok((schedule::round_robin(&entrants), None));
        }
        // 53 bits, so that every JSON parser keeps it exactly.
        let seed = ctx.entropy.next_u64() >> 11;
        let draw = Draw::begin(&settings.competition, &entrants, &settings.tie_breaks, seed)
            .map_err(|error| RequestError::new(ErrorCode::InvalidState, error.to_string()))?;
        Ok((draw.fixed_pairings(), Some(DrawnFrom { seed, entrants })))
    }

    /// Records the rounds and lots that follow from the results so far.
    pub(super) fn draw_ahead(&mut self, ctx: &mut Ctx<'_>) {
        for lot in self.league.lots_to_draw() {
            self.record(ctx, LeagueEvent::LotDrawn { lot });
        }
        for drawn in self.league.rounds_to_draw(ctx.now) {
            let round_id = RoundId(self.league.rounds.last().map_or(1, |last| last.round_id.0 + 1));
            self.record(ctx, LeagueEvent::RoundDrawn { round_id, drawn: drawn.into() });
        }
    }
}
