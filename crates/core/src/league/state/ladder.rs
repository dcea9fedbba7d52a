//! A ladder within the league: who can be paired now, which round comes next, ratings.

use super::League;
use crate::league::fixture::Round;
use crate::league::format::{DrawnRound, Format, Ladder, ladder};
use crate::league::member::Member;
use crate::league::standings::Verdict;
use crate::protocol::messages::PlayerMeta;
use crate::protocol::{PlayerId, Timestamp};
use matchday_rating::Rating;
use std::collections::{BTreeMap, BTreeSet};

impl League {
    /// Whether it has no end of its own, and agents join and leave at any time.
    pub fn is_ladder(&self) -> bool {
        self.settings.competition.format == Format::Ladder
    }

    /// The rating of each player of a ladder, after all decided matches.
    pub fn ratings(&self) -> Option<BTreeMap<PlayerId, Rating>> {
        if !self.is_ladder() {
            return None;
        }
        let mut ladder = self.ladder.clone();
        for round in self.rounds.get(ladder.settled..).unwrap_or_default() {
            self.settle_into(&mut ladder, round);
        }
        Some(
            self.players
                .keys()
                .map(|id| (id.clone(), ladder.rating(id)))
                .collect(),
        )
    }

    /// Notes a round of a ladder. Results that it was drawn from can no longer be voided, so that they are rated for good.
    pub(crate) fn note_pairing(&mut self, at: Timestamp, drawn: &DrawnRound) {
        if !self.is_ladder() {
            return;
        }
        let mut ladder = std::mem::take(&mut self.ladder);
        for round in self.rounds.get(ladder.settled..).unwrap_or_default() {
            self.settle_into(&mut ladder, round);
        }
        ladder.note_drawn(at, drawn);
        self.ladder = ladder;
    }

    fn settle_into(&self, ladder: &mut Ladder, round: &Round) {
        let decided = self.matches_of(round).filter_map(|(_, fixture)| {
            let decision = fixture.decision.as_ref()?;
            Some((&fixture.a, &fixture.b, decision.verdict(fixture)))
        });
        let games: Vec<_> = decided.collect();
        ladder.settle(&games);
    }

    /// The next round of a ladder, if two can be paired now.
    pub(crate) fn ladder_round(&self, now: Timestamp) -> Option<DrawnRound> {
        let legs = self.settings.competition.matches_per_pairing;
        let last = self.rounds.last().and_then(|round| round.drawn.as_deref());
        if let Some(last) = last.filter(|last| last.leg < legs) {
            let stage: Vec<&Round> = self
                .rounds
                .iter()
                .rev()
                .take_while(|it| is_of(it, last.stage))
                .collect();
            let first = stage
                .last()
                .and_then(|round| round.drawn.as_deref())
                .unwrap_or(last);
            let is_open = |(a, b): &(PlayerId, PlayerId)| {
                let has_room = |id| {
                    let player = self.players.get(id);
                    player.is_some_and(|player| self.can_be_paired(id, player, 1, now))
                };
                self.is_undecided(&stage, a, b, legs) && has_room(a) && has_room(b)
            };
            if let Some(next) = ladder::next_leg(first, last.leg + 1, legs, is_open) {
                return Some(next);
            }
        }
        let present = self
            .players
            .iter()
            .filter(|(id, player)| self.can_be_paired(id, player, legs, now));
        let present: BTreeSet<PlayerId> = present.map(|(id, _)| id.clone()).collect();
        let first = self
            .ladder
            .pair(last.map_or(0, |last| last.stage) + 1, &present)?;
        Some(ladder::titled(first, legs))
    }

    /// Whether another game of a pair can change who has won it.
    fn is_undecided(&self, stage: &[&Round], a: &PlayerId, b: &PlayerId, legs: u32) -> bool {
        let games = stage
            .iter()
            .flat_map(|round| self.matches_of(round).map(|(_, fixture)| fixture));
        let mut wins = [0_u32; 2];
        let mut played = 0;
        for fixture in games.filter(|fixture| fixture.has(a) && fixture.has(b)) {
            let verdict = fixture
                .decision
                .as_ref()
                .map(|decision| decision.verdict(fixture));
            let [of_a, of_b] = &mut wins;
            match verdict {
                Some(Verdict::WonByA) => *(if fixture.a == *a { of_a } else { of_b }) += 1,
                Some(Verdict::WonByB) => *(if fixture.a == *a { of_b } else { of_a }) += 1,
                _ => {}
            }
            played += 1;
        }
        let [of_a, of_b] = wins;
        of_a.abs_diff(of_b) <= legs.saturating_sub(played)
    }

    /// Whether a player is there, and may have so many matches more within the hour: a pairing that could not be played to its end
    /// is not begun.
    fn can_be_paired(
        &self,
        id: &PlayerId,
        player: &Member<PlayerMeta>,
        matches: u32,
        now: Timestamp,
    ) -> bool {
        player.is_there() && self.free_from(id, player, matches) <= now
    }

    fn free_from(&self, id: &PlayerId, player: &Member<PlayerMeta>, matches: u32) -> Timestamp {
        let most = self.settings.competition.matches_per_hour;
        let own = player.meta.max_matches_per_hour;
        let allowed = most.into_iter().chain(own).min();
        allowed.map_or(Timestamp::EPOCH, |allowed| {
            self.ladder.free_from(id, allowed, matches)
        })
    }

    /// When a player that has had as many matches as it allows may be paired again: the next time at which to pair.
    pub(crate) fn next_pairing_at(&self, now: Timestamp) -> Option<Timestamp> {
        let legs = self.settings.competition.matches_per_pairing;
        let there = self.players.iter().filter(|(_, player)| player.is_there());
        there
            .map(|(id, player)| self.free_from(id, player, legs))
            .filter(|at| *at > now)
            .min()
    }
}

fn is_of(round: &Round, stage: u32) -> bool {
    round
        .drawn
        .as_ref()
        .is_some_and(|drawn| drawn.stage == stage)
}
