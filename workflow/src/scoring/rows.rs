//! Two scales compared in one view: excess of every row.

use falloff_postprocess::Tree;
use falloff_postprocess::views::{RowKind, ViewKind, build};

use super::columns::{Columns, ScaleColumns};
use super::excess::{Class, excess, own_efficiency};
use super::expectation::Scaling;
use super::interval::{Repeated, Uncertainty, q_values};

/// Samples below which a row is never judged: it needs at least these many at one of the scales.
pub const MIN_SAMPLES: u64 = 10;

/// Share of the work of the whole run, both scales together, from which a row is tested.
const TESTED: f64 = 0.001;

/// Share of false findings that is put up with.
pub const FALSE_FINDINGS: f64 = 0.05;

/// Smallest share of the row above that the next row of a hot path must have.
const HOT_SHARE: f64 = 0.5;

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
    /// Mean work at the compared scale, seconds.
    pub work_at: f64,
    /// Excess, as a fraction of the whole run at the compared scale.
    pub excess: f64,
    /// Half width of its 95 % interval, as the same fraction.
    pub half_width: f64,
    /// Standard error and degrees of freedom that this is of, as the same fraction.
    pub unsure: Uncertainty,
}

/// A row of a view with its excess.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredRow {
    /// Index of the row in its view.
    pub id: u32,
    /// Row above.
    pub parent: Option<u32>,
    /// Steps from the root.
    pub depth: u32,
    /// What it stands for.
    pub kind: RowKind,
    /// Name.
    pub name: String,
    /// Load module.
    pub module: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line of the statement or of the definition.
    pub line: Option<u32>,
    /// Line of the call.
    pub call_line: Option<u32>,
    /// Of the row with everything below it.
    pub inclusive: Loss,
    /// Of its own code.
    pub exclusive: Loss,
    /// Inclusive samples at the base scale, all repetitions.
    pub samples_base: u64,
    /// Inclusive samples at the compared scale, all repetitions.
    pub samples_at: u64,
    /// At which scales it runs.
    pub class: Class,
    /// ρ·W_p / W_q, inclusive.
    pub own_efficiency: Option<f64>,
    /// Largest over mean inclusive work of the participants at the compared scale.
    pub max_over_mean: Option<f64>,
    /// Among the rows of the view that are tested, the share of false findings if this one and all with smaller p-values are
    /// called findings; `None` for rows too small to be tested.
    pub q_value: Option<f64>,
}

/// A view with the excess of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredView {
    /// Which view it is.
    pub kind: ViewKind,
    /// Rows in pre-order; row 0 is the root.
    pub rows: Vec<ScoredRow>,
    /// Rows below the root that one meets going down to the child with the largest inclusive excess while it
    /// has at least half of the row above. Empty if nothing is lost.
    pub hot_path: Vec<u32>,
}

impl Comparison<'_> {
    fn rho(&self) -> f64 {
        self.scaling.rho(self.base.scale, self.at.scale)
    }

    /// Excess of a row from its values in all columns.
    pub fn loss(&self, values: &[f64]) -> Loss {
        let repeated = |columns: &[usize], whole: f64| {
            let work: Vec<f64> = columns.iter().map(|c| values[*c]).collect();
            Repeated::new(&work, self.period, whole)
        };
        let base = repeated(&self.base.cost, self.whole_base);
        let at = repeated(&self.at.cost, self.whole_at);
        // A scale compared with itself is the same runs on both sides: nothing is unsure.
        let same = self.base.scale == self.at.scale;
        let unsure = if same { Uncertainty::NONE } else { Uncertainty::of(&base, &at, self.rho()) };
        let unsure = Uncertainty { error: unsure.error / self.whole_at, ..unsure };
        Loss {
            work_base: base.mean,
            work_at: at.mean,
            excess: excess(at.mean, self.rho(), base.mean, self.whole_at),
            half_width: unsure.half_width(),
            unsure,
        }
    }

    /// The exclusive numerator W_q − ρ·W_p of every context, whose view gives the hot path.
    fn numerator(&self, columns: &Columns) -> Vec<f64> {
        let mean = |of: &[usize], context: usize| -> f64 {
            of.iter().map(|c| columns.values[*c][context]).sum::<f64>() / of.len().max(1) as f64
        };
        let contexts = columns.values.first().map_or(0, Vec::len);
        (0..contexts).map(|c| mean(&self.at.cost, c) - self.rho() * mean(&self.base.cost, c)).collect()
    }
}

impl ScoredView {
    /// Scores all rows of one view of the tree.
    pub fn new(kind: ViewKind, tree: &Tree, columns: &Columns, comparison: &Comparison) -> ScoredView {
        let mut values = columns.values.clone();
        values.push(comparison.numerator(columns));
        let view = build(kind, tree, &values);
        let hot_path = view.hot_path(values.len() - 1, HOT_SHARE);
        let samples =
            |row: &[f64], scale: &ScaleColumns| scale.samples.iter().map(|c| row[*c]).sum::<f64>() as u64;
        let rows = view
            .rows
            .into_iter()
            .map(|row| {
                let inclusive = comparison.loss(&row.inclusive);
                ScoredRow {
                    id: row.id,
                    parent: row.parent,
                    depth: row.depth,
                    kind: row.kind,
                    name: row.name,
                    module: row.module,
                    file: row.file,
                    line: row.line,
                    call_line: row.call_line,
                    exclusive: comparison.loss(&row.exclusive),
                    samples_base: samples(&row.inclusive, comparison.base),
                    samples_at: samples(&row.inclusive, comparison.at),
                    class: Class::of(inclusive.work_base, inclusive.work_at),
                    own_efficiency: own_efficiency(inclusive.work_at, comparison.rho(), inclusive.work_base),
                    max_over_mean: None,
                    q_value: None,
                    inclusive,
                }
            })
            .collect();
        let mut view = ScoredView { kind, rows, hot_path };
        view.test(comparison.whole_at);
        view
    }

    /// Gives the rows that are large enough their q-values: rows with 0.1 % of the work `whole` at both scales together, and
    /// with enough samples.
    fn test(&mut self, whole: f64) {
        let large = |r: &ScoredRow| r.inclusive.work_base + r.inclusive.work_at >= TESTED * whole;
        let tested: Vec<usize> =
            (0..self.rows.len()).filter(|i| self.rows[*i].judged() && large(&self.rows[*i])).collect();
        let p_values: Vec<f64> = tested.iter().map(|i| self.rows[*i].inclusive.p_value()).collect();
        for (row, q) in tested.into_iter().zip(q_values(&p_values)) {
            self.rows[row].q_value = Some(q);
        }
    }

    /// Names from just below the root to a row.
    pub fn path(&self, row: u32) -> Vec<&str> {
        let mut names: Vec<&str> =
            std::iter::successors(self.rows.get(row as usize), |r| r.parent.map(|p| &self.rows[p as usize]))
                .filter(|r| r.parent.is_some())
                .map(|r| r.name.as_str())
                .collect();
        names.reverse();
        names
    }

    /// Rows whose exclusive values are the parts of the whole: each function once, in the callers view those of
    /// the first level. Their exclusive excess sums to the root's inclusive excess.
    pub fn parts(&self) -> impl Iterator<Item = &ScoredRow> {
        self.rows.iter().filter(|row| match self.kind {
            ViewKind::Callers => row.depth == 1,
            ViewKind::Context | ViewKind::Flat => row.is_function() || row.kind == RowKind::Root,
        })
    }

    /// Functions by falling exclusive excess.
    pub fn ranking(&self) -> Vec<&ScoredRow> {
        let mut rows: Vec<&ScoredRow> = self.rows.iter().filter(|r| r.is_function()).collect();
        rows.sort_by(|a, b| b.exclusive.excess.total_cmp(&a.exclusive.excess).then(a.id.cmp(&b.id)));
        rows
    }
}

impl ScoredRow {
    /// Whether there are enough samples at one of the scales to say anything.
    pub fn judged(&self) -> bool {
        self.samples_base.max(self.samples_at) >= MIN_SAMPLES
    }

    /// Whether the inclusive excess is told from zero, also among all rows that are looked at.
    pub fn significant(&self) -> bool {
        self.inclusive.is_told_from_zero() && self.q_value.is_some_and(|q| q < FALSE_FINDINGS)
    }

    /// Whether it is a function or stands in for one.
    pub fn is_function(&self) -> bool {
        self.kind.is_frame()
    }
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
