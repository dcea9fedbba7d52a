//! Quantiles and median of measured times. Pure.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quantiles {
    pub(crate) count: usize,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
}

impl Quantiles {
    pub(crate) fn of(mut micros: Vec<u64>) -> Option<Self> {
        micros.sort_unstable();
        let at = |share: f64| -> Option<f64> {
            // Nearest rank.
            let place = (share * micros.len() as f64).ceil() as usize;
            micros
                .get(place.max(1) - 1)
                .map(|&micros| micros as f64 / 1000.0)
        };
        Some(Self {
            count: micros.len(),
            p50_ms: at(0.5)?,
            p99_ms: at(0.99)?,
            p999_ms: at(0.999)?,
        })
    }
}

pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    let upper = *figures.get(figures.len() / 2)?;
    let lower = *figures.get((figures.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_the_smallest_time_that_so_many_do_not_exceed() {
        let quantiles = Quantiles::of((1..=1000).rev().map(|ms| ms * 1000).collect());
        let expected = Quantiles {
            count: 1000,
            p50_ms: 500.0,
            p99_ms: 990.0,
            p999_ms: 999.0,
        };
        assert_eq!(quantiles, Some(expected));
    }

    #[test]
    fn one_time_is_all_of_them() {
        let expected = Quantiles {
            count: 1,
            p50_ms: 7.0,
            p99_ms: 7.0,
            p999_ms: 7.0,
        };
        assert_eq!(Quantiles::of(vec![7000]), Some(expected));
    }

    #[test]
    fn nothing_measured_says_nothing() {
        assert_eq!(Quantiles::of(Vec::new()), None);
        assert_eq!(median([]), None);
    }

    #[test]
    fn the_median_is_the_middle_or_between_the_middle_two() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
