//! Rock, paper, scissors: both show a hand at once, fifteen times, and the winner of more rounds wins the match.

use super::fast::{self, Choose};
use super::repeated::{Matrix, Repeated, predicted, theirs};
use super::rounds::Rounds;
use super::strategy::{StrategyEntry, Turn};
use super::{GameEntry, Payoff};
use serde_json::Value;

pub(super) const GAME: GameEntry = GameEntry {
    name: "rock_paper_scissors",
    about: "a hand shown at once, fifteen times: who reads the other better?",
    rules: RULES,
    turns_max: ROUNDS,
    sides_matter: false,
    payoff: Some(Payoff { walkover: ROUNDS, ranks: false }),
    new: || Box::new(Repeated::new(&HANDS)),
    strategies: &[
        StrategyEntry {
            name: "pattern",
            about: "beats what most often followed the opponent's last two hands",
            choose: |turn, _| beating(turn, 2),
        },
        StrategyEntry {
            name: "frequency",
            about: "beats the hand that the opponent showed most often",
            choose: |turn, _| beating(turn, 0),
        },
    ],
    fast: Some(|names| {
        let pattern: Choose<Rounds> = |rounds, seat| next(rounds.made_by(seat.other()).predicted()?);
        let frequency: Choose<Rounds> = |rounds, seat| next(rounds.made_by(seat.other()).most_common()?);
        fast::players(Rounds::new(&HANDS), &[("pattern", pattern), ("frequency", frequency)], names)
    }),
};

/// The hand that beats this one, by their numbers.
fn next(hand: u32) -> Option<u32> {
    Some((hand + 1) % 3)
}

const RULES: &str = "\
# rock_paper_scissors

Both players show `rock`, `paper` or `scissors` at the same time, neither seeing the other's hand. Rock beats scissors,
scissors beat paper, paper beats rock; equal hands count for nobody. A match has 15 rounds, all of which are played.

- The player who has won more rounds wins the match.
- If both have won equally many, it is a draw.

A win is worth 3 points, a draw 1, a loss 0. A player who does not answer in time loses the match.

Both are asked at once, once a round. The context of a turn holds `round`, `rounds`, `your_total` and `opponent_total`
(rounds won so far) and `history`, a list of `{\"you\": ..., \"opponent\": ...}`, oldest first.
";

const ROUNDS: u32 = 15;
/// Each is beaten by the next, and the last by the first.
const CYCLE: [&str; 3] = ["rock", "paper", "scissors"];

static HANDS: Matrix = Matrix {
    move_type: "show_hand",
    rounds: ROUNDS,
    options: &CYCLE,
    payoff: |a, b| [u32::from(beats(a, b)), u32::from(beats(b, a))],
    roles: None,
};

fn beats(hand: &str, other: &str) -> bool {
    what_beats(other) == Some(hand)
}

fn what_beats(hand: &str) -> Option<&'static str> {
    let mut around = CYCLE.into_iter().cycle().take(CYCLE.len() + 1);
    around.find(|known| *known == hand)?;
    around.next()
}

fn beating(turn: &Turn<'_>, depth: usize) -> Option<Value> {
    let expected = predicted(&theirs(turn), depth)?;
    what_beats(expected).map(Value::from)
}

#[cfg(test)]
mod tests {
    use super::super::arena::{self, Tally};
    use super::super::{Game, Outcome, Seat};
    use super::*;
    use crate::entropy::Entropy;
    use crate::game::strategy;
    use crate::game::strategy::Strategy;
    use crate::protocol::PlayerId;
    use serde_json::json;

    #[test]
    fn each_hand_beats_one_and_loses_to_one() {
        for (a, b, points) in [
            ("rock", "scissors", [1, 0]),
            ("scissors", "paper", [1, 0]),
            ("paper", "rock", [1, 0]),
            ("rock", "paper", [0, 1]),
            ("paper", "paper", [0, 0]),
        ] {
            assert_eq!((HANDS.payoff)(a, b), points, "{a} against {b}");
        }
    }

    #[test]
    fn more_rounds_won_win_the_match() {
        let hand = |letter: char| match letter {
            'r' => json!("rock"),
            'p' => json!("paper"),
            _ => json!("scissors"),
        };
        let players = [1, 2].map(PlayerId::numbered);
        for (a, b, outcome, reason) in [
            (
                "rrrrrrrrrrrrrrr",
                "sssssssssssssss",
                Outcome::Win(Seat::A),
                "P01 scored 15 in 15 rounds, P02 0",
            ),
            ("rrrrrrrrrrrrrrr", "pprrrrrrrrrrrrs", Outcome::Win(Seat::B), "P02 scored 2 in 15 rounds, P01 1"),
            ("rpsrpsrpsrpsrps", "rpsrpsrpsrpsrps", Outcome::Draw, "Both scored 0 in 15 rounds"),
        ] {
            let mut game = Repeated::new(&HANDS);
            for (a, b) in a.chars().zip(b.chars()) {
                game.play(Seat::B, &hand(b)).unwrap();
                game.play(Seat::A, &hand(a)).unwrap();
            }
            assert_eq!(game.outcome(), Some(outcome), "{a} against {b}");
            assert_eq!(game.reason(&players), reason);
        }
    }

    /// Shows rock most of the time.
    #[derive(Debug)]
    struct Stony;

    impl Strategy for Stony {
        fn choose(&self, turn: &Turn<'_>, entropy: &mut Entropy) -> Value {
            if entropy.chance(60) { json!("rock") } else { turn.any_option(entropy) }
        }
    }

    /// Goes round the three hands.
    #[derive(Debug)]
    struct Round;

    impl Strategy for Round {
        fn choose(&self, turn: &Turn<'_>, _: &mut Entropy) -> Value {
            turn.options.iter().cycle().nth(theirs(turn).len()).cloned().unwrap()
        }
    }

    #[test]
    fn habits_are_punished() {
        let [pattern, frequency] = ["pattern", "frequency"].map(|name| strategy::named(name).unwrap());
        assert_eq!(arena::against(&GAME, pattern, &Round, 40).lost, 0);
        for strategy in [pattern, frequency] {
            let tally = arena::against(&GAME, strategy, &Stony, 100);
            assert!(tally.won > 3 * tally.lost, "{}: {tally:?}", strategy.name);
        }
    }

    #[test]
    fn nothing_beats_pure_chance_for_long_nor_loses_to_it() {
        let Tally { won, lost, .. } = arena::series(&GAME, "pattern", "random", 200);
        assert!(won.abs_diff(lost) < 55, "won {won}, lost {lost}");
    }
}
