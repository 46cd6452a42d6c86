//! The whole run: its speed-up, how many processors pay, and which run would tell more.

use falloff_models::{Advice, EXTRAPOLATION_MAX, Inflexion, NextRun, Scale, Turning};

use super::forecast::Forecast;
use super::laws::Laws;
use crate::bounds::Series;
use crate::scoring::Scaling;

/// What a step to a larger count brings, against the growth of the machine, if it pays.
pub const MARGINAL: f64 = 0.5;
/// Efficiency that is worth keeping.
pub const EFFICIENCY: f64 = 0.8;

/// The whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// Times at all counts.
    pub series: Series,
    /// What is predicted.
    pub forecast: Forecast,
    /// Laws of its speed-up.
    pub laws: Laws,
    /// Where its time for the same work stops falling.
    pub inflexion: Inflexion,
    /// The least time that a + b/p + c·g(p) has; `None` if none can be told or there are fewer than four counts.
    pub turning: Option<Turning>,
    /// How many of the counts measured pay, by [`MARGINAL`] and [`EFFICIENCY`].
    pub advice: Advice,
    /// The run that is most worth its cost, if any would narrow the prediction.
    pub next_run: Option<Worthwhile>,
}

/// A run that would narrow a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worthwhile {
    /// Processor count whose prediction it narrows.
    pub target: u32,
    /// Width of the band there now, as a fraction of the value.
    pub width_now: f64,
    /// The run: its count, what it costs in processor-seconds, and the width that it is expected to leave.
    pub run: NextRun,
}

impl Whole {
    /// Looks at the times of the whole run.
    ///
    /// # Errors
    /// There are fewer than two counts.
    pub(super) fn new(series: Series, scaling: Scaling, targets: &[u32]) -> falloff_models::Result<Whole> {
        let forecast = Forecast::new(&series, scaling, targets);
        Ok(Whole {
            laws: Laws::new(&series, &forecast, scaling),
            inflexion: Inflexion::new(&series.same_work)?,
            turning: series.turning(),
            advice: Advice::new(&series.same_work, MARGINAL, EFFICIENCY)?,
            next_run: targets.iter().max().and_then(|target| worthwhile(&series, &forecast, *target)),
            forecast,
            series,
        })
    }
}

/// Of the smallest count doubled again and again, up to the target and to what models reach, the one not yet measured whose run brings
/// most for its cost.
fn worthwhile(series: &Series, forecast: &Forecast, target: u32) -> Option<Worthwhile> {
    let model = forecast.model.as_ref().ok()?;
    let reach = EXTRAPOLATION_MAX * series.times.largest_p();
    let target = Scale::processors(f64::from(target).min(reach));
    let measured: Vec<f64> = series.times.iter().map(|point| point.scale.p).collect();
    let doubled = std::iter::successors(measured.first().copied(), |p| Some(2.0 * p));
    let choices: Vec<Scale> = doubled
        .take_while(|p| *p <= target.p)
        .filter(|p| !measured.contains(p))
        .map(Scale::processors)
        .collect();
    let narrows = |run: &NextRun| run.worth.is_finite() && run.worth > 0.0;
    let run = model.next_runs(target, &choices).into_iter().find(narrows)?;
    let width_now = model.predict(target).cost.relative_width();
    Some(Worthwhile { target: target.p as u32, width_now, run })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Columns;

    fn whole(scaling: Scaling, targets: &[u32], work: impl Fn(f64, f64) -> f64) -> Whole {
        let mut columns = Columns::default();
        let mut works = Vec::new();
        for p in [1, 2, 4, 8, 16] {
            for noise in [-0.02, 0.0, 0.02] {
                works.push(work(f64::from(p), noise));
                columns.push(p, vec![0.0], vec![1.0], 1.0);
            }
        }
        let series = Series::new(&columns, scaling, 0.0, &works, &works).unwrap();
        Whole::new(series, scaling, targets).unwrap()
    }

    #[test]
    fn the_counts_that_pay_and_the_turning_point() {
        let strong = whole(Scaling::Strong, &[64], |p, noise| (99.0 + p + 0.5 * p * p) * (1.0 + noise));
        assert_eq!((strong.advice.largest_paying, strong.advice.largest_efficient), (8.0, Some(4.0)));
        let turning = strong.turning.unwrap();
        assert!(turning.p.holds((99.0f64 / 0.5).sqrt()), "{turning:?}");
        // The problem grows with the processors: what counts is the time for the work of one.
        let weak = whole(Scaling::Weak, &[64], |p, noise| p * 10.0 * (1.0 + noise));
        assert_eq!((weak.advice.largest_paying, weak.advice.largest_efficient), (16.0, Some(16.0)));
    }

    #[test]
    fn the_next_run_is_at_a_count_not_measured() {
        let strong = whole(Scaling::Strong, &[1024], |p, noise| (99.0 + p + 0.5 * p * p) * (1.0 + noise));
        let next = strong.next_run.unwrap();
        assert_eq!(next.target, 128);
        assert!(
            [32.0, 64.0, 128.0].contains(&next.run.scale.p) && next.run.width < next.width_now,
            "{next:?}"
        );
    }
}
