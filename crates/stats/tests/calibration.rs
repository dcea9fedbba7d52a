//! Calibration: are intervals and probabilities right for simulated leagues of known strengths? Seeds are fixed.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking"
)]

use matchday_stats::bradley_terry::{Model, Pair, Prior};
use matchday_stats::null_model::ResultProbabilities;
use matchday_stats::results::Wdl;
use matchday_stats::rng::SeededRng;
use matchday_stats::spread::{self, Hyperprior};
use matchday_stats::sprt::{Answer, Sprt};

const PLAYERS: usize = 8;

/// By Davidson's model, with as many draws between equals as even/odd has.
fn chance(difference: f64) -> ResultProbabilities {
    let [win, draw, loss] = [
        libm::exp(difference / 2.0),
        2.0,
        libm::exp(-difference / 2.0),
    ];
    let all = win + draw + loss;
    ResultProbabilities {
        win: win / all,
        draw: draw / all,
        loss: loss / all,
    }
}

fn league(strengths: &[f64], each: u64, rng: &mut SeededRng) -> Model {
    let mut pairs = Vec::new();
    for a in 0..PLAYERS {
        for b in a + 1..PLAYERS {
            let mut record = Wdl::default();
            (0..each).for_each(|_| record.count(rng.verdict(chance(strengths[a] - strengths[b]))));
            pairs.push(Pair { a, b, record });
        }
    }
    Model::of_pairs(PLAYERS, pairs, Prior::default())
}

#[test]
fn a_likelihood_of_superiority_is_right_as_often_as_it_says() {
    // However far apart the strengths lie.
    for deviation in [0.6, 2.0] {
        let mut rng = SeededRng::new(21, 0);
        // Of those who were said to be the better ones with 80 to 95 %, so many were.
        let mut said = 0.0;
        let mut right = 0.0;
        let mut all = 0.0;
        for _ in 0..200 {
            let strengths: Vec<f64> = (0..PLAYERS).map(|_| deviation * rng.normal()).collect();
            let fit = spread::fit(&league(&strengths, 2, &mut rng), Hyperprior::Uniform).unwrap();
            for (a, b) in (0..PLAYERS)
                .flat_map(|a| (0..PLAYERS).map(move |b| (a, b)))
                .filter(|(a, b)| a != b)
            {
                let likelihood = fit.superiority(a, b);
                if (0.8..0.95).contains(&likelihood) {
                    said += likelihood;
                    right += f64::from(u8::from(strengths[a] > strengths[b]));
                    all += 1.0;
                }
            }
        }
        let said = said / all;
        let right = right / all;
        assert!(
            (said - right).abs() < 0.04,
            "{deviation}: said {said}, was {right}, of {all}"
        );
    }
}

#[test]
fn the_sequential_test_is_wrong_about_as_rarely_as_it_promises() {
    let test = Sprt::new(0.0, 60.0, 0.05, 0.05).unwrap();
    for (difference, right) in [(0.0, Answer::Elo0), (60.0, Answer::Elo1)] {
        let mut rng = SeededRng::new(22, difference as u64);
        let score = matchday_stats::elo::to_score(difference);
        let chance = ResultProbabilities {
            win: score - 0.2,
            draw: 0.4,
            loss: 0.8 - score,
        };
        let mut wrong = 0;
        for _ in 0..300 {
            let mut record = Wdl::default();
            let answer = loop {
                record.count(rng.verdict(chance));
                match test.standing(record).answer {
                    Answer::Open => {}
                    answer => break answer,
                }
            };
            wrong += u32::from(answer != right);
        }
        // 15 of 300 are promised; twice as many would be a rare accident.
        assert!(wrong <= 28, "{difference}: wrong {wrong} times of 300");
    }
}
