//! Student's t distribution. Pure.

use crate::normal::Z_95;

/// The 97.5 % quantile with so many degrees of freedom: an interval from few independent means is this much wider.
pub fn t_95(degrees: u64) -> f64 {
    t_quantile(Z_95, degrees)
}

/// The quantile at the chance at which the normal distribution has `z`, by the series of Cornish and Fisher, good to three
/// digits from 10 degrees on.
pub fn t_quantile(z: f64, degrees: u64) -> f64 {
    let n = degrees.max(1) as f64;
    let z2 = z * z;
    let first = z * (z2 + 1.0) / 4.0;
    let second = z * (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / 96.0;
    let third = z * (3.0 * z2 * z2 * z2 + 19.0 * z2 * z2 + 17.0 * z2 - 15.0) / 384.0;
    z + first / n + second / (n * n) + third / (n * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::Z_95_ONE_SIDED;

    /// As in any printed table.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, t) in [(10, 2.228), (19, 2.093), (29, 2.045), (1_000_000, 1.960)] {
            assert!((t_95(degrees) - t).abs() < 1e-3, "{degrees}");
        }
        assert!((t_quantile(Z_95_ONE_SIDED, 10) - 1.812).abs() < 1e-3);
    }
}
