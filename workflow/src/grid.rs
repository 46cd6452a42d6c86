//! Grids of processes and threads: which of the pairs with the same processor count is meant.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::plan::{Plan, RunKey};

/// A processor count, `8`, or a pair of processes and threads, `4x2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// So many processors.
    Processors(u32),
    /// So many processes with so many threads each.
    Pair(u32, u32),
}

impl Point {
    /// Its processor count.
    pub fn processors(self) -> u32 {
        match self {
            Point::Processors(count) => count,
            Point::Pair(processes, threads) => processes.saturating_mul(threads),
        }
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Point, String> {
        let number = |text: &str| text.parse().ok().filter(|n| *n > 0);
        let point = match text.split_once('x') {
            None => number(text).map(Point::Processors),
            Some((processes, threads)) => {
                number(processes).zip(number(threads)).map(|(p, t)| Point::Pair(p, t))
            }
        };
        point.ok_or_else(|| {
            format!(
                "`{text}` is no processor count such as 8, and no pair of processes and threads such as 4x2"
            )
        })
    }
}

/// The pairs of a grid that are looked at, one for each processor count, so that they are a line of growing counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Processes and threads, by processor count.
    pub chosen: BTreeMap<u32, (u32, u32)>,
    /// Those with the same counts that are left out.
    pub left_out: Vec<(u32, u32)>,
}

impl Line {
    /// The line through a plan's grid that holds the pairs among `wanted`; elsewhere the one with the fewest threads.
    pub fn through(plan: &Plan, wanted: &[Point]) -> Line {
        let mut all: Vec<(u32, u32)> = plan.runs().iter().map(|key| (key.scale, key.threads)).collect();
        all.sort_by_key(|(processes, threads)| {
            (!wanted.contains(&Point::Pair(*processes, *threads)), *threads, *processes)
        });
        all.dedup();
        let mut line = Line::default();
        for pair in all {
            let count = Point::Pair(pair.0, pair.1).processors();
            let chosen = *line.chosen.entry(count).or_insert(pair);
            if chosen != pair {
                line.left_out.push(pair);
            }
        }
        line.left_out.sort_unstable();
        line
    }

    /// Whether a run is on it.
    pub fn holds(&self, key: RunKey) -> bool {
        self.chosen.get(&key.processors()) == Some(&(key.scale, key.threads))
    }
}

/// Processes and threads as they are written: `4x2`.
pub(crate) fn pair((processes, threads): &(u32, u32)) -> String {
    format!("{processes}x{threads}")
}

/// What to know of a grid in a report: `8 = 8x1, 16 = 8x2; not here: 4x2`.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chosen: Vec<String> =
            self.chosen.iter().map(|(count, of)| format!("{count} = {}", pair(of))).collect();
        f.write_str(&chosen.join(", "))?;
        if !self.left_out.is_empty() {
            let left_out: Vec<String> = self.left_out.iter().map(pair).collect();
            write!(f, "; not here: {}", left_out.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::Scaling;

    #[test]
    fn one_pair_stands_for_a_count() {
        let mut plan = Plan::new(vec!["./app".into()], "mpirun".into(), Scaling::Strong, vec![1, 2, 4]);
        plan.manner.threads = vec![1, 2];
        let text = |wanted: &[&str]| {
            let wanted: Vec<Point> = wanted.iter().map(|w| w.parse().unwrap()).collect();
            Line::through(&plan, &wanted).to_string()
        };
        assert_eq!(text(&["4"]), "1 = 1x1, 2 = 2x1, 4 = 4x1, 8 = 4x2; not here: 1x2, 2x2");
        assert_eq!(text(&["2x2"]), "1 = 1x1, 2 = 2x1, 4 = 2x2, 8 = 4x2; not here: 1x2, 4x1");
        let line = Line::through(&plan, &[Point::Pair(2, 2)]);
        assert!(line.holds(RunKey { repetition: 1, scale: 2, threads: 2 }));
        assert!(!line.holds(RunKey { repetition: 1, scale: 4, threads: 1 }));
        for wrong in ["", "0", "4x", "x2", "4x0", "four"] {
            assert!(wrong.parse::<Point>().is_err(), "{wrong}");
        }
    }
}
