//! The bound of one part, and which of several stays.

use falloff_models::{Inflexion, Interval, PartTimes, PartialBounds, Point, State, Step, Waterfall};

use super::series::{Series, half_width};

/// Bounds by a part of the speed-up of the whole run at the count of index `to` over that at `from`, from times for the same work.
/// `max_over_mean` is that of the participants at `to`; `None` if it does not run there. `span` has the times in which any of them is in
/// it, where that is known.
///
/// # Errors
/// The whole run takes no time at `from`.
pub fn partial_bounds(
    whole: &Series,
    part: &Series,
    (from, to): (usize, usize),
    (max_over_mean, span): (Option<f64>, Option<&Series>),
) -> falloff_models::Result<PartialBounds> {
    let around =
        |series: &Series, point: &Point| Interval::around(point.mean, half_width(&series.same_work, point));
    let reference = around(whole, whole.same_work.get(from));
    let average = around(part, part.same_work.get(to));
    let factor = max_over_mean.unwrap_or(1.0);
    let largest =
        Interval { value: average.value * factor, low: average.low * factor, high: average.high * factor };
    let span = span.map(|span| around(span, span.same_work.get(to)));
    PartialBounds::new(reference, &PartTimes { average, largest, span })
}

/// The tightest bound among those whose time no longer falls: while it does not, no larger count is faster than this says.
pub fn lasting(waterfall: &Waterfall, inflexion: impl Fn(&Step) -> Option<Inflexion>) -> Option<&Step> {
    let stays = |step: &&Step| {
        step.seconds > 0.0 && inflexion(step).is_some_and(|inflexion| inflexion.state != State::Accelerating)
    };
    waterfall.steps.iter().find(stays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::{Columns, Scaling};

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
            let found = partial_bounds(&whole, &part, (0, 1), (Some(2.0), None)).unwrap();
            assert_eq!((found.average.value, found.largest.value), (wanted, wanted / 2.0));
            assert_eq!(found.span, None);
            let span = series(scaling, &[5.0, 120.0]);
            let found = partial_bounds(&whole, &part, (0, 1), (Some(2.0), Some(&span))).unwrap();
            assert_eq!(found.span.unwrap().value, wanted / 3.0);
        }
    }
}
