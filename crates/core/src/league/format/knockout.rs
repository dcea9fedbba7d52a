//! The knockout: who loses is out. Pure arithmetic.
//!
//! The bracket is the usual one: the first two seeds can only meet in the final, the first four not before the
//! semifinals, and so on; where places are empty, the best seeds go through without play.

use super::{Draw, DrawnRound, Lot, PlayedRound, count, legs, lots};
use crate::league::standings::Verdict;
use crate::protocol::PlayerId;
use std::collections::BTreeMap;

/// By what a knockout ranks before anything else.
pub const REACHED: &str = "stage reached";

/// A knockout as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Bracket {
    /// The ties that are not decided, each with the number of its next game.
    open: Vec<Tie>,
    /// The stage they belong to, and what it is called.
    stage: u32,
    title: String,
    /// Who goes through it without play.
    byes: Vec<PlayerId>,
    /// How far each player of the whole draw has come; the more the further, -1 for those who are not in the bracket.
    pub(super) reached: Vec<i64>,
    pub(super) lots: Vec<Lot>,
    pub(super) champion: Option<PlayerId>,
    /// How many stages follow on the open one.
    stages_to_come: u32,
}

#[derive(Debug)]
struct Tie {
    pair: (PlayerId, PlayerId),
    leg: u32,
    /// How many games it needs at least from here.
    least: u32,
}

/// How a tie stands.
enum Standing {
    Open { leg: u32, least: u32 },
    Won { first: bool, by_lot: bool },
}

/// Seeds in the order of the places of a bracket, counted from 0: neighbours meet. `size` is a power of two.
pub fn bracket_order(size: usize) -> Vec<usize> {
    let mut order = vec![0];
    while order.len() < size {
        let doubled = order.len() * 2;
        order = order
            .iter()
            .flat_map(|seed| [*seed, doubled - 1 - *seed])
            .collect();
    }
    order
}

fn stage_title(players: usize) -> String {
    match players {
        2 => "Final".to_owned(),
        4 => "Semifinals".to_owned(),
        8 => "Quarterfinals".to_owned(),
        more => format!("Round of {more}"),
    }
}

/// What came of the games of a stage, by pair: for each game, the winner if it had one.
type Games<'a> = BTreeMap<(u32, &'a PlayerId, &'a PlayerId), Vec<Option<&'a PlayerId>>>;

fn games_by_pair<'a>(played: &[PlayedRound<'a>]) -> Games<'a> {
    let mut games = Games::new();
    for round in played {
        for (a, b, verdict) in round.games() {
            let winner = match verdict {
                Some(Verdict::WonByA) => Some(a),
                Some(Verdict::WonByB) => Some(b),
                Some(Verdict::Drawn | Verdict::LostByBoth) => None,
                None => continue,
            };
            games
                .entry((round.drawn.stage, a.min(b), a.max(b)))
                .or_default()
                .push(winner);
        }
    }
    games
}

impl Draw {
    /// The next round of a knockout whose first stage has that number; `None` when it has its champion.
    pub(super) fn knockout_round(
        &self,
        entrants: &[PlayerId],
        first_stage: u32,
        played: &[PlayedRound<'_>],
    ) -> Option<DrawnRound> {
        let bracket = self.bracket(entrants, first_stage, played);
        let leg = bracket.open.iter().map(|tie| tie.leg).min()?;
        let due = bracket.open.iter().filter(|tie| tie.leg == leg);
        Some(DrawnRound {
            title: legs::title(&bracket.title, leg, self.competition.legs()),
            stage: bracket.stage,
            leg,
            pairs: due.map(|tie| legs::seated(&tie.pair, leg)).collect(),
            byes: if leg == 1 { bracket.byes } else { Vec::new() },
            fixed: played.is_empty(),
            play_off: false,
        })
    }

    /// How many rounds it takes with those that are played, if every tie is as short as can be.
    pub(super) fn knockout_rounds(
        &self,
        entrants: usize,
        first_stage: u32,
        played: &[PlayedRound<'_>],
    ) -> u32 {
        let over = |round: &&PlayedRound<'_>| {
            round.drawn.stage >= first_stage && round.verdicts.iter().all(Option::is_some)
        };
        let so_far = count(played.iter().filter(over).count());
        let shortest = self.competition.legs() / 2 + 1;
        if so_far == 0 {
            return count(entrants).next_power_of_two().trailing_zeros() * shortest;
        }
        let bracket = self.bracket_of(first_stage, played);
        let leg = bracket.open.iter().map(|tie| tie.leg).min().unwrap_or(0);
        let rest = bracket
            .open
            .iter()
            .map(|tie| tie.leg - leg + tie.least)
            .max()
            .unwrap_or(0);
        so_far + rest + bracket.stages_to_come * shortest
    }

    fn bracket_of(&self, first_stage: u32, played: &[PlayedRound<'_>]) -> Bracket {
        match first_stage {
            1 => self.bracket(&self.players, 1, played),
            _ => self.bracket(&self.qualified(played), first_stage, played),
        }
    }

    /// Plays the bracket through as far as the results go.
    pub(super) fn bracket(
        &self,
        entrants: &[PlayerId],
        first_stage: u32,
        played: &[PlayedRound<'_>],
    ) -> Bracket {
        let games = games_by_pair(played);
        let size = entrants.len().next_power_of_two();
        let order = bracket_order(size);
        let mut field: Vec<Option<PlayerId>> = order
            .iter()
            .map(|seed| entrants.get(*seed).cloned())
            .collect();
        let mut bracket = Bracket {
            reached: vec![-1; self.players.len()],
            ..Bracket::default()
        };
        self.set_reached(&mut bracket, entrants.iter(), 0);
        let mut losers: Vec<PlayerId> = Vec::new();
        let mut stage = first_stage;
        while field.len() > 1 {
            let is_final = field.len() == 2;
            let mut ties: Vec<(Option<PlayerId>, Option<PlayerId>)> = field
                .chunks(2)
                .map(|tie| {
                    (
                        tie.first().cloned().flatten(),
                        tie.get(1).cloned().flatten(),
                    )
                })
                .collect();
            let third = is_final && self.competition.third_place && losers.len() == 2;
            if third {
                ties.push((losers.first().cloned(), losers.get(1).cloned()));
            }
            bracket.stage = stage;
            bracket.title = stage_title(field.len());
            bracket.stages_to_come = field.len().trailing_zeros().saturating_sub(1);
            if third {
                bracket.title.push_str(" and third place");
            }
            let decided = self.play_stage(&mut bracket, &games, ties);
            let (through, beaten): (Vec<_>, Vec<_>) = decided.into_iter().unzip();
            let depth = i64::from(stage - first_stage + 1) * 2;
            if third && let Some(Some(winner)) = through.get(1) {
                // Between those who lost a semifinal and those who lost the final.
                self.set_reached(&mut bracket, std::iter::once(winner), depth - 3);
            }
            let winners: Vec<Option<PlayerId>> =
                through.into_iter().take(field.len() / 2).collect();
            self.set_reached(&mut bracket, winners.iter().flatten(), depth);
            if !bracket.open.is_empty() {
                return bracket;
            }
            losers = beaten.into_iter().flatten().collect();
            field = winners;
            stage += 1;
        }
        bracket.champion = field.into_iter().next().flatten();
        bracket
    }

    /// Decides the ties of a stage as far as its games do: winner and loser of each, and what is open.
    fn play_stage(
        &self,
        bracket: &mut Bracket,
        games: &Games<'_>,
        ties: Vec<(Option<PlayerId>, Option<PlayerId>)>,
    ) -> Vec<(Option<PlayerId>, Option<PlayerId>)> {
        bracket.byes.clear();
        let mut decided = Vec::with_capacity(ties.len());
        for tie in ties {
            let (first, second) = match tie {
                (Some(first), Some(second)) => (first, second),
                (alone, None) | (None, alone) => {
                    bracket.byes.extend(alone.clone());
                    decided.push((alone, None));
                    continue;
                }
            };
            decided.push(match self.standing(games, bracket.stage, &first, &second) {
                Standing::Open { leg, least } => {
                    bracket.open.push(Tie {
                        pair: (first, second),
                        leg,
                        least,
                    });
                    (None, None)
                }
                Standing::Won {
                    first: ahead,
                    by_lot,
                } => {
                    let (winner, loser) = if ahead {
                        (first, second)
                    } else {
                        (second, first)
                    };
                    if by_lot {
                        let winner = winner.clone();
                        let loser = loser.clone();
                        bracket.lots.push(Lot {
                            stage: bracket.stage,
                            winner,
                            loser,
                        });
                    }
                    (Some(winner), Some(loser))
                }
            });
        }
        decided
    }

    /// A tie is won by the player that cannot be caught up with; if it is level after its games, by the winner of the first game
    /// more that has a winner; and if none of those has, by lot.
    fn standing(
        &self,
        games: &Games<'_>,
        stage: u32,
        first: &PlayerId,
        second: &PlayerId,
    ) -> Standing {
        let played = games
            .get(&(stage, first.min(second), first.max(second)))
            .map_or(&[][..], Vec::as_slice);
        let legs = self.competition.legs();
        let mut lead = 0_i64;
        let mut number = 0_u32;
        for winner in played {
            number += 1;
            lead += winner.map_or(0, |winner| if winner == first { 1 } else { -1 });
            let left = i64::from(legs.saturating_sub(number));
            if lead.abs() > left {
                return Standing::Won {
                    first: lead > 0,
                    by_lot: false,
                };
            }
        }
        if number >= legs.saturating_add(self.competition.replays) {
            let first = lots::favour_first(self.seed, stage, first, second);
            return Standing::Won {
                first,
                by_lot: true,
            };
        }
        let left = i64::from(legs.saturating_sub(number));
        // Winning each game from here, the one who leads is out of reach when the lead exceeds what is left.
        let least = u32::try_from((left - lead.abs()) / 2 + 1).unwrap_or(1);
        Standing::Open {
            leg: number + 1,
            least,
        }
    }

    fn set_reached<'a>(
        &self,
        bracket: &mut Bracket,
        players: impl Iterator<Item = &'a PlayerId>,
        stage: i64,
    ) {
        for player in players {
            let place = self
                .places
                .get(player)
                .and_then(|place| bracket.reached.get_mut(*place));
            if let Some(reached) = place {
                *reached = stage;
            }
        }
    }
}
