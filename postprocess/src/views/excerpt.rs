//! The part of a database that views are made of.

use std::borrow::Cow;

use super::derived::{Derived, DerivedColumn};
use super::narrow::{Narrow, Narrowed};
use super::query::{Query, QueryError, known, known_locations, metric};
use super::view::{View, ViewKind, build};
use crate::cct::Tree;
use crate::database::{Database, InputCost, Location, Metric};

/// What a [`Query`] leaves of a database: a tree, and a column of exclusive values for each metric.
#[derive(Clone, Debug)]
pub struct Excerpt<'a> {
    database: &'a Database,
    query: &'a Query,
    tree: Cow<'a, Tree>,
    /// For each context of the database its place in the tree; `None` if all have their own.
    places: Option<Vec<Option<u32>>>,
    /// Metrics of the columns; those that are shown come first, the others are parts of formulas.
    metrics: Vec<&'a Metric>,
    shown: usize,
    derived: Vec<DerivedColumn>,
    columns: Vec<Vec<f64>>,
    /// What percentages are of, for each column.
    bases: Vec<f64>,
    steps: Vec<Step>,
    left_out: f64,
}

/// An option that leaves something out.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name, without dashes.
    pub option: &'static str,
    /// Its value as it was given.
    pub value: String,
    /// What it and those before it leave of the first metric, percent.
    pub left_percent: f64,
    /// Whether it and those before it leave no cost at all.
    pub empty: bool,
}

impl<'a> Excerpt<'a> {
    /// Takes from a database what is asked for.
    ///
    /// # Errors
    /// [`QueryError`] if something is not there.
    pub fn new(database: &'a Database, query: &'a Query) -> Result<Excerpt<'a>, QueryError> {
        let mut metrics: Vec<&Metric> = Vec::new();
        for name in &query.metrics {
            let metric = metric(database, Some(name))?;
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        if metrics.is_empty() {
            metrics.push(metric(database, None)?);
        }
        let shown = metrics.len();
        let derived = derived(database, query, &mut metrics)?;
        let selected = |l: &Location| query.locations.iter().all(|s| s.holds(l));
        if !database.locations().iter().any(selected) && !query.locations.is_empty() {
            return Err(QueryError::NoLocation { known: known_locations(database) });
        }
        let column = |metric: &&Metric| database.exclusive_at(&metric.name, selected).unwrap_or_default();
        let mut excerpt = Excerpt {
            database,
            query,
            tree: Cow::Borrowed(database.tree()),
            places: None,
            columns: metrics.iter().map(column).collect(),
            left_out: database.left_out(&metrics[0].name, selected),
            metrics,
            shown,
            derived,
            bases: Vec::new(),
            steps: Vec::new(),
        };
        let whole = match query.locations[..] {
            [] => excerpt.columns[0].iter().sum(),
            _ => database.exclusive_totals(&excerpt.metrics[0].name).unwrap_or_default().iter().sum(),
        };
        if !query.locations.is_empty() {
            let texts: Vec<String> = query.locations.iter().map(ToString::to_string).collect();
            excerpt.steps.push(excerpt.step("location", texts.join(" and "), whole));
        }
        for narrow in &query.narrow {
            excerpt.narrow(narrow);
            excerpt.steps.push(excerpt.step(narrow.option(), narrow.to_string(), whole));
        }
        excerpt.bases =
            excerpt.metrics.iter().zip(&excerpt.columns).map(|(m, c)| base(database, m, c)).collect();
        Ok(excerpt)
    }

    fn step(&self, option: &'static str, value: String, whole: f64) -> Step {
        let left: f64 = self.columns[0].iter().sum();
        let left_percent = if whole == 0.0 { 0.0 } else { 100.0 * left / whole };
        let empty = self.columns[..self.shown].iter().flatten().all(|v| *v == 0.0);
        Step { option, value, left_percent, empty }
    }

    fn narrow(&mut self, narrow: &Narrow) {
        let Narrowed { tree, places } = narrow.of(&self.tree);
        for column in &mut self.columns {
            *column = moved(column, &places, tree.len());
        }
        self.places = Some(match self.places.take() {
            Some(before) => before.into_iter().map(|place| places[place? as usize]).collect(),
            None => places,
        });
        self.tree = Cow::Owned(tree);
    }

    /// What percentages of a metric are of: all that is shown, or of a difference the total of what was subtracted.
    pub fn base(&self, metric: usize) -> f64 {
        self.bases[metric]
    }

    /// The database.
    pub fn database(&self) -> &'a Database {
        self.database
    }

    /// Call paths that are left.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Metrics that are shown; there is at least one.
    pub fn metrics(&self) -> &[&'a Metric] {
        &self.metrics[..self.shown]
    }

    /// Metrics of all [`Excerpt::columns`].
    pub fn column_metrics(&self) -> &[&'a Metric] {
        &self.metrics
    }

    /// Columns that follow from metrics, over the values of rows of [`Excerpt::view`].
    pub fn derived(&self) -> &[DerivedColumn] {
        &self.derived
    }

    /// What was left out on request, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Cost in the first metric, at the locations selected, of threads that the program did not start, if they are left out.
    pub fn left_out(&self) -> f64 {
        self.left_out
    }

    /// Exclusive values of the contexts of [`Excerpt::tree`], `[column][context]`: the metrics that are shown, then parts of
    /// formulas.
    pub fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// A view of all columns.
    pub fn view(&self, kind: ViewKind) -> View {
        build(kind, &self.tree, &self.columns)
    }

    /// Whether a location is looked at.
    pub(super) fn holds(&self, location: &Location) -> bool {
        self.query.locations.iter().all(|s| s.holds(location))
    }

    /// Place in the tree of a context of the database; `None` if it is left out.
    pub fn place(&self, context: u32) -> Option<u32> {
        self.places.as_ref().map_or(Some(context), |places| places[context as usize])
    }

    /// Whether a metric of the database, by its index, has a column.
    pub(super) fn uses(&self, metric: u32) -> bool {
        self.database.metrics().get(metric as usize).is_some_and(|m| self.metrics.contains(&m))
    }
}

/// The columns asked for, with those that are built in and not replaced. What they need beyond `metrics` is added there.
fn derived<'a>(
    database: &'a Database,
    query: &Query,
    metrics: &mut Vec<&'a Metric>,
) -> Result<Vec<DerivedColumn>, QueryError> {
    let asked = |built_in: &Derived| query.derived.iter().any(|d| d.field() == built_in.field());
    let built_in = Derived::built_in(database).filter(|built_in| !asked(built_in));
    let mut columns = Vec::new();
    for derived in built_in.chain(query.derived.iter().cloned()) {
        for name in derived.metrics() {
            let missing = || QueryError::NotMeasuredInFormula {
                name: derived.name().into(),
                metric: name.clone(),
                known: known(database),
            };
            let metric = database.metric(name).ok_or_else(missing)?;
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        columns.extend(derived.over(metrics));
    }
    Ok(columns)
}

fn base(database: &Database, metric: &Metric, column: &[f64]) -> f64 {
    let subtracted = database.provenance().subtracted().and_then(|input| input.cost(&metric.name));
    subtracted.map_or_else(|| column.iter().sum(), InputCost::total_in_unit)
}

/// A column with every value at its new place.
pub(super) fn moved(column: &[f64], places: &[Option<u32>], contexts: usize) -> Vec<f64> {
    let mut there = vec![0.0; contexts];
    for (value, place) in column.iter().zip(places) {
        if let Some(place) = place {
            there[*place as usize] += value;
        }
    }
    there
}
