//! Taking the loops out of a database.

use super::model::Database;
use super::rational::reduce;
use super::sorter::summed;
use super::totals::Totals;
use crate::cct::{ScopeKind, without};

impl Database {
    /// The same costs without contexts of kind [`ScopeKind::Loop`]: their statements and calls come together with those of the
    /// function around them. Needs [`Database::values`].
    pub fn without_loops(mut self) -> Database {
        let (tree, places) = without(self.tree(), |context| self.tree().kind(context) == ScopeKind::Loop);
        let moved = self.values().iter().copied().map(|mut value| {
            value.context = places[value.context as usize];
            value
        });
        let mut values = summed(moved.collect());
        // Differences may cancel out.
        values.retain(|value| value.exclusive != 0);
        match &mut self.left_out {
            Some(left_out) => left_out.places.iter_mut().for_each(|place| *place = places[*place as usize]),
            None => reduce(&mut self.head.metrics, &mut values),
        }
        self.head.tree = tree;
        self.section_values = self.section_values.moved(&places);
        self.totals = Totals::of_values(&self.head, &values);
        self.values = self.values.replaced(values);
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::cct::ScopeKind;
    use crate::database::Database;
    use crate::synthetic::{database, database_with_loops};
    use crate::views::{ViewKind, build};

    #[test]
    fn functions_keep_their_cost() {
        let (looped, plain) = (database_with_loops(), database_with_loops().without_loops());
        assert!(plain.tree().scopes().iter().all(|s| s.kind != ScopeKind::Loop));
        assert!(plain.tree().len() < looped.tree().len());
        for metric in ["cpu", "samples"] {
            for kind in [ViewKind::Context, ViewKind::Callers, ViewKind::Flat] {
                let rows = |database: &Database| {
                    let column = database.exclusive_totals(metric).unwrap();
                    let view = build(kind, database.tree(), &[column]);
                    let mut rows: Vec<_> = view
                        .rows
                        .iter()
                        .filter(|r| r.kind.is_frame())
                        .map(|r| (r.name.clone(), r.call_line, r.exclusive.clone(), r.inclusive.clone()))
                        .collect();
                    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
                    rows
                };
                assert_eq!(rows(&looped), rows(&plain), "{kind:?} {metric}");
            }
        }
    }

    #[test]
    fn where_there_is_no_loop_nothing_changes() {
        assert_eq!(database().without_loops(), database());
        let once = database_with_loops().without_loops();
        assert_eq!(once.clone().without_loops(), once);
    }
}
