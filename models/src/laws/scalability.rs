//! The universal scalability law: contention, and coherence that turns the curve down.

use super::speedups::checked;
use crate::error::{Error, Result};
use crate::linear::non_negative;

/// X(N) = λ·N / (1 + σ(N − 1) + κN(N − 1)): throughput on N processors (Gunther, Guerrilla Capacity Planning, 2007, chapter 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// λ, throughput of one processor, in the unit of X.
    pub rate: f64,
    /// σ, the part that processors queue for; 0 or more.
    pub contention: f64,
    /// κ, what keeping each pair of processors consistent costs; 0 or more.
    pub coherence: f64,
}

impl Scalability {
    /// Linear least squares of N/X on {1, N − 1, N(N − 1)}, without negative coefficients, each scale with the same relative error.
    /// `throughputs` are pairs (N, X); X may be work a second, or 1/T.
    ///
    /// ```
    /// use falloff_models::Scalability;
    /// let law = Scalability { rate: 10.0, contention: 0.05, coherence: 0.0005 };
    /// let found = Scalability::fit(&[1.0, 2.0, 4.0, 8.0, 16.0].map(|n| (n, law.throughput(n))))?;
    /// assert!((found.peak() - 43.589).abs() < 1e-3 && (found.speedup(found.peak()) - 10.742).abs() < 1e-3);
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are fewer than three different counts, a count is below 1, a throughput is not positive, or there is no law of this form.
    pub fn fit(throughputs: &[(f64, f64)]) -> Result<Scalability> {
        let action = "fit the universal scalability law";
        checked(action, throughputs)?;
        let mut counts: Vec<f64> = throughputs.iter().map(|(n, _)| *n).collect();
        counts.sort_by(f64::total_cmp);
        counts.dedup();
        if counts.len() < 3 {
            return Err(Error::TooFew { action, have: counts.len(), need: 3 });
        }
        let column = |of: &dyn Fn(f64) -> f64| throughputs.iter().map(|(n, _)| of(*n)).collect::<Vec<f64>>();
        let columns = [column(&|_| 1.0), column(&|n| n - 1.0), column(&|n| n * (n - 1.0))];
        let values: Vec<f64> = throughputs.iter().map(|(n, x)| n / x).collect();
        let variances: Vec<f64> = values.iter().map(|value| value * value).collect();
        let fitted = non_negative(&columns, &values, &variances);
        let coefficient = |column: usize| {
            let (used, fit) = fitted.as_ref()?;
            used.iter().position(|u| *u == column).map(|at| fit.coefficients[at])
        };
        let names = || Error::Indistinct { names: "1, N − 1, N(N − 1)".into() };
        let inverse = coefficient(0).ok_or_else(names)?;
        Ok(Scalability {
            rate: 1.0 / inverse,
            contention: coefficient(1).unwrap_or(0.0) / inverse,
            coherence: coefficient(2).unwrap_or(0.0) / inverse,
        })
    }

    /// X(N).
    pub fn throughput(&self, n: f64) -> f64 {
        self.rate * self.speedup(n)
    }

    /// X(N)/λ.
    pub fn speedup(&self, n: f64) -> f64 {
        n / (1.0 + self.contention * (n - 1.0) + self.coherence * n * (n - 1.0))
    }

    /// The count with the largest throughput: √((1 − σ)/κ), at least 1; infinite without coherence cost.
    pub fn peak(&self) -> f64 {
        if self.coherence > 0.0 {
            ((1.0 - self.contention) / self.coherence).max(1.0).sqrt()
        } else {
            f64::INFINITY
        }
    }

    /// The speed-up that no count exceeds: at the peak, or 1/σ where there is none.
    pub fn limit(&self) -> f64 {
        if self.coherence > 0.0 { self.speedup(self.peak()) } else { 1.0 / self.contention }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

    #[test]
    fn the_law_is_recovered() {
        let law = Scalability { rate: 10.0, contention: 0.05, coherence: 0.0005 };
        let found = Scalability::fit(&COUNTS.map(|n| (n, law.throughput(n)))).unwrap();
        for (is, wanted) in
            [(found.rate, 10.0), (found.contention, 0.05), (found.coherence, 0.0005), (found.limit(), 10.742)]
        {
            assert!((is / wanted - 1.0).abs() < 1e-4, "{is} {wanted}");
        }
    }

    #[test]
    fn without_coherence_the_limit_is_that_of_contention() {
        let law = Scalability { rate: 10.0, contention: 0.05, coherence: 0.0 };
        assert_eq!((law.peak(), law.limit()), (f64::INFINITY, 20.0));
        let found = Scalability::fit(&COUNTS.map(|n| (n, law.throughput(n)))).unwrap();
        assert!((found.limit() - 20.0).abs() < 1e-3 && found.coherence < 1e-9, "{found:?}");
    }

    #[test]
    fn superlinear_throughput_has_no_negative_parts() {
        let found = Scalability::fit(&COUNTS.map(|n| (n, n * (1.0 + 0.01 * n)))).unwrap();
        assert_eq!((found.contention, found.coherence), (0.0, 0.0));
        assert!(Scalability::fit(&[(1.0, 1.0), (2.0, 2.0)]).is_err());
    }
}
