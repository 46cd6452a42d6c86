//! What exporters write: one tree, and for every group of locations and every metric the cost of each context.

use rustc_hash::FxHashMap;

use super::by::By;
use crate::cct::Tree;
use crate::database::{Database, Location, Metric};

/// A database as exporters see it.
#[derive(Debug)]
pub struct Profile<'a> {
    database: &'a Database,
    metrics: Vec<&'a Metric>,
    by: By,
    groups: Vec<Group>,
}

/// Locations that are written together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// As [`By`] says; empty if all locations are one group.
    pub label: String,
    /// Its locations, by index.
    pub locations: Vec<u32>,
    /// For each metric of the profile, contexts that have cost of their own, in order, and that cost in the metric's unit.
    costs: Vec<Vec<(u32, f64)>>,
}

impl<'a> Profile<'a> {
    /// The metrics of these names, in this order, of locations that `by` keeps apart. Names that the database does not have
    /// are left out, and so are groups that are left with no cost unless all are.
    pub fn new(database: &'a Database, metrics: &[&str], by: By) -> Profile<'a> {
        let metrics: Vec<&Metric> = metrics.iter().filter_map(|name| database.metric(name)).collect();
        let mut groups = grouped(database.locations(), by, metrics.len());
        let group_of = {
            let mut of = vec![0; database.locations().len()];
            for (index, group) in groups.iter().enumerate() {
                group.locations.iter().for_each(|l| of[*l as usize] = index);
            }
            of
        };
        let columns: Vec<Option<usize>> =
            database.metrics().iter().map(|m| metrics.iter().position(|n| *n == m)).collect();
        // Values are sorted by context, so that each list of costs is.
        for value in database.values() {
            if let Some(column) = columns[value.metric as usize] {
                let own = metrics[column].in_unit(value.exclusive);
                let costs = &mut groups[group_of[value.location as usize]].costs[column];
                match costs.last_mut() {
                    Some((context, cost)) if *context == value.context => *cost += own,
                    _ => costs.push((value.context, own)),
                }
            }
        }
        if groups.iter().any(Group::has_cost) {
            groups.retain(Group::has_cost);
        }
        Profile { database, metrics, by, groups }
    }

    /// The database.
    pub fn database(&self) -> &'a Database {
        self.database
    }

    /// Its tree.
    pub fn tree(&self) -> &'a Tree {
        self.database.tree()
    }

    /// What is written, in order.
    pub fn metrics(&self) -> &[&'a Metric] {
        &self.metrics
    }

    /// What is kept apart.
    pub fn by(&self) -> By {
        self.by
    }

    /// Groups of locations, in the order of their first locations: ranks come in order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The locations of a group.
    pub fn locations(&self, group: &Group) -> impl Iterator<Item = &'a Location> {
        group.locations.iter().map(|l| &self.database.locations()[*l as usize])
    }
}

impl Group {
    /// Contexts that have cost of their own in the metric of this index, in order, with that cost in the metric's unit
    /// (nanoseconds or a count).
    pub fn costs(&self, metric: usize) -> &[(u32, f64)] {
        &self.costs[metric]
    }

    /// The sum of [`Group::costs`].
    pub fn total(&self, metric: usize) -> f64 {
        self.costs[metric].iter().map(|(_, cost)| cost).sum()
    }

    /// Marks the contexts that have cost of their own in any metric.
    pub(super) fn mark(&self, contexts: &mut [bool]) {
        self.costs.iter().flatten().for_each(|(context, _)| contexts[*context as usize] = true);
    }

    fn has_cost(&self) -> bool {
        self.costs.iter().any(|costs| !costs.is_empty())
    }
}

/// The contexts that are marked, and all above them.
pub(super) fn with_callers(tree: &Tree, mut marked: Vec<bool>) -> Vec<bool> {
    for context in (1..tree.len()).rev() {
        marked[tree.contexts()[context].parent as usize] |= marked[context];
    }
    marked
}

fn grouped(locations: &[Location], by: By, metrics: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    for (location, label) in (0u32..).zip(by.labels(locations)) {
        let group = *known.entry(label.clone()).or_insert_with(|| {
            groups.push(Group { label, locations: Vec::new(), costs: vec![Vec::new(); metrics] });
            groups.len() - 1
        });
        groups[group].locations.push(location);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::database;

    #[test]
    fn groups_add_up_to_the_whole() {
        let database = database();
        for by in [By::None, By::Process, By::Rank, By::Thread] {
            let profile = Profile::new(&database, &["cpu", "no such metric", "samples"], by);
            let names: Vec<&str> = profile.metrics().iter().map(|m| m.name.as_str()).collect();
            assert_eq!(names, ["cpu", "samples"]);
            for (index, name) in names.iter().enumerate() {
                let whole: f64 = database.exclusive_totals(name).unwrap().iter().sum();
                let groups: f64 = profile.groups().iter().map(|g| g.total(index)).sum();
                assert_eq!(groups, whole);
            }
            for group in profile.groups() {
                assert!(group.costs(0).is_sorted_by_key(|(context, _)| *context));
                assert_eq!(profile.locations(group).count(), group.locations.len());
            }
        }
        assert_eq!(Profile::new(&database, &["cpu"], By::Rank).groups()[1].label, "rank 1");
    }
}
