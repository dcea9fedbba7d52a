//! What a best response wins against each strategy whose rule is known: how much it gives away to somebody who sees through it,
//! which no league of its usual opponents shows. Pure.

use matchday_core::entropy::Entropy;
use matchday_core::game::best_response::Response;
use matchday_core::game::{GameEntry, Outcome, Seat};
use matchday_stats::elo;
use matchday_stats::estimate::Estimate;
use matchday_stats::normal::Z_95;
use matchday_stats::results::Wdl;
use serde::{Deserialize, Serialize};

/// How many matches are played where chance has part in them.
const MATCHES: u32 = 400;

/// Of the opponent that knows the strategy. Without chance an interval is as wide as nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestResponse {
    pub strategy: String,
    /// A win counts 1, a draw half.
    pub score: Estimate,
    /// What the game itself pays it, if its tables go by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payoff_per_match: Option<Estimate>,
}

/// Against a built-in strategy; `None` in games without simultaneous choice.
pub fn against(game: &GameEntry, strategy: &str, seed: u64) -> Option<BestResponse> {
    let mut entropy = Entropy::numbered(seed);
    let respond = game.built_in?.respond;
    let by_payoff = game.ranks_by_payoff();
    let mut record = Wdl::default();
    let mut paid = Vec::new();
    let mut is_certain = true;
    let mut seats = Seat::BOTH.into_iter().cycle();
    for number in 0..MATCHES {
        // Each seat once tells all where nothing is left to chance.
        if is_certain && number == 2 {
            break;
        }
        let seat = seats.next()?;
        let response: Response = respond(strategy, seat, by_payoff, &mut entropy)?;
        is_certain &= response.is_certain;
        match response.outcome {
            Outcome::Win(winner) if winner == seat => record.wins += 1,
            Outcome::Win(_) => record.losses += 1,
            Outcome::Draw => record.draws += 1,
        }
        paid.extend(response.totals.map(|totals| f64::from(*seat.of(&totals))));
    }
    let value = elo::score(record)?;
    let [low, high] = if is_certain {
        [value; 2]
    } else {
        elo::score_interval(record)?
    };
    let payoff_per_match = Estimate::of_mean(&paid, Z_95).filter(|_| by_payoff);
    Some(BestResponse {
        strategy: strategy.to_owned(),
        score: Estimate { value, low, high },
        payoff_per_match,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_core::game::{GAMES, strategy};

    fn all(game: &str) -> Vec<BestResponse> {
        let game = GAMES.iter().find(|entry| entry.name == game).unwrap();
        strategy::of(game)
            .filter_map(|entry| against(game, entry.name, 1))
            .collect()
    }

    #[test]
    fn nothing_beats_chance_and_whoever_can_be_read_is_beaten() {
        for game in ["rock_paper_scissors", "matching_pennies"] {
            for found in all(game) {
                let Estimate { value, low, high } = found.score;
                if found.strategy == "random" {
                    assert!(low <= 0.5 && 0.5 <= high, "{game} {found:?}");
                } else {
                    assert!(value > 0.95 && low > 0.9, "{game} {found:?}");
                }
            }
        }
        assert!(all("nim").is_empty());
    }

    /// The draw is beyond everybody.
    #[test]
    fn nobody_can_be_beaten_at_even_odd() {
        for found in all("even_odd") {
            assert!(
                found.score.low <= 0.5 && 0.5 <= found.score.high,
                "{found:?}"
            );
        }
    }

    #[test]
    fn the_dilemma_is_told_in_payoffs() {
        let found = all("iterated_prisoners_dilemma");
        let paid = |name: &str| {
            let found = found.iter().find(|found| found.strategy == name).unwrap();
            found.payoff_per_match.unwrap()
        };
        let exact = |value| Estimate {
            value,
            low: value,
            high: value,
        };
        assert_eq!(paid("tit_for_tat"), exact(62.0));
        assert_eq!(paid("always_cooperate"), exact(100.0));
        // Half of the time 5, half of the time 1.
        let random = paid("random");
        assert!(random.low < 60.0 && 60.0 < random.high, "{random:?}");
    }
}
