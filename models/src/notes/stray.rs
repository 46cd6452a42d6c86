//! Values that do not belong to the others.

use crate::interval::student;
use crate::points::{Observation, Scale};
use crate::select::Model;

/// A repetition that is far from the others of its scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrayRun {
    /// Its scale.
    pub scale: Scale,
    /// Which repetition, from 0.
    pub repetition: usize,
    /// Its value.
    pub value: f64,
    /// The middle value of its scale.
    pub typical: f64,
}

/// Deviations of a repetition beyond this many standard deviations are no chance; it is far out because the deviation is itself
/// estimated from few values.
const STRAY: f64 = 6.0;
/// And it is at least this part of the value.
const STRAY_AT_LEAST: f64 = 0.05;
/// Standard deviation of a normal distribution whose median absolute deviation is 1.
const DEVIATION_OF_MEDIAN: f64 = 1.4826;

/// Repetitions that something disturbed: further from the median of their scale than 6 standard deviations and than 5 %. The deviation
/// is 1.4826 times the median of |x/median − 1| over all scales with three or more repetitions, the middle ones themselves left out.
///
/// ```
/// use falloff_models::{Observation, stray_runs};
/// let runs = [Observation::new(1.0, &[9.9, 10.0, 10.2]), Observation::new(2.0, &[5.0, 9.0, 5.1])];
/// let stray = stray_runs(&runs);
/// assert_eq!((stray.len(), stray[0].scale.p, stray[0].repetition), (1, 2.0, 1));
/// ```
pub fn stray_runs(observations: &[Observation]) -> Vec<StrayRun> {
    let mut gaps: Vec<f64> = Vec::new();
    let mut found = Vec::new();
    for observation in observations.iter().filter(|o| o.values.len() >= 3) {
        let typical = median(&observation.values);
        if typical <= 0.0 {
            continue;
        }
        let mut own: Vec<f64> =
            observation.values.iter().map(|value| (value / typical - 1.0).abs()).collect();
        let runs = observation.values.iter().enumerate();
        found.extend(runs.map(|(repetition, value)| StrayRun {
            scale: observation.scale,
            repetition,
            value: *value,
            typical,
        }));
        own.sort_by(f64::total_cmp);
        gaps.extend(&own[1..]);
    }
    if gaps.is_empty() {
        return Vec::new();
    }
    let limit = (STRAY * DEVIATION_OF_MEDIAN * median(&gaps)).max(STRAY_AT_LEAST);
    found.retain(|run| (run.value / run.typical - 1.0).abs() > limit);
    found
}

/// The middle value; the mean of the two middle ones of an even number.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { 0.5 * (sorted[half - 1] + sorted[half]) }
}

/// A scale that does not follow the law of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrayScale {
    /// Which.
    pub scale: Scale,
    /// Its mean.
    pub value: f64,
    /// What the law fitted to all other scales says.
    pub expected: f64,
}

impl Model {
    /// Scales whose externally studentised residual is significant at 5 %, by Bonferroni's rule for all scales together. With fewer
    /// than two degrees of freedom nothing can be said.
    pub fn stray_scales(&self) -> Vec<StrayScale> {
        let points = self.points();
        let fit = self.fit();
        let freedom = fit.freedom - 1.0;
        if freedom < 1.0 {
            return Vec::new();
        }
        let limit = student(1.0 - 0.025 / points.len() as f64, freedom);
        let stray = points.iter().zip(&fit.left_out).zip(points.variances()).filter(
            |((point, expected), variance)| {
                // e²/(v(1 − h)) from the residual e and that of the point left out, e/(1 − h).
                let residual = point.mean - self.predict(point.scale).cost.value;
                let removed = residual * (point.mean - **expected) / variance;
                let others = (fit.rss - removed).max(0.0) / freedom;
                removed > limit * limit * others.max(NOISE_MIN)
            },
        );
        stray
            .map(|((point, expected), _)| StrayScale {
                scale: point.scale,
                value: point.mean,
                expected: *expected,
            })
            .collect()
    }
}

/// Scatter about a law below this part of what is assumed is none.
const NOISE_MIN: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::normal;
    use crate::points::Points;
    use crate::select::Basis;

    fn sweep(random: &mut fastrand::Rng, noise: f64) -> Vec<Observation> {
        let counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let run = |p: f64, random: &mut fastrand::Rng| (5.0 + 95.0 / p) * (1.0 + noise * normal(random));
        counts.map(|p| Observation::new(p, &[(); 3].map(|()| run(p, random)))).into()
    }

    #[test]
    fn chance_is_rarely_stray() {
        let mut random = fastrand::Rng::with_seed(5);
        let sweeps: Vec<_> = (0..200).map(|_| sweep(&mut random, 0.05)).collect();
        let runs = sweeps.iter().filter(|sweep| !stray_runs(sweep).is_empty()).count();
        let model =
            |sweep: &Vec<Observation>| Model::new(&Points::new(sweep).unwrap(), &Basis::strong()).unwrap();
        let scales = sweeps.iter().filter(|sweep| !model(sweep).stray_scales().is_empty()).count();
        // 5 % each of 200, and four standard errors.
        assert!(runs <= 22 && scales <= 22, "{runs} {scales}");
    }

    #[test]
    fn a_disturbed_run_and_a_disturbed_scale_are_named() {
        let mut random = fastrand::Rng::with_seed(6);
        let mut disturbed = sweep(&mut random, 0.01);
        disturbed[3].values[1] *= 1.5;
        let stray = stray_runs(&disturbed);
        assert_eq!(stray.iter().map(|run| (run.scale.p, run.repetition)).collect::<Vec<_>>(), [(8.0, 1)]);
        let mut moved = sweep(&mut random, 0.01);
        for value in &mut moved[4].values {
            *value *= 1.3;
        }
        let stray = Model::new(&Points::new(&moved).unwrap(), &Basis::strong()).unwrap().stray_scales();
        assert_eq!(stray.iter().map(|scale| scale.scale.p).collect::<Vec<_>>(), [16.0]);
        assert!((stray[0].expected / (5.0 + 95.0 / 16.0) - 1.0).abs() < 0.03);
    }
}
