//! Solves linear systems with a symmetric, positive definite matrix by Cholesky decomposition. Pure.

/// The lower triangular matrix `L` with `L Lᵀ` equal to the original matrix.
#[derive(Debug, Clone)]
pub struct Cholesky {
    /// Each row up to its diagonal.
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    /// Decomposes a matrix, given each of its rows up to the diagonal; `None` if it is not positive definite.
    pub fn of(lower: &[Vec<f64>]) -> Option<Self> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(lower.len());
        for row in lower {
            let mut made: Vec<f64> = Vec::with_capacity(row.len());
            for (entry, earlier) in row.iter().zip(&rows) {
                let rest = entry - dot(&made, earlier);
                made.push(rest / earlier.last()?);
            }
            let square = row.last()? - dot(&made, &made);
            if square.is_nan() || square <= 0.0 {
                return None;
            }
            made.push(square.sqrt());
            rows.push(made);
        }
        Some(Self { rows })
    }

    /// Solves for `x` in matrix times `x` equals `right`.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        self.backward(self.forward(right))
    }

    /// Solves for `x` in `L x` equals `right`.
    pub(crate) fn forward(&self, right: &[f64]) -> Vec<f64> {
        let mut forward: Vec<f64> = Vec::with_capacity(right.len());
        for (value, row) in right.iter().zip(&self.rows) {
            let rest = value - dot(&forward, row);
            forward.push(rest / diagonal(row));
        }
        forward
    }

    /// Solves for `x` in `Lᵀ x` equals `right`.
    pub(crate) fn backward(&self, mut right: Vec<f64>) -> Vec<f64> {
        let mut solved = Vec::with_capacity(right.len());
        for row in self.rows.iter().rev() {
            let Some(value) = right.pop() else { continue };
            let x = value / diagonal(row);
            right
                .iter_mut()
                .zip(row)
                .for_each(|(value, entry)| *value -= entry * x);
            solved.push(x);
        }
        solved.reverse();
        solved
    }

    /// `Lᵀ` times a vector: the inverse of [`Self::backward`].
    pub(crate) fn transposed_times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; vector.len()];
        for (row, value) in self.rows.iter().zip(vector) {
            product
                .iter_mut()
                .zip(row)
                .for_each(|(sum, entry)| *sum += entry * value);
        }
        product
    }

    /// The logarithm of the determinant of the matrix.
    pub(crate) fn ln_determinant(&self) -> f64 {
        2.0 * self
            .rows
            .iter()
            .map(|row| libm::log(diagonal(row)))
            .sum::<f64>()
    }
}

/// The dot product over the length of the shorter slice.
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn diagonal(row: &[f64]) -> f64 {
    row.last().copied().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the article on the decomposition in Wikipedia.
    #[test]
    fn a_matrix_is_taken_apart_and_its_equations_solved() {
        let lower = vec![vec![4.0], vec![12.0, 37.0], vec![-16.0, -43.0, 98.0]];
        let taken = Cholesky::of(&lower).unwrap();
        assert_eq!(
            taken.rows,
            [vec![2.0], vec![6.0, 1.0], vec![-8.0, 5.0, 3.0]]
        );
        // The matrix times (1, 2, 3).
        assert_eq!(taken.solve(&[-20.0, -43.0, 192.0]), [1.0, 2.0, 3.0]);
        assert_eq!(taken.transposed_times(&[1.0, 2.0, 3.0]), [-10.0, 17.0, 9.0]);
        assert_eq!(taken.backward(vec![-10.0, 17.0, 9.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused() {
        assert!(Cholesky::of(&[vec![1.0], vec![2.0, 1.0]]).is_none());
        assert!(Cholesky::of(&[vec![f64::NAN]]).is_none());
    }
}
