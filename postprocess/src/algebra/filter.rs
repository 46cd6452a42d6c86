//! Some metrics and locations of a database.

use super::derived::Content;
use super::operand::Operand;
use crate::cct::part;
use crate::database::{Database, Location, Value};
use crate::error::Error;

/// What of a database is kept. `words` are how its history tells it.
#[derive(Clone, Copy)]
pub struct Filter<'a> {
    /// Names of metrics; all if there are none.
    pub metrics: &'a [String],
    /// Locations.
    pub location: &'a dyn Fn(&Location) -> bool,
    /// What was asked for, in words.
    pub words: &'a [String],
}

/// Some metrics and locations of a database, and the contexts that have any cost of these.
///
/// # Errors
/// [`Error::NoMetric`] for a metric that is not there, [`Error::NothingLeft`] if no location is left.
pub fn filter(operand: Operand, keep: Filter) -> Result<Database, Error> {
    let database = operand.database;
    if let Some(missing) = keep.metrics.iter().find(|name| database.metric(name).is_none()) {
        return Err(Error::NoMetric {
            metric: missing.clone(),
            known: database.metrics().iter().map(|m| m.name.clone()).collect(),
        });
    }
    let Content { tree, metrics, locations, values } = Content::of(database);
    let metric_places = places(&metrics, |m| keep.metrics.is_empty() || keep.metrics.contains(&m.name));
    let location_places = places(&locations, keep.location);
    if !locations.is_empty() && location_places.iter().all(Option::is_none) {
        return Err(Error::NothingLeft { name: operand.name.to_owned(), asked: keep.words.join(", ") });
    }
    let mut values: Vec<Value> = values
        .into_iter()
        .filter_map(|v| {
            let (location, metric) =
                (location_places[v.location as usize]?, metric_places[v.metric as usize]?);
            Some(Value { location, metric, ..v })
        })
        .collect();
    let mut present = vec![false; tree.len()];
    values.iter().for_each(|v| present[v.context as usize] = true);
    let (tree, contexts) = part(&tree, |context| present[context as usize]);
    values.iter_mut().for_each(|v| v.context = contexts[v.context as usize]);
    let content = Content {
        tree,
        metrics: kept(metrics, &metric_places),
        locations: kept(locations, &location_places),
        values,
    };
    Ok(content.database(operand, "filter", keep.words.to_vec()))
}

/// Place of each item among those that are wanted.
fn places<T>(items: &[T], wanted: impl Fn(&T) -> bool) -> Vec<Option<u32>> {
    let mut next = 0;
    let place = |item| {
        wanted(item).then(|| {
            next += 1;
            next - 1
        })
    };
    items.iter().map(place).collect()
}

fn kept<T>(items: Vec<T>, places: &[Option<u32>]) -> Vec<T> {
    items.into_iter().zip(places).filter(|(_, place)| place.is_some()).map(|(item, _)| item).collect()
}
