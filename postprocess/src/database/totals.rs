//! Exclusive values summed over locations.

use super::location::{Location, counted};
use super::metric::Value;
use super::model::Head;
use super::summary::Summary;

/// Sums over locations of every metric and context, and which contexts the program's own threads were in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Totals {
    /// `[metric][context]`, of the threads that the program started.
    program: Vec<Vec<i64>>,
    /// Of those that it did not start; nothing if there are none.
    helpers: Option<Vec<Vec<i64>>>,
    /// Contexts in which a thread that the program started has a value.
    present: Vec<bool>,
}

impl Totals {
    fn zero(contexts: usize, metrics: usize, locations: &[Location]) -> Totals {
        let zeros = || vec![vec![0; contexts]; metrics];
        let helpers = counted(locations).contains(&false).then(zeros);
        Totals { program: zeros(), helpers, present: vec![false; contexts] }
    }

    /// Of values that refer to what is there.
    pub fn of_values(head: &Head, values: &[Value]) -> Totals {
        let mut totals = Totals::zero(head.tree.len(), head.metrics.len(), &head.locations);
        let counted = counted(&head.locations);
        for value in values {
            let (metric, context) = (value.metric as usize, value.context as usize);
            let sum = if counted[value.location as usize] {
                totals.present[context] = true;
                Some(&mut totals.program[metric][context])
            } else {
                totals.helpers.as_mut().map(|helpers| &mut helpers[metric][context])
            };
            if let Some(sum) = sum {
                *sum = sum.saturating_add(value.exclusive);
            }
        }
        totals
    }

    /// Of summaries that refer to what is there.
    pub fn of_summaries(head: &Head, summaries: &[Summary]) -> Totals {
        let mut totals = Totals::zero(head.tree.len(), head.metrics.len(), &head.locations);
        for summary in summaries {
            totals.set(summary.context, summary.metric, Sums::of(summary));
        }
        totals
    }

    /// Of rows of context, metric and sums, as they are stored.
    ///
    /// # Errors
    /// Which row refers to something that is not there.
    pub fn of_rows(head: &Head, rows: Vec<(u32, u32, Sums)>) -> Result<Totals, String> {
        let mut totals = Totals::zero(head.tree.len(), head.metrics.len(), &head.locations);
        for (row, (context, metric, sums)) in rows.into_iter().enumerate() {
            if context as usize >= head.tree.len() || metric as usize >= head.metrics.len() {
                return Err(format!("row {row} refers to a row that is not there"));
            }
            totals.set(context, metric, sums);
        }
        Ok(totals)
    }

    fn set(&mut self, context: u32, metric: u32, sums: Sums) {
        let (metric, context) = (metric as usize, context as usize);
        self.program[metric][context] = sums.program;
        self.present[context] |= sums.participants > 0;
        if let Some(helpers) = &mut self.helpers {
            helpers[metric][context] = sums.helpers;
        }
    }

    /// All locations, by context.
    pub fn of_metric(&self, metric: usize) -> Vec<i64> {
        let program = &self.program[metric];
        match &self.helpers {
            None => program.clone(),
            Some(helpers) => {
                program.iter().zip(&helpers[metric]).map(|(p, h)| p.saturating_add(*h)).collect()
            }
        }
    }

    /// Of the threads that the program did not start, over all contexts, by metric.
    pub fn of_helpers(&self) -> Vec<i64> {
        let sum = |column: &Vec<i64>| column.iter().copied().fold(0, i64::saturating_add);
        self.helpers.as_ref().map_or_else(|| vec![0; self.program.len()], |all| all.iter().map(sum).collect())
    }

    /// Whether a thread that the program started has a value there.
    pub fn is_present(&self, context: u32) -> bool {
        self.present[context as usize]
    }

    /// Without helpers, in a tree of `contexts` contexts where those that are present have these places.
    pub fn of_program(&self, contexts: usize, places: &[u32]) -> Totals {
        let mut placed = Totals {
            program: vec![vec![0; contexts]; self.program.len()],
            helpers: None,
            present: vec![false; contexts],
        };
        for (context, place) in places.iter().enumerate().filter(|(context, _)| self.present[*context]) {
            placed.present[*place as usize] = true;
            for (to, from) in placed.program.iter_mut().zip(&self.program) {
                to[*place as usize] = from[context];
            }
        }
        placed
    }
}

/// Sums of one context and metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Over the threads that the program started.
    pub program: i64,
    /// Over the others.
    pub helpers: i64,
    /// How many of the former have a value.
    pub participants: u32,
}

impl Sums {
    fn of(summary: &Summary) -> Sums {
        Sums {
            program: summary.exclusive.sum,
            helpers: summary.helper_sum,
            participants: summary.exclusive.participants,
        }
    }
}
