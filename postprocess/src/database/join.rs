//! One database for several parts of a measurement.

use super::manifest::Provenance;
use super::model::{Database, Metric, Parts, Value};
use super::rational::{common_divisor, reduce};
use super::time::with_time;
use crate::cct::union;
use crate::error::Error;

impl Database {
    /// Joins databases: the union of their trees, all their locations, and every value as it was. The order of
    /// the databases does not matter, nor does it matter which of them are joined first.
    ///
    /// # Errors
    /// [`Error::MetricUnits`] if a metric has different units, [`Error::DivisorTooLarge`] if the values do not fit over
    /// their common divisor, [`Error::MixedGrafts`] if some have OpenMP worker stacks grafted and others have not.
    pub fn join(databases: &[&Database]) -> Result<Database, Error> {
        let metrics = united_metrics(databases)?;
        let grafted = |d: &&Database| d.provenance().graft_openmp;
        if databases.iter().any(grafted) && !databases.iter().all(grafted) {
            return Err(Error::MixedGrafts);
        }
        let trees: Vec<_> = databases.iter().map(|d| d.tree()).collect();
        let (tree, contexts) = union(&trees);
        let (locations, location_maps) = sorted_union(databases);
        let mut values = Vec::with_capacity(databases.iter().map(|d| d.values().len()).sum());
        for ((database, contexts), locations) in databases.iter().zip(&contexts).zip(&location_maps) {
            // Place of each metric and what its values are multiplied by.
            let own = database.metrics().iter().map(|m| {
                let place = metrics.iter().position(|n| n.name == m.name).unwrap_or(0);
                (place as u32, i64::try_from(metrics[place].divisor / m.divisor).ok())
            });
            let own: Vec<(u32, Option<i64>)> = own.collect();
            for v in database.values() {
                let (metric, factor) = own[v.metric as usize];
                let exclusive = factor.and_then(|f| v.exclusive.checked_mul(f));
                let exclusive = exclusive.ok_or_else(|| too_large(&metrics[metric as usize]))?;
                values.push(Value {
                    context: contexts[v.context as usize],
                    location: locations[v.location as usize],
                    metric,
                    exclusive,
                });
            }
        }
        values.sort_unstable();
        let (mut metrics, mut values) = with_time(metrics, values);
        reduce(&mut metrics, &mut values);
        Ok(Database::from_parts(Parts {
            tree,
            metrics,
            locations,
            values,
            modules: sorted(databases.iter().flat_map(|d| d.modules().to_vec())),
            warnings: sorted(databases.iter().flat_map(|d| d.warnings().to_vec())),
            provenance: united_provenance(databases),
        }))
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// Every metric once, over the common divisor of all that have it.
fn united_metrics(databases: &[&Database]) -> Result<Vec<Metric>, Error> {
    let mut united: Vec<Metric> = Vec::new();
    for metric in sorted(databases.iter().flat_map(|d| d.metrics().to_vec())) {
        match united.iter_mut().find(|m| m.name == metric.name) {
            None => united.push(metric),
            Some(known) if known.unit == metric.unit => {
                let divisor = common_divisor([known.divisor, metric.divisor]);
                known.divisor = divisor.ok_or_else(|| too_large(&metric))?;
            }
            Some(known) => {
                return Err(Error::MetricUnits {
                    metric: metric.name,
                    first: known.unit.word(),
                    second: metric.unit.word(),
                });
            }
        }
    }
    Ok(united)
}

fn too_large(metric: &Metric) -> Error {
    Error::DivisorTooLarge { metric: metric.name.clone() }
}

/// All locations in order, and the map of each database's.
fn sorted_union(databases: &[&Database]) -> (Vec<super::Location>, Vec<Vec<u32>>) {
    let mut all: Vec<(&super::Location, usize, usize)> = databases
        .iter()
        .enumerate()
        .flat_map(|(d, database)| database.locations().iter().enumerate().map(move |(l, at)| (at, d, l)))
        .collect();
    all.sort();
    let mut maps: Vec<Vec<u32>> = databases.iter().map(|d| vec![0; d.locations().len()]).collect();
    for (place, (_, database, location)) in all.iter().enumerate() {
        maps[*database][*location] = place as u32;
    }
    (all.into_iter().map(|(location, _, _)| location.clone()).collect(), maps)
}

/// What all have in common, and all sources.
fn united_provenance(databases: &[&Database]) -> Provenance {
    let all: Vec<&Provenance> = databases.iter().map(|d| d.provenance()).collect();
    let mut united = all.first().map_or_else(Provenance::default, |first| (*first).clone());
    for other in &all {
        if other.run_id != united.run_id {
            united.run_id.clear();
        }
        if other.command != united.command {
            united.command.clear();
        }
        if other.run != united.run {
            united.run = serde_json::Value::Null;
        }
    }
    united.created = all.iter().map(|p| &p.created).min().cloned().unwrap_or_default();
    united.sources = sorted(all.iter().flat_map(|p| p.sources.clone()));
    united.files = all.iter().map(|p| p.files).sum();
    united.debug_paths = sorted(all.iter().flat_map(|p| p.debug_paths.clone()));
    united.path_maps = sorted(all.iter().flat_map(|p| p.path_maps.clone()));
    united.history = sorted(all.iter().flat_map(|p| p.history.clone()));
    united
}
