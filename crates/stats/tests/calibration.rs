//! Do the numbers keep their promises? Leagues of players whose strengths are known, over and over, from fixed seeds.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

use matchday_stats::bootstrap;
use matchday_stats::bradley_terry::{Model, Pair, Prior};
use matchday_stats::chance::Chance;
use matchday_stats::dice::Dice;
use matchday_stats::results::Wdl;
use matchday_stats::sprt::{Answer, Sprt};

const PLAYERS: usize = 8;

/// About normal, with deviation 1.
fn strength(dice: &mut Dice) -> f64 {
    (0..12).map(|_| dice.share()).sum::<f64>() - 6.0
}

/// By Davidson's model, with as many draws between equals as even/odd has.
fn chance(difference: f64) -> Chance {
    let [win, draw, loss] = [(difference / 2.0).exp(), 2.0, (-difference / 2.0).exp()];
    let all = win + draw + loss;
    Chance { win: win / all, draw: draw / all, loss: loss / all }
}

fn league(strengths: &[f64], each: u64, dice: &mut Dice) -> Model {
    let mut pairs = Vec::new();
    for a in 0..PLAYERS {
        for b in a + 1..PLAYERS {
            let mut record = Wdl::default();
            (0..each).for_each(|_| record.count(dice.verdict(chance(strengths[a] - strengths[b]))));
            pairs.push(Pair { a, b, record });
        }
    }
    Model::of_pairs(PLAYERS, pairs, Prior::default())
}

/// How often the 95 % interval holds the true strength.
fn coverage(each: u64, leagues: u32) -> f64 {
    let mut dice = Dice::new(20, each);
    let (mut held, mut all) = (0, 0);
    for _ in 0..leagues {
        let mut strengths: Vec<f64> = (0..PLAYERS).map(|_| strength(&mut dice)).collect();
        let mean = strengths.iter().sum::<f64>() / PLAYERS as f64;
        strengths.iter_mut().for_each(|strength| *strength -= mean);
        let model = league(&strengths, each, &mut dice);
        let fit = model.fit().unwrap();
        for ([low, high], truth) in bootstrap::intervals(&model, &fit, 200, &mut dice).iter().zip(&strengths)
        {
            held += u32::from((low..=high).contains(&truth));
            all += 1;
        }
    }
    f64::from(held) / f64::from(all)
}

#[test]
fn intervals_of_strengths_hold_the_truth_about_as_often_as_they_say() {
    for each in [1, 10] {
        let held = coverage(each, 60);
        assert!((0.91..=0.99).contains(&held), "{each} matches a pair: {held}");
    }
}

#[test]
fn a_likelihood_of_superiority_is_right_as_often_as_it_says() {
    let mut dice = Dice::new(21, 0);
    // Of those who were said to be the better ones with 80 to 95 %, so many were.
    let (mut said, mut right, mut all) = (0.0, 0.0, 0.0);
    for _ in 0..300 {
        // Strengths as the prior expects them.
        let strengths: Vec<f64> = (0..PLAYERS).map(|_| 2.0 * strength(&mut dice)).collect();
        let fit = league(&strengths, 1, &mut dice).fit().unwrap();
        for (a, b) in (0..PLAYERS).flat_map(|a| (0..PLAYERS).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let likelihood = fit.superiority(a, b);
            if (0.8..0.95).contains(&likelihood) {
                said += likelihood;
                right += f64::from(u8::from(strengths[a] > strengths[b]));
                all += 1.0;
            }
        }
    }
    let (said, right) = (said / all, right / all);
    assert!((said - right).abs() < 0.04, "said {said}, was {right}, of {all}");
}

#[test]
fn the_sequential_test_is_wrong_about_as_rarely_as_it_promises() {
    let test = Sprt::new(0.0, 60.0, 0.05, 0.05).unwrap();
    for (difference, right) in [(0.0, Answer::Elo0), (60.0, Answer::Elo1)] {
        let mut dice = Dice::new(22, difference as u64);
        let score = matchday_stats::elo::to_score(difference);
        let chance = Chance { win: score - 0.2, draw: 0.4, loss: 0.8 - score };
        let mut wrong = 0;
        for _ in 0..300 {
            let mut record = Wdl::default();
            let answer = loop {
                record.count(dice.verdict(chance));
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
