//! A value with its interval, and means of independent observations. Pure.

use crate::student::t_quantile;
use serde::{Deserialize, Serialize};

/// A value with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// The mean, with Student's interval: `z` is the normal quantile of half its width. `None` of fewer than two values.
    pub fn of_mean(values: &[f64], z: f64) -> Option<Self> {
        let count = values.len() as f64;
        let degrees = (values.len() as u64)
            .checked_sub(1)
            .filter(|free| *free > 0)?;
        let value = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|one| (one - value).powi(2)).sum::<f64>();
        let half = t_quantile(z, degrees) * (squares / degrees as f64 / count).sqrt();
        Some(Self {
            value,
            low: value - half,
            high: value + half,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::Z_95;

    /// By hand: deviation 2, error 2/√25, t(24) = 2.064.
    #[test]
    fn a_mean_has_students_interval() {
        let values: Vec<f64> = (0..25).map(|place| f64::from(place % 2) * 4.0).collect();
        let found = Estimate::of_mean(&values, Z_95).unwrap();
        assert!((found.value - 1.92).abs() < 1e-12);
        assert!((found.high - found.low - 2.0 * 2.064 * 0.4079).abs() < 1e-3);
        assert_eq!(Estimate::of_mean(&[1.0], Z_95), None);
    }
}
