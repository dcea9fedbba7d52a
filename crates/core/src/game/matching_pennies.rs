//! Matching pennies: both turn a coin at once, twenty times. A, the matcher, wins a round when the sides are equal, B when
//! they differ.

use super::fast::{self, Choose};
use super::repeated::{Matrix, Repeated, predicted, theirs};
use super::rounds::Rounds;
use super::strategy::{StrategyEntry, Turn};
use super::{GameEntry, Payoff, Seat};
use serde_json::Value;

pub(super) const GAME: GameEntry = GameEntry {
    name: "matching_pennies",
    about: "one wants both coins alike, the other does not, twenty times",
    rules: RULES,
    turns_max: ROUNDS,
    sides_matter: false,
    payoff: Some(Payoff { walkover: ROUNDS, ranks: false }),
    new: || Box::new(Repeated::new(&COINS)),
    strategies: &[
        StrategyEntry {
            name: "pattern",
            about: "answers what most often followed the opponent's last two coins",
            choose: |turn, _| answering(turn, 2),
        },
        StrategyEntry {
            name: "frequency",
            about: "answers the side that the opponent showed more often",
            choose: |turn, _| answering(turn, 0),
        },
    ],
    fast: Some(|names| {
        let pattern: Choose<Rounds> = |rounds, seat| answer(rounds.made_by(seat.other()).predicted()?, seat);
        let frequency: Choose<Rounds> =
            |rounds, seat| answer(rounds.made_by(seat.other()).most_common()?, seat);
        fast::players(Rounds::new(&COINS), &[("pattern", pattern), ("frequency", frequency)], names)
    }),
};

/// What this seat shows against an expected side, by their numbers: A is the matcher.
fn answer(expected: u32, seat: Seat) -> Option<u32> {
    Some(if seat == Seat::A { expected } else { 1 - expected })
}

const RULES: &str = "\
# matching_pennies

Both players show `heads` or `tails` at the same time, neither seeing the other's coin. Player A is the matcher: the round is
A's if the two are equal, and player B's if they differ. A match has 20 rounds, all of which are played.

- The player who has won more rounds wins the match.
- If both have won equally many, it is a draw.

A win is worth 3 points, a draw 1, a loss 0. A player who does not answer in time loses the match.

Both are asked at once, once a round. The context of a turn holds `your_role` (`matcher` or `mismatcher`), `round`, `rounds`,
`your_total` and `opponent_total` (rounds won so far) and `history`, a list of `{\"you\": ..., \"opponent\": ...}`, oldest first.
";

const ROUNDS: u32 = 20;
const SIDES: [&str; 2] = ["heads", "tails"];
const MATCHER: &str = "matcher";

static COINS: Matrix = Matrix {
    move_type: "show_coin",
    rounds: ROUNDS,
    options: &SIDES,
    payoff: |a, b| if a == b { [1, 0] } else { [0, 1] },
    roles: Some([MATCHER, "mismatcher"]),
};

fn answering(turn: &Turn<'_>, depth: usize) -> Option<Value> {
    let is_matcher = turn.context.get("your_role")?.as_str()? == MATCHER;
    let expected = predicted(&theirs(turn), depth)?;
    SIDES.into_iter().find(|side| (*side == expected) == is_matcher).map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::super::arena::{self, Tally};
    use super::super::{Game, Outcome};
    use super::*;
    use crate::entropy::Entropy;
    use crate::game::strategy;
    use crate::game::strategy::Strategy;
    use crate::protocol::PlayerId;
    use serde_json::json;

    #[test]
    fn the_matcher_wins_equal_coins_and_the_other_unequal_ones() {
        for (a, b, points) in [
            ("heads", "heads", [1, 0]),
            ("tails", "tails", [1, 0]),
            ("heads", "tails", [0, 1]),
            ("tails", "heads", [0, 1]),
        ] {
            assert_eq!((COINS.payoff)(a, b), points, "{a} and {b}");
        }
    }

    #[test]
    fn more_rounds_won_win_the_match() {
        let players = [1, 2].map(PlayerId::numbered);
        for (equal, outcome, reason) in [
            (11, Outcome::Win(Seat::A), "P01 scored 11 in 20 rounds, P02 9"),
            (10, Outcome::Draw, "Both scored 10 in 20 rounds"),
            (0, Outcome::Win(Seat::B), "P02 scored 20 in 20 rounds, P01 0"),
        ] {
            let mut game = Repeated::new(&COINS);
            for round in 0..20 {
                game.play(Seat::A, &json!("heads")).unwrap();
                game.play(Seat::B, &json!(if round < equal { "heads" } else { "tails" })).unwrap();
            }
            assert_eq!(game.outcome(), Some(outcome), "{equal} equal");
            assert_eq!(game.reason(&players), reason);
        }
    }

    #[test]
    fn a_seat_knows_which_of_the_two_it_is() {
        let game = Repeated::new(&COINS);
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
            let tally = arena::against(&GAME, strategy::named(name).unwrap(), &Heady, 100);
            assert!(tally.won > 3 * tally.lost, "{name}: {tally:?}");
            let Tally { won, lost, .. } = arena::series(&GAME, name, "random", 200);
            assert!(won.abs_diff(lost) < 55, "{name}: won {won}, lost {lost}");
        }
    }
}
