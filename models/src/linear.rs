//! Linear least squares: the one solver under every fit.

use nalgebra::{DMatrix, DVector};

/// A column whose part outside the others is smaller than this cannot be told from them.
const INDISTINCT: f64 = 1e-9;

/// A weighted least-squares fit y ≈ X·β.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// β, one for each column.
    pub coefficients: Vec<f64>,
    /// (XᵀWX)⁻¹.
    pub inverse: DMatrix<f64>,
    /// What the fit to all other points says of each point; NaN where the others say nothing.
    pub left_out: Vec<f64>,
    /// Weighted sum of squared residuals.
    pub rss: f64,
    /// Points minus columns.
    pub freedom: f64,
}

impl Fit {
    /// Fits by QR, with rows weighted by 1/variance; `None` if the columns cannot be told apart or outnumber the points.
    ///
    /// The prediction of a point by all others needs no other fit: it is y − e/(1 − h), with the point's residual e and
    /// leverage h (Allen, Technometrics 16, 1974).
    pub fn new(columns: &[Vec<f64>], values: &[f64], variances: &[f64]) -> Option<Fit> {
        let (rows, count) = (values.len(), columns.len());
        if count == 0 || count > rows {
            return None;
        }
        let weights: Vec<f64> = variances.iter().map(|v| v.sqrt().recip()).collect();
        let mut matrix = DMatrix::from_fn(rows, count, |row, column| columns[column][row] * weights[row]);
        // Columns of like size, so that what is too small to tell apart does not depend on units.
        let sizes: Vec<f64> = matrix.column_iter().map(|column| column.norm()).collect();
        if !sizes.iter().all(|size| size.is_finite() && *size > 0.0) {
            return None;
        }
        for (mut column, size) in matrix.column_iter_mut().zip(&sizes) {
            column /= *size;
        }
        let target = DVector::from_fn(rows, |row, _| values[row] * weights[row]);
        let (q, r) = matrix.qr().unpack();
        if r.diagonal().iter().any(|d| d.abs() < INDISTINCT) {
            return None;
        }
        let upper = r.try_inverse()?;
        let projected = q.tr_mul(&target);
        let scaled = &upper * &projected;
        let residuals = &target - &q * &projected;
        let left_out = (0..rows).map(|row| {
            let free = 1.0 - q.row(row).norm_squared();
            if free > INDISTINCT { values[row] - residuals[row] / free / weights[row] } else { f64::NAN }
        });
        let inverse = &upper * upper.transpose();
        Some(Fit {
            coefficients: scaled.iter().zip(&sizes).map(|(c, size)| c / size).collect(),
            inverse: DMatrix::from_fn(count, count, |i, j| inverse[(i, j)] / sizes[i] / sizes[j]),
            left_out: left_out.collect(),
            rss: residuals.norm_squared(),
            freedom: (rows - count) as f64,
        })
    }

    /// X·β for one row of X.
    pub fn value(&self, row: &[f64]) -> f64 {
        self.coefficients.iter().zip(row).map(|(c, x)| c * x).sum()
    }

    /// x·(XᵀWX)⁻¹·xᵀ for one row of X: the variance of [`Fit::value`] where rows have the variance they are weighted by.
    pub fn leverage(&self, row: &[f64]) -> f64 {
        let row = DVector::from_column_slice(row);
        row.dot(&(&self.inverse * &row))
    }
}

/// A fit in which no coefficient is negative, by the active-set method of Lawson and Hanson (Solving Least Squares Problems, 1974,
/// chapter 23). Columns that would be negative get 0; the fit is over the others, whose indices come with it.
pub(crate) fn non_negative(
    columns: &[Vec<f64>],
    values: &[f64],
    variances: &[f64],
) -> Option<(Vec<usize>, Fit)> {
    let pick = |used: &[usize]| -> Vec<Vec<f64>> { used.iter().map(|c| columns[*c].clone()).collect() };
    let mut used: Vec<usize> = Vec::new();
    let mut current: Option<Fit> = None;
    let mut before = vec![0.0; columns.len()];
    // Each round lowers the sum of squares, so no set comes twice; rounding is kept from turning it in circles.
    for _ in 0..3 * columns.len() {
        let Some(next) = steepest(columns, values, variances, &used, current.as_ref()) else { break };
        used.push(next);
        loop {
            let fit = Fit::new(&pick(&used), values, variances)?;
            if fit.coefficients.iter().all(|c| *c > 0.0) {
                before.fill(0.0);
                for (column, coefficient) in used.iter().zip(&fit.coefficients) {
                    before[*column] = *coefficient;
                }
                current = Some(fit);
                break;
            }
            // Goes from the last good coefficients towards the new ones until the first of them is 0.
            let towards =
                |(column, c): (&usize, &f64)| (*c <= 0.0).then(|| before[*column] / (before[*column] - c));
            let step = used.iter().zip(&fit.coefficients).filter_map(towards).fold(1.0, f64::min);
            for (column, c) in used.iter().zip(&fit.coefficients) {
                before[*column] += step * (c - before[*column]);
            }
            let size = used.iter().map(|c| before[*c]).fold(0.0, f64::max);
            used.retain(|column| before[*column] > 1e-14 * size);
            if used.is_empty() {
                return current.map(|fit| (used, fit));
            }
        }
    }
    current.map(|fit| (used, fit))
}

/// The unused column along which the sum of squares falls most, if it falls at all.
fn steepest(
    columns: &[Vec<f64>],
    values: &[f64],
    variances: &[f64],
    used: &[usize],
    current: Option<&Fit>,
) -> Option<usize> {
    let residual = |row: usize| {
        let fitted = current.map_or(0.0, |fit| {
            used.iter().zip(&fit.coefficients).map(|(column, c)| c * columns[*column][row]).sum()
        });
        values[row] - fitted
    };
    let residuals: Vec<f64> = (0..values.len()).map(residual).collect();
    // As the cosine between column and residuals, against the size of the values: free of units.
    let norm = |of: &[f64]| of.iter().zip(variances).map(|(x, v)| x * x / v).sum::<f64>().sqrt();
    let gradient = |column: &usize| {
        let dot: f64 =
            columns[*column].iter().zip(&residuals).zip(variances).map(|((x, e), v)| x * e / v).sum();
        dot / norm(&columns[*column])
    };
    let unused = (0..columns.len()).filter(|column| !used.contains(column));
    let best = unused.map(|column| (column, gradient(&column))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (best.1 > 1e-12 * norm(values)).then_some(best.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_found_with_its_errors() {
        // y = 1 + 2x at x = 0, 1, 2, 3 with residuals that leave both coefficients as they are.
        let columns = [vec![1.0; 4], vec![0.0, 1.0, 2.0, 3.0]];
        let fit = Fit::new(&columns, &[1.1, 2.9, 4.9, 7.1], &[1.0; 4]).unwrap();
        assert!((fit.value(&[1.0, 0.0]) - 1.0).abs() < 1e-12 && (fit.coefficients[1] - 2.0).abs() < 1e-12);
        assert!((fit.rss - 0.04).abs() < 1e-12 && fit.freedom == 2.0);
        // Var(slope) = σ²/Σ(x − 1.5)² = σ²/5.
        assert!((fit.inverse[(1, 1)] - 0.2).abs() < 1e-12);
        assert!((fit.leverage(&[1.0, 1.5]) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_told_apart_is_no_fit() {
        assert_eq!(Fit::new(&[vec![1.0; 3], vec![2.0; 3]], &[1.0, 2.0, 3.0], &[1.0; 3]), None);
        assert_eq!(Fit::new(&[vec![0.0; 2]], &[1.0, 2.0], &[1.0; 2]), None);
        assert_eq!(Fit::new(&[vec![1.0], vec![2.0]], &[1.0], &[1.0]), None);
    }

    proptest! {
        #[test]
        fn left_out_points_are_as_if_they_were(values in proptest::collection::vec(0.1f64..10.0, 6)) {
            let columns = [vec![1.0; 6], (0..6).map(f64::from).map(f64::sqrt).collect()];
            let variances: Vec<f64> = values.iter().map(|v| v * v).collect();
            let fit = Fit::new(&columns, &values, &variances).unwrap();
            for out in 0..6 {
                let without = |list: &[f64]| -> Vec<f64> {
                    list.iter().enumerate().filter(|(i, _)| *i != out).map(|(_, v)| *v).collect()
                };
                let fewer = [without(&columns[0]), without(&columns[1])];
                let other = Fit::new(&fewer, &without(&values), &without(&variances)).unwrap();
                let said = other.value(&[columns[0][out], columns[1][out]]);
                prop_assert!((said - fit.left_out[out]).abs() < 1e-8 * (1.0 + said.abs()));
            }
        }

        /// Of all choices of columns whose fit has no negative coefficient, it has the least sum of squares.
        #[test]
        fn non_negative_is_the_best_of_all_subsets(
            entries in proptest::collection::vec(0.0f64..1.0, 24),
            values in proptest::collection::vec(0.1f64..2.0, 6),
        ) {
            let columns: Vec<Vec<f64>> = entries.chunks(6).map(<[f64]>::to_vec).collect();
            let (_, found) = non_negative(&columns, &values, &[1.0; 6]).unwrap();
            let best = (1u32..16).filter_map(|set| {
                let chosen: Vec<_> = (0..4).filter(|c| set >> c & 1 == 1).map(|c| columns[c].clone()).collect();
                Fit::new(&chosen, &values, &[1.0; 6]).filter(|fit| fit.coefficients.iter().all(|c| *c >= 0.0))
            });
            let least = best.map(|fit| fit.rss).fold(f64::INFINITY, f64::min);
            prop_assert!((found.rss - least).abs() < 1e-8, "{} {least}", found.rss);
        }
    }
}
