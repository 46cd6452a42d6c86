//! The time of a part of a program over problem size and processor count.

use falloff_models::{Basis, Error, Interval, Model, Observation, Points, Scale};

use crate::bounds::from_beginning;
use crate::outlook::forecast::predicted;

/// Measured times, their law, and what it says of other scales.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Seconds a processor at every scale, by size and count; at each size from the smallest count on at which the part runs.
    pub times: Points,
    /// The law of the seconds a processor, or why there is none.
    pub model: Result<Model, String>,
    /// For each target, seconds a processor with the 95 % band of a measurement there, or why nothing can be said.
    pub predictions: Vec<Result<Interval, String>>,
}

impl Surface {
    /// Finds the law among sums of products of powers and logarithms of N and p.
    ///
    /// # Errors
    /// As [`Points::new`]: the part takes no time at all.
    pub(super) fn new(observations: &[Observation], targets: &[Scale]) -> falloff_models::Result<Surface> {
        let sizes = observations.chunk_by(|a, b| a.scale.n == b.scale.n);
        let begun: Vec<Observation> = sizes.flat_map(from_beginning).cloned().collect();
        let times = Points::new(&begun)?;
        let model = Model::new(&times, &Basis::sizes_and_processors()).map_err(|error| match error {
            Error::TooFew { have, need, .. } => {
                format!("{need} sizes and {need} counts are needed, of one of them there are {have}")
            }
            other => other.to_string(),
        });
        let predictions = targets.iter().map(|target| predicted(&model, *target)).collect();
        Ok(Surface { times, model, predictions })
    }

    /// The measured seconds a processor at a scale; 0 where the part does not run.
    pub fn measured(&self, scale: Scale) -> f64 {
        self.times.iter().find(|point| point.scale == scale).map_or(0.0, |point| point.mean)
    }

    /// The prediction at a target, if it can be trusted; seconds a processor.
    pub fn at(&self, target: usize) -> Option<f64> {
        self.predictions.get(target)?.as_ref().ok().map(|seconds| seconds.value)
    }
}
