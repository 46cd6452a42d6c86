//! Results of operations: where they come from, and what those on one database keep of it.

use super::operand::Operand;
use crate::cct::Tree;
use crate::database::{
    Database, Health, Location, Metric, Operation, Parts, Provenance, Value, reduce, summed,
    united_provenance, with_time,
};

/// Where the result of an operation comes from.
pub(super) fn provenance(operands: &[Operand], operation: Operation) -> Provenance {
    let databases: Vec<&Database> = operands.iter().map(|o| o.database).collect();
    let mut history: Vec<Operation> = Vec::new();
    for earlier in databases.iter().flat_map(|d| &d.provenance().history) {
        if !history.contains(earlier) {
            history.push(earlier.clone());
        }
    }
    history.push(operation);
    let healths: Vec<Health> = databases.iter().map(|d| d.health()).collect();
    Provenance { history, inputs_health: Some(Health::together(&healths)), ..united_provenance(&databases) }
}

/// What of a database becomes another.
pub(crate) struct Content {
    pub tree: Tree,
    pub metrics: Vec<Metric>,
    pub locations: Vec<Location>,
    /// In any order; those of one place are added up.
    pub values: Vec<Value>,
}

impl Content {
    /// The content of a database as it is.
    pub fn of(database: &Database) -> Content {
        Content {
            tree: database.tree().clone(),
            metrics: database.metrics().to_vec(),
            locations: database.locations().to_vec(),
            values: database.values().to_vec(),
        }
    }

    /// The database of this content, made of the operand.
    pub fn database(self, operand: Operand, operator: &str, arguments: Vec<String>) -> Database {
        let database = operand.database;
        let operation =
            Operation { operator: operator.to_owned(), arguments, inputs: vec![operand.input(None)] };
        let mut values = summed(self.values);
        values.retain(|v| v.exclusive != 0);
        let (mut metrics, mut values) = with_time(self.metrics, values);
        reduce(&mut metrics, &mut values);
        Database::from_parts(Parts {
            tree: self.tree,
            metrics,
            locations: self.locations,
            values,
            modules: database.modules().to_vec(),
            warnings: database.warnings().to_vec(),
            provenance: provenance(&[operand], operation),
        })
    }
}
