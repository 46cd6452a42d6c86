//! The whole sweep: every scale against the base and against the scale before.

use super::columns::{Columns, ScaleColumns};
use super::expectation::Scaling;
use super::growth::Growth;
use super::losses::{Comparison, Loss};

/// One scale of a sweep as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleSummary {
    /// Processor count.
    pub scale: u32,
    /// Good repetitions.
    pub repetitions: usize,
    /// Samples in all repetitions.
    pub samples: u64,
    /// Mean wall time, seconds.
    pub wall_seconds: f64,
    /// Excess of the whole run against the base. Its work efficiency is 1 − excess.
    pub against_base: Loss,
    /// Scale before and excess against it; `None` for the first, and where something is expected to begin.
    ///
    /// Under strong scaling A_m·X(m, 1) is the sum of A_i·X(i, i−1) over the steps. With any expectation the
    /// same holds once each step is carried on to the last scale: Σ ρ(i, m)·A_i·X(i, i−1).
    pub against_previous: Option<(u32, Loss)>,
}

/// Compares every scale with `base` (one of the sweep's) and with the one before it.
///
/// `period` is the mean time between samples in seconds. `None` if a scale has no cost at all.
pub fn summarise(
    columns: &Columns,
    base: &ScaleColumns,
    scaling: Scaling,
    growth: &Growth,
    period: f64,
) -> Option<Vec<ScaleSummary>> {
    let totals = columns.totals();
    let compare = |base: &ScaleColumns, at: &ScaleColumns| {
        let (whole_base, whole_at) = (whole(&totals, base), whole(&totals, at));
        let comparison = Comparison { base, at, scaling, period, whole_base, whole_at };
        (whole_at > 0.0).then(|| match growth.of_all(base.scale, at.scale) {
            Some(_) => comparison.loss(&totals),
            None => comparison.whole_loss(columns, growth),
        })
    };
    let mut previous: Option<&ScaleColumns> = None;
    let mut summaries = Vec::new();
    for at in &columns.scales {
        let against_previous = match previous.filter(|before| growth.is_known(before.scale, at.scale)) {
            Some(before) => Some((before.scale, compare(before, at)?)),
            None => None,
        };
        summaries.push(ScaleSummary {
            scale: at.scale,
            repetitions: at.cost.len(),
            samples: at.samples.iter().map(|c| totals[*c]).sum::<f64>() as u64,
            wall_seconds: at.wall_seconds.iter().sum::<f64>() / at.wall_seconds.len().max(1) as f64,
            against_base: compare(base, at)?,
            against_previous,
        });
        previous = Some(at);
    }
    Some(summaries)
}

/// Mean cost of the whole run at a scale, from the totals of all columns.
pub(crate) fn whole(totals: &[f64], scale: &ScaleColumns) -> f64 {
    scale.cost.iter().map(|c| totals[*c]).sum::<f64>() / scale.cost.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Total work of runs that take (processes, seconds) each, with one sample a second.
    fn sweep(runs: &[(u32, f64)]) -> Columns {
        let mut columns = Columns::default();
        for (n, seconds) in runs {
            let work = f64::from(*n) * seconds;
            columns.push(*n, vec![work], vec![work], *seconds);
        }
        columns
    }

    #[test]
    fn steps_add_up_to_the_whole() {
        let columns = sweep(&[(1, 100.0), (4, 30.0), (16, 12.0), (64, 6.0)]);
        let scales =
            summarise(&columns, &columns.scales[0], Scaling::Strong, &Growth::uniform(Scaling::Strong), 1.0)
                .unwrap();
        let whole = scales[3].against_base;
        assert!((whole.work_at * whole.excess - 284.0).abs() < 1e-9);
        let steps: f64 =
            scales.iter().filter_map(|s| s.against_previous).map(|(_, x)| x.work_at * x.excess).sum();
        assert!((steps - 284.0).abs() < 1e-9);
    }

    #[test]
    fn weak_steps_add_up_when_carried_on() {
        let columns = sweep(&[(1, 100.0), (4, 130.0), (16, 150.0)]);
        let scales =
            summarise(&columns, &columns.scales[0], Scaling::Weak, &Growth::uniform(Scaling::Weak), 1.0)
                .unwrap();
        let whole = scales[2].against_base;
        let steps: f64 = scales
            .iter()
            .filter_map(|s| s.against_previous.map(|(_, x)| (s.scale, x)))
            .map(|(n, x)| Scaling::Weak.rho(n, 16) * x.work_at * x.excess)
            .sum();
        assert!((whole.work_at * whole.excess - steps).abs() < 1e-9);
        assert!((whole.excess - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_scale_without_cost_is_refused() {
        let columns = sweep(&[(1, 1.0), (2, 0.0)]);
        assert_eq!(
            summarise(&columns, &columns.scales[0], Scaling::Strong, &Growth::uniform(Scaling::Strong), 1.0),
            None
        );
    }
}
