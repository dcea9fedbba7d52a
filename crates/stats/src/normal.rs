//! The standard normal distribution. Pure.

/// The 97.5 % quantile: half the width of a 95 % interval.
pub const Z_95: f64 = 1.959_963_984_540_054;
/// The 95 % quantile, for one-sided tests.
pub const Z_95_ONE_SIDED: f64 = 1.644_853_626_951_472_2;
/// The 80 % quantile, for a power of 80 %.
pub const Z_80: f64 = 0.841_621_233_572_914_3;

/// The cumulative distribution function.
pub fn below(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in any printed table.
    #[test]
    fn known_quantiles_have_their_known_chances() {
        for (z, chance) in [
            (0.0, 0.5),
            (Z_95, 0.975),
            (Z_95_ONE_SIDED, 0.95),
            (Z_80, 0.8),
            (-3.0, 0.001_349_898_031_630_1),
        ] {
            assert!((below(z) - chance).abs() < 1e-14, "{z}: {}", below(z));
        }
    }
}
