//! Statistics of each context over all locations, exact.

use super::model::{Database, Value};

/// Statistics of one context and metric over all locations. A location without the context counts as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Index of the context.
    pub context: u32,
    /// Index of the metric.
    pub metric: u32,
    /// Sum of the exclusive values.
    pub sum: i64,
    /// Sum over the context and all below it.
    pub inclusive: i64,
    /// Smallest exclusive value, 0 of locations that have none among them.
    pub min: i64,
    /// Largest exclusive value.
    pub max: i64,
    /// First location that has the largest.
    pub max_location: u32,
    /// Locations with a value.
    pub participants: u32,
    /// Sum of the squares of the exclusive values.
    pub sum_of_squares: u128,
}

/// Statistics of every context and metric with any inclusive value, sorted by context and metric.
pub fn summarise(database: &Database) -> Vec<Summary> {
    let locations = database.locations().len() as u32;
    let metrics = database.metrics().len();
    let contexts = database.tree().contexts();
    let empty = |i: usize| Summary {
        context: (i / metrics) as u32,
        metric: (i % metrics) as u32,
        sum: 0,
        inclusive: 0,
        min: i64::MAX,
        max: i64::MIN,
        max_location: 0,
        participants: 0,
        sum_of_squares: 0,
    };
    let mut all: Vec<Summary> = (0..contexts.len() * metrics).map(empty).collect();
    for value in database.values() {
        all[value.context as usize * metrics + value.metric as usize].add(value);
    }
    for i in (metrics..all.len()).rev() {
        let parent = contexts[i / metrics].parent as usize * metrics + i % metrics;
        all[parent].inclusive = all[parent].inclusive.saturating_add(all[i].inclusive);
    }
    all.retain(|s| s.inclusive != 0 || s.participants > 0);
    for summary in &mut all {
        if summary.participants < locations {
            (summary.min, summary.max) = (summary.min.min(0), summary.max.max(0));
        }
    }
    all
}

impl Summary {
    /// Values come in the order of locations.
    fn add(&mut self, value: &Value) {
        let v = value.exclusive;
        self.sum = self.sum.saturating_add(v);
        self.inclusive = self.inclusive.saturating_add(v);
        self.min = self.min.min(v);
        if v > self.max {
            (self.max, self.max_location) = (v, value.location);
        }
        self.participants += 1;
        self.sum_of_squares = self.sum_of_squares.saturating_add(u128::from(v.unsigned_abs()).pow(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_count_absent_locations_as_zero() {
        let database = crate::synthetic::database();
        let all = summarise(&database);
        let root = all[0];
        let total: i64 = database.sums("cpu", |_| true).unwrap().iter().sum();
        assert_eq!((root.context, root.metric, root.inclusive, root.participants), (0, 0, total, 0));
        let lost = all.iter().find(|s| s.sum == 10_000_000).unwrap();
        assert_eq!((lost.min, lost.max, lost.max_location, lost.participants), (0, 10_000_000, 0, 1));
        assert_eq!(lost.sum_of_squares, 100_000_000_000_000);
        let kernel = all.iter().max_by_key(|s| s.sum).unwrap();
        assert_eq!((kernel.min, kernel.max, kernel.participants), (1_900_000_400, 2_000_000_000, 2));
        assert_eq!(kernel.sum_of_squares, 2_000_000_000u128.pow(2) + 1_900_000_400u128.pow(2));
    }
}
