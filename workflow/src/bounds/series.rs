//! Measured times over processor counts.

use falloff_models::{Inflexion, Observation, Point, Points, Scale, State, Turning};

use crate::scoring::{Columns, Repeated, ScaleColumns, Scaling, Uncertainty};

/// Seed of the draws for the turning point: the same data give the same answer.
const SEED: u64 = 1;

/// The times of one part of a program at every count, from all repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Seconds a processor in each repetition, by count, smallest first.
    pub observations: Vec<Observation>,
    /// Seconds a processor, W/p with W the sum over all threads, from the smallest count on at which the part runs: what begins at
    /// some count says nothing of its law before.
    pub times: Points,
    /// Seconds that the work of the smallest count p₀ takes: W/p under strong scaling; under weak scaling, where there is p/p₀
    /// times the work, W/p·p₀/p. Speed-ups are quotients of these.
    pub same_work: Points,
}

impl Series {
    /// From the work in each column of cost, in seconds and in the order of the scales; sampled once in `period` seconds of the whole
    /// runs, which take `wholes`, in the same order.
    ///
    /// # Errors
    /// As [`Points::new`]: the part takes no time at all.
    pub fn new(
        columns: &Columns,
        scaling: Scaling,
        period: f64,
        wholes: &[f64],
        work: &[f64],
    ) -> falloff_models::Result<Series> {
        Series::of(observations(columns, period, wholes, work), scaling)
    }

    /// From seconds a processor in each repetition, by count, smallest first.
    ///
    /// # Errors
    /// As [`Points::new`]: the part takes no time at all.
    pub(crate) fn of(observations: Vec<Observation>, scaling: Scaling) -> falloff_models::Result<Series> {
        let base = observations.first().map_or(1, |observation| observation.scale.p as u32);
        let for_same_work = |observation: &Observation| {
            let share = 1.0 / scaling.rho(base, observation.scale.p as u32);
            Observation {
                values: observation.values.iter().map(|seconds| seconds * share).collect(),
                known_variance: observation.known_variance * share * share,
                ..*observation
            }
        };
        let same_work = Points::new(&observations.iter().map(for_same_work).collect::<Vec<_>>())?;
        Ok(Series { times: Points::new(from_beginning(&observations))?, observations, same_work })
    }

    /// The time at the largest count.
    pub fn last(&self) -> &Point {
        self.times.get(self.times.len() - 1)
    }

    /// The time at a count, if the part runs there.
    pub fn at(&self, processors: f64) -> Option<&Point> {
        self.times.iter().find(|point| point.scale.p == processors)
    }

    /// Where the time for the same work is least, by a curve through all counts; `None` if that cannot be told.
    pub fn turning(&self) -> Option<Turning> {
        Turning::new(&self.same_work, SEED).ok().flatten()
    }

    /// The same of a time whose inflexion is known, if it rises again.
    pub fn turning_of(&self, inflexion: &Inflexion) -> Option<Turning> {
        (inflexion.state == State::Past).then(|| self.turning()).flatten()
    }

    /// Half width of the 95 % interval of one of the times, seconds; `None` if nothing is known of the noise.
    pub fn half_width(&self, point: &Point) -> Option<f64> {
        (self.times.freedom() > 0.0).then(|| half_width(&self.times, point))
    }
}

/// Seconds a processor in each repetition, by scale, from the work in each column of cost as in [`Series::new`].
///
/// The scatter is that of the repetitions, but never less than what sampling alone brings, see [`Repeated`].
pub(crate) fn observations(columns: &Columns, period: f64, wholes: &[f64], work: &[f64]) -> Vec<Observation> {
    let mut first = 0;
    let of_scale = |scale: &ScaleColumns| {
        let runs = first..first + scale.cost.len();
        first = runs.end;
        let p = f64::from(scale.scale);
        let (mean, whole) = (mean(&work[runs.clone()]), mean(&wholes[runs.clone()]));
        Observation {
            scale: Scale::processors(p),
            values: work[runs].iter().map(|seconds| seconds / p).collect(),
            known_variance: Repeated::new(&[mean], period, whole).variance / (p * p),
        }
    };
    columns.scales.iter().map(of_scale).collect()
}

/// From the smallest count on at which anything runs.
pub(crate) fn from_beginning(observations: &[Observation]) -> &[Observation] {
    let idle = |observation: &&Observation| observation.values.iter().all(|seconds| *seconds == 0.0);
    &observations[observations.iter().take_while(idle).count()..]
}

/// Half width of the 95 % interval of a mean, in its unit.
pub(super) fn half_width(points: &Points, point: &Point) -> f64 {
    Uncertainty { error: point.error, freedom: points.freedom() }.half_width()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_a_processor() {
        let mut columns = Columns::default();
        for (scale, cost) in [(2, 8.0), (2, 12.0), (4, 40.0)] {
            columns.push(scale, vec![cost], vec![cost], cost);
        }
        let wholes = [100.0, 100.0, 80.0];
        let series = |scaling| Series::new(&columns, scaling, 0.1, &wholes, &[8.0, 12.0, 40.0]).unwrap();
        let strong = series(Scaling::Strong);
        assert_eq!(strong.times.means(), [5.0, 10.0]);
        assert_eq!(strong.same_work, strong.times);
        // 0.1 s · 40 s · (1 − 40/80) over 4² processors.
        assert_eq!(strong.observations[1].known_variance, 0.125);
        assert_eq!(strong.last().mean, 10.0);
        let weak = series(Scaling::Weak);
        assert_eq!((weak.times.means(), weak.same_work.means()), (vec![5.0, 10.0], vec![5.0, 5.0]));
        let late = Series::new(&columns, Scaling::Strong, 0.1, &wholes, &[0.0, 0.0, 40.0]).unwrap();
        assert_eq!((late.times.means(), late.same_work.means()), (vec![10.0], vec![0.0, 10.0]));
        assert!(Series::new(&columns, Scaling::Weak, 0.1, &wholes, &[0.0; 3]).is_err());
    }
}
