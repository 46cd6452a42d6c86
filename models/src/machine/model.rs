//! Time as a sum of counts, each with what one costs on this machine.

use super::column::Column;
use crate::error::{Error, Result};
use crate::interval::{Interval, student};
use crate::linear::{Fit, non_negative};
use crate::points::{Points, Scale};

/// What one of a column's count costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// Told by the user.
    Given(f64),
    /// Fitted, with its interval.
    Fitted(Interval),
    /// Not seen in the data: the fit would make it negative or nothing.
    Absent,
}

impl Cost {
    /// The cost, 0 if it was not seen.
    pub fn value(self) -> f64 {
        match self {
            Cost::Given(value) => value,
            Cost::Fitted(interval) => interval.value,
            Cost::Absent => 0.0,
        }
    }
}

/// One column's part of the time at a scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name of the column.
    pub name: String,
    /// βₖ·Xₖ, in the unit of the values.
    pub value: f64,
    /// Part of the whole; also the elasticity of the whole to βₖ: by how many percent it grows if βₖ grows by 1 %. All add up to 1.
    pub share: f64,
    /// ∂T/∂βₖ = Xₖ: how much the whole grows with the cost of one.
    pub sensitivity: f64,
}

/// T = Σ βₖ·Xₖ(N, p): the counts X are formulas, the costs β belong to the machine (Clement and Quinn, Symbolic Performance Prediction
/// of Scalable Parallel Programs, IPPS'95).
#[derive(Debug)]
pub struct MachineModel {
    columns: Vec<Column>,
    costs: Vec<Cost>,
    /// The fit and which columns it is of; `None` if all costs were given or none was seen.
    fitted: Option<(Vec<usize>, Fit)>,
    variance: f64,
    relative: f64,
    errors: Vec<f64>,
}

impl MachineModel {
    /// Fits the costs that are not given by weighted least squares, none of them negative.
    ///
    /// A start-up of 1 ms, 1 µs for each of N operations shared by p, 10 µs for each of log2 p messages:
    ///
    /// ```
    /// use falloff_models::{Column, MachineModel, Observation, Points, Scale};
    /// let runs: Vec<_> = [(1e4, 1.0), (1e4, 4.0), (1e5, 2.0), (1e5, 16.0), (1e6, 8.0)]
    ///     .map(|(n, p): (f64, f64)| Observation {
    ///         scale: Scale { n, p },
    ///         values: vec![1e-3 + 1e-6 * n / p + 1e-5 * p.log2()],
    ///         known_variance: 0.0,
    ///     })
    ///     .into();
    /// let columns = vec![
    ///     Column::new("start-up", |_| 1.0),
    ///     Column::new("operations", |at: Scale| at.n / at.p),
    ///     Column::new("messages", |at: Scale| at.p.log2()),
    /// ];
    /// let model = MachineModel::fit(&Points::new(&runs)?, columns)?;
    /// assert!((model.costs()[2].value() - 1e-5).abs() < 1e-15);
    /// let parts = model.parts(Scale { n: 1e6, p: 64.0 })?;
    /// assert!((parts[1].share - 0.015625 / 0.016685).abs() < 1e-9);
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are no columns or fewer scales than columns to fit, a formula gives no count, or the columns cannot be told apart.
    pub fn fit(points: &Points, columns: Vec<Column>) -> Result<MachineModel> {
        let action = "fit what each count costs";
        let free: Vec<usize> = (0..columns.len()).filter(|k| columns[*k].cost().is_none()).collect();
        if columns.is_empty() || points.len() < free.len() {
            return Err(Error::TooFew { action, have: points.len(), need: free.len().max(1) });
        }
        let rows: Vec<Vec<f64>> = points
            .iter()
            .map(|point| columns.iter().map(|c| c.value(point.scale)).collect())
            .collect::<Result<_>>()?;
        let given =
            |row: &Vec<f64>| columns.iter().zip(row).map(|(c, x)| c.cost().unwrap_or(0.0) * x).sum::<f64>();
        let left: Vec<f64> = points.iter().zip(&rows).map(|(point, row)| point.mean - given(row)).collect();
        let variances = points.variances();
        let matrix: Vec<Vec<f64>> = free.iter().map(|k| rows.iter().map(|row| row[*k]).collect()).collect();
        if !free.is_empty() && Fit::new(&matrix, &left, &variances).is_none() {
            let names: Vec<&str> = free.iter().map(|k| columns[*k].name()).collect();
            return Err(Error::Indistinct { names: names.join(", ") });
        }
        let fitted = non_negative(&matrix, &left, &variances)
            .map(|(used, fit)| (used.into_iter().map(|u| free[u]).collect::<Vec<_>>(), fit));
        let count = points.len() as f64;
        let known =
            points.iter().zip(&variances).map(|(point, v)| point.error.powi(2) / v).sum::<f64>() / count;
        let missed = fitted.as_ref().map_or(0.0, |(_, fit)| fit.rss / fit.freedom.max(1.0));
        let relative =
            points.iter().zip(&variances).map(|(point, v)| v / point.mean.powi(2).max(*v)).sum::<f64>()
                / count;
        let costs = columns.iter().map(|c| c.cost().map_or(Cost::Absent, Cost::Given)).collect();
        let mut model = MachineModel {
            columns,
            costs,
            fitted,
            variance: missed.max(known),
            relative,
            errors: Vec::new(),
        };
        model.set_costs();
        model.errors = points
            .iter()
            .map(|point| Ok(model.value(point.scale)? / point.mean - 1.0))
            .collect::<Result<_>>()?;
        Ok(model)
    }

    fn set_costs(&mut self) {
        let Some((used, fit)) = &self.fitted else { return };
        let t = student(0.975, fit.freedom);
        for (at, column) in used.iter().enumerate() {
            let error = (self.variance * fit.inverse[(at, at)]).sqrt();
            self.costs[*column] = Cost::Fitted(Interval::around(fit.coefficients[at], t * error));
        }
    }

    /// The columns, as they were given.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// What one of each column costs, in their order.
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// (predicted − actual) / actual at each scale measured, in the order of the points.
    pub fn errors(&self) -> &[f64] {
        &self.errors
    }

    fn value(&self, scale: Scale) -> Result<f64> {
        Ok(self.parts(scale)?.iter().map(|part| part.value).sum())
    }

    /// The parts of the time at a scale, in order of the columns.
    ///
    /// # Errors
    /// A formula gives no count.
    pub fn parts(&self, scale: Scale) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        for (column, cost) in self.columns.iter().zip(&self.costs) {
            let sensitivity = column.value(scale)?;
            parts.push(Part {
                name: column.name().into(),
                value: cost.value() * sensitivity,
                share: 0.0,
                sensitivity,
            });
        }
        let whole: f64 = parts.iter().map(|part| part.value).sum();
        for part in &mut parts {
            part.share = if whole > 0.0 { part.value / whole } else { 0.0 };
        }
        Ok(parts)
    }

    /// The time at a scale, with the band in which a measurement should lie in 95 % of cases. Costs that were given are taken as known.
    ///
    /// # Errors
    /// A formula gives no count.
    pub fn predict(&self, scale: Scale) -> Result<Interval> {
        let parts = self.parts(scale)?;
        let value: f64 = parts.iter().map(|part| part.value).sum();
        let Some((used, fit)) = &self.fitted else { return Ok(Interval::exact(value)) };
        let row: Vec<f64> = used.iter().map(|k| parts[*k].sensitivity).collect();
        let variance = self.variance * (self.relative * value * value + fit.leverage(&row));
        let band = Interval::around(value, student(0.975, fit.freedom) * variance.sqrt());
        Ok(Interval { low: band.low.max(0.0), ..band })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::normal;
    use crate::points::Observation;

    /// Counts of Gaussian elimination with partial pivoting by columns: operations, messages, bytes sent.
    fn columns() -> Vec<Column> {
        vec![
            Column::new("operations", |at: Scale| 2.0 / 3.0 * at.n.powi(3) / at.p),
            Column::new("messages", |at: Scale| at.n * at.p.log2()),
            Column::new("bytes", |at: Scale| 4.0 * at.n * at.n * at.p.log2()),
        ]
    }

    const COSTS: [f64; 3] = [2e-9, 5e-5, 1e-9];

    fn time(scale: Scale) -> f64 {
        columns().iter().zip(COSTS).map(|(column, cost)| cost * column.value(scale).unwrap()).sum()
    }

    fn measured(noise: f64, seed: u64) -> Points {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut runs = Vec::new();
        for n in [128.0, 256.0, 512.0, 1024.0] {
            for p in [1.0, 2.0, 4.0, 8.0, 16.0] {
                let scale = Scale { n, p };
                let values = (0..3).map(|_| time(scale) * (1.0 + noise * normal(&mut random))).collect();
                runs.push(Observation { scale, values, known_variance: 0.0 });
            }
        }
        Points::new(&runs).unwrap()
    }

    #[test]
    fn gaussian_elimination() {
        let model = MachineModel::fit(&measured(0.0, 1), columns()).unwrap();
        for (cost, wanted) in model.costs().iter().zip(COSTS) {
            assert!((cost.value() / wanted - 1.0).abs() < 1e-11, "{cost:?}");
        }
        let at = Scale { n: 1024.0, p: 16.0 };
        let parts = model.parts(at).unwrap();
        assert!((parts.iter().map(|part| part.share).sum::<f64>() - 1.0).abs() < 1e-12);
        // Seconds more for 10 µs more a message: N·log2(P)·1e-5.
        assert!((parts[1].sensitivity * 1e-5 - 0.04096).abs() < 1e-12);
        assert!(model.errors().iter().all(|error| error.abs() < 1e-11));
    }

    #[test]
    fn a_given_cost_is_not_fitted() {
        let mut with = columns();
        with[1] = Column::new("messages", |at: Scale| at.n * at.p.log2()).given(5e-5);
        let model = MachineModel::fit(&measured(0.0, 1), with).unwrap();
        assert_eq!(model.costs()[1], Cost::Given(5e-5));
        assert!((model.costs()[2].value() / 1e-9 - 1.0).abs() < 1e-10);
        let all: Vec<Column> = columns().into_iter().zip(COSTS).map(|(c, cost)| c.given(cost)).collect();
        let at = Scale { n: 4096.0, p: 64.0 };
        let known = MachineModel::fit(&measured(0.05, 1), all).unwrap().predict(at).unwrap();
        assert!((known.value - time(at)).abs() < 1e-9 && known.low == known.high);
    }

    #[test]
    fn what_is_not_there_is_absent() {
        let mut more = columns();
        more.push(Column::new("nothing", |at: Scale| at.n * at.p));
        let model = MachineModel::fit(&measured(0.0, 1), more).unwrap();
        assert!(model.parts(Scale { n: 1024.0, p: 16.0 }).unwrap()[3].share < 1e-9);
    }

    /// The 95 % band at larger N and p holds a new measurement in 90 to 100 of 100 sets of data.
    #[test]
    fn the_band_holds_new_measurements() {
        let at = Scale { n: 4096.0, p: 64.0 };
        let held = (0..100).filter(|seed| {
            let model = MachineModel::fit(&measured(0.05, *seed), columns()).unwrap();
            let mut random = fastrand::Rng::with_seed(1000 + seed);
            let fresh = (0..3).map(|_| time(at) * (1.0 + 0.05 * normal(&mut random))).sum::<f64>() / 3.0;
            model.predict(at).unwrap().holds(fresh)
        });
        let held = held.count();
        assert!(held >= 88, "{held}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let points = measured(0.0, 1);
        let error = |columns| MachineModel::fit(&points, columns).unwrap_err().to_string();
        assert_eq!(
            error(vec![Column::new("a", |_| 1.0), Column::new("b", |_| 2.0)]),
            "failed to fit the columns a, b: they cannot be told apart at the scales measured"
        );
        assert_eq!(
            error(vec![Column::new("a", |at: Scale| (at.p - 1.0).ln())]),
            "failed to evaluate the column `a` at N = 128, p = 1: it gave -inf"
        );
        assert!(MachineModel::fit(&points, Vec::new()).is_err());
    }
}
