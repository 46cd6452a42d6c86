//! The calls of a run, with their call paths.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::bursts::Bursts;
use super::metrics;
use super::placed_log::{PlacedLog, Where};
use super::run_log::RunLog;
use super::waiting::PlacedCalls;
use crate::database::Database;
use crate::error::Error;
use crate::load::find;
use crate::measurements::Measurements;
use crate::open::OpenOptions;

/// The calls of MPI of a run, with the database of it whose contexts they have.
pub struct Calls {
    /// The database: contexts of calls are those of its tree.
    pub database: Database,
    log: RunLog,
    calls: Arc<Vec<Where>>,
    sections: Vec<String>,
    /// By location of the log, that of the database.
    places: Vec<Option<u32>>,
    by_section: bool,
}

impl Calls {
    /// Opens the measurements of a run directory; `None` if no calls were logged. The run is merged for it, in memory.
    ///
    /// # Errors
    /// Those of [`crate::open`].
    pub fn open(dir: &Path, options: &OpenOptions) -> Result<Option<Calls>, Error> {
        let (database, calls) = Measurements::of(dir, &find(dir)?, None)?.with_calls(options)?;
        Ok(calls.map(|PlacedCalls { log, calls, sections, places }| Calls {
            database,
            log,
            calls: Arc::new(calls),
            sections,
            places,
            by_section: options.by_section,
        }))
    }

    /// The log, to be read from its beginning.
    pub fn log(&self) -> PlacedLog {
        PlacedLog::new(self.log.clone(), self.calls.clone(), self.by_section)
    }

    /// The log as the measurement files have it, to be read from its beginning.
    pub fn run_log(&self) -> RunLog {
        self.log.clone()
    }

    /// Which call paths the time between calls belongs to.
    pub fn bursts(&self) -> Bursts {
        let tree = self.database.tree();
        let parents = tree.contexts().iter().map(|context| context.parent).collect();
        let all = self.database.metrics();
        let by = metrics::sampled(all);
        let mut sampled = vec![FxHashMap::default(); self.places.len()];
        let mut of_place = FxHashMap::default();
        for (location, place) in self.places.iter().enumerate() {
            of_place.extend(place.map(|place| (place, location)));
        }
        for value in self.database.values().iter().filter(|value| Some(&all[value.metric as usize]) == by) {
            if let Some(location) = of_place.get(&value.location) {
                let ns: &mut u64 = sampled[*location].entry(value.context).or_default();
                *ns += u64::try_from(value.exclusive).unwrap_or(0);
            }
        }
        Bursts::new(parents, &self.log().calls(), sampled)
    }

    /// Of a location of the log, that of the database; `None` if it has none.
    pub(super) fn place(&self, location: usize) -> Option<u32> {
        self.places.get(location).copied().flatten()
    }

    /// Names of the frames of a context's call path, outermost first.
    pub fn names(&self, context: u32) -> Vec<String> {
        let tree = self.database.tree();
        let frames = tree.path(context).into_iter().filter(|context| tree.kind(*context).is_frame());
        frames.map(|context| tree.scope(context).name.to_string()).collect()
    }

    /// Names of the sections of the run by the numbers that calls tell, each behind those around it; the first stands for none.
    pub fn sections(&self) -> &[String] {
        &self.sections
    }

    /// What is missing of the logs, in sentences.
    pub fn warnings(&self) -> &[String] {
        self.log.warnings()
    }
}
