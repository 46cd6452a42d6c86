//! Excess of amounts of work, and of every row of a view.

use falloff_postprocess::Tree;
use falloff_postprocess::views::Layout;

use super::columns::{Columns, ScaleColumns};
use super::excess::excess;
use super::expectation::Scaling;
use super::growth::Growth;
use super::interval::{Repeated, Uncertainty};

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// The smaller scale, p.
    pub base: &'a ScaleColumns,
    /// The larger scale, q.
    pub at: &'a ScaleColumns,
    /// Expectation.
    pub scaling: Scaling,
    /// Mean time between samples, seconds.
    pub period: f64,
    /// Mean cost of the whole run at the base scale, A_p, seconds.
    pub whole_base: f64,
    /// Mean cost of the whole run at the larger scale, A_q, seconds; positive.
    pub whole_at: f64,
}

/// Excess of one amount of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Mean work at the base scale, seconds.
    pub work_base: f64,
    /// Mean work that is expected at the compared scale, ρ·W_p, seconds.
    pub expected: f64,
    /// Mean work at the compared scale, seconds.
    pub work_at: f64,
    /// Excess, as a fraction of the whole run at the compared scale.
    pub excess: f64,
    /// Half width of its 95 % interval, as the same fraction.
    pub half_width: f64,
    /// Standard error and degrees of freedom that this is of, as the same fraction.
    pub unsure: Uncertainty,
}

impl Loss {
    /// How often so large an excess would be seen if there were none.
    pub fn p_value(&self) -> f64 {
        self.unsure.p_value(self.excess)
    }

    /// Whether the 95 % interval does not hold zero.
    pub fn is_told_from_zero(&self) -> bool {
        self.excess.abs() > self.half_width
    }
}

/// Work of each repetition at both scales, seconds.
struct Amounts<'a> {
    base: &'a [f64],
    /// What each repetition at the base makes expect: Σ ρ·W over its parts.
    expected: &'a [f64],
    /// Σ ρ²·W over the parts of the mean repetition: its sampling variance for each second between samples, as if the whole
    /// run's work were not known.
    squared: f64,
    at: &'a [f64],
}

impl Comparison<'_> {
    /// Excess of an amount of work from its values in all columns, with the expectation of the whole run.
    pub fn loss(&self, values: &[f64]) -> Loss {
        let rho = self.scaling.rho(self.base.scale, self.at.scale);
        let of = |columns: &[usize]| -> Vec<f64> { columns.iter().map(|c| values[*c]).collect() };
        let (base, at) = (of(&self.base.cost), of(&self.at.cost));
        let expected: Vec<f64> = base.iter().map(|work| rho * work).collect();
        self.loss_of(&Amounts { base: &base, expected: &expected, squared: rho * rho * mean(&base), at: &at })
    }

    /// Excess of the whole run, each context with its own expectation.
    pub fn whole_loss(&self, columns: &Columns, growth: &Growth) -> Loss {
        let total = |columns_of: &[usize], factor: &dyn Fn(u32) -> f64| -> Vec<f64> {
            let weighted = |column: &Vec<f64>| (0..).zip(column).map(|(c, work)| factor(c) * work).sum();
            columns_of.iter().map(|c| weighted(&columns.values[*c])).collect()
        };
        let rho = |context: u32| growth.of(context, self.base.scale, self.at.scale);
        let one = |_: u32| 1.0;
        let (base, at) = (total(&self.base.cost, &one), total(&self.at.cost, &one));
        let squared = mean(&total(&self.base.cost, &|c| rho(c) * rho(c)));
        self.loss_of(&Amounts { base: &base, expected: &total(&self.base.cost, &rho), squared, at: &at })
    }

    fn loss_of(&self, amounts: &Amounts) -> Loss {
        let expected = Repeated::of_parts(amounts.expected, self.period, amounts.squared, self.whole_base);
        let at = Repeated::new(amounts.at, self.period, self.whole_at);
        // A scale compared with itself is the same runs on both sides: nothing is unsure.
        let same = self.base.scale == self.at.scale;
        let unsure = if same { Uncertainty::NONE } else { Uncertainty::of(&expected, &at, 1.0) };
        let unsure = Uncertainty { error: unsure.error / self.whole_at, ..unsure };
        Loss {
            work_base: mean(amounts.base),
            expected: expected.mean,
            work_at: at.mean,
            excess: excess(at.mean, 1.0, expected.mean, self.whole_at),
            half_width: unsure.half_width(),
            unsure,
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Excess of every row of a view.
pub struct Losses {
    /// Of the row with everything below it.
    pub inclusive: Vec<Loss>,
    /// Of its own code.
    pub exclusive: Vec<Loss>,
}

/// Values of the rows, `[column][row]`.
#[derive(Default)]
struct Sides {
    base: Vec<Vec<f64>>,
    /// Expected work of each repetition and the sum of [`Amounts::squared`]; empty where all have the same factor.
    expected: Vec<Vec<f64>>,
    at: Vec<Vec<f64>>,
}

impl Losses {
    /// Compares all rows.
    pub fn new(
        layout: &Layout,
        tree: &Tree,
        columns: &Columns,
        comparison: &Comparison,
        growth: &Growth,
    ) -> Losses {
        let (base, at) = (&comparison.base, &comparison.at);
        let lay_out = |lists: Vec<Vec<f64>>| -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
            lists.iter().map(|column| layout.column(tree, column)).unzip()
        };
        let of = |scale: &ScaleColumns| -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
            scale.cost.iter().map(|c| layout.column(tree, &columns.values[*c])).unzip()
        };
        let uniform = growth.of_all(base.scale, at.scale);
        let expected =
            lay_out(if uniform.is_some() { vec![] } else { expected(columns, comparison, growth) });
        let (base, at) = (of(base), of(at));
        let inclusive = Sides { base: base.0, expected: expected.0, at: at.0 };
        let exclusive = Sides { base: base.1, expected: expected.1, at: at.1 };
        Losses {
            inclusive: inclusive.losses(comparison, uniform),
            exclusive: exclusive.losses(comparison, uniform),
        }
    }
}

/// For each repetition at the base the expected work of every context; then what [`Amounts::squared`] has of each.
fn expected(columns: &Columns, comparison: &Comparison, growth: &Growth) -> Vec<Vec<f64>> {
    let rho = |context: usize| growth.of(context as u32, comparison.base.scale, comparison.at.scale);
    let base = || comparison.base.cost.iter().map(|c| &columns.values[*c]);
    let of_run = |column: &Vec<f64>| column.iter().enumerate().map(|(c, work)| rho(c) * work).collect();
    let mut all: Vec<Vec<f64>> = base().map(of_run).collect();
    let mut squared = vec![0.0; all.first().map_or(0, Vec::len)];
    let share = 1.0 / all.len().max(1) as f64;
    for column in base() {
        for (context, (sum, work)) in squared.iter_mut().zip(column).enumerate() {
            *sum += share * rho(context).powi(2) * work;
        }
    }
    all.push(squared);
    all
}

impl Sides {
    fn losses(&self, comparison: &Comparison, uniform: Option<f64>) -> Vec<Loss> {
        let rows = self.at.first().map_or(0, Vec::len);
        let (mut base, mut expected, mut at) = (Vec::new(), Vec::new(), Vec::new());
        let fill = |values: &mut Vec<f64>, columns: &[Vec<f64>], row: usize| {
            values.clear();
            values.extend(columns.iter().map(|column| column[row]));
        };
        let loss = |row: usize| {
            fill(&mut base, &self.base, row);
            fill(&mut at, &self.at, row);
            fill(&mut expected, &self.expected, row);
            let squared = match uniform {
                None => expected.pop().unwrap_or_default(),
                Some(rho) => {
                    expected.extend(base.iter().map(|work| rho * work));
                    rho * rho * mean(&base)
                }
            };
            comparison.loss_of(&Amounts { base: &base, expected: &expected, squared, at: &at })
        };
        (0..rows).map(loss).collect()
    }
}
