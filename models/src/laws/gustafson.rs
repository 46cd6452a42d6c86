//! Gustafson's law: the problem grows with the processors.

use super::speedups::checked;
use crate::error::Result;

/// Scaled speed-up S(p) = p + (1 − p)·a, with the serial share a of the time on p processors (Gustafson, CACM 31, 1988).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gustafson {
    /// a, from 0 to 1.
    pub serial: f64,
}

impl Gustafson {
    /// Least squares on S: a = Σ(p − 1)(p − S) / Σ(p − 1)², kept between 0 and 1. `speedups` are pairs (p, S), where S = p·T₁/T_p
    /// for a weak sweep.
    ///
    /// A serial share of 5 % leaves a scaled speed-up of 60.85 on 64 processors:
    ///
    /// ```
    /// use falloff_models::Gustafson;
    /// assert_eq!(Gustafson { serial: 0.05 }.speedup(64.0), 60.85);
    /// assert!((Gustafson::fit(&[(64.0, 60.85)])?.serial - 0.05).abs() < 1e-12);
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no count above 1, a count is below 1, or a speed-up is not positive.
    pub fn fit(speedups: &[(f64, f64)]) -> Result<Gustafson> {
        let above = checked("fit Gustafson's law", speedups)?;
        let products: f64 = above.iter().map(|(p, speedup)| (p - 1.0) * (p - speedup)).sum();
        let squares: f64 = above.iter().map(|(p, _)| (p - 1.0).powi(2)).sum();
        Ok(Gustafson { serial: (products / squares).clamp(0.0, 1.0) })
    }

    /// S(p).
    pub fn speedup(&self, p: f64) -> f64 {
        p + (1.0 - p) * self.serial
    }
}
