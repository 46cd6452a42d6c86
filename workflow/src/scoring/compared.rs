//! Two scales of a sweep context by context, for tools that show trees but do not score.

use falloff_postprocess::Tree;

use super::columns::{Aligned, Columns, Run};
use super::score::Score;

/// The runs of two scales over one tree, with what each contributes to the score.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The calling context tree of all runs of the sweep.
    pub tree: Tree,
    /// The runs of both scales, those of the smaller one first.
    pub runs: Vec<ComparedRun>,
}

/// A run's exclusive contribution to the means at the two scales.
///
/// Sums over all runs are W_p, W_q and W_q − ρ·W_p of each context, as [`super::excess`] has them: a run has its work
/// divided by the number of repetitions at its scale.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRun {
    /// Processor count.
    pub scale: u32,
    /// Which repetition it is, from 1.
    pub repetition: u32,
    /// By context, to the mean work at the base scale, seconds.
    pub base: Vec<f64>,
    /// By context, to the mean work at the compared scale, seconds.
    pub at: Vec<f64>,
    /// By context, to the excess work at the compared scale, seconds.
    pub excess: Vec<f64>,
}

impl Compared {
    /// The two scales that were scored. `None` if a run lacks the metric.
    pub fn new(runs: &[Run], score: &Score) -> Option<Compared> {
        let Aligned { tree, columns, .. } = Aligned::new(runs, &score.metric)?;
        let repetitions = |scale: u32| {
            let of_scale = runs.iter().filter(|run| run.scale == scale);
            let mut repetitions: Vec<u32> = of_scale.map(|run| run.repetition).collect();
            repetitions.sort_unstable();
            repetitions
        };
        let rho = |context| score.growth.of(context, score.base, score.at);
        Some(Compared { tree, runs: contributions(&columns, score.base, score.at, rho, repetitions) })
    }
}

/// What the runs at two scales contribute; `repetitions` gives those of a scale in the order of its columns.
fn contributions(
    columns: &Columns,
    base: u32,
    at: u32,
    rho: impl Fn(u32) -> f64,
    repetitions: impl Fn(u32) -> Vec<u32>,
) -> Vec<ComparedRun> {
    let mut runs = Vec::new();
    for scale in columns.scales.iter().filter(|s| s.scale == base || s.scale == at) {
        for (column, repetition) in scale.cost.iter().zip(repetitions(scale.scale)) {
            let to_mean_at = |wanted: u32| -> Vec<f64> {
                let share = if scale.scale == wanted { 1.0 / scale.cost.len() as f64 } else { 0.0 };
                columns.values[*column].iter().map(|work| work * share).collect()
            };
            let (base, at) = (to_mean_at(base), to_mean_at(at));
            let excess = (0..).zip(at.iter().zip(&base)).map(|(c, (at, base))| at - rho(c) * base).collect();
            runs.push(ComparedRun { scale: scale.scale, repetition, base, at, excess });
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_add_up_to_means_and_excess() {
        let mut columns = Columns::default();
        for (scale, work) in [(1, 10.0), (1, 14.0), (2, 99.0), (4, 20.0)] {
            columns.push(scale, vec![0.0, work], vec![0.0, 1.0], 1.0);
        }
        let repetitions = |scale| if scale == 1 { vec![1, 3] } else { vec![2] };
        let runs = contributions(&columns, 1, 4, |_| 1.0, repetitions);
        let ids: Vec<(u32, u32)> = runs.iter().map(|run| (run.scale, run.repetition)).collect();
        assert_eq!(ids, [(1, 1), (1, 3), (4, 2)]);
        let sum = |values: fn(&ComparedRun) -> &Vec<f64>| runs.iter().map(|run| values(run)[1]).sum::<f64>();
        assert_eq!((sum(|r| &r.base), sum(|r| &r.at), sum(|r| &r.excess)), (12.0, 20.0, 8.0));
        let same = contributions(&columns, 1, 1, |_| 1.0, repetitions);
        assert!(same.iter().all(|run| run.excess == [0.0, 0.0]));
    }
}
