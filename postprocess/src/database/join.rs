//! One database for several parts of a measurement.

use std::path::Path;

use super::health::Health;
use super::location::{Location, ProcessState, mark_exec};
use super::manifest::{Provenance, Shard};
use super::metric::{Metric, Value};
use super::model::{Database, Head};
use super::rational::{common_divisor, reduce};
use super::save::{Unfinished, check_place};
use super::sorter::{Places, Sorter};
use super::time::{with_time, with_time_in_sections, without_time};
use crate::cct::union;
use crate::error::Error;
use crate::load::Warnings;
use crate::sections::{self, Collector, SectionValue, Sections};

impl Database {
    /// Joins databases: the union of their trees, all their locations, and every value as it was. The order of
    /// the databases does not matter, nor does it matter which of them are joined first. A process that is in several is
    /// taken once.
    ///
    /// # Errors
    /// [`Error::MetricUnits`] if a metric has different units, [`Error::DivisorTooLarge`] if the values do not fit over
    /// their common divisor, [`Error::MixedPaths`] if call paths are put in other places in some than in others,
    /// [`Error::DatabaseDamaged`] if values cannot be read.
    pub fn join(databases: &[&Database]) -> Result<Database, Error> {
        let Join { mut head, section_values, parts } = Join::of(databases)?;
        let mut values = Vec::new();
        for (database, part) in databases.iter().zip(&parts) {
            let own = database.values.get()?;
            values.reserve(own.len());
            for value in own {
                values.extend(part.place(*value).map_err(|place| too_large(&head.metrics[place as usize]))?);
            }
        }
        values.sort_unstable();
        let (mut metrics, mut values) = with_time(head.metrics, values);
        reduce(&mut metrics, &mut values);
        head.metrics = metrics;
        Ok(Database::in_memory(head, values).with_section_rows(section_values))
    }

    /// As [`Database::join`], and writes the database to a directory, where only one of the same run is replaced, without holding all values in memory if the
    /// databases are in directories and as they were measured.
    ///
    /// # Errors
    /// Those of [`Database::join`], and [`Error::DatabaseWrite`].
    pub fn join_into(databases: &[&Database], dir: &Path) -> Result<Database, Error> {
        if databases.iter().flat_map(|d| d.metrics()).any(|m| m.divisor != 1) {
            let joined = Database::join(databases)?;
            check_place(dir, &joined.provenance().run_id)?;
            return joined.write(dir).map(|()| joined);
        }
        let Join { mut head, section_values, parts } = Join::of(databases)?;
        check_place(dir, &head.provenance.run_id)?;
        let unfinished = Unfinished::begin(dir)?;
        let failed = |e: std::io::Error| Error::DatabaseWrite { path: dir.to_owned(), reason: e.to_string() };
        let mut sorter = Sorter::in_dir(unfinished.dir());
        for (database, part) in databases.iter().zip(&parts) {
            database.values.each(&mut |values| {
                // Without divisors nothing gets larger.
                let placed = values.into_iter().filter_map(|value| part.place(value).ok().flatten());
                placed.into_iter().try_for_each(|value| sorter.push(value)).map_err(failed)
            })?;
        }
        let mut sorted = sorter
            .finish(Places::same(head.tree.len(), head.locations.len(), head.metrics.clone()))
            .map_err(failed)?;
        head.metrics = sorted.metrics();
        unfinished.finish(head, &section_values, None, &mut || sorted.next().map_err(failed))
    }
}

/// What the whole has beside its values, and where the values of each part go. `time` is not among the metrics.
struct Join {
    head: Head,
    section_values: Vec<SectionValue>,
    parts: Vec<Part>,
}

/// Where the values of a database go.
struct Part {
    contexts: Vec<u32>,
    /// `None` for locations that another part gives.
    locations: Vec<Option<u32>>,
    /// Place of each metric and what its values are multiplied by; `None` for `time`, which is made anew.
    metrics: Vec<Option<(u32, i64)>>,
}

impl Part {
    /// The value at its place, `None` if it has none.
    ///
    /// # Errors
    /// Place of the metric in which it gets too large.
    fn place(&self, value: Value) -> Result<Option<Value>, u32> {
        let (Some(location), Some((metric, factor))) =
            (self.locations[value.location as usize], self.metrics[value.metric as usize])
        else {
            return Ok(None);
        };
        let exclusive = value.exclusive.checked_mul(factor).ok_or(metric)?;
        Ok(Some(Value { context: self.contexts[value.context as usize], location, metric, exclusive }))
    }
}

impl Join {
    fn of(databases: &[&Database]) -> Result<Join, Error> {
        let metrics = united_metrics(databases)?;
        let first = databases.first().map(|d| d.provenance());
        if first.is_some_and(|first| databases.iter().any(|d| !d.provenance().has_paths_of(first))) {
            return Err(Error::MixedPaths);
        }
        let trees: Vec<_> = databases.iter().map(|d| d.tree()).collect();
        let (tree, contexts) = union(&trees);
        let mut provenance = united_provenance(databases);
        let (mut locations, location_maps, again) = united_locations(databases);
        if is_one_run(databases) {
            // Parts of a run do not know of processes in others.
            mark_exec(&mut locations);
            provenance.fill(&locations);
        }
        let mut warnings = Warnings::default();
        databases.iter().for_each(|d| warnings.extend(d.head.warnings.clone()));
        if again > 0 {
            let sentence =
                format!("{again} processes are in several of the joined databases: each is taken once");
            warnings.extend(Warnings::of_lines(vec![sentence]));
        }
        let mut parts = Vec::with_capacity(databases.len());
        for ((database, contexts), locations) in databases.iter().zip(contexts).zip(location_maps) {
            let metric = |own: &Metric| -> Result<Option<(u32, i64)>, Error> {
                let Some(place) = metrics.iter().position(|m| m.name == own.name) else { return Ok(None) };
                let factor = i64::try_from(metrics[place].divisor / own.divisor);
                Ok(Some((place as u32, factor.map_err(|_| too_large(own))?)))
            };
            let metrics = database.metrics().iter().map(metric).collect::<Result<_, _>>()?;
            parts.push(Part { contexts, locations, metrics });
        }
        let modules = sorted(databases.iter().flat_map(|d| d.modules().to_vec()));
        let (sections, section_values) = united_sections(databases, &parts, &metrics, again == 0)?;
        let head = Head { tree, metrics, locations, modules, warnings, provenance, sections };
        Ok(Join { head, section_values, parts })
    }
}

/// The sections of all. What is summed over processes can be told only if each is in one database (`disjoint`); the
/// instances of several runs are not the same.
fn united_sections(
    databases: &[&Database],
    parts: &[Part],
    metrics: &[Metric],
    disjoint: bool,
) -> Result<(Sections, Vec<SectionValue>), Error> {
    let mut collector = Collector::default();
    let one_run = is_one_run(databases);
    for (database, part) in databases.iter().zip(parts) {
        let values = if disjoint { database.section_values()? } else { Vec::new() };
        let mut placed = Vec::with_capacity(values.len());
        for value in values {
            let Some((metric, factor)) = part.metrics[value.metric as usize] else { continue };
            let exclusive = value.exclusive.checked_mul(factor);
            let exclusive = exclusive.ok_or_else(|| too_large(&metrics[metric as usize]))?;
            let context = part.contexts[value.context as usize];
            placed.push(SectionValue { context, metric, exclusive, ..value });
        }
        collector.add_united(database.sections(), placed.into_iter(), disjoint && one_run, &part.locations);
    }
    let (sections, values) = collector.finish(&sections::Places::SAME);
    Ok((sections, with_time_in_sections(metrics.to_vec(), values)))
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// Every metric once, over the common divisor of all that have it. `time` is left out where all its parts are there.
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
    Ok(without_time(united))
}

fn too_large(metric: &Metric) -> Error {
    Error::DivisorTooLarge { metric: metric.name.clone() }
}

/// Locations of one process in a database.
struct Image<'a> {
    locations: &'a [Location],
    database: usize,
    /// Index of the first of them.
    first: usize,
}

impl Image<'_> {
    /// How much it tells of the process.
    fn telling(&self) -> (bool, &[Location]) {
        (self.locations[0].state == ProcessState::Ended, self.locations)
    }
}

/// All locations in order, the place of each database's, and how many processes are in several. Of these the one is taken
/// that tells most: it has ended, or its counts are larger.
fn united_locations(databases: &[&Database]) -> (Vec<Location>, Vec<Vec<Option<u32>>>, u64) {
    let mut images: Vec<Image<'_>> = Vec::new();
    for (database, d) in databases.iter().enumerate() {
        let mut first = 0;
        for locations in d.locations().chunk_by(Location::same_process) {
            images.push(Image { locations, database, first });
            first += locations.len();
        }
    }
    let (mut again, mut taken) = (0, Vec::new());
    images.sort_by(|a, b| a.locations[0].process().cmp(&b.locations[0].process()));
    for same in images.chunk_by(|a, b| a.locations[0].same_process(&b.locations[0])) {
        again += u64::from(same.len() > 1);
        // Of equal ones the first.
        taken.extend(same.iter().rev().max_by(|a, b| a.telling().cmp(&b.telling())));
    }
    let mut all: Vec<(&Location, usize, usize)> = taken
        .into_iter()
        .flat_map(|i| {
            i.locations.iter().enumerate().map(|(at, location)| (location, i.database, i.first + at))
        })
        .collect();
    all.sort();
    let mut maps: Vec<Vec<Option<u32>>> = databases.iter().map(|d| vec![None; d.locations().len()]).collect();
    for (place, (_, database, location)) in (0u32..).zip(&all) {
        maps[*database][*location] = Some(place);
    }
    (all.into_iter().map(|(location, ..)| location.clone()).collect(), maps, again)
}

fn is_one_run(databases: &[&Database]) -> bool {
    databases.windows(2).all(|pair| pair[0].provenance().run_id == pair[1].provenance().run_id)
}

/// What all have in common, and all sources.
pub(crate) fn united_provenance(databases: &[&Database]) -> Provenance {
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
    // The same measurement files count once.
    united.files = sorted(all.iter().map(|p| (&p.run_id, &p.shards, &p.sources, p.files)))
        .iter()
        .map(|(.., files)| files)
        .sum();
    united.shards = united_shards(&all, is_one_run(databases));
    united.debug_paths = sorted(all.iter().flat_map(|p| p.debug_paths.clone()));
    united.path_maps = sorted(all.iter().flat_map(|p| p.path_maps.clone()));
    if databases.iter().any(|d| d.provenance().inputs_health.is_some()) {
        let healths: Vec<Health> = databases.iter().map(|d| d.health()).collect();
        united.inputs_health = Some(Health::together(&healths));
    }
    united.history = sorted(all.iter().flat_map(|p| p.history.clone()));
    united
}

/// Parts that are there; none once nothing is missing.
fn united_shards(all: &[&Provenance], one_run: bool) -> Vec<Shard> {
    let shards = sorted(all.iter().flat_map(|p| p.shards.clone()));
    let whole = one_run && all.iter().any(|p| p.shards.is_empty());
    let complete = shards.first().is_some_and(|first| {
        let alike = shards.iter().filter(|s| s.of == first.of).count();
        alike == shards.len() && alike as u64 == u64::from(first.of)
    });
    if whole || complete { Vec::new() } else { shards }
}
