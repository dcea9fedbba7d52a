//! What matches of a game with points of its own have paid. Series are independent, the matches within one are not; so the
//! error comes from sums over series. Integers, so that the sums do not depend on the order.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PayoffSums {
    total: u64,
    matches: u64,
    squares: u128,
    products: u128,
    matches_squared: u128,
}

impl PayoffSums {
    pub(crate) fn pay(&mut self, payoff: u32) {
        self.total += u64::from(payoff);
        self.matches += 1;
    }

    /// What was paid so far as one series.
    #[must_use]
    pub(crate) fn as_series(self) -> Self {
        let [total, matches] = [self.total, self.matches].map(u128::from);
        Self {
            squares: total * total,
            products: total * matches,
            matches_squared: matches * matches,
            ..self
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.total += other.total;
        self.matches += other.matches;
        self.squares += other.squares;
        self.products += other.products;
        self.matches_squared += other.matches_squared;
    }

    /// The mean of a match and its standard error, as of a ratio estimate over series.
    pub(crate) fn mean(&self) -> Option<(f64, f64)> {
        let matches = self.matches as f64;
        let value = (self.matches > 0).then(|| self.total as f64 / matches)?;
        let variance = self.squares as f64 - 2.0 * value * self.products as f64
            + value * value * self.matches_squared as f64;
        Some((value, variance.max(0.0).sqrt() / matches))
    }
}
