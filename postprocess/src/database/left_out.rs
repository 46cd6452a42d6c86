//! Leaving out the threads that the program did not start.

use super::health::Health;
use super::location::Location;
use super::model::{Database, Value};
use crate::cct::part;

/// What is no longer in a database.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LeftOut {
    /// State of the whole measurement.
    pub health: Health,
    /// Values of the threads; their contexts are those of the whole tree.
    values: Vec<Value>,
}

impl Database {
    /// The run without the cost of threads that the program did not start (helpers) and without the contexts that have no
    /// cost of other threads. Locations and [`Database::health`] stay those of the whole measurement. If all locations are helpers,
    /// nothing is left out.
    pub fn without_helpers(mut self) -> Database {
        let helpers: Vec<bool> = self.locations().iter().map(|l| l.helper).collect();
        if !helpers.contains(&true) || !helpers.contains(&false) {
            return self;
        }
        let health = self.health();
        let (left_out, mut values): (Vec<Value>, Vec<Value>) =
            self.values().iter().partition(|v| helpers[v.location as usize]);
        let mut present = vec![false; self.tree().len()];
        values.iter().for_each(|v| present[v.context as usize] = true);
        let (tree, places) = part(self.tree(), |context| present[context as usize]);
        values.iter_mut().for_each(|v| v.context = places[v.context as usize]);
        (self.parts.tree, self.parts.values) = (tree, values);
        self.left_out = Some(LeftOut { health, values: left_out });
        self
    }

    /// What [`Database::without_helpers`] left out, summed over the locations selected, in the metric's unit.
    pub fn left_out(&self, metric: &str, select: impl Fn(&Location) -> bool) -> f64 {
        let Some(place) = self.metrics().iter().position(|m| m.name == metric) else { return 0.0 };
        let values = self.left_out.as_ref().map_or(&[][..], |left_out| &left_out.values);
        let selected =
            |v: &&Value| v.metric as usize == place && select(&self.locations()[v.location as usize]);
        let sum = values.iter().filter(selected).fold(0i64, |sum, v| sum.saturating_add(v.exclusive));
        self.metrics()[place].in_unit(sum)
    }
}

#[cfg(test)]
mod tests {
    use crate::synthetic::{database, database_with_helper};

    #[test]
    fn helpers_take_their_contexts_with_them() {
        let whole = database_with_helper(false);
        let shown = whole.clone().without_helpers();
        assert_eq!(shown.tree(), database().tree());
        assert_eq!(shown.values(), database().values());
        assert_eq!(shown.locations(), whole.locations());
        assert_eq!(shown.health(), whole.health());
        for metric in ["cpu", "samples"] {
            let total = |d: &crate::Database| d.exclusive_totals(metric).unwrap().iter().sum::<f64>();
            assert!(total(&shown) < total(&whole));
            assert_eq!(total(&shown) + shown.left_out(metric, |_| true), total(&whole));
            assert_eq!((whole.left_out(metric, |_| true), shown.left_out(metric, |l| !l.helper)), (0.0, 0.0));
        }
        assert_eq!(shown.left_out("cycles", |_| true), 0.0);
    }

    #[test]
    fn helpers_alone_are_the_program() {
        let whole = database_with_helper(true);
        assert_eq!(whole.clone().without_helpers(), whole);
        assert_eq!(database().without_helpers(), database());
    }
}
