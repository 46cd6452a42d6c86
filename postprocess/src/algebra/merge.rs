//! One database of measurements of different metrics.

use super::alignment::Alignment;
use super::comparable::Absent;
use super::fraction::Fraction;
use super::operand::Operand;
use super::places::Locations;
use super::pointwise::total;
use crate::database::{Database, Metric, Operation, SAMPLES};
use crate::error::Error;

/// Whose values count where several databases have a metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Nobody's: they are not merged. The numbers of samples alone are added up.
    #[default]
    Refuse,
    /// Those of the first that has it.
    First,
    /// Those of the last that has it.
    Last,
    /// Their mean.
    Mean,
}

impl Overlap {
    /// The word that the command line and histories use.
    pub fn word(self) -> &'static str {
        match self {
            Overlap::Refuse => "refuse",
            Overlap::First => "first",
            Overlap::Last => "last",
            Overlap::Mean => "mean",
        }
    }
}

/// Databases of runs of one program that measured different metrics, as if one run had measured them all.
///
/// # Errors
/// [`Error::MetricOverlap`] where several have a metric and `overlap` does not say whose counts; else those of
/// [`super::sum`].
pub fn merge(operands: &[Operand], overlap: Overlap, locations: Locations) -> Result<Database, Error> {
    let alignment = Alignment::new(operands, locations)?;
    let weights = alignment
        .metrics()
        .iter()
        .map(|metric| Ok((metric.name.clone(), weights(&alignment, metric, operands, overlap)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let weight = |at: usize, metric: &Metric| {
        let weights = weights.iter().find(|(name, _)| *name == metric.name);
        weights.map_or(Fraction::ZERO, |(_, weights)| weights[at])
    };
    let arguments = vec![format!("overlap {}", overlap.word())];
    let operation = Operation { operator: "merge".into(), arguments, inputs: Vec::new() };
    alignment.folded(operation, Absent::IsFine, weight, total)
}

/// How much each database's values of a metric count.
fn weights(
    alignment: &Alignment,
    metric: &Metric,
    operands: &[Operand],
    overlap: Overlap,
) -> Result<Vec<Fraction>, Error> {
    let owners = alignment.owners(metric);
    let mut weights = vec![Fraction::ZERO; operands.len()];
    let counting = match (overlap, &*owners) {
        (Overlap::Refuse, [first, second, ..]) if metric.name != SAMPLES => {
            return Err(Error::MetricOverlap {
                metric: metric.name.clone(),
                first: operands[*first].name.to_owned(),
                second: operands[*second].name.to_owned(),
            });
        }
        (Overlap::First, [first, ..]) => std::slice::from_ref(first),
        (Overlap::Last, [.., last]) => std::slice::from_ref(last),
        (_, all) => all,
    };
    let weight = if overlap == Overlap::Mean { Fraction::one_of(counting.len()) } else { Fraction::ONE };
    counting.iter().for_each(|at| weights[*at] = weight);
    Ok(weights)
}
