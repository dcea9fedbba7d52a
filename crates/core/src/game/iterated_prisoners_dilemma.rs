//! The iterated prisoner's dilemma: both cooperate or defect at once, twenty times, for points that add up.

use super::json_game::JsonGame;
use super::repeated::{Matrix, Repeated};
use super::rules::StrategyOf;
use super::{BuiltIn, GameEntry, Payoff};

pub(super) const GAME: GameEntry = GameEntry {
    name: "iterated_prisoners_dilemma",
    about: "cooperate or defect, twenty times, for points that add up",
    rules: RULES,
    turns_max: Dilemma::ROUNDS,
    sides_matter: false,
    payoff: Some(Payoff {
        walkover: Dilemma::ROUNDS * MUTUAL_COOPERATION,
        ranks: true,
    }),
    new: JsonGame::<Repeated<Dilemma>>::begin,
    built_in: Some(BuiltIn::of::<Repeated<Dilemma>>()),
};

const RULES: &str = "\
# iterated_prisoners_dilemma

Both players `cooperate` or `defect` at the same time, neither seeing the other's choice, in 20 rounds, all of which are
played. Each round brings points, which add up:

| you       | opponent  | you get | opponent gets |
| --------- | --------- | ------- | ------------- |
| cooperate | cooperate | 3       | 3             |
| cooperate | defect    | 0       | 5             |
| defect    | cooperate | 5       | 0             |
| defect    | defect    | 1       | 1             |

- The player with more of these points after the last round wins the match.
- If both have equally many, it is a draw.

In the table of the league a win is worth 3 points, a draw 1, a loss 0, whatever the points within the match were.

Both are asked at once, once a round. The context of a turn holds `round`, `rounds`, `your_total` and `opponent_total`
(points so far) and `history`, a list of `{\"you\": ..., \"opponent\": ...}`, oldest first.
";

const MUTUAL_COOPERATION: u32 = 3;
const COOPERATE: usize = 0;
const DEFECT: usize = 1;

#[derive(Debug, Clone, Default)]
struct Dilemma;

impl Matrix for Dilemma {
    const MOVE_TYPE: &'static str = "cooperate_or_defect";
    const ROUNDS: u32 = 20;
    const OPTIONS: &'static [&'static str] = &["cooperate", "defect"];
    const STRATEGIES: &'static [StrategyOf<Repeated<Self>>] = &[
        StrategyOf::new(
            "tit_for_tat",
            "cooperates first, then does what the opponent did in the round before",
            |situation| situation.theirs().last().or(Some(COOPERATE)),
        ),
        StrategyOf::new(
            "grim",
            "cooperates until the opponent defects, and then never again",
            |situation| {
                Some(if situation.theirs().has(DEFECT) {
                    DEFECT
                } else {
                    COOPERATE
                })
            },
        ),
        StrategyOf::new(
            "win_stay_lose_shift",
            "the last choice again if it brought 3 or 5 points, the other one if it brought 0 or 1",
            // An opponent who cooperates brings 3 or 5.
            |situation| {
                let is_same = situation.own().last() == situation.theirs().last();
                Some(if is_same { COOPERATE } else { DEFECT })
            },
        ),
        StrategyOf::new("always_cooperate", "cooperates, whatever happens", |_| {
            Some(COOPERATE)
        }),
        StrategyOf::new("always_defect", "defects, whatever happens", |_| {
            Some(DEFECT)
        }),
    ];

    fn payoff(a: usize, b: usize) -> [u32; 2] {
        match (a, b) {
            (COOPERATE, COOPERATE) => [MUTUAL_COOPERATION; 2],
            (COOPERATE, _) => [0, 5],
            (_, COOPERATE) => [5, 0],
            (_, _) => [1, 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{self, Tally, play_out};
    use super::super::{Game, Outcome, Seat};
    use super::*;
    use crate::entropy::Entropy;
    use crate::game::strategy;
    use crate::protocol::PlayerId;
    use serde_json::json;

    #[test]
    fn a_round_pays_by_the_table() {
        for (a, b, paid) in [
            (COOPERATE, COOPERATE, [3, 3]),
            (COOPERATE, DEFECT, [0, 5]),
            (DEFECT, COOPERATE, [5, 0]),
            (DEFECT, DEFECT, [1, 1]),
        ] {
            assert_eq!(Dilemma::payoff(a, b), paid, "{a} and {b}");
        }
    }

    /// What a strategy does, in letters, against opponents who do what theirs say.
    #[test]
    fn each_strategy_answers_by_its_rule() {
        for (name, opponent, own) in [
            ("tit_for_tat", "cdccd", "ccdcc"),
            ("grim", "ccdcc", "cccdd"),
            ("win_stay_lose_shift", "cddcc", "ccdcc"),
            ("always_cooperate", "ddddd", "ccccc"),
            ("always_defect", "ccccc", "ddddd"),
        ] {
            let mut game = JsonGame::at(Repeated::<Dilemma>::default());
            let mut made = String::new();
            for letter in opponent.chars() {
                let choice = tests::asked(&GAME, &game, Seat::A, name);
                made.extend(choice.as_str().and_then(|word| word.chars().next()));
                game.play(Seat::A, &choice).unwrap();
                let other = if letter == 'c' { "cooperate" } else { "defect" };
                game.play(Seat::B, &json!(other)).unwrap();
            }
            assert_eq!(made, own, "{name} against {opponent}");
        }
    }

    #[test]
    fn the_sum_of_all_rounds_decides() {
        let players = [1, 2].map(PlayerId::numbered);
        for (a, b, outcome, reason) in [
            (
                "always_defect",
                "tit_for_tat",
                Outcome::Win(Seat::A),
                "P01 scored 24 in 20 rounds, P02 19",
            ),
            (
                "grim",
                "tit_for_tat",
                Outcome::Draw,
                "Both scored 60 in 20 rounds",
            ),
            (
                "always_cooperate",
                "always_defect",
                Outcome::Win(Seat::B),
                "P02 scored 100 in 20 rounds, P01 0",
            ),
        ] {
            let [first, second] = [a, b].map(|name| strategy::named(name).unwrap());
            let game = play_out(&GAME, [first, second], &mut Entropy::numbered(1));
            assert_eq!(game.outcome(), Some(outcome), "{a} against {b}");
            assert_eq!(game.reason(&players), reason);
        }
    }

    #[test]
    fn grim_beats_chance_and_always_defecting_never_loses() {
        let Tally { won, lost, .. } = tests::series(&GAME, "grim", "random", 100);
        assert!(won > 90 && lost < 5, "won {won}, lost {lost}");
        for entry in strategy::of(&GAME) {
            assert_eq!(
                tests::series(&GAME, "always_defect", entry.name, 20).lost,
                0,
                "{}",
                entry.name
            );
        }
    }

    #[test]
    fn tit_for_tat_is_never_behind_by_more_than_one_betrayal() {
        let entry = strategy::named("tit_for_tat").unwrap();
        for seed in 0..50 {
            let game = play_out(
                &GAME,
                [entry, &strategy::RANDOM],
                &mut Entropy::numbered(seed),
            );
            let details = json!(game.details(&[1, 2].map(PlayerId::numbered)));
            let total = |id: &str| details["totals"][id].as_u64().unwrap();
            assert!(
                total("P01") == total("P02") || total("P01") + 5 == total("P02"),
                "{details}"
            );
        }
    }
}
