//! Rounds that depend on results: which rounds to draw next.

use super::League;
use crate::entropy::Entropy;
use crate::league::event::DrawnFrom;
use crate::league::fixture::Round;
use crate::league::format::{Draw, DrawnRound, Lot, PlayedRound};
use crate::league::request::RequestError;
use crate::league::schedule::{self, Pairings};
use crate::league::standings::Verdict;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::{MatchId, RoundId};
use crate::protocol::messages::Phase;
use crate::protocol::{PlayerId, Timestamp};
use std::collections::BTreeSet;

impl League {
    /// The announced rounds with their results, without those of a play-off.
    pub fn played(&self) -> Vec<PlayedRound<'_>> {
        let announced = self.rounds.iter().filter(|round| round.starts_at.is_some());
        let drawn = announced.filter_map(|round| Some((round, round.drawn.as_deref()?)));
        let drawn = drawn.filter(|(_, drawn)| !drawn.play_off);
        drawn
            .map(|(round, drawn)| PlayedRound {
                drawn,
                verdicts: self.verdicts(round),
            })
            .collect()
    }

    fn verdicts(&self, round: &Round) -> Vec<Option<Verdict>> {
        let games = self.matches_of(round);
        games
            .map(|(_, fixture)| Some(fixture.decision.as_ref()?.verdict(fixture)))
            .collect()
    }

    /// The draw, if rounds depend on results.
    fn open_draw(&self) -> Option<&Draw> {
        self.draw
            .as_deref()
            .filter(|draw| !draw.competition().format.is_fixed())
    }

    /// The rounds to draw now: none while a drawn round is undecided, and none when the league is over. Only in a ladder it
    /// matters when that is.
    pub fn rounds_to_draw(&self, now: Timestamp) -> Vec<DrawnRound> {
        let all_announced = self
            .rounds
            .last()
            .is_none_or(|last| last.round_id.0 <= self.current_round);
        if !all_announced || !self.undecided.is_empty() {
            return Vec::new();
        }
        if self.is_ladder() {
            let has_room = self.rounds.len() < self.settings.competition.rounds_max();
            let is_due = self.phase == Phase::Running && has_room;
            return is_due
                .then(|| self.ladder_round(now))
                .flatten()
                .into_iter()
                .collect();
        }
        let next = self.open_draw().map_or_else(Vec::new, |draw| {
            let gone = self.players.iter().filter(|(_, player)| player.withdrawn);
            let out: BTreeSet<PlayerId> = gone.map(|(id, _)| id.clone()).collect();
            draw.next(&self.played(), &out)
        });
        if next.is_empty() {
            self.next_play_off()
        } else {
            next
        }
    }

    /// The ties decided by lot that are not recorded yet.
    pub fn lots_to_draw(&self) -> Vec<Lot> {
        let draw = self.open_draw().filter(|_| !self.is_ladder());
        let lots = draw.map_or_else(Vec::new, |draw| draw.lots(&self.played()));
        lots.into_iter()
            .filter(|lot| !self.lots.contains(lot))
            .collect()
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
        self.rounds
            .iter()
            .filter(|round| round.round_id > round_id)
            .find(depends)
    }

    /// The display name of a round, if it has one.
    pub fn title(&self, round_id: RoundId) -> Option<&str> {
        self.round(round_id)?
            .drawn
            .as_ref()
            .map(|drawn| drawn.title.as_str())
    }
}

/// The start.
impl League {
    /// The rounds that are known at the start, and what others will be drawn from; or why the league cannot start.
    pub(crate) fn first_rounds(
        &self,
        entropy: &mut Entropy,
    ) -> Result<(Vec<Pairings>, Option<DrawnFrom>), RequestError> {
        let entrants = self.entrants();
        self.check_strength(entrants.len())?;
        let (rounds, draw) = match &self.settings.fixtures {
            Some(fixtures) => (check_fixtures(fixtures, &entrants)?, None),
            None => self.first_draw(entropy, entrants)?,
        };
        let most = self.settings.competition.rounds_max();
        if rounds.len() > most {
            let message = format!(
                "the league would have {} rounds, and a league has {most} at most: lower matches_per_pairing, or let fewer \
                 players take part",
                rounds.len()
            );
            return Err(
                RequestError::new(ErrorCode::InvalidState, message).with("rounds", rounds.len())
            );
        }
        Ok((rounds, draw))
    }

    fn check_strength(&self, players: usize) -> Result<(), RequestError> {
        let referees = self.referees.len();
        if players >= 2 && referees >= 1 {
            return Ok(());
        }
        let message = format!(
            "a league needs at least 2 players and 1 referee; {players} players and {referees} referees have registered"
        );
        Err(RequestError::new(ErrorCode::InvalidState, message)
            .with("players", players)
            .with("referees", referees))
    }

    fn first_draw(
        &self,
        entropy: &mut Entropy,
        entrants: Vec<PlayerId>,
    ) -> Result<(Vec<Pairings>, Option<DrawnFrom>), RequestError> {
        if !self.settings.needs_draw() {
            return Ok((schedule::round_robin(&entrants), None));
        }
        // 53 bits, so that every JSON parser keeps it exactly.
        let seed = entropy.next_u64() >> 11;
        let draw = Draw::begin(
            &self.settings.competition,
            &entrants,
            &self.settings.tie_breaks,
            seed,
        )
        .map_err(|error| RequestError::new(ErrorCode::InvalidState, error.to_string()))?;
        Ok((draw.fixed_pairings(), Some(DrawnFrom { seed, entrants })))
    }
}

/// The operator's fixtures, if all named players are registered.
fn check_fixtures(
    fixtures: &[Pairings],
    entrants: &[PlayerId],
) -> Result<Vec<Pairings>, RequestError> {
    let mut named = fixtures
        .iter()
        .flat_map(|round| round.pairs.iter().flat_map(|(a, b)| [a, b]));
    match named.find(|player| !entrants.contains(player)) {
        None => Ok(fixtures.to_vec()),
        Some(absent) => Err(RequestError::new(
            ErrorCode::InvalidState,
            format!("the fixtures of this league name {absent}, who has not registered"),
        )
        .with("player_id", absent.as_str())),
    }
}
