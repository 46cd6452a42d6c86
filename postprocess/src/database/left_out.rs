//! Leaving out the threads that the program did not start.

use super::location::{Location, counted};
use super::model::Database;
use super::values::Shown;
use crate::cct::part;

/// What is no longer in a database.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LeftOut {
    /// Sums over all contexts, by metric.
    sums: Vec<i64>,
    /// Places of the whole tree's contexts in what is left of it.
    pub places: Vec<u32>,
}

impl Database {
    /// The run without the cost of threads that the program did not start (helpers) and without the contexts that have no
    /// cost of other threads. Locations and [`Database::health`] stay those of the whole measurement. If all locations are helpers,
    /// nothing is left out.
    pub fn without_helpers(mut self) -> Database {
        let counted = counted(self.locations());
        if !counted.contains(&false) || self.left_out.is_some() {
            return self;
        }
        let health = self.health();
        let (tree, places) = part(self.tree(), |context| self.totals.is_present(context));
        self.values = self.values.restricted(Shown { locations: counted, contexts: places.clone() });
        let sums = self.totals.of_helpers();
        self.totals = self.totals.of_program(tree.len(), &places);
        self.head.tree = tree;
        self.section_values = self.section_values.moved(&places);
        self.left_out = Some(LeftOut { sums, places });
        self.with_health(health)
    }

    /// Whether cost of this location would be there: not if it is a helper and helpers are left out.
    pub fn shows(&self, location: &Location) -> bool {
        self.left_out.is_none() || !location.helper
    }

    /// What [`Database::without_helpers`] left out, summed over the locations selected, in the metric's unit. Needs
    /// [`Database::values`] if these are not all.
    pub fn left_out(&self, metric: &str, select: impl Fn(&Location) -> bool) -> f64 {
        let (Some(place), Some(left_out)) = (self.place_of(metric), &self.left_out) else { return 0.0 };
        let selected: Vec<bool> = self.locations().iter().map(select).collect();
        let sum = if selected.contains(&false) {
            let values = self.values.left_out().iter();
            let of_selected = values.filter(|v| v.metric as usize == place && selected[v.location as usize]);
            of_selected.fold(0, |sum: i64, v| sum.saturating_add(v.exclusive))
        } else {
            left_out.sums[place]
        };
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
