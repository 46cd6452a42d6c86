//! Amdahl's law: a part of the work is not shared out.

use super::speedups::checked;
use crate::error::Result;

/// S(p) = 1 / (f + (1 − f)/p), with the serial fraction f (Amdahl, AFIPS'67).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amdahl {
    /// f, from 0 to 1.
    pub serial: f64,
}

impl Amdahl {
    /// Least squares on 1/S: with y = 1/S − 1/p and x = 1 − 1/p, f = Σxy/Σx², kept between 0 and 1. `speedups` are pairs (p, S).
    ///
    /// Times 2 + 98/p have the serial fraction 0.02 and the limit 50:
    ///
    /// ```
    /// use falloff_models::Amdahl;
    /// let law = Amdahl::fit(&[2.0, 4.0, 8.0].map(|p| (p, 100.0 / (2.0 + 98.0 / p))))?;
    /// assert!((law.serial - 0.02).abs() < 1e-12 && (law.limit() - 50.0).abs() < 1e-9);
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no count above 1, a count is below 1, or a speed-up is not positive.
    pub fn fit(speedups: &[(f64, f64)]) -> Result<Amdahl> {
        let above = checked("fit Amdahl's law", speedups)?;
        let (mut products, mut squares) = (0.0, 0.0);
        for (p, speedup) in above {
            let x = 1.0 - 1.0 / p;
            products += x * (1.0 / speedup - 1.0 / p);
            squares += x * x;
        }
        Ok(Amdahl { serial: (products / squares).clamp(0.0, 1.0) })
    }

    /// S(p).
    pub fn speedup(&self, p: f64) -> f64 {
        1.0 / (self.serial + (1.0 - self.serial) / p)
    }

    /// The speed-up that no number of processors exceeds: 1/f.
    pub fn limit(&self) -> f64 {
        1.0 / self.serial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superlinear_speedup_has_no_serial_part() {
        let law = Amdahl::fit(&[(2.0, 2.5), (4.0, 5.0)]).unwrap();
        assert_eq!((law.serial, law.limit(), law.speedup(8.0)), (0.0, f64::INFINITY, 8.0));
    }

    #[test]
    fn one_processor_says_nothing() {
        assert_eq!(
            Amdahl::fit(&[(1.0, 1.0)]).unwrap_err().to_string(),
            "failed to fit Amdahl's law: there are 0 different scales and it needs 1"
        );
    }
}
