//! How far strengths can be trusted: leagues played over and over by the strengths that were found, and explained anew.
//! Pure.

use crate::bradley_terry::{Fit, Model, Pair};
use crate::dice::Dice;
use crate::results::Wdl;
use crate::sample::quantile;

/// Between which strengths each player's lies, with 95 %: the parametric bootstrap of Efron (1979), with the quantiles of
/// what the leagues that were played again give.
///
/// Matches are played again rather than drawn from those that were: in a league where everyone meets once, somebody who
/// has won every match would win every match of every such sample, and seem to be certain.
pub fn intervals(model: &Model, fit: &Fit, resamples: u32, dice: &mut Dice) -> Vec<[f64; 2]> {
    let mut seen: Vec<Vec<f64>> = vec![Vec::with_capacity(resamples as usize); fit.strengths.len()];
    for _ in 0..resamples {
        let again = model.pairs().iter().map(|pair| played_again(pair, fit, dice)).collect();
        let Some(found) = model.with(again).fit_from(fit) else { continue };
        seen.iter_mut().zip(found.strengths).for_each(|(seen, strength)| seen.push(strength));
    }
    let strengths = seen.into_iter().zip(&fit.strengths);
    strengths.map(|(mut seen, strength)| interval(&mut seen, *strength)).collect()
}

fn interval(seen: &mut [f64], strength: f64) -> [f64; 2] {
    seen.sort_by(f64::total_cmp);
    [0.025, 0.975].map(|share| quantile(seen, share).unwrap_or(strength))
}

fn played_again(pair: &Pair, fit: &Fit, dice: &mut Dice) -> Pair {
    let chance = fit.chance(pair.a, pair.b);
    let mut record = Wdl::default();
    (0..pair.record.total()).for_each(|_| record.count(dice.verdict(chance)));
    Pair { record, ..*pair }
}
