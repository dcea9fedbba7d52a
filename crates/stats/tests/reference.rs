//! Numbers from the literature, and from independent implementations, against ours.
//!
//! Where Python is named: the model was written down once more from its formulas and handed to a general optimiser or
//! root finder (NumPy 2.4, SciPy 1.17, choix 0.4.1); only its numbers are kept here.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking"
)]

use matchday_stats::bradley_terry::{Fit, Model, Pair, Prior};
use matchday_stats::elo::EloDifference;
use matchday_stats::results::Wdl;
use matchday_stats::sprt::{Answer, NoTest, Sprt};

fn wdl(wins: u64, draws: u64, losses: u64) -> Wdl {
    Wdl {
        wins,
        draws,
        losses,
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < tolerance,
            "{found} instead of {expected}"
        );
    }
}

/// Wins of the row over the column: baseball in the American League East, 1987. Agresti, "Categorical Data Analysis":
/// Milwaukee, Detroit, Toronto, New York, Boston, Cleveland, Baltimore.
const BASEBALL: [[u64; 7]; 7] = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
];

fn baseball(strength_deviation: f64) -> Fit {
    let pairs = (0..7).flat_map(|a| (a + 1..7).map(move |b| (a, b)));
    let pairs = pairs.map(|(a, b)| Pair {
        a,
        b,
        record: wdl(BASEBALL[a][b], 0, BASEBALL[b][a]),
    });
    let prior = Prior {
        strength_deviation,
        ..Prior::default()
    };
    Model::of_pairs(7, pairs.collect(), prior).fit().unwrap()
}

/// As printed by Agresti, and by the R package BradleyTerry2 for the same data, against Baltimore.
#[test]
fn bradley_terry_gives_the_strengths_of_the_baseball_teams() {
    let fit = baseball(1e6);
    let against_baltimore: Vec<f64> = fit
        .strengths
        .iter()
        .map(|strength| strength - fit.strengths[6])
        .collect();
    assert_close(
        &against_baltimore,
        &[1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0],
        6e-5,
    );
}

/// `choix.opt_pairwise(7, wins, alpha=0.25)`: a penalty of a quarter of the squares is a prior of deviation √2.
#[test]
fn bradley_terry_with_a_prior_is_that_of_choix() {
    let expected = [
        0.516_175_944_891,
        0.375_256_479_516,
        0.237_091_940_135,
        0.191_440_581_507,
        0.055_116_669_060,
        -0.357_481_739_122,
        -1.017_599_875_988,
    ];
    assert_close(&baseball(2_f64.sqrt()).strengths, &expected, 1e-6);
}

fn four_players() -> Fit {
    let pairs = [
        (0, 1, wdl(3, 1, 0)),
        (0, 2, wdl(2, 2, 0)),
        (0, 3, wdl(4, 0, 0)),
        (1, 2, wdl(1, 1, 2)),
        (1, 3, wdl(2, 0, 2)),
        (2, 3, wdl(0, 3, 1)),
    ];
    let pairs = pairs.map(|(a, b, record)| Pair { a, b, record });
    Model::of_pairs(4, pairs.to_vec(), Prior::default())
        .fit()
        .unwrap()
}

/// Python: the likelihood by its formula, climbed by BFGS and Nelder-Mead.
#[test]
fn davidsons_draws_are_as_an_optimiser_finds_them() {
    let fit = four_players();
    let expected = [1.954_015_99, -0.853_092_10, -0.450_375_93, -0.650_547_93];
    assert_close(&fit.strengths, &expected, 1e-6);
    assert_close(&[fit.draw.unwrap()], &[0.121_263_16], 1e-6);
}

/// Python: the inverse of the curvature by finite differences, and the normal distribution of SciPy.
#[test]
fn superiority_is_as_the_inverse_of_the_curvature_gives_it() {
    let fit = four_players();
    let found = [(0, 1), (1, 2), (3, 2)].map(|(a, b)| fit.superiority(a, b));
    assert_close(&found, &[0.993_027_87, 0.327_777_03, 0.411_622_98], 1e-5);
}

/// Python, as above. Without the prior the first would be infinitely strong.
#[test]
fn a_perfect_record_stays_finite() {
    let pairs = [
        (0, 1, wdl(2, 0, 0)),
        (0, 2, wdl(2, 0, 0)),
        (1, 2, wdl(1, 0, 1)),
    ];
    let pairs = pairs.map(|(a, b, record)| Pair { a, b, record }).to_vec();
    let fit = Model::of_pairs(3, pairs, Prior::default()).fit().unwrap();
    assert_close(
        &fit.strengths,
        &[1.515_642_69, -0.757_821_35, -0.757_821_35],
        1e-6,
    );
    assert_eq!(fit.draw, None);
}

/// Python: the likeliest distributions with the expected scores of both hypotheses, by Brent's method.
#[test]
fn the_likelihood_ratio_of_the_sequential_test_is_that_of_its_definition() {
    for (record, elo0, elo1, llr) in [
        (wdl(120, 300, 100), 0.0, 5.0, 0.553_431_549_680),
        (wdl(120, 300, 100), 0.0, 10.0, 0.852_499_079_075),
        (wdl(50, 20, 30), -5.0, 5.0, 0.719_540_380_822),
        (wdl(10, 0, 0), 0.0, 20.0, 0.559_083_659_948),
        (wdl(0, 40, 0), 0.0, 10.0, -1.160_532_210_778),
        (wdl(1000, 2000, 1100), 0.0, 2.0, -1.256_323_511_354),
    ] {
        let test = Sprt::new(elo0, elo1, 0.05, 0.05).unwrap();
        assert!(
            (test.llr(record) - llr).abs() < 1e-6,
            "{record:?}: {}",
            test.llr(record)
        );
    }
}

#[test]
fn the_sequential_test_stops_at_walds_bounds() {
    let test = Sprt::new(0.0, 10.0, 0.05, 0.05).unwrap();
    let (lower, upper) = test.bounds();
    assert_close(&[lower, upper], &[-2.944_438_979, 2.944_438_979], 1e-9);
    for (record, answer) in [
        (wdl(0, 0, 0), Answer::Open),
        (wdl(60, 100, 40), Answer::Open),
        (wdl(600, 1000, 400), Answer::Elo1),
        (wdl(400, 1000, 600), Answer::Elo0),
    ] {
        assert_eq!(
            test.standing(record).answer,
            answer,
            "{:?}",
            test.standing(record)
        );
    }
}

#[test]
fn a_test_without_sense_is_refused() {
    assert_eq!(Sprt::new(5.0, 5.0, 0.05, 0.05), Err(NoTest::Hypotheses));
    assert_eq!(
        Sprt::new(0.0, f64::NAN, 0.05, 0.05),
        Err(NoTest::Hypotheses)
    );
    assert_eq!(Sprt::new(0.0, 5.0, 0.0, 0.05), Err(NoTest::Errors));
    assert_eq!(Sprt::new(0.0, 5.0, 0.05, 0.5), Err(NoTest::Errors));
}

/// Python: the roots of the equation of the interval, by Brent's method.
#[test]
fn a_difference_in_elo_has_the_interval_of_its_definition() {
    for (record, expected) in [
        (
            wdl(120, 300, 100),
            [13.369_502_195, -6.151_081_214, 32.777_160_787],
        ),
        (
            wdl(50, 20, 30),
            [70.436_503_622, 8.322_424_342, 131.444_117_805],
        ),
    ] {
        let EloDifference {
            difference,
            low,
            high,
        } = EloDifference::of(record).unwrap();
        assert_close(
            &[difference, low, high].map(Option::unwrap),
            &expected,
            1e-6,
        );
    }
}
