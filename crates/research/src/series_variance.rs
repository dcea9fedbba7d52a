//! The variation between series. Matches within a series are correlated, because players remember; series are
//! independent, so confidence intervals are computed from them. Pure.

/// Won, drawn, lost, lost by both.
pub(crate) type Counts = [u64; 4];

/// Sums over all series of the products of their counts. Integers, so that the sum does not depend on the order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SeriesVariance {
    series: u64,
    products: [[u128; 4]; 4],
}

impl SeriesVariance {
    pub(crate) fn of_series(counts: Counts) -> Self {
        let products = counts.map(|one| counts.map(|other| u128::from(one) * u128::from(other)));
        Self {
            series: 1,
            products,
        }
    }

    pub fn series(&self) -> u64 {
        self.series
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.series += other.series;
        for (own, more) in self
            .products
            .as_flattened_mut()
            .iter_mut()
            .zip(other.products.as_flattened())
        {
            *own += more;
        }
    }

    #[must_use]
    pub(crate) fn reversed(&self) -> Self {
        let turned = |[won, drawn, lost, both]: [u128; 4]| [lost, drawn, won, both];
        let [won, drawn, lost, both] = self.products.map(turned);
        Self {
            products: [lost, drawn, won, both],
            ..*self
        }
    }

    /// The variance of the summed worth of all matches, around `mean` for each match.
    pub(crate) fn variance(&self, worth: [f64; 4], mean: f64) -> f64 {
        let apart = worth.map(|worth| worth - mean);
        let rows = self.products.iter().zip(apart);
        let sum = rows.map(|(row, one)| {
            let row = row.iter().zip(apart);
            one * row
                .map(|(product, other)| *product as f64 * other)
                .sum::<f64>()
        });
        sum.sum::<f64>().max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_is_that_of_the_series_sums() {
        let series: [Counts; 3] = [[5, 3, 2, 0], [1, 1, 8, 0], [4, 4, 1, 1]];
        let mut variation = SeriesVariance::default();
        series
            .iter()
            .for_each(|counts| variation.add(&SeriesVariance::of_series(*counts)));
        let worth = [3.0, 1.0, 0.0, 0.0];
        let points = |counts: &Counts| {
            counts
                .iter()
                .zip(worth)
                .map(|(n, worth)| *n as f64 * worth)
                .sum::<f64>()
        };
        let mean = series.iter().map(points).sum::<f64>() / 30.0;
        let expected: f64 = series
            .iter()
            .map(|counts| (points(counts) - 10.0 * mean).powi(2))
            .sum();
        assert!((variation.variance(worth, mean) - expected).abs() < 1e-9);
        assert_eq!(variation.series(), 3);
    }

    #[test]
    fn the_other_side_has_won_what_this_one_has_lost() {
        let one = SeriesVariance::of_series([5, 3, 2, 1]);
        let other = SeriesVariance::of_series([2, 3, 5, 1]);
        assert_eq!(one.reversed(), other);
    }
}
