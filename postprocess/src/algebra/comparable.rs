//! Whether databases can be combined, and what must be known about it.

use super::operand::Operand;
use crate::database::{ClockGroups, Database, TIME, TIME_PARTS, Unit};
use crate::error::Error;

/// Refuses databases that do not go together.
pub(super) fn check(operands: &[Operand]) -> Result<(), Error> {
    let measured: Vec<&Operand> = operands.iter().filter(|o| !o.is_empty()).collect();
    let first = measured.first().map(|o| o.database.provenance());
    if first.is_some_and(|first| measured.iter().any(|o| !o.database.provenance().has_paths_of(first))) {
        return Err(Error::MixedPaths);
    }
    let all = || measured.iter().flat_map(|o| o.database.metrics());
    for metric in all() {
        if let Some(other) = all().find(|m| m.name == metric.name && m.unit != metric.unit) {
            return Err(Error::MetricUnits {
                metric: metric.name.clone(),
                first: metric.unit.word(),
                second: other.unit.word(),
            });
        }
    }
    let together =
        TIME_PARTS.iter().all(|part| all().any(|m| m.name == *part && m.unit == Unit::Nanoseconds));
    let lost =
        measured.iter().find(|o| has(o.database, TIME) && !TIME_PARTS.iter().all(|p| has(o.database, p)));
    match lost {
        Some(operand) if together => Err(Error::LostParts { name: operand.name.to_owned() }),
        _ => Ok(()),
    }
}

/// All that readers of the inputs were told, and what does not go together well.
pub(super) fn warnings(operands: &[Operand], absent: Absent) -> Vec<String> {
    let mut warnings: Vec<String> = operands.iter().flat_map(|o| o.database.warnings().to_vec()).collect();
    warnings.sort();
    warnings.dedup();
    let measured: Vec<&Operand> = operands.iter().filter(|o| !o.is_empty()).collect();
    let mut names: Vec<&str> =
        measured.iter().flat_map(|o| o.database.metrics()).map(|m| m.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let mut groups = ClockGroups::for_metric(name);
        for operand in measured.iter().filter(|o| has(o.database, name)) {
            groups.add(operand.name, operand.database.clocks());
        }
        if let Some(unlike) = groups.unlike() {
            warnings.push(format!("`{name}` was measured in different ways: {unlike}"));
        }
        let without: Vec<&str> = measured.iter().filter(|o| !has(o.database, name)).map(|o| o.name).collect();
        if absent == Absent::IsZero && !without.is_empty() {
            warnings
                .push(format!("`{name}` was not measured in {} and counts as 0 there", without.join(", ")));
        }
    }
    warnings
}

/// What it means that a metric was not measured in all databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// It counts as 0, which readers must know.
    IsZero,
    /// It is what the operation is for.
    IsFine,
}

fn has(database: &Database, metric: &str) -> bool {
    database.metric(metric).is_some()
}
