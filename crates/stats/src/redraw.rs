//! Tests whether a referee repeats matches in favour of one player: an exact test of who wins the matches with more
//! than one attempt. Pure.

use crate::holm;
use serde::{Deserialize, Serialize};

/// A player's record in the repeated matches of a referee, without draws.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redrawn {
    pub player_id: String,
    pub wins: u32,
    pub losses: u32,
}

/// The player with the smallest p-value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Favoured {
    pub player_id: String,
    pub wins: u32,
    pub losses: u32,
    /// One-sided binomial test against a fair coin, with Holm's correction for the number of players.
    pub p_value: f64,
}

/// `None` if no such match was won.
pub fn favoured(records: &[Redrawn]) -> Option<Favoured> {
    let counted: Vec<&Redrawn> = records.iter().filter(|record| record.wins + record.losses > 0).collect();
    let p_values: Vec<f64> =
        counted.iter().map(|record| at_least(record.wins, record.wins + record.losses)).collect();
    let found = counted.into_iter().zip(holm::adjusted(&p_values));
    let (record, p_value) = found.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let Redrawn { player_id, wins, losses } = record.clone();
    Some(Favoured { player_id, wins, losses, p_value })
}

/// The binomial probability of at least `wins` of `played` with a fair coin.
fn at_least(wins: u32, played: u32) -> f64 {
    let ln_factorial = |n: u32| libm::lgamma(f64::from(n) + 1.0);
    let chance = |count: u32| {
        let ways = ln_factorial(played) - ln_factorial(count) - ln_factorial(played - count);
        (ways - f64::from(played) * std::f64::consts::LN_2).exp()
    };
    (wins..=played).map(chance).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(player_id: &str, wins: u32, losses: u32) -> Redrawn {
        Redrawn { player_id: player_id.into(), wins, losses }
    }

    /// R: `binom.test(9, 10, alternative = "greater")$p.value` gives 0.01074219.
    #[test]
    fn the_chance_of_a_record_is_what_r_gives() {
        assert!((at_least(9, 10) - 0.010_742_187_5).abs() < 1e-12);
        assert!((at_least(0, 7) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_player_that_gained_most_is_named_with_a_chance_that_counts_how_many_were_looked_at() {
        let found = favoured(&[record("P01", 1, 1), record("P02", 9, 1), record("P03", 0, 8)]).unwrap();
        assert_eq!(found.player_id, "P02");
        assert!((found.p_value - 3.0 * 0.010_742_187_5).abs() < 1e-12);
        assert_eq!(favoured(&[record("P01", 0, 0)]), None);
    }
}
