//! How the cost of rows is spread over ranks, processes or threads.

use rustc_hash::FxHashMap;

use super::excerpt::{Excerpt, moved};
use super::view::{ViewKind, build};
use crate::database::Location;
use crate::error::Error;
use crate::export::By;

/// Groups whose columns are in memory at one time.
const BATCH: usize = 32;

/// What is shown of groups of locations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpreadOptions {
    /// What is kept apart; ranks if any is known, else threads, if not given.
    pub by: Option<By>,
    /// Minimum, mean and maximum over the groups instead of a column for each.
    pub statistics: bool,
}

/// Minimum, mean and maximum over groups. A group without the row counts as 0.
///
/// ```
/// use falloff_postprocess::views::Balance;
/// let statistics: Balance = [2.0, 6.0, 4.0, 0.0].into_iter().collect();
/// assert_eq!((statistics.min, statistics.mean(), statistics.max, statistics.max_group), (0.0, 3.0, 6.0, 1));
/// assert_eq!(statistics.imbalance_percent(), Some(100.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// First group that has the largest.
    pub max_group: usize,
    sum: f64,
    groups: usize,
}

impl Balance {
    /// Sum over number of groups.
    pub fn mean(&self) -> f64 {
        if self.groups == 0 { 0.0 } else { self.sum / self.groups as f64 }
    }

    /// 100 (largest / mean - 1); `None` if the mean is not above 0.
    pub fn imbalance_percent(&self) -> Option<f64> {
        (self.mean() > 0.0).then(|| 100.0 * (self.max / self.mean() - 1.0))
    }

    fn add(&mut self, value: f64) {
        if self.groups == 0 {
            (self.min, self.max) = (value, value);
        } else if value > self.max {
            (self.max, self.max_group) = (value, self.groups);
        }
        self.min = self.min.min(value);
        self.sum += value;
        self.groups += 1;
    }
}

impl FromIterator<f64> for Balance {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Balance {
        let mut statistics = Balance::default();
        values.into_iter().for_each(|value| statistics.add(value));
        statistics
    }
}

/// Rows of a view, spread over groups.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub by: By,
    pub labels: Vec<String>,
    /// By row, first of inclusive and then of exclusive cost.
    pub values: [Values; 2],
}

#[derive(Clone, Debug)]
pub(super) enum Values {
    /// The value of each group.
    Each(Vec<Vec<f64>>),
    Balance(Vec<Balance>),
}

impl Values {
    fn new(statistics: bool, rows: usize) -> Values {
        if statistics {
            Values::Balance(vec![Balance::default(); rows])
        } else {
            Values::Each(vec![Vec::new(); rows])
        }
    }

    fn extend(&mut self, row: usize, values: &[f64]) {
        match self {
            Values::Each(rows) => rows[row].extend(values),
            Values::Balance(rows) => values.iter().for_each(|v| rows[row].add(*v)),
        }
    }
}

/// Groups of locations, or sections, and the cost of each, as (context, cost) in the excerpt's first metric.
#[derive(Clone, Debug)]
pub struct Groups {
    /// What each is called: `rank 3`, `app:4711`.
    pub labels: Vec<String>,
    /// Host of the first location of each.
    pub hosts: Vec<String>,
    /// (context of the excerpt's tree, exclusive cost in the metric's unit) of each, a context several times where a group has
    /// several locations.
    pub costs: Vec<Vec<(u32, f64)>>,
    /// Above 0 for contexts with any cost of any column at any location, so that every view has the same rows.
    presence: Vec<f64>,
}

impl Groups {
    /// Ranks if any is known, else threads.
    pub fn of(excerpt: &Excerpt) -> Groups {
        grouped(excerpt, SpreadOptions { by: None, statistics: true }).1
    }

    /// The sections that the program has marked, each without those within it; none if only some locations are looked at, of which
    /// it is not known what they have in sections.
    ///
    /// # Errors
    /// Those of [`crate::Database::section_values`].
    pub fn of_sections(excerpt: &Excerpt) -> Result<Groups, Error> {
        let database = excerpt.database();
        let sections = &database.sections().sections[..];
        let mut groups =
            Groups { labels: Vec::new(), hosts: Vec::new(), costs: Vec::new(), presence: Vec::new() };
        if sections.is_empty() || !database.locations().iter().all(|l| excerpt.holds(l)) {
            return Ok(groups);
        }
        for section in sections {
            let above = section.parent.map(|parent| format!("{} > ", groups.labels[parent as usize]));
            groups.labels.push(format!("{}{}", above.unwrap_or_default(), section.label));
        }
        groups.hosts = vec![String::new(); sections.len()];
        groups.costs = vec![Vec::new(); sections.len()];
        let metric = excerpt.metrics()[0];
        for value in database.section_values()? {
            if &database.metrics()[value.metric as usize] == metric
                && let Some(place) = excerpt.place(value.context)
            {
                groups.costs[value.section as usize].push((place, metric.in_unit(value.exclusive)));
            }
        }
        Ok(groups)
    }
}

/// Spreads the first metric, and gives with it the column that a view must have besides the excerpt's for its rows to be
/// these.
pub(super) fn spread(excerpt: &Excerpt, kind: ViewKind, options: SpreadOptions) -> (Spread, Vec<f64>) {
    let (by, Groups { labels, costs, presence, .. }) = grouped(excerpt, options);
    let mut values: Option<[Values; 2]> = None;
    for batch in costs.chunks(BATCH) {
        let mut columns = vec![presence.clone()];
        columns.extend(batch.iter().map(|costs| {
            let mut column = vec![0.0; presence.len()];
            costs.iter().for_each(|(context, cost)| column[*context as usize] += cost);
            column
        }));
        let view = build(kind, excerpt.tree(), &columns);
        let rows = view.rows.len();
        let [inclusive, exclusive] =
            values.get_or_insert_with(|| [0, 1].map(|_| Values::new(options.statistics, rows)));
        for row in &view.rows {
            inclusive.extend(row.id as usize, &row.inclusive[1..]);
            exclusive.extend(row.id as usize, &row.exclusive[1..]);
        }
    }
    let values = values.unwrap_or_else(|| [0, 1].map(|_| Values::new(options.statistics, 0)));
    (Spread { by, labels, values }, presence)
}

fn grouped(excerpt: &Excerpt, options: SpreadOptions) -> (By, Groups) {
    let locations = excerpt.database().locations();
    let has_ranks = locations.iter().any(|l| l.rank.is_some() && excerpt.holds(l));
    let by = options.by.unwrap_or(if has_ranks { By::Rank } else { By::Thread });
    // Beside ranks, the launcher's own processes are none of those that the work is divided among.
    let counts = |l: &Location| !(options.statistics && by == By::Rank && has_ranks && l.rank.is_none());
    (by, groups(excerpt, by, counts))
}

fn groups(excerpt: &Excerpt, by: By, counts: impl Fn(&Location) -> bool) -> Groups {
    let database = excerpt.database();
    let (mut labels, mut hosts) = (Vec::new(), Vec::new());
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    let mut group_of = Vec::new();
    for (location, label) in database.locations().iter().zip(by.labels(database.locations())) {
        let grouped = excerpt.holds(location) && database.shows(location) && counts(location);
        group_of.push(grouped.then(|| {
            *known.entry(label.clone()).or_insert_with(|| {
                labels.push(label);
                hosts.push(location.host.clone());
                labels.len() - 1
            })
        }));
    }
    let first = database.metrics().iter().position(|m| m == excerpt.metrics()[0]);
    let mut costs = vec![Vec::new(); labels.len()];
    let mut presence = vec![0.0; database.tree().len()];
    for value in database.values() {
        if !excerpt.uses(value.metric) || !excerpt.holds(&database.locations()[value.location as usize]) {
            continue;
        }
        presence[value.context as usize] = 1.0;
        if let (true, Some(group), Some(place)) = (
            Some(value.metric as usize) == first,
            group_of[value.location as usize],
            excerpt.place(value.context),
        ) {
            costs[group].push((place, excerpt.metrics()[0].in_unit(value.exclusive)));
        }
    }
    let places: Vec<Option<u32>> = (0..database.tree().len() as u32).map(|c| excerpt.place(c)).collect();
    Groups { labels, hosts, costs, presence: moved(&presence, &places, excerpt.tree().len()) }
}
