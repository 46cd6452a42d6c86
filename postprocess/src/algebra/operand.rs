//! What operations are applied to.

use std::collections::BTreeMap;

use crate::database::{Database, Input, InputCost, Level, counted};

/// A database under the name that results and reports call it by, as a rule its directory.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The name.
    pub name: &'a str,
    /// The database.
    pub database: &'a Database,
}

impl Operand<'_> {
    /// Whether nothing was measured: such an operand has no say in what the others are compared by.
    pub(super) fn is_empty(&self) -> bool {
        self.database.metrics().is_empty() && self.database.locations().is_empty()
    }

    /// How the history of a result names it. `levels` tells how well its contexts are matched, if it has a partner.
    pub(super) fn input(&self, levels: Option<&[Option<Level>]>) -> Input {
        Input {
            run_id: self.database.provenance().run_id.clone(),
            name: self.name.to_owned(),
            costs: levels.map(|levels| self.costs(levels)).unwrap_or_default(),
        }
    }

    fn costs(&self, levels: &[Option<Level>]) -> Vec<InputCost> {
        let database = self.database;
        let counts = counted(database.locations());
        let metrics = database.metrics();
        let mut sums = vec![0i64; metrics.len() * database.tree().len()];
        for value in database.values().iter().filter(|v| counts[v.location as usize]) {
            let sum = &mut sums[value.context as usize * metrics.len() + value.metric as usize];
            *sum = sum.saturating_add(value.exclusive);
        }
        let mut costs: Vec<InputCost> = metrics
            .iter()
            .map(|m| InputCost {
                metric: m.name.clone(),
                divisor: m.divisor,
                matched: BTreeMap::new(),
                ..InputCost::default()
            })
            .collect();
        for (sums, level) in sums.chunks(metrics.len().max(1)).zip(levels) {
            for (sum, cost) in sums.iter().zip(&mut costs).filter(|(sum, _)| **sum != 0) {
                cost.total = cost.total.saturating_add(*sum);
                let part = match level {
                    Some(level) => cost.matched.entry(*level).or_default(),
                    None => &mut cost.unmatched,
                };
                *part = part.saturating_add(sum.unsigned_abs());
            }
        }
        costs
    }
}
