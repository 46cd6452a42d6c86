//! One part of a run: its time now and at the targets, and how it bounds the speed-up.

use std::sync::Arc;

use falloff_models::{Inflexion, Interval, PartTimes, PartialBounds};
use falloff_postprocess::{ScopeKind, Tree};

use super::forecast::Forecast;
use super::series::{Series, half_width};
use crate::scoring::Scaling;

/// Where a part is in the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Context of the sweep's tree.
    pub context: u32,
    /// What it is.
    pub kind: ScopeKind,
    /// Names of the frames from the outermost to its own.
    pub path: Vec<Arc<str>>,
    /// Load module.
    pub module: Option<Arc<str>>,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// Line of the definition.
    pub line: Option<u32>,
}

/// One part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Where it is; `None` for all parts with too few samples together.
    pub place: Option<Place>,
    /// How many parts of the run it stands for: 1 if it has a place.
    pub count: usize,
    /// Times at all counts.
    pub series: Series,
    /// Its share of the whole run's time at the largest count, as a fraction.
    pub share: f64,
    /// What is predicted.
    pub forecast: Forecast,
    /// Its share of the whole run's predicted time at each target, as a fraction; `None` if one of the two is not predicted.
    pub shares: Vec<Option<f64>>,
    /// Largest over mean cost of the participants at the largest count; `None` if it does not run there.
    pub max_over_mean: Option<f64>,
    /// How fast the work of the smallest count could be done at most, while this part takes what it takes at the largest; against
    /// the run at the smallest count.
    pub bounds: PartialBounds,
    /// Where its time for the same work stops falling.
    pub inflexion: Inflexion,
    /// Its place by the time at the largest count, from 1.
    pub rank: usize,
    /// Its place by predicted time at the count that is ranked, among those that have one, from 1.
    pub rank_then: Option<usize>,
}

impl Place {
    /// The place of a context.
    pub(super) fn of(tree: &Tree, context: u32) -> Place {
        let scope = tree.scope(context);
        let frame = |above: &u32| tree.kind(*above).is_frame();
        Place {
            context,
            kind: scope.kind,
            path: tree.path(context).into_iter().filter(frame).map(|c| tree.scope(c).name.clone()).collect(),
            module: scope.module.clone(),
            file: scope.file.clone(),
            line: scope.line,
        }
    }

    /// Name of its own frame.
    pub fn name(&self) -> &str {
        self.path.last().map_or("<whole run>", |name| name)
    }
}

impl Part {
    /// A part of the run whose times are `whole` and predicted by `forecast`; not yet ranked.
    ///
    /// # Errors
    /// Its times cannot be compared.
    pub(super) fn new(
        place: Option<Place>,
        count: usize,
        series: Series,
        max_over_mean: Option<f64>,
        (whole, whole_forecast): (&Series, &Forecast),
        (scaling, targets): (Scaling, &[u32]),
    ) -> falloff_models::Result<Part> {
        let forecast = Forecast::new(&series, scaling, targets);
        let share = |target: &u32| Some(forecast.at(*target)? / whole_forecast.at(*target)?);
        Ok(Part {
            place,
            count,
            share: series.last().mean / whole.last().mean,
            shares: targets.iter().map(share).collect(),
            forecast,
            max_over_mean,
            bounds: bounds(whole, &series, max_over_mean)?,
            inflexion: Inflexion::new(&series.same_work)?,
            series,
            rank: 0,
            rank_then: None,
        })
    }

    /// Whether it stands for parts with too few samples.
    pub fn is_rare(&self) -> bool {
        self.place.is_none()
    }
}

/// Bounds by a part of the speed-up over the whole run at the smallest count, from times for the same work.
fn bounds(
    whole: &Series,
    part: &Series,
    max_over_mean: Option<f64>,
) -> falloff_models::Result<PartialBounds> {
    let (reference, points) = (whole.same_work.get(0), &part.same_work);
    let reference = Interval::around(reference.mean, half_width(&whole.same_work, reference));
    let last = points.get(points.len() - 1);
    let average = Interval::around(last.mean, half_width(points, last));
    let factor = max_over_mean.unwrap_or(1.0);
    let largest =
        Interval { value: average.value * factor, low: average.low * factor, high: average.high * factor };
    PartialBounds::new(reference, &PartTimes { average, largest, span: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Columns;

    #[test]
    fn a_part_bounds_the_speedup_by_its_own_time() {
        let mut columns = Columns::default();
        for (scale, work) in [(1, 100.0), (4, 120.0)] {
            columns.push(scale, vec![work], vec![1.0], 1.0);
        }
        let series =
            |scaling, work: &[f64]| Series::new(&columns, scaling, 0.0, &[100.0, 120.0], work).unwrap();
        for (scaling, wanted) in [(Scaling::Strong, 10.0), (Scaling::Weak, 40.0)] {
            let (whole, part) = (series(scaling, &[100.0, 120.0]), series(scaling, &[5.0, 40.0]));
            let found = bounds(&whole, &part, Some(2.0)).unwrap();
            assert_eq!((found.average.value, found.largest.value), (wanted, wanted / 2.0));
        }
    }
}
