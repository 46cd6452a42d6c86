//! Sweeps over processes and threads: how many threads each section is best run with.

use std::collections::BTreeSet;

use falloff_models::{Advice, Inflexion, Observation, Scale};

use super::run::{LabelPath, RunSections};
use crate::bounds::Series;
use crate::outlook::whole::{EFFICIENCY, MARGINAL};
use crate::scoring::Scaling;

/// The sections of a grid of processes and threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// By section in pre-order, those of the whole run first, and by number of processes. Without sections of other threads alone.
    pub rows: Vec<GridRow>,
    /// Planned runs that are not in it.
    pub missing: Vec<String>,
}

/// One section with one number of processes.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRow {
    /// Its labels; `None` for the whole run.
    pub path: Option<LabelPath>,
    /// Number of processes.
    pub processes: u32,
    /// Seconds of a process's main thread in it, the number of threads in place of that of processors.
    pub series: Series,
    /// Where the time for the same work stops falling with more threads. The best number is `fastest`: of those that are alike within
    /// the noise, the smallest.
    pub inflexion: Inflexion,
    /// The largest number of threads that still pays: each step up to it brings half of what it adds.
    pub largest_paying: f64,
}

impl Grid {
    /// From all runs of a grid; `None` unless some number of processes was run with two numbers of threads.
    ///
    /// # Errors
    /// Times that are none.
    pub fn new(
        runs: &[RunSections],
        missing: Vec<String>,
        scaling: Scaling,
    ) -> falloff_models::Result<Option<Grid>> {
        let processes: BTreeSet<u32> = runs.iter().map(|run| run.processes).collect();
        let paths: BTreeSet<&LabelPath> = runs.iter().flat_map(|run| run.spent.keys()).collect();
        let mut rows = Vec::new();
        for path in std::iter::once(None).chain(paths.into_iter().map(Some)) {
            for &count in &processes {
                let of_count: Vec<&RunSections> = runs.iter().filter(|run| run.processes == count).collect();
                rows.extend(GridRow::new(path, count, &of_count, scaling)?);
            }
        }
        Ok((!rows.is_empty()).then_some(Grid { rows, missing }))
    }
}

impl GridRow {
    /// `None` with fewer than two numbers of threads, or if no main thread is in the section.
    fn new(
        path: Option<&LabelPath>,
        processes: u32,
        runs: &[&RunSections],
        scaling: Scaling,
    ) -> falloff_models::Result<Option<GridRow>> {
        let time = |run: &RunSections| path.map_or(run.wall, |path| run.in_section(path).inclusive);
        let threads: BTreeSet<u32> = runs.iter().map(|run| run.threads).collect();
        if threads.len() < 2 || runs.iter().all(|run| time(run) == 0.0) {
            return Ok(None);
        }
        let of_threads = |&count: &u32| Observation {
            scale: Scale::processors(f64::from(count)),
            values: runs.iter().filter(|run| run.threads == count).map(|run| time(run)).collect(),
            known_variance: 0.0,
        };
        let series = Series::of(threads.iter().map(of_threads).collect(), scaling)?;
        Ok(Some(GridRow {
            path: path.cloned(),
            processes,
            inflexion: Inflexion::new(&series.same_work)?,
            largest_paying: Advice::new(&series.same_work, MARGINAL, EFFICIENCY)?.largest_paying,
            series,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::{Elsewhere, Spent};
    use super::*;

    /// Of 12 s that processes and threads share, 1 s for each thread of a process, and what only other threads do.
    fn run(processes: u32, threads: u32, noise: f64) -> RunSections {
        let (shared, crowded) = (12.0 * noise / f64::from(processes * threads), noise * f64::from(threads));
        let spent = |inclusive: f64, threads: u32| Spent {
            inclusive,
            exclusive: inclusive,
            largest: inclusive,
            span: None,
            elsewhere: Elsewhere { threads, seconds: f64::from(threads) },
        };
        let sections =
            [("CROWDED", spent(crowded, 0)), ("SHARED", spent(shared, 0)), ("WORKERS", spent(0.0, 2))];
        let spent = sections.into_iter().map(|(label, spent)| (vec![label.into()], spent)).collect();
        RunSections { processes, threads, wall: shared + crowded, spent }
    }

    #[test]
    fn sections_want_their_own_numbers_of_threads() {
        let mut runs = Vec::new();
        for (processes, threads) in [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1)] {
            runs.extend([0.99, 1.0, 1.01].map(|noise| run(processes, threads, noise)));
        }
        let grid = Grid::new(&runs, vec!["n0004t02-r1".into()], Scaling::Strong).unwrap().unwrap();
        let of = |row: &GridRow| {
            let label = row.path.as_ref().map_or("whole", |path| &path[0]).to_owned();
            (label, row.processes, row.inflexion.fastest, row.largest_paying)
        };
        let found: Vec<_> = grid.rows.iter().map(of).collect();
        let wanted = [
            // 13, 8, 7 s and 7, 5, 5.5 s: 62 % and 40 % faster on twice the machine.
            ("whole", 1, 4.0, 2.0),
            ("whole", 2, 2.0, 1.0),
            ("CROWDED", 1, 1.0, 1.0),
            ("CROWDED", 2, 1.0, 1.0),
            ("SHARED", 1, 4.0, 4.0),
            ("SHARED", 2, 4.0, 4.0),
        ];
        assert_eq!(
            found,
            wanted.map(|(label, processes, best, paying)| (label.to_owned(), processes, best, paying))
        );
        assert_eq!(Grid::new(&runs[18..], Vec::new(), Scaling::Strong).unwrap(), None);
        // For the same work of a problem that grows, what each thread adds is flat.
        let weak = Grid::new(&runs, Vec::new(), Scaling::Weak).unwrap().unwrap();
        assert_eq!(of(&weak.rows[2]), ("CROWDED".into(), 1, 1.0, 1.0));
    }
}
