//! Correction of p-values for multiple tests. Pure.

/// Holm's correction (1979) of the p-values, in their order: it bounds the probability of any false positive at
/// `alpha`.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    order.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let mut largest: f64 = 0.0;
    let mut found: Vec<(usize, f64)> = Vec::with_capacity(order.len());
    for (rank, (place, p)) in order.iter().enumerate() {
        let remaining = (p_values.len() - rank) as f64;
        largest = largest.max((p * remaining).min(1.0));
        found.push((*place, largest));
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, p)| p).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` gives 0.03 0.06 0.06 0.02.
    #[test]
    fn as_r_does_it() {
        let found = adjusted(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert!(adjusted(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn no_p_value_shrinks_and_none_is_above_1(p in prop::collection::vec(0.0..=1.0, 0..30)) {
            for (raw, adjusted) in p.iter().zip(adjusted(&p)) {
                prop_assert!(adjusted >= *raw && adjusted <= 1.0);
            }
        }
    }
}
