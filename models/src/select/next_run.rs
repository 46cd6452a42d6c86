//! Which run would say most for what it costs.

use super::candidate::{Candidate, Data};
use super::choice::rivals;
use super::model::Model;
use crate::interval::Interval;
use crate::points::Scale;

/// A run not yet made, and what it would bring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextRun {
    /// Where.
    pub scale: Scale,
    /// p·T: what it costs, in processor-seconds if the model is one of seconds.
    pub cost: f64,
    /// Width of the band at the target, against the value, that is left after it.
    pub width: f64,
    /// By how much the band gets narrower for each unit of cost.
    pub worth: f64,
}

impl Model {
    /// The runs to choose from, the one that is most worth its cost first; the model is one of times.
    ///
    /// For each, every law that may be the law is believed in turn: the run is taken to measure what that law says, all laws are fitted
    /// again with it, and those that still may be it make the band. The width is the mean over these.
    pub fn next_runs(&self, target: Scale, choices: &[Scale]) -> Vec<NextRun> {
        let now = self.predict(target).cost.relative_width();
        let run = |scale: &Scale| {
            let (cost, width) = (scale.p * self.predict(*scale).cost.value, self.width_after(*scale, target));
            NextRun { scale: *scale, cost, width, worth: (now - width) / cost }
        };
        let mut runs: Vec<NextRun> = choices.iter().map(run).collect();
        runs.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        runs
    }

    fn width_after(&self, scale: Scale, target: Scale) -> f64 {
        let widths: Vec<f64> = self
            .candidates()
            .iter()
            .filter_map(|believed| {
                let points = self.points().with(scale, believed.value(scale));
                let data = Data::new(&points);
                let again = Candidate::new(&believed.hypothesis, &data)?;
                let others =
                    self.candidates().iter().filter_map(|other| Candidate::new(&other.hypothesis, &data));
                let bands = others.filter(|other| rivals(&again, other)).map(|other| other.band(target));
                Some(bands.fold(again.band(target), Interval::hull).relative_width())
            })
            .collect();
        widths.iter().sum::<f64>() / widths.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::basis::Basis;
    use super::*;
    use crate::interval::normal;
    use crate::points::{Observation, Points};

    fn model() -> Model {
        let mut random = fastrand::Rng::with_seed(3);
        let counts = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let runs = counts.map(|p: f64| {
            let noisy = [(); 3].map(|()| (10.0 + 2.0 * p.log2()) * (1.0 + 0.03 * normal(&mut random)));
            Observation::new(p, &noisy)
        });
        Model::new(&Points::new(&runs).unwrap(), &Basis::weak()).unwrap()
    }

    #[test]
    fn a_larger_run_says_more_and_costs_more() {
        let (model, target) = (model(), Scale::processors(1024.0));
        let runs = model.next_runs(target, &[2.0, 256.0, 512.0].map(Scale::processors));
        let at = |p: f64| runs.iter().find(|run| run.scale.p == p).unwrap();
        let now = model.predict(target).cost.relative_width();
        assert!(at(512.0).width < at(256.0).width && at(256.0).width < now, "{now} {runs:?}");
        assert!(at(512.0).cost > 2.0 * at(256.0).cost);
        assert!((at(256.0).cost / (256.0 * model.at(256.0).cost.value) - 1.0).abs() < 1e-12);
        assert!(runs.windows(2).all(|pair| pair[0].worth >= pair[1].worth));
    }
}
