//! What a best response wins against a strategy: an opponent that knows the rule it plays by, and what it remembers. For games of
//! simultaneous choice. Pure.

use super::rules::{Choose, Rules, Situation, StrategyOf};
use super::{Outcome, Seat, Turn};
use crate::entropy::Entropy;
use std::cmp::Ordering;

/// How many rounds a best response looks ahead: more changes nothing against the strategies that are built in.
const ROUNDS_AHEAD: u32 = 4;

/// A match of a best response against a strategy that has seen no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// How it ended.
    pub outcome: Outcome,
    /// What A and B have scored within the match, in games that keep such a score.
    pub totals: Option<[u32; 2]>,
    /// Whether chance had no part in it, so that it always goes like this.
    pub is_certain: bool,
}

/// Plays a match with the best response in this seat. `by_payoff`: it is after points of its own within the match, and not after
/// the difference. `None` if players of the game do not choose at once.
pub(super) fn play<R: Rules>(
    strategy: &str,
    seat: Seat,
    by_payoff: bool,
    entropy: &mut Entropy,
) -> Option<Response> {
    let known = Known::<R> {
        choose: StrategyOf::<R>::named(strategy).map(|strategy| strategy.choose),
        memory: R::Memory::default(),
        seat,
        by_payoff,
    };
    // Chance does not answer what is played: nothing is to be seen further ahead.
    let rounds_ahead = known.choose.map_or(1, |_| ROUNDS_AHEAD);
    let mut position = R::default();
    if position.turn() != Turn::Both {
        return None;
    }
    let mut is_certain = true;
    let mut draw = |below: usize| usize::try_from(entropy.below(below as u64)).unwrap_or(0);
    loop {
        match position.turn() {
            Turn::Both => {
                let (own, _) = known.best(&position, rounds_ahead)?;
                let replies = known.replies(&position);
                is_certain &= replies.len() == 1;
                let reply = *replies.get(draw(replies.len()))?;
                position = known.after(&position, own, reply);
            }
            Turn::Chance => {
                is_certain = false;
                let all = drawn(&position);
                let number = draw(all.len());
                position = all.into_iter().nth(number)?;
            }
            Turn::One(_) | Turn::External | Turn::Over => break,
        }
    }
    Some(Response {
        outcome: position.outcome()?,
        totals: position.totals(),
        is_certain,
    })
}

/// The strategy, as the best response knows it.
struct Known<R: Rules> {
    choose: Option<Choose<R>>,
    memory: R::Memory,
    /// Of the best response.
    seat: Seat,
    by_payoff: bool,
}

impl<R: Rules> Known<R> {
    /// What the strategy may do here, each as likely as the others.
    fn replies(&self, position: &R) -> Vec<R::Move> {
        let chosen = self.choose.and_then(|choose| {
            choose(&Situation {
                position,
                seat: self.seat.other(),
                memory: &self.memory,
                opponent: 0,
            })
        });
        chosen.map_or_else(|| options(position).collect(), |made| vec![made])
    }

    fn after(&self, position: &R, own: R::Move, reply: R::Move) -> R {
        let [a, b] = match self.seat {
            Seat::A => [own, reply],
            Seat::B => [reply, own],
        };
        let mut position = position.clone();
        position.play(Seat::A, a);
        position.play(Seat::B, b);
        position
    }

    /// The first of the best moves, and what it is worth.
    fn best(&self, position: &R, rounds: u32) -> Option<(R::Move, f64)> {
        let replies = self.replies(position);
        let worth = |own: R::Move| {
            let after = replies
                .iter()
                .map(|reply| self.worth(&self.after(position, own, *reply), rounds - 1));
            after.sum::<f64>() / replies.len() as f64
        };
        options(position)
            .map(|own| (own, worth(own)))
            .reduce(|best, other| {
                if other.1.total_cmp(&best.1) == Ordering::Greater {
                    other
                } else {
                    best
                }
            })
    }

    fn worth(&self, position: &R, rounds: u32) -> f64 {
        match position.turn() {
            Turn::Both if rounds > 0 => self.best(position, rounds).map_or(0.0, |(_, worth)| worth),
            Turn::Chance => {
                let all = drawn(position);
                let worths = all.iter().map(|position| self.worth(position, rounds));
                worths.sum::<f64>() / all.len() as f64
            }
            _ => self.gained(position),
        }
    }

    fn gained(&self, position: &R) -> f64 {
        match (position.totals(), position.outcome()) {
            (Some(totals), _) => {
                let [own, theirs] =
                    [self.seat, self.seat.other()].map(|seat| f64::from(*seat.of(&totals)));
                if self.by_payoff { own } else { own - theirs }
            }
            // The points of a league.
            (None, Some(Outcome::Win(winner))) if winner == self.seat => 3.0,
            (None, Some(Outcome::Draw)) => 1.0,
            (None, _) => 0.0,
        }
    }
}

fn options<R: Rules>(position: &R) -> impl Iterator<Item = R::Move> {
    (0..position.options()).map(|number| position.option(number))
}

/// The positions that chance may lead to, each as likely as the others.
fn drawn<R: Rules>(position: &R) -> Vec<R> {
    let mut all = Vec::new();
    loop {
        let mut next = position.clone();
        let mut is_beyond = false;
        next.chance(|range| {
            let number = range.start() + all.len() as u32;
            is_beyond = !range.contains(&number);
            number.min(*range.end())
        });
        if is_beyond || all.len() > 1_000 {
            return all;
        }
        all.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::super::GAMES;
    use super::*;

    fn totals(game: &str, strategy: &str, seat: Seat) -> Response {
        let game = GAMES.iter().find(|entry| entry.name == game).unwrap();
        let respond = game.built_in.unwrap().respond;
        respond(
            strategy,
            seat,
            game.ranks_by_payoff(),
            &mut Entropy::numbered(1),
        )
        .unwrap()
    }

    /// By hand: who is met by its own kind cooperates until the last round; win_stay_lose_shift forgives every second
    /// betrayal, so that betraying it always brings 5 and 1 in turn.
    #[test]
    fn the_dilemmas_best_responses_are_known() {
        for (strategy, best) in [
            ("tit_for_tat", 19 * 3 + 5),
            ("grim", 19 * 3 + 5),
            ("always_cooperate", 100),
            ("always_defect", 20),
            ("win_stay_lose_shift", 62),
        ] {
            for seat in Seat::BOTH {
                let found = totals("iterated_prisoners_dilemma", strategy, seat);
                let own = *seat.of(&found.totals.unwrap());
                assert!(found.is_certain);
                assert_eq!(own, best, "{strategy} {seat:?}");
            }
        }
    }

    #[test]
    fn who_looks_for_patterns_can_be_led() {
        for game in ["rock_paper_scissors", "matching_pennies"] {
            for (strategy, seat) in [("pattern", Seat::A), ("frequency", Seat::B)] {
                let found = totals(game, strategy, seat);
                assert_eq!(found.outcome, Outcome::Win(seat), "{game} {strategy}");
                assert!(!found.is_certain, "the first choice is by chance");
            }
        }
    }

    #[test]
    fn only_simultaneous_games_have_one() {
        let nim = GAMES.iter().find(|entry| entry.name == "nim").unwrap();
        let respond = nim.built_in.unwrap().respond;
        assert_eq!(
            respond("optimal", Seat::A, false, &mut Entropy::numbered(1)),
            None
        );
    }
}
