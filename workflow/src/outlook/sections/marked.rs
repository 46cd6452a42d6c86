//! The sections of a sweep, and what of them bounds its speed-up.

use std::collections::BTreeSet;

use falloff_models::{Step, Waterfall};
use rayon::prelude::*;

use super::run::{Elsewhere, LabelPath, RunSections};
use super::section::{OwnTime, Section, elsewhere, observations};
use crate::bounds::{Series, lasting};
use crate::scoring::Scaling;

/// The section that is there in every program with MPI, without any mark.
const MPI_MAIN: &str = "MPI_MAIN";

/// The sections of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Marked {
    /// Wall times of a process at all counts.
    pub whole: Series,
    /// Sections that main threads enter, in pre-order.
    pub sections: Vec<Section>,
    /// Time in no section; `None` if there is none.
    pub outside: Option<OwnTime>,
    /// 1/S = Σ 1/B at the largest count: the parts are the own times of [`Marked::sections`], in their order, and what none of them
    /// covers is [`Marked::outside`]. Why there is none, otherwise.
    pub waterfall: Result<Waterfall, String>,
    /// Sections that other threads enter, whether main threads do or not.
    pub beside: Vec<Beside>,
}

/// What threads other than the main ones, and forked children, spend in a section.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Its labels.
    pub path: LabelPath,
    /// The largest count at which there are any.
    pub processors: u32,
    /// What they spend there.
    pub elsewhere: Elsewhere,
}

impl Marked {
    /// Of the runs of a sweep; `None` if the program has marked nothing.
    ///
    /// # Errors
    /// There are fewer than two counts, or a process that takes no time.
    pub fn new(
        mut runs: Vec<RunSections>,
        scaling: Scaling,
        targets: &[u32],
    ) -> falloff_models::Result<Option<Marked>> {
        let paths: BTreeSet<LabelPath> = runs.iter().flat_map(|run| run.spent.keys()).cloned().collect();
        if paths.iter().all(|path| path.len() == 1 && &*path[0] == MPI_MAIN) {
            return Ok(None);
        }
        runs.sort_by_key(RunSections::processors);
        let counts: Vec<Vec<RunSections>> =
            runs.chunk_by(|a, b| a.processors() == b.processors()).map(<[_]>::to_vec).collect();
        let whole = Series::of(observations(&counts, |run| run.wall), scaling)?;
        let section = |path: &LabelPath| Section::new(path, &counts, &whole, (scaling, targets)).transpose();
        let sections: Vec<Section> =
            paths.par_iter().filter_map(section).collect::<falloff_models::Result<_>>()?;
        let beside = |path: &LabelPath| {
            let of = |runs: &Vec<RunSections>| Some((runs.first()?.processors(), elsewhere(path, runs)));
            let some = |(_, elsewhere): &(u32, Elsewhere)| elsewhere.threads > 0;
            let (processors, elsewhere) = counts.iter().rev().filter_map(of).find(some)?;
            Some(Beside { path: path.clone(), processors, elsewhere })
        };
        Ok(Some(Marked {
            outside: OwnTime::new(observations(&counts, RunSections::outside), scaling)?,
            waterfall: waterfall(&whole, &sections),
            beside: paths.iter().filter_map(beside).collect(),
            sections,
            whole,
        }))
    }

    /// The section of a step; `None` for what is in none.
    pub fn section(&self, step: &Step) -> Option<&Section> {
        step.part.map(|part| &self.sections[part])
    }

    /// The own time of a step; `None` if it is none.
    pub fn own(&self, step: &Step) -> Option<&OwnTime> {
        self.section(step).map_or(self.outside.as_ref(), |section| section.own.as_ref())
    }

    /// What bounds the speed-up most at the largest count.
    pub fn tightest(&self) -> Option<&Step> {
        self.waterfall.as_ref().ok()?.steps.first()
    }

    /// What bounds most among those whose time no longer falls: while it does not, no larger count is faster than its bound says.
    pub fn lasting(&self) -> Option<&Step> {
        lasting(self.waterfall.as_ref().ok()?, |step| Some(self.own(step)?.inflexion))
    }
}

/// From times for the same work.
fn waterfall(whole: &Series, sections: &[Section]) -> Result<Waterfall, String> {
    let (first, last) = (whole.same_work.get(0), whole.same_work.get(whole.same_work.len() - 1));
    let own: Vec<f64> =
        sections.iter().map(|section| section.own.as_ref().map_or(0.0, OwnTime::last)).collect();
    Waterfall::new(first.mean, last.mean, &own).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use falloff_models::State;
    use proptest::prelude::*;

    use super::super::run::Spent;
    use super::*;

    fn path(labels: &[&str]) -> LabelPath {
        labels.iter().map(|label| Arc::from(*label)).collect()
    }

    /// A run whose processes take `wall` s, of these the given own times in sections below `MPI_MAIN`, which has all but 1 s.
    fn run(processes: u32, wall: f64, own: &[(&str, f64)]) -> RunSections {
        let within: f64 = own.iter().map(|(_, seconds)| seconds).sum();
        let spent = |inclusive: f64, exclusive: f64| Spent {
            inclusive,
            exclusive,
            largest: 1.5 * inclusive,
            span: None,
            elsewhere: Elsewhere::default(),
        };
        let below = own.iter().map(|(label, s)| (path(&[MPI_MAIN, label]), spent(*s, *s)));
        let main = (path(&[MPI_MAIN]), spent(wall - 1.0, wall - 1.0 - within));
        RunSections { processes, threads: 1, wall, spent: below.chain([main]).collect() }
    }

    /// 96/p s of convolution, a halo of 2 s, a table of 3 s that is there from 2 on, 1 s outside and 1 s in `MPI_MAIN`.
    fn sweep(scaling: Scaling) -> Marked {
        let mut runs = Vec::new();
        for noise in [1.0, 1.01, 0.99] {
            for p in [8, 1, 4, 2] {
                let shared = noise * 96.0 / f64::from(p);
                let table = if p == 1 { 0.0 } else { 3.0 };
                runs.push(run(
                    p,
                    shared + 4.0 + table,
                    &[("CONVOLVE", shared), ("HALO", 2.0), ("TABLE", table)],
                ));
            }
        }
        Marked::new(runs, scaling, &[16]).unwrap().unwrap()
    }

    #[test]
    fn own_times_and_the_rest_are_the_run() {
        let marked = sweep(Scaling::Strong);
        let labels: Vec<&str> =
            marked.sections.iter().map(|s| s.path.last().map_or("", |label| label)).collect();
        assert_eq!(labels, [MPI_MAIN, "CONVOLVE", "HALO", "TABLE"]);
        let waterfall = marked.waterfall.as_ref().unwrap();
        assert!((waterfall.speedup - 100.0 / 19.0).abs() < 1e-9);
        let sum: f64 = waterfall.steps.iter().map(|step| 1.0 / step.bound).sum();
        assert!((sum - 1.0 / waterfall.speedup).abs() < 1e-12);
        let halo = &marked.sections[2];
        assert_eq!((halo.bounds.average.value, halo.inflexion.state), (50.0, State::Saturated));
        assert!((halo.bounds.largest.value - 50.0 / 1.5).abs() < 1e-9);
        assert_eq!((halo.inflexion.fastest, halo.share), (1.0, 2.0 / 19.0));
        let predicted = marked.sections[1].forecast.at(16).unwrap();
        assert!((predicted - 6.0).abs() < 0.2, "{predicted}");
    }

    #[test]
    fn what_still_falls_is_no_lasting_bound() {
        let marked = sweep(Scaling::Strong);
        let name =
            |step: &Step| marked.section(step).and_then(|s| s.path.last()).map(|label| label.to_string());
        assert_eq!(marked.tightest().map(name), Some(Some("CONVOLVE".into())));
        assert_eq!(marked.tightest().unwrap().next.map(|next| next.1), Some(100.0 / 3.0));
        assert_eq!(marked.lasting().map(name), Some(Some("TABLE".into())));
        // What each process does again falls, for the same work of a problem that grows with the processors.
        let halo = sweep(Scaling::Weak).sections[2].inflexion;
        assert_eq!((halo.state, halo.fastest), (State::Accelerating, 8.0));
    }

    #[test]
    fn main_alone_is_no_mark() {
        let runs = || [1, 2].map(|p| run(p, 4.0, &[])).to_vec();
        assert_eq!(Marked::new(runs(), Scaling::Strong, &[]).unwrap(), None);
        assert_eq!(Marked::new(Vec::new(), Scaling::Strong, &[]).unwrap(), None);
        // A section that only other threads enter has no time of a process, and is there.
        let mut runs = runs();
        let elsewhere = Elsewhere { threads: 3, seconds: 1.5 };
        for run in &mut runs[..1] {
            run.spent.insert(path(&["WORKER"]), Spent { elsewhere, ..Spent::default() });
        }
        let marked = Marked::new(runs, Scaling::Strong, &[]).unwrap().unwrap();
        assert_eq!(marked.sections.len(), 1);
        assert_eq!(marked.beside, [Beside { path: path(&["WORKER"]), processors: 1, elsewhere }]);
    }

    #[test]
    fn times_that_overlap_are_refused() {
        // Own times of 5 and 6 s in a run of 10.
        let overlapping = |p| {
            let mut run = run(p, 10.0, &[("A", 4.0), ("B", 4.0)]);
            for spent in run.spent.values_mut().filter(|spent| spent.exclusive == 4.0) {
                spent.exclusive = 6.0;
            }
            run
        };
        let marked = Marked::new([1, 2].map(overlapping).to_vec(), Scaling::Strong, &[]).unwrap().unwrap();
        assert!(marked.waterfall.unwrap_err().contains("no more than the run time"));
    }

    proptest! {
        #[test]
        fn no_bound_is_below_the_speedup(own in prop::collection::vec((0.0f64..9.0, 0.0f64..9.0), 1..6)) {
            let labels = ["A", "B", "C", "D", "E"];
            let named = |of: fn(&(f64, f64)) -> f64| -> Vec<(&str, f64)> {
                labels.into_iter().zip(own.iter().map(of)).collect()
            };
            let (first, last) = (named(|o| o.0), named(|o| o.1));
            let wall = |own: &[(&str, f64)]| 2.0 + own.iter().map(|o| o.1).sum::<f64>();
            let runs = vec![run(1, wall(&first), &first), run(2, wall(&last), &last)];
            let marked = Marked::new(runs, Scaling::Strong, &[]).unwrap().unwrap();
            let waterfall = marked.waterfall.as_ref().unwrap();
            let sum: f64 = waterfall.steps.iter().map(|step| 1.0 / step.bound).sum();
            prop_assert!((sum * waterfall.speedup - 1.0).abs() < 1e-9);
            for section in &marked.sections {
                prop_assert!(section.bounds.average.value >= waterfall.speedup * (1.0 - 1e-9));
            }
        }
    }
}
