//! Sample quantiles. Pure.

/// The sample quantile by linear interpolation: type 7 of Hyndman and Fan (1996), the default of R and NumPy. `None`
/// of an empty sample.
pub fn quantile<T: Copy + Into<f64>>(sorted: &[T], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = share.clamp(0.0, 1.0) * last as f64;
    let lower = position.floor();
    let below: f64 = (*sorted.get(lower as usize)?).into();
    let above: f64 = (*sorted.get((lower as usize + 1).min(last))?).into();
    Some(below + (above - below) * (position - lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against `numpy.quantile([1, 2, 4, 8], q)`.
    #[test]
    fn quantiles_are_those_of_numpy() {
        let sample = [1.0, 2.0, 4.0, 8.0];
        for (share, value) in [
            (0.0, 1.0),
            (0.025, 1.075),
            (0.25, 1.75),
            (0.5, 3.0),
            (0.975, 7.7),
            (1.0, 8.0),
        ] {
            let found = quantile(&sample, share).unwrap();
            assert!((found - value).abs() < 1e-12, "{share}: {found}");
        }
        assert_eq!(
            (quantile(&[5_u32], 0.3), quantile::<f64>(&[], 0.3)),
            (Some(5.0), None)
        );
    }
}
