//! Databases side by side: one tree, one list of locations and one of metrics for all of them.

use super::comparable::{Absent, check, warnings};
use super::derived::provenance;
use super::fraction::Fraction;
use super::operand::Operand;
use super::places::{Locations, Placed, placed};
use super::united::{United, united};
use crate::database::{Database, Metric, Operation, Parts, Value, common_divisor, reduce, with_time};
use crate::error::Error;

/// Databases side by side.
pub(super) struct Alignment<'a> {
    operands: &'a [Operand<'a>],
    united: United,
    placed: Placed,
    metrics: Vec<Metric>,
    /// For each database, its metrics' places.
    metric_places: Vec<Vec<u32>>,
}

/// A value of one of the databases over the common divisor of its metric.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    context: u32,
    location: u32,
    metric: u32,
    operand: usize,
    value: i64,
}

impl<'a> Alignment<'a> {
    /// Puts databases side by side.
    ///
    /// # Errors
    /// [`Error::MetricUnits`], [`Error::MixedPaths`], [`Error::LostParts`] and [`Error::UnlikeLocations`] where they cannot be
    /// compared.
    pub fn new(operands: &'a [Operand<'a>], locations: Locations) -> Result<Alignment<'a>, Error> {
        check(operands)?;
        let databases: Vec<&Database> = operands.iter().map(|o| o.database).collect();
        let mut metrics: Vec<Metric> = databases
            .iter()
            .flat_map(|d| d.metrics())
            .map(|m| Metric::new(m.unit, m.name.as_str()))
            .collect();
        metrics.sort();
        metrics.dedup();
        let place = |m: &Metric| metrics.iter().position(|n| n.name == m.name).unwrap_or_default() as u32;
        let metric_places = databases.iter().map(|d| d.metrics().iter().map(place).collect()).collect();
        Ok(Alignment {
            operands,
            united: united(&databases),
            placed: placed(&databases, locations)?,
            metrics,
            metric_places,
        })
    }

    /// Metrics of all databases, in whole units.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// Places of a database's contexts in the common tree.
    pub fn contexts(&self, operand: usize) -> &[u32] {
        &self.united.places[operand]
    }

    /// Which databases have the metric.
    pub fn owners(&self, metric: &Metric) -> Vec<usize> {
        let has = |at: &usize| self.operands[*at].database.metric(&metric.name).is_some();
        (0..self.operands.len()).filter(has).collect()
    }

    /// The database whose values at every context, location and metric are `fold` of the weighted values of all, in their
    /// order, 0 for those that are absent.
    ///
    /// # Errors
    /// [`Error::DivisorTooLarge`] if values do not fit.
    pub fn folded(
        self,
        operation: Operation,
        absent: Absent,
        weight: impl Fn(usize, &Metric) -> Fraction,
        fold: impl Fn(&[i64]) -> Option<i64>,
    ) -> Result<Database, Error> {
        let too_large =
            |metric: u32| Error::DivisorTooLarge { metric: self.metrics[metric as usize].name.clone() };
        let (divisors, mut cells) = self.cells(weight)?;
        cells.sort_unstable();
        let mut values = Vec::with_capacity(cells.len());
        let mut columns = vec![0; self.operands.len()];
        for group in
            cells.chunk_by(|a, b| (a.context, a.location, a.metric) == (b.context, b.location, b.metric))
        {
            let Cell { context, location, metric, .. } = group[0];
            columns.fill(0);
            for cell in group {
                // Several locations of a database may be one here.
                let column: &mut i64 = &mut columns[cell.operand];
                *column = column.checked_add(cell.value).ok_or_else(|| too_large(metric))?;
            }
            let exclusive = fold(&columns).ok_or_else(|| too_large(metric))?;
            if exclusive != 0 {
                values.push(Value { context, location, metric, exclusive });
            }
        }
        let mut metrics = self.metrics.clone();
        metrics.iter_mut().zip(divisors).for_each(|(metric, divisor)| metric.divisor = divisor);
        Ok(self.database(operation, absent, metrics, values))
    }

    /// Divisor of each metric, and all values over it.
    fn cells(&self, weight: impl Fn(usize, &Metric) -> Fraction) -> Result<(Vec<u64>, Vec<Cell>), Error> {
        let mut factors: Vec<Vec<Option<Fraction>>> = Vec::new();
        let mut divisors = vec![Some(1u64); self.metrics.len()];
        for (at, operand) in self.operands.iter().enumerate() {
            let own = operand.database.metrics().iter().map(|m| weight(at, m).over(m.divisor));
            factors.push(own.collect());
            for (factor, place) in factors[at].iter().zip(&self.metric_places[at]) {
                let all = &mut divisors[*place as usize];
                *all = all.zip(*factor).and_then(|(all, f)| common_divisor([all, f.denominator()]));
            }
        }
        let too_large =
            |metric: u32| Error::DivisorTooLarge { metric: self.metrics[metric as usize].name.clone() };
        let divisors =
            (0..).zip(divisors).map(|(m, d)| d.ok_or_else(|| too_large(m))).collect::<Result<Vec<_>, _>>()?;
        let mut cells = Vec::new();
        for (at, operand) in self.operands.iter().enumerate() {
            let (contexts, locations) = (&self.united.places[at], &self.placed.places[at]);
            // What the values of each metric are multiplied by.
            let factors: Vec<Option<i64>> = factors[at]
                .iter()
                .zip(&self.metric_places[at])
                .map(|(factor, place)| {
                    let factor = (*factor)?;
                    let more = divisors[*place as usize] / factor.denominator();
                    factor.numerator().checked_mul(i64::try_from(more).ok()?)
                })
                .collect();
            for v in operand.database.values() {
                let metric = self.metric_places[at][v.metric as usize];
                let value = factors[v.metric as usize].and_then(|f| v.exclusive.checked_mul(f));
                cells.push(Cell {
                    context: contexts[v.context as usize],
                    location: locations[v.location as usize],
                    metric,
                    operand: at,
                    value: value.ok_or_else(|| too_large(metric))?,
                });
            }
        }
        Ok((divisors, cells))
    }

    fn database(
        self,
        mut operation: Operation,
        absent: Absent,
        metrics: Vec<Metric>,
        values: Vec<Value>,
    ) -> Database {
        let operands = self.operands;
        let levels = |at: usize| (operands.len() > 1).then(|| &*self.united.levels[at]);
        operation.inputs = operands.iter().enumerate().map(|(at, o)| o.input(levels(at))).collect();
        if operands.len() > 1 {
            operation.arguments.push(self.placed.words.to_owned());
        }
        let databases: Vec<&Database> = operands.iter().map(|o| o.database).collect();
        let mut modules: Vec<_> = databases.iter().flat_map(|d| d.modules().to_vec()).collect();
        modules.sort();
        modules.dedup();
        let (mut metrics, mut values) = with_time(metrics, values);
        reduce(&mut metrics, &mut values);
        let parts = Parts {
            tree: self.united.tree,
            metrics,
            locations: self.placed.locations,
            values,
            modules,
            warnings: warnings(operands, absent),
            provenance: provenance(operands, operation),
        };
        Database::from_parts(parts)
    }
}
