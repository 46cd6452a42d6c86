//! Work of each repetition at the two scales that are compared.

use crate::scoring::{Comparison, Loss, excess};

/// Seconds in each run of the two scales, in the order of the comparison's columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Amounts {
    /// At the base and at the compared scale.
    sides: [Vec<f64>; 2],
}

/// Which of the two scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Base,
    At,
}

impl Amounts {
    /// Adds to one run.
    pub fn add(&mut self, side: Side, run: usize, seconds: f64) {
        let values = &mut self.sides[side as usize];
        if values.len() <= run {
            values.resize(run + 1, 0.0);
        }
        values[run] += seconds;
    }

    /// Adds a part of other amounts.
    pub fn add_part(&mut self, other: &Amounts, part: f64) {
        for side in [Side::Base, Side::At] {
            for (run, seconds) in other.sides[side as usize].iter().enumerate() {
                self.add(side, run, part * seconds);
            }
        }
    }

    /// A part of them.
    pub fn part(&self, part: f64) -> Amounts {
        let mut of = Amounts::default();
        of.add_part(self, part);
        of
    }

    /// Mean over the `runs` of a side, seconds.
    pub fn mean(&self, side: Side, runs: usize) -> f64 {
        self.sides[side as usize].iter().sum::<f64>() / runs.max(1) as f64
    }

    /// Their excess as a fraction of the whole run, without how sure it is.
    pub fn excess(&self, comparison: &Comparison) -> f64 {
        let rho = comparison.scaling.rho(comparison.base.scale, comparison.at.scale);
        let base = self.mean(Side::Base, comparison.base.cost.len());
        excess(self.mean(Side::At, comparison.at.cost.len()), rho, base, comparison.whole_at)
    }

    /// Their excess.
    pub fn loss(&self, comparison: &Comparison) -> Loss {
        let columns = [&comparison.base.cost, &comparison.at.cost];
        let count = columns.iter().flat_map(|c| c.iter()).max().map_or(0, |last| last + 1);
        let mut values = vec![0.0; count];
        for (columns, side) in columns.into_iter().zip(&self.sides) {
            columns.iter().zip(side).for_each(|(column, seconds)| values[*column] = *seconds);
        }
        comparison.loss(&values)
    }
}
