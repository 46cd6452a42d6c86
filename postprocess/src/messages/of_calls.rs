//! Databases of what is found in the calls of a run.

use super::Calls;
use crate::algebra::{Content, Operand};
use crate::cct::part;
use crate::database::{Database, Metric, Unit, Value};

/// Nanoseconds by location of the log and context.
type Times = Vec<(usize, u32, i64)>;

impl Calls {
    /// A database of times that were found in the calls, with the call paths that have any. `name` is how its history calls the run,
    /// `operator` what was done, with these `arguments`. Contexts are those of
    /// [`Calls::database`].
    pub fn found(
        &self,
        name: &str,
        operator: &str,
        arguments: Vec<String>,
        mut found: Vec<(String, Times)>,
    ) -> Database {
        found.sort();
        let mut values = Vec::new();
        for (metric, (_, times)) in (0..).zip(&found) {
            let at = |&(location, context, exclusive): &(usize, u32, i64)| {
                Some(Value { context, location: self.place(location)?, metric, exclusive })
            };
            values.extend(times.iter().filter_map(at));
        }
        let mut present = vec![false; self.database.tree().len()];
        values.iter().for_each(|value| present[value.context as usize] = true);
        let (tree, contexts) = part(self.database.tree(), |context| present[context as usize]);
        values.iter_mut().for_each(|value| value.context = contexts[value.context as usize]);
        let metrics = found.into_iter().map(|(name, _)| Metric::new(Unit::Nanoseconds, name)).collect();
        let locations = self.database.locations().to_vec();
        let operand = Operand { name, database: &self.database };
        Content { tree, metrics, locations, values }.database(operand, operator, arguments)
    }
}
