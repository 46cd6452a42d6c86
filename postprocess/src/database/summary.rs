//! Statistics of every context over all locations.

use rustc_hash::FxHashMap;

use super::location::{Location, counted};
use super::metric::Value;
use super::statistics::Statistics;
use crate::cct::Tree;

/// Statistics of one context and metric over all locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Index of the context.
    pub context: u32,
    /// Index of the metric.
    pub metric: u32,
    /// Of the cost of the context with all that is below it.
    pub inclusive: Statistics,
    /// Of its own cost.
    pub exclusive: Statistics,
    /// Sum of its own cost over the threads that the program did not start, which is in neither.
    pub helper_sum: i64,
}

/// Makes the summaries of values that come in canonical order.
///
/// It holds, for the contexts on one path, what each location has spent at and below them so far: memory for the depth of
/// the tree, not for its size, times the locations.
pub(super) struct Summariser<'a> {
    tree: &'a Tree,
    /// Whether each location's values are in the statistics.
    counted: Vec<bool>,
    locations: u32,
    /// Path of contexts that are not complete yet.
    open: Vec<Open>,
    /// Summaries of every context that was reached, one for each metric, and whether it is about any value.
    rows: Vec<(Summary, bool)>,
    /// Participants in each metric of the context at work.
    columns: Vec<Vec<(i64, u32)>>,
}

/// A context that is not complete yet.
struct Open {
    context: u32,
    /// Place of the first of its summaries.
    first: usize,
    /// What has been spent at and below it, by location and metric. Helpers are not there.
    inclusive: FxHashMap<(u32, u32), i64>,
}

impl<'a> Summariser<'a> {
    pub fn new(tree: &'a Tree, metrics: usize, locations: &[Location]) -> Summariser<'a> {
        let counted = counted(locations);
        Summariser {
            tree,
            locations: counted.iter().filter(|c| **c).count() as u32,
            counted,
            open: Vec::new(),
            rows: Vec::new(),
            columns: vec![Vec::new(); metrics],
        }
    }

    /// Takes values that stand behind those that came before; a context's come together.
    pub fn add(&mut self, values: &[Value]) {
        for own in values.chunk_by(|a, b| a.context == b.context) {
            self.reach(own[0].context);
            self.add_own(own);
        }
    }

    /// Summaries of every context and metric with any value at or below the context, sorted by these.
    pub fn finish(mut self) -> Vec<Summary> {
        while self.close() {}
        self.rows.into_iter().filter(|(_, has_values)| *has_values).map(|(summary, _)| summary).collect()
    }

    /// Opens the path down to a context.
    fn reach(&mut self, context: u32) {
        while self.open.last().is_some_and(|open| context >= self.tree.end(open.context)) {
            self.close();
        }
        let innermost = self.open.last().map(|open| open.context);
        let upwards = std::iter::successors(Some(context), |c| self.tree.parent(*c));
        let path: Vec<u32> = upwards.take_while(|c| Some(*c) != innermost).collect();
        let none = Statistics { locations: self.locations, ..Statistics::default() };
        for context in path.into_iter().rev() {
            self.open.push(Open { context, first: self.rows.len(), inclusive: FxHashMap::default() });
            self.rows.extend((0..self.columns.len() as u32).map(|metric| {
                (Summary { context, metric, inclusive: none, exclusive: none, helper_sum: 0 }, false)
            }));
        }
    }

    fn add_own(&mut self, own: &[Value]) {
        let Some(open) = self.open.last_mut() else { return };
        self.columns.iter_mut().for_each(Vec::clear);
        for value in own {
            let (summary, has_values) = &mut self.rows[open.first + value.metric as usize];
            *has_values = true;
            if self.counted[value.location as usize] {
                self.columns[value.metric as usize].push((value.exclusive, value.location));
                add(&mut open.inclusive, (value.location, value.metric), value.exclusive);
            } else {
                summary.helper_sum = summary.helper_sum.saturating_add(value.exclusive);
            }
        }
        for (column, (summary, _)) in self.columns.iter_mut().zip(&mut self.rows[open.first..]) {
            summary.exclusive = Statistics::of(column, self.locations);
        }
    }

    /// Completes the innermost open context and adds what it has to its caller's; whether there was one.
    fn close(&mut self) -> bool {
        let Some(open) = self.open.pop() else { return false };
        self.columns.iter_mut().for_each(Vec::clear);
        for ((location, metric), value) in &open.inclusive {
            // What cancels below counts as nothing, as it does where it is not there.
            if *value != 0 {
                self.columns[*metric as usize].push((*value, *location));
            }
        }
        for (column, (summary, _)) in self.columns.iter_mut().zip(&mut self.rows[open.first..]) {
            summary.inclusive = Statistics::of(column, self.locations);
        }
        let Some(caller) = self.open.last_mut() else { return true };
        for metric in 0..self.columns.len() {
            self.rows[caller.first + metric].1 |= self.rows[open.first + metric].1;
        }
        // The smaller one goes into the larger one.
        let (mut all, mut fewer) = (std::mem::take(&mut caller.inclusive), open.inclusive);
        if all.len() < fewer.len() {
            std::mem::swap(&mut all, &mut fewer);
        }
        fewer.into_iter().for_each(|(place, value)| add(&mut all, place, value));
        caller.inclusive = all;
        true
    }
}

fn add(sums: &mut FxHashMap<(u32, u32), i64>, place: (u32, u32), value: i64) {
    let sum = sums.entry(place).or_default();
    *sum = sum.saturating_add(value);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::synthetic::{database, database_with_helper, function};
    use crate::{Database, TreeBuilder};

    fn summaries(database: &Database) -> Vec<Summary> {
        let mut summariser = Summariser::new(database.tree(), database.metrics().len(), database.locations());
        summariser.add(database.values());
        summariser.finish()
    }

    #[test]
    fn statistics_count_absent_locations_as_zero() {
        let database = database();
        let all = summaries(&database);
        let (root, total) = (all[0], database.sums("cpu").unwrap().iter().sum::<i64>());
        assert_eq!((root.context, root.metric, root.exclusive.participants), (0, 0, 0));
        assert_eq!((root.inclusive.sum, root.inclusive.participants), (total, 2));
        let lost = all.iter().find(|s| s.exclusive.sum == 10_000_000).unwrap().exclusive;
        assert_eq!((lost.min, lost.max, lost.max_location, lost.participants), (0, 10_000_000, Some(0), 1));
        assert_eq!(lost.sum_of_squares, 100_000_000_000_000);
        let kernel = all.iter().max_by_key(|s| s.exclusive.sum).unwrap().exclusive;
        assert_eq!((kernel.min, kernel.max, kernel.participants), (1_900_000_400, 2_000_000_000, 2));
        assert_eq!(kernel.sum_of_squares, 2_000_000_000u128.pow(2) + 1_900_000_400u128.pow(2));
    }

    #[test]
    fn helpers_are_apart() {
        let (plain, with) = (summaries(&database()), database_with_helper(false));
        let all = summaries(&with);
        assert_eq!(all[0].inclusive, plain[0].inclusive);
        let by_name = |name: &str| {
            let of = |s: &&Summary| &*with.tree().scope(s.context).name == name && s.metric == 0;
            all.iter().filter(of).map(|s| (s.exclusive.sum, s.helper_sum)).collect::<Vec<_>>()
        };
        assert_eq!(by_name("poll"), [(0, 2_500_000_000)]);
        assert_eq!(by_name("worker"), [(800_000_000, 100_000_000)]);
    }

    proptest! {
        #[test]
        fn inclusive_statistics_are_those_of_inclusive_values(
            parents in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
            costs in prop::collection::vec((any::<prop::sample::Index>(), 0u32..3, 0u32..2, -9i64..9), 0..60),
        ) {
            let mut builder = TreeBuilder::new();
            for (name, parent) in parents.iter().enumerate() {
                builder.child(parent.index(builder.len()) as u32, &function(&name.to_string(), 1, None));
            }
            let (tree, _) = builder.finish();
            let mut values: Vec<Value> = costs
                .iter()
                .map(|(c, location, metric, exclusive)| {
                    let context = c.index(tree.len()) as u32;
                    Value { context, location: *location, metric: *metric, exclusive: *exclusive }
                })
                .filter(|v| v.exclusive != 0)
                .collect();
            values.sort_unstable();
            values.dedup_by_key(|v| (v.context, v.location, v.metric));
            let mut summariser = Summariser::new(&tree, 2, &[Location::default(), Location::default(), Location::default()]);
            // In pieces.
            for piece in values.chunk_by(|a, b| a.context % 5 == b.context % 5 || a.context == b.context) {
                summariser.add(piece);
            }
            let mut expected = Vec::new();
            for context in 0..tree.len() as u32 {
                for metric in 0..2 {
                    let below = |v: &&Value| v.metric == metric && (context..tree.end(context)).contains(&v.context);
                    let of = |own: bool| {
                        let mut column: Vec<(i64, u32)> = (0..3)
                            .map(|location| {
                                let mine = |v: &&Value| v.location == location && (!own || v.context == context);
                                (values.iter().filter(below).filter(mine).map(|v| v.exclusive).sum(), location)
                            })
                            .filter(|(value, _)| *value != 0)
                            .collect();
                        Statistics::of(&mut column, 3)
                    };
                    if values.iter().any(|v| below(&v)) {
                        let (inclusive, exclusive) = (of(false), of(true));
                        expected.push(Summary { context, metric, inclusive, exclusive, helper_sum: 0 });
                    }
                }
            }
            prop_assert_eq!(summariser.finish(), expected);
        }
    }
}
