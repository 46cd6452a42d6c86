//! One amount of work in two sweeps.

use crate::scoring::{Repeated, Uncertainty};

/// Power and confidence of the smallest change that is found in 80 % of all tries at 5 %: 1.96 + 0.84.
const DETECTABLE: f64 = 2.8;

/// The change of an amount of work from the base sweep to the new one, as a fraction of the base's whole run at the same
/// processor count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Mean work in the base sweep, seconds.
    pub base: f64,
    /// Mean work in the new sweep, seconds.
    pub new: f64,
    /// (new − base) / whole.
    pub change: f64,
    /// Half width of its 95 % interval.
    pub half_width: f64,
    /// How often so large a change would be seen if there were none.
    pub p_value: f64,
    /// Standard deviations of one repetition of both sides, as the same fraction, squared and added.
    variance: f64,
}

impl Change {
    /// Compares repetitions, in seconds; `period` is the mean time between samples, `wholes` the mean work of the whole run in
    /// the base and in the new sweep.
    ///
    /// ```
    /// use falloff_workflow::gate::Change;
    /// let change = Change::new(&[9.9, 10.0, 10.1], &[10.9, 11.0, 11.1], 0.001, (20.0, 21.0));
    /// assert!((change.change - 0.05).abs() < 1e-12 && change.p_value < 0.001);
    /// ```
    pub fn new(base: &[f64], new: &[f64], period: f64, wholes: (f64, f64)) -> Change {
        let (base, new) = (Repeated::new(base, period, wholes.0), Repeated::new(new, period, wholes.1));
        let unsure = Uncertainty::of(&base, &new, 1.0);
        let difference = new.mean - base.mean;
        Change {
            base: base.mean,
            new: new.mean,
            change: difference / wholes.0,
            half_width: unsure.half_width() / wholes.0,
            p_value: unsure.p_value(difference),
            variance: (base.variance + new.variance) / (wholes.0 * wholes.0),
        }
    }

    /// Whether a growth of `limit` can neither be found nor excluded.
    pub fn is_open(&self, limit: f64) -> bool {
        self.change + self.half_width > limit
    }

    /// Repetitions of each side with which a growth of `limit` is found in four of five tries.
    pub fn repetitions_needed(&self, limit: f64) -> u32 {
        let needed = DETECTABLE * DETECTABLE * self.variance / (limit * limit);
        // With two there are hardly any degrees of freedom.
        needed.ceil().clamp(3.0, f64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_noise_needs_more_repetitions() {
        let quiet = Change::new(&[10.0, 10.1, 9.9], &[10.1, 9.9, 10.0], 0.0, (10.0, 10.0));
        let noisy = Change::new(&[10.0, 11.0, 9.0], &[11.0, 9.0, 10.0], 0.0, (10.0, 10.0));
        assert!(!quiet.is_open(0.05) && noisy.is_open(0.05));
        assert_eq!(quiet.repetitions_needed(0.05), 3);
        // 2.8² · (0.1² + 0.1²) / 0.05²
        assert_eq!(noisy.repetitions_needed(0.05), 63);
    }
}
