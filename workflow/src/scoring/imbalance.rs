//! How unevenly the work of a context is spread over the participants of a run.

use std::collections::BTreeMap;

use falloff_postprocess::views::Layout;
use falloff_postprocess::{Database, Location, Tree};

use super::columns::SECONDS_PER_NS;

/// Largest over mean inclusive work of the participants, for every row of a layout that has any.
///
/// `columns` gives each participant's exclusive cost by context of the tree, of `participants` in all: one that has no column
/// counts as zero. 1 is perfect balance; the number of participants is work on one of them alone.
///
/// ```
/// use falloff_postprocess::views::{Layout, ViewKind};
/// use falloff_postprocess::{Scope, ScopeKind, TreeBuilder};
/// use falloff_workflow::scoring::imbalance;
/// let mut builder = TreeBuilder::new();
/// builder.child(0, &Scope::new(ScopeKind::Function, "serial"));
/// let (tree, _) = builder.finish();
/// let layout = Layout::new(ViewKind::Flat, &tree, |_| true);
/// let rank_0 = [vec![0.0, 3.0]];
/// let found = imbalance(&layout, &tree, 4, rank_0.into_iter());
/// assert!(found.iter().all(|row| *row == Some(4.0)));
/// ```
pub fn imbalance(
    layout: &Layout,
    tree: &Tree,
    participants: usize,
    columns: impl Iterator<Item = Vec<f64>>,
) -> Vec<Option<f64>> {
    let mut most = vec![0.0f64; layout.rows().len()];
    let mut sum = vec![0.0; layout.rows().len()];
    for column in columns {
        for (row, value) in layout.inclusive(&tree.inclusive(&column)).into_iter().enumerate() {
            most[row] = most[row].max(value);
            sum[row] += value;
        }
    }
    most.iter().zip(&sum).map(|(most, sum)| (*sum > 0.0).then(|| most * participants as f64 / sum)).collect()
}

/// Exclusive cost by participant: ranks where the program has ranks, else threads.
///
/// Values are kept sparse; a column is spread out when it is asked for.
#[derive(Debug, Default)]
pub struct Participants {
    contexts: usize,
    expected: usize,
    /// (context of the union, seconds) of each participant.
    values: BTreeMap<u32, Vec<(u32, f64)>>,
}

impl Participants {
    /// None so far, over the union's `contexts`.
    pub fn new(contexts: usize) -> Participants {
        Participants { contexts, ..Participants::default() }
    }

    /// Adds cost of one participant in one context, seconds.
    pub fn add_cost(&mut self, participant: u32, context: u32, seconds: f64) {
        self.values.entry(participant).or_default().push((context, seconds));
    }

    /// Adds a run, whose contexts have their places in the union by `map`.
    pub(crate) fn add(&mut self, database: &Database, map: &[u32], metric: &str) {
        let keys = participant_keys(database.locations());
        self.expected = self.expected.max(expected(database.locations()));
        let Some(wanted) = database.metrics().iter().position(|m| m.name == metric) else { return };
        let of_metric = &database.metrics()[wanted];
        for value in database.values() {
            if value.metric as usize == wanted
                && let Some(key) = keys[value.location as usize]
            {
                let context = map[value.context as usize];
                self.add_cost(key, context, of_metric.in_unit(value.exclusive) * SECONDS_PER_NS);
            }
        }
    }

    /// How many take part, those that are missing among them.
    pub fn count(&self) -> usize {
        self.values.len().max(self.expected)
    }

    /// (participant, context, seconds) of all, a place several times where it was added so.
    pub(crate) fn values(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        self.values
            .iter()
            .flat_map(|(who, values)| values.iter().map(|(context, cost)| (*who, *context, *cost)))
    }

    /// The columns, for [`imbalance`].
    pub fn columns(&self) -> impl Iterator<Item = Vec<f64>> + '_ {
        self.values.values().map(|values| {
            let mut column = vec![0.0; self.contexts];
            for (context, seconds) in values {
                column[*context as usize] += seconds;
            }
            column
        })
    }
}

/// The participant that each location belongs to.
pub(crate) fn participant_keys(locations: &[Location]) -> Vec<Option<u32>> {
    let ranked = has_ranks(locations);
    let key = |(index, location): (usize, &Location)| match ranked {
        true => location.rank,
        false => Some(index as u32),
    };
    locations.iter().enumerate().map(key).collect()
}

/// Host of each participant.
pub(crate) fn participant_hosts(locations: &[Location]) -> BTreeMap<u32, String> {
    let keys = participant_keys(locations);
    keys.into_iter()
        .zip(locations)
        .filter_map(|(key, location)| Some((key?, location.host.clone())))
        .collect()
}

fn has_ranks(locations: &[Location]) -> bool {
    locations.iter().any(|l| l.rank.is_some())
}

/// How many participants a run should have.
fn expected(locations: &[Location]) -> usize {
    if has_ranks(locations) {
        locations.iter().map(|l| l.ranks).max().unwrap_or(0) as usize
    } else {
        locations.iter().filter(|l| !l.helper).count()
    }
}
