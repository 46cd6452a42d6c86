//! One section over the counts of a sweep.

use falloff_models::{Inflexion, Observation, PartialBounds, Scale, Turning};

use super::run::{Elsewhere, LabelPath, RunSections, Spent};
use crate::bounds::{Series, partial_bounds};
use crate::outlook::forecast::Forecast;
use crate::scoring::Scaling;

/// A section that the processes' main threads enter. Times are means over the processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its labels, from the outermost section.
    pub path: LabelPath,
    /// From entry to exit at every count.
    pub inclusive: Series,
    /// Time in it and in no section within; `None` if there is none.
    pub own: Option<OwnTime>,
    /// Its share of the whole run's time at the largest count, as a fraction; with those within.
    pub share: f64,
    /// What is predicted.
    pub forecast: Forecast,
    /// Largest over mean time of the processes at the largest count; `None` if it is not entered there.
    pub max_over_mean: Option<f64>,
    /// How fast the work of the smallest count could be done at most, while this section takes what it takes at the largest.
    pub bounds: PartialBounds,
    /// Where its time for the same work stops falling.
    pub inflexion: Inflexion,
    /// Where it is least by a curve through all counts, if it rises again and that can be told.
    pub turning: Option<Turning>,
    /// Threads that are in no process's timeline, at the largest count.
    pub elsewhere: Elsewhere,
}

/// A time that is in no other section's.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnTime {
    /// At every count.
    pub series: Series,
    /// Where it stops falling, for the same work.
    pub inflexion: Inflexion,
}

impl OwnTime {
    /// Of a time at every count; `None` if it is none at all.
    ///
    /// # Errors
    /// Its times cannot be compared.
    pub(super) fn new(
        observations: Vec<Observation>,
        scaling: Scaling,
    ) -> falloff_models::Result<Option<OwnTime>> {
        if observations.iter().flat_map(|observation| &observation.values).all(|seconds| *seconds == 0.0) {
            return Ok(None);
        }
        let series = Series::of(observations, scaling)?;
        Ok(Some(OwnTime { inflexion: Inflexion::new(&series.same_work)?, series }))
    }

    /// Seconds for the same work at the largest count.
    pub(super) fn last(&self) -> f64 {
        let points = &self.series.same_work;
        points.get(points.len() - 1).mean
    }
}

impl Section {
    /// The section of these labels over the runs of each count, smallest first, whose whole times are `whole`; `None` if no main
    /// thread is ever in it.
    ///
    /// # Errors
    /// Its times cannot be compared.
    pub(super) fn new(
        path: &LabelPath,
        counts: &[Vec<RunSections>],
        whole: &Series,
        (scaling, targets): (Scaling, &[u32]),
    ) -> falloff_models::Result<Option<Section>> {
        let of = |time: fn(&Spent) -> f64| observations(counts, |run| time(&run.in_section(path)));
        let Some(OwnTime { series, inflexion }) = OwnTime::new(of(|spent| spent.inclusive), scaling)? else {
            return Ok(None);
        };
        let largest = counts.last().map_or(&[][..], |runs| runs);
        let max_over_mean = max_over_mean(path, largest);
        let forecast = Forecast::new(&series, scaling, targets);
        let span = match counts.iter().flatten().all(|run| run.in_section(path).span.is_some()) {
            true => OwnTime::new(of(|spent| spent.span.unwrap_or(0.0)), scaling)?.map(|span| span.series),
            false => None,
        };
        Ok(Some(Section {
            path: path.clone(),
            own: OwnTime::new(of(|spent| spent.exclusive), scaling)?,
            share: series.last().mean / whole.last().mean,
            forecast,
            max_over_mean,
            bounds: partial_bounds(
                whole,
                &series,
                (0, whole.same_work.len() - 1),
                (max_over_mean, span.as_ref()),
            )?,
            turning: series.turning_of(&inflexion),
            inflexion,
            inclusive: series,
            elsewhere: elsewhere(path, largest),
        }))
    }
}

/// A time of every run, by count.
pub(super) fn observations(
    counts: &[Vec<RunSections>],
    time: impl Fn(&RunSections) -> f64,
) -> Vec<Observation> {
    let of_count = |runs: &Vec<RunSections>| Observation {
        scale: Scale::processors(runs.first().map_or(1.0, |run| f64::from(run.processors()))),
        values: runs.iter().map(&time).collect(),
        known_variance: 0.0,
    };
    counts.iter().map(of_count).collect()
}

/// Of the times of the slowest process and of the mean one, over the repetitions together.
fn max_over_mean(path: &LabelPath, runs: &[RunSections]) -> Option<f64> {
    let sum = |time: fn(&Spent) -> f64| runs.iter().map(|run| time(&run.in_section(path))).sum::<f64>();
    let mean = sum(|spent| spent.inclusive);
    (mean > 0.0).then(|| sum(|spent| spent.largest) / mean)
}

/// What is in no timeline: the most threads of a run, the mean time.
pub(super) fn elsewhere(path: &LabelPath, runs: &[RunSections]) -> Elsewhere {
    let all = runs.iter().map(|run| run.in_section(path).elsewhere);
    let seconds: f64 = all.clone().map(|elsewhere| elsewhere.seconds).sum();
    Elsewhere {
        threads: all.map(|elsewhere| elsewhere.threads).max().unwrap_or(0),
        seconds: seconds / runs.len().max(1) as f64,
    }
}
