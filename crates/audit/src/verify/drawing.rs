//! Are the rounds those that follow from the results? Draws them again. Pure.

use super::schedule;
use matchday_core::league::format::{DrawnRound, Lot};
use matchday_core::league::schedule::Pairings;
use matchday_core::league::{Draw, DrawnFrom, League};
use matchday_core::protocol::{PlayerId, RoundId, Timestamp};
use std::collections::VecDeque;

type Finding = Result<(), String>;

/// Follows the draws of a league.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// Rounds that are drawn together, and have not all been recorded yet.
    expected: VecDeque<DrawnRound>,
}

impl Drawing {
    pub(super) fn check_start(
        &self,
        league: &League,
        rounds: &[Pairings],
        drawn_from: Option<&DrawnFrom>,
    ) -> Finding {
        if let Some(fixtures) = &league.settings.fixtures {
            return if fixtures == rounds {
                Ok(())
            } else {
                Err("the rounds are not the fixtures that the league was created with".into())
            };
        }
        let entrants = league
            .players
            .iter()
            .filter(|(_, player)| !player.withdrawn)
            .map(|(id, _)| id);
        let entrants: Vec<PlayerId> = entrants.cloned().collect();
        if league.settings.competition.is_default() {
            schedule::check(entrants.iter(), rounds)?;
        }
        let Some(DrawnFrom {
            seed,
            entrants: drawn,
        }) = drawn_from
        else {
            return if league.settings.needs_draw() {
                Err("the start does not name the seed of rounds and lots".into())
            } else {
                Ok(())
            };
        };
        if *drawn != entrants {
            return Err("the schedule has players who had not registered".into());
        }
        let settings = &league.settings;
        let draw = Draw::begin(
            &settings.competition,
            &entrants,
            &settings.tie_breaks,
            *seed,
        )
        .map_err(|error| error.to_string())?;
        if draw.fixed_pairings() == rounds {
            Ok(())
        } else {
            Err(format!(
                "the rounds are not those of {}",
                settings.competition.format
            ))
        }
    }

    /// The league is as it was before the round was drawn.
    pub(super) fn check_round(
        &mut self,
        league: &League,
        at: Timestamp,
        round_id: RoundId,
        drawn: &DrawnRound,
    ) -> Finding {
        let next = RoundId(league.rounds.last().map_or(1, |last| last.round_id.0 + 1));
        if round_id != next {
            return Err(format!("round {next} is drawn next, not round {round_id}"));
        }
        if self.expected.is_empty() {
            check_lots(league)?;
            self.expected = league.rounds_to_draw(at).into();
        }
        let Some(expected) = self.expected.pop_front() else {
            return Err(format!("round {round_id} does not follow from anything"));
        };
        if expected == *drawn {
            return Ok(());
        }
        let pairs = expected
            .pairs
            .iter()
            .zip(&drawn.pairs)
            .find(|(expected, drawn)| expected != drawn);
        Err(match pairs {
            Some(((a, b), (c, d))) => {
                format!(
                    "round {round_id} pairs {c} with {d}, and the results put {a} against {b} there"
                )
            }
            None => {
                format!(
                    "round {round_id} ({}) is not the one that follows: {}",
                    drawn.title, expected.title
                )
            }
        })
    }

    pub(super) fn check_lot(&self, league: &League, lot: &Lot) -> Finding {
        if league.lots_to_draw().contains(lot) {
            Ok(())
        } else {
            Err(format!(
                "{} advances by lot against {}, but neither results nor seed give that",
                lot.winner, lot.loser
            ))
        }
    }

    /// Before a round is announced, and before the league ends by itself: nothing is left to be drawn.
    pub(super) fn check_complete(&self, league: &League, at: Timestamp) -> Finding {
        check_lots(league)?;
        let missing = self
            .expected
            .front()
            .cloned()
            .or_else(|| league.rounds_to_draw(at).into_iter().next());
        match missing {
            Some(missing) => Err(format!("{} had to be scheduled before that", missing.title)),
            None => Ok(()),
        }
    }
}

fn check_lots(league: &League) -> Finding {
    match league.lots_to_draw().first() {
        Some(lot) => Err(format!(
            "the lot between {} and {} is not recorded",
            lot.winner, lot.loser
        )),
        None => Ok(()),
    }
}
