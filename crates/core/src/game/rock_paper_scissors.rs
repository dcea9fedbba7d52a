//! Rock, paper, scissors: both show a hand at once, fifteen times, and the winner of more rounds wins the match.

use super::json_game::JsonGame;
use super::repeated::{Matrix, Repeated};
use super::rules::StrategyOf;
use super::{BuiltIn, GameEntry, Payoff};

pub(super) const GAME: GameEntry = GameEntry {
    name: "rock_paper_scissors",
    about: "a hand shown at once, fifteen times: who reads the other better?",
    rules: RULES,
    turns_max: Hands::ROUNDS,
    sides_matter: false,
    payoff: Some(Payoff {
        walkover: Hands::ROUNDS,
        ranks: false,
    }),
    new: JsonGame::<Repeated<Hands>>::begin,
    built_in: Some(BuiltIn::of::<Repeated<Hands>>()),
};

const RULES: &str = "\
# rock_paper_scissors

Both players show `rock`, `paper` or `scissors` at the same time, neither seeing the other's hand. Rock beats scissors,
scissors beat paper, paper beats rock; equal hands count for nobody. A match has 15 rounds, all of which are played.

- The player who has won more rounds wins the match.
- If both have won equally many, it is a draw.

A win is worth 3 points, a draw 1, a loss 0.

Both are asked at once, once a round. The context of a turn holds `round`, `rounds`, `your_total` and `opponent_total`
(rounds won so far) and `history`, a list of `{\"you\": ..., \"opponent\": ...}`, oldest first.
";

#[derive(Debug, Clone, Default)]
struct Hands;

impl Matrix for Hands {
    const MOVE_TYPE: &'static str = "show_hand";
    const ROUNDS: u32 = 15;
    /// Each is beaten by the next, and the last by the first.
    const OPTIONS: &'static [&'static str] = &["rock", "paper", "scissors"];
    const STRATEGIES: &'static [StrategyOf<Repeated<Self>>] = &[
        StrategyOf::new(
            "pattern",
            "beats what most often followed the opponent's last two hands",
            |situation| situation.theirs().expected(0..=2).map(what_beats),
        ),
        StrategyOf::new(
            "frequency",
            "beats the hand that the opponent showed most often",
            |situation| situation.theirs().expected(0..=0).map(what_beats),
        ),
    ];

    fn payoff(a: usize, b: usize) -> [u32; 2] {
        [u32::from(what_beats(b) == a), u32::from(what_beats(a) == b)]
    }
}

fn what_beats(hand: usize) -> usize {
    (hand + 1) % Hands::OPTIONS.len()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{self, Tally};
    use super::super::{Game, Outcome, Seat};
    use super::*;
    use crate::entropy::Entropy;
    use crate::game::strategy;
    use crate::game::strategy::{Strategy, Turn};
    use crate::protocol::PlayerId;
    use serde_json::{Value, json};

    #[test]
    fn each_hand_beats_one_and_loses_to_one() {
        for (a, b, points) in [
            ("rock", "scissors", [1, 0]),
            ("scissors", "paper", [1, 0]),
            ("paper", "rock", [1, 0]),
            ("rock", "paper", [0, 1]),
            ("paper", "paper", [0, 0]),
        ] {
            let [a, b] = [a, b].map(|hand| {
                Hands::OPTIONS
                    .iter()
                    .position(|known| *known == hand)
                    .unwrap()
            });
            assert_eq!(Hands::payoff(a, b), points, "{a} against {b}");
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
            (
                "rrrrrrrrrrrrrrr",
                "pprrrrrrrrrrrrs",
                Outcome::Win(Seat::B),
                "P02 scored 2 in 15 rounds, P01 1",
            ),
            (
                "rpsrpsrpsrpsrps",
                "rpsrpsrpsrpsrps",
                Outcome::Draw,
                "Both scored 0 in 15 rounds",
            ),
        ] {
            let mut game = JsonGame::at(Repeated::<Hands>::default());
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
            if entropy.chance(60) {
                json!("rock")
            } else {
                turn.any_option(entropy)
            }
        }
    }

    /// Goes round the three hands.
    #[derive(Debug)]
    struct Round;

    impl Strategy for Round {
        fn choose(&self, turn: &Turn<'_>, _: &mut Entropy) -> Value {
            let round = turn.context.get("round").and_then(Value::as_u64).unwrap() as usize;
            turn.options.iter().cycle().nth(round - 1).cloned().unwrap()
        }
    }

    #[test]
    fn habits_are_punished() {
        let [pattern, frequency] =
            ["pattern", "frequency"].map(|name| strategy::named(name).unwrap());
        assert_eq!(tests::against(&GAME, pattern, &Round, 40).lost, 0);
        for strategy in [pattern, frequency] {
            let tally = tests::against(&GAME, strategy, &Stony, 100);
            assert!(tally.won > 3 * tally.lost, "{}: {tally:?}", strategy.name);
        }
    }

    #[test]
    fn nothing_beats_pure_chance_for_long_nor_loses_to_it() {
        let Tally { won, lost, .. } = tests::series(&GAME, "pattern", "random", 200);
        assert!(won.abs_diff(lost) < 55, "won {won}, lost {lost}");
    }
}
