//! What the reader of a model should know about its data.

use falloff_models::{Split, stray_runs};

use super::forecast::Forecast;
use crate::bounds::Series;

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Which part it is about, as an index into the parts; `None` for the whole run.
    pub part: Option<usize>,
    /// What.
    pub fact: Fact,
}

/// What does not fit. Times are seconds a processor.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A repetition far from the others of its count.
    StrayRun {
        /// Name of the run.
        run: String,
        /// Its time.
        seconds: f64,
        /// The middle one of its count.
        typical: f64,
    },
    /// A count that does not follow the law of the others.
    StrayCount {
        /// The count.
        processors: f64,
        /// Its mean time.
        seconds: f64,
        /// What the law fitted to all other counts says.
        expected: f64,
    },
    /// Another law from some count on.
    Split {
        /// Last count of the first law.
        last: f64,
        /// First count of the second.
        first: f64,
    },
}

/// All that does not fit in one series; `runs` names the runs of each count in the order of their repetitions.
pub(super) fn notes(
    part: Option<usize>,
    series: &Series,
    forecast: &Forecast,
    runs: &[Vec<String>],
) -> Vec<Note> {
    let name = |p: f64, repetition: usize| {
        let scale = series.observations.iter().position(|observation| observation.scale.p == p);
        let run = scale.and_then(|scale| runs.get(scale)?.get(repetition));
        run.cloned().unwrap_or_default()
    };
    let stray = stray_runs(&series.observations).into_iter().map(|stray| Fact::StrayRun {
        run: name(stray.scale.p, stray.repetition),
        seconds: stray.value,
        typical: stray.typical,
    });
    let model = forecast.model.as_ref().ok();
    let counts = model.into_iter().flat_map(|model| model.stray_scales()).map(|stray| Fact::StrayCount {
        processors: stray.scale.p,
        seconds: stray.value,
        expected: stray.expected,
    });
    let split = Split::find(&series.times).map(|split| Fact::Split { last: split.last, first: split.first });
    stray.chain(counts).chain(split).map(|fact| Note { part, fact }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::{Columns, Scaling};

    fn found(work: impl Fn(usize, u32, usize) -> f64) -> Vec<Fact> {
        let mut columns = Columns::default();
        let (mut works, mut runs) = (Vec::new(), Vec::new());
        for (index, p) in (0..10).map(|k| (k, 1u32 << k)) {
            for repetition in 0..3 {
                works.push(f64::from(p) * work(index, p, repetition) * [0.99, 1.0, 1.01][repetition]);
                columns.push(p, vec![0.0], vec![1.0], 1.0);
            }
            runs.push((1..=3).map(|repetition| format!("n{p:04}-r{repetition}")).collect());
        }
        let series = Series::new(&columns, Scaling::Weak, 0.0, &works, &works).unwrap();
        let forecast = Forecast::new(&series, Scaling::Weak, &[]);
        notes(None, &series, &forecast, &runs).into_iter().map(|note| note.fact).collect()
    }

    #[test]
    fn a_disturbed_run_is_named() {
        let facts = found(|index, _, repetition| if (index, repetition) == (3, 1) { 20.0 } else { 10.0 });
        let stray = facts.iter().find_map(|fact| match fact {
            Fact::StrayRun { run, .. } => Some(run.as_str()),
            _ => None,
        });
        assert_eq!(stray, Some("n0008-r2"));
        assert!(found(|_, _, _| 10.0).is_empty());
    }

    #[test]
    fn another_law_is_seen_where_it_begins() {
        let facts = found(|_, p, _| if p <= 16 { 10.0 } else { 0.625 * f64::from(p) });
        assert!(facts.contains(&Fact::Split { last: 16.0, first: 32.0 }), "{facts:?}");
    }
}
