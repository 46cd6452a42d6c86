//! Operations on the values of each place: sum, mean, multiples, the smallest and the largest.

use super::alignment::Alignment;
use super::comparable::Absent;
use super::fraction::Fraction;
use super::operand::Operand;
use super::places::Locations;
use crate::database::{Database, Operation};
use crate::error::Error;

/// The sum of databases at every context, location and metric. What is not there counts as 0.
///
/// # Errors
/// [`Error::MetricUnits`] if a metric has different units, [`Error::MixedPaths`] if only some have OpenMP worker stacks
/// grafted, [`Error::LostParts`] if only some have the parts of `time`, [`Error::UnlikeLocations`] if locations are to be
/// paired and cannot be, [`Error::DivisorTooLarge`] if values do not fit.
pub fn sum(operands: &[Operand], locations: Locations) -> Result<Database, Error> {
    folded("sum", operands, locations, Fraction::ONE, total)
}

/// The mean of databases at every context, location and metric. What is not there counts as 0.
///
/// # Errors
/// Those of [`sum`].
pub fn mean(operands: &[Operand], locations: Locations) -> Result<Database, Error> {
    let count = operands.iter().filter(|o| !o.is_empty()).count();
    folded("mean", operands, locations, Fraction::one_of(count), total)
}

/// A database with all values multiplied by a factor.
///
/// # Errors
/// [`Error::DivisorTooLarge`] if values do not fit.
pub fn scale(operand: Operand, factor: Fraction) -> Result<Database, Error> {
    let arguments = vec![factor.to_string()];
    let operation = Operation { operator: "scale".into(), arguments, ..Operation::default() };
    Alignment::new(&[operand], Locations::Pair)?.folded(operation, Absent::IsZero, |_, _| factor, total)
}

/// The smallest value of each context, location and metric. What is not there counts as 0.
///
/// # Errors
/// Those of [`sum`].
pub fn min(operands: &[Operand], locations: Locations) -> Result<Database, Error> {
    folded("min", operands, locations, Fraction::ONE, |values| values.iter().min().copied())
}

/// The largest value of each context, location and metric. What is not there counts as 0.
///
/// # Errors
/// Those of [`sum`].
pub fn max(operands: &[Operand], locations: Locations) -> Result<Database, Error> {
    folded("max", operands, locations, Fraction::ONE, |values| values.iter().max().copied())
}

fn folded(
    operator: &str,
    operands: &[Operand],
    locations: Locations,
    weight: Fraction,
    fold: impl Fn(&[i64]) -> Option<i64>,
) -> Result<Database, Error> {
    let operation = Operation { operator: operator.to_owned(), ..Operation::default() };
    Alignment::new(operands, locations)?.folded(operation, Absent::IsZero, |_, _| weight, fold)
}

/// The sum, if it fits.
pub(super) fn total(values: &[i64]) -> Option<i64> {
    values.iter().try_fold(0i64, |sum, value| sum.checked_add(*value))
}
