//! Matching pennies: both turn a coin at once, twenty times. A, the matcher, wins a round when the sides are equal, B when
//! they differ.

use super::json_game::JsonGame;
use super::repeated::{Matrix, Repeated};
use super::rules::{Situation, StrategyOf};
use super::{BuiltIn, GameEntry, Payoff, Seat};
use std::ops::RangeInclusive;

pub(super) const GAME: GameEntry = GameEntry {
    name: "matching_pennies",
    about: "one wants both coins alike, the other does not, twenty times",
    rules: RULES,
    turns_max: Coins::ROUNDS,
    sides_matter: false,
    payoff: Some(Payoff {
        walkover: Coins::ROUNDS,
        ranks: false,
    }),
    new: JsonGame::<Repeated<Coins>>::begin,
    built_in: Some(BuiltIn::of::<Repeated<Coins>>()),
};

const RULES: &str = "\
# matching_pennies

Both players show `heads` or `tails` at the same time, neither seeing the other's coin. Player A is the matcher: the round is
A's if the two are equal, and player B's if they differ. A match has 20 rounds, all of which are played.

- The player who has won more rounds wins the match.
- If both have won equally many, it is a draw.

A win is worth 3 points, a draw 1, a loss 0.

Both are asked at once, once a round. The context of a turn holds `your_role` (`matcher` or `mismatcher`), `round`, `rounds`,
`your_total` and `opponent_total` (rounds won so far) and `history`, a list of `{\"you\": ..., \"opponent\": ...}`, oldest first.
";

#[derive(Debug, Clone, Default)]
struct Coins;

impl Matrix for Coins {
    const MOVE_TYPE: &'static str = "show_coin";
    const ROUNDS: u32 = 20;
    const OPTIONS: &'static [&'static str] = &["heads", "tails"];
    const ROLES: Option<[&'static str; 2]> = Some(["matcher", "mismatcher"]);
    const STRATEGIES: &'static [StrategyOf<Repeated<Self>>] = &[
        StrategyOf::new(
            "pattern",
            "answers what most often followed the opponent's last two coins",
            |situation| answer(situation, 0..=2),
        ),
        StrategyOf::new(
            "frequency",
            "answers the side that the opponent showed more often",
            |situation| answer(situation, 0..=0),
        ),
    ];

    fn payoff(a: usize, b: usize) -> [u32; 2] {
        if a == b { [1, 0] } else { [0, 1] }
    }
}

/// What this seat shows against the side that is expected.
fn answer(
    situation: &Situation<'_, Repeated<Coins>>,
    lengths: RangeInclusive<u32>,
) -> Option<usize> {
    let expected = situation.theirs().expected(lengths)?;
    Some(if situation.seat == Seat::A {
        expected
    } else {
        1 - expected
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{self, Tally};
    use super::super::{Game, Outcome};
    use super::*;
    use crate::entropy::Entropy;
    use crate::game::strategy;
    use crate::game::strategy::{Strategy, Turn};
    use crate::protocol::PlayerId;
    use serde_json::{Value, json};

    #[test]
    fn the_matcher_wins_equal_coins_and_the_other_unequal_ones() {
        for (a, b, points) in [
            (0, 0, [1, 0]),
            (1, 1, [1, 0]),
            (0, 1, [0, 1]),
            (1, 0, [0, 1]),
        ] {
            assert_eq!(Coins::payoff(a, b), points, "{a} and {b}");
        }
    }

    #[test]
    fn more_rounds_won_win_the_match() {
        let players = [1, 2].map(PlayerId::numbered);
        for (equal, outcome, reason) in [
            (
                11,
                Outcome::Win(Seat::A),
                "P01 scored 11 in 20 rounds, P02 9",
            ),
            (10, Outcome::Draw, "Both scored 10 in 20 rounds"),
            (
                0,
                Outcome::Win(Seat::B),
                "P02 scored 20 in 20 rounds, P01 0",
            ),
        ] {
            let mut game = JsonGame::at(Repeated::<Coins>::default());
            for round in 0..20 {
                game.play(Seat::A, &json!("heads")).unwrap();
                game.play(
                    Seat::B,
                    &json!(if round < equal { "heads" } else { "tails" }),
                )
                .unwrap();
            }
            assert_eq!(game.outcome(), Some(outcome), "{equal} equal");
            assert_eq!(game.reason(&players), reason);
        }
    }

    #[test]
    fn a_seat_knows_which_of_the_two_it_is() {
        let game = JsonGame::at(Repeated::<Coins>::default());
        let role = |seat| game.request(seat).context.get("your_role").cloned();
        assert_eq!(role(Seat::A), Some(json!("matcher")));
        assert_eq!(role(Seat::B), Some(json!("mismatcher")));
    }

    /// Shows heads most of the time.
    #[derive(Debug)]
    struct Heady;

    impl Strategy for Heady {
        fn choose(&self, _: &Turn<'_>, entropy: &mut Entropy) -> Value {
            json!(if entropy.chance(75) { "heads" } else { "tails" })
        }
    }

    #[test]
    fn a_habit_is_punished_on_either_side_and_chance_is_not() {
        for name in ["pattern", "frequency"] {
            let tally = tests::against(&GAME, strategy::named(name).unwrap(), &Heady, 100);
            assert!(tally.won > 3 * tally.lost, "{name}: {tally:?}");
            let Tally { won, lost, .. } = tests::series(&GAME, name, "random", 200);
            assert!(won.abs_diff(lost) < 55, "{name}: won {won}, lost {lost}");
        }
    }
}
