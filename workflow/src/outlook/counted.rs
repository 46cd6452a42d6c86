//! How often a metric was counted at each scale, and what is to be expected elsewhere.

use falloff_models::{Basis, Model, Observation, Points, Scale};

use super::forecast::predicted;
use crate::scoring::Run;

/// A metric's count a processor over scales.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    points: Points,
    model: Result<Model, String>,
}

impl Counted {
    /// From runs and the sizes of their problems, 1 where there is only one; in the unit of the metric, nanoseconds or a count.
    ///
    /// # Errors
    /// The metric was not measured in every run, or there was nothing to count, as a sentence.
    pub fn new(runs: &[(f64, &Run)], metric: &str) -> Result<Counted, String> {
        let mut observations: Vec<Observation> = Vec::new();
        for (size, run) in runs {
            let total = run.database.exclusive_totals(metric);
            let total: f64 = total.ok_or_else(|| format!("no metric `{metric}` was measured"))?.iter().sum();
            let scale = Scale { p: f64::from(run.scale), n: *size };
            let value = total / scale.p;
            match observations.iter_mut().find(|observation| observation.scale == scale) {
                Some(observation) => observation.values.push(value),
                None => observations.push(Observation { scale, values: vec![value], known_variance: 0.0 }),
            }
        }
        Counted::of(&observations).map_err(|error| format!("`{metric}` cannot be used: {error}"))
    }

    fn of(observations: &[Observation]) -> falloff_models::Result<Counted> {
        let points = Points::new(observations)?;
        let one_size = points.iter().all(|point| point.scale.n == points.get(0).scale.n);
        let basis = if one_size { Basis::strong() } else { Basis::sizes_and_processors() };
        let model = Model::new(&points, &basis).map_err(|error| error.to_string());
        Ok(Counted { points, model })
    }

    /// The mean where it was measured, elsewhere what its law says.
    ///
    /// # Errors
    /// Why nothing can be said there.
    pub fn at(&self, scale: Scale) -> Result<f64, String> {
        match self.points.iter().find(|point| point.scale == scale) {
            Some(point) => Ok(point.mean),
            None => predicted(&self.model, scale).map(|count| count.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_as_measured_and_follow_their_law_elsewhere() {
        let count = |p: f64| 1000.0 + 64000.0 / p;
        let observe = |p: f64| Observation::new(p, &[count(p)]);
        let counted = Counted::of(&[1.0, 2.0, 4.0, 8.0, 16.0].map(observe)).unwrap();
        assert_eq!(counted.at(Scale::processors(4.0)), Ok(17_000.0));
        assert!((counted.at(Scale::processors(64.0)).unwrap() - 2000.0).abs() < 1e-6);
        assert!(counted.at(Scale::processors(1000.0)).unwrap_err().contains("models reach 8 times"));
    }
}
