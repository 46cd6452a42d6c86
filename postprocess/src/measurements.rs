//! The measurement files of a run, or a part of them.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::database::{Database, Provenance, Shard, Sorter, Unfinished};
use crate::error::Error;
use crate::load::{Source, Warnings, check_one_run, open_all, without_copies};
use crate::merge::{Logged, Merge, merge};
use crate::messages::PlacedCalls;
use crate::open::OpenOptions;
use crate::run_info::RunInfo;

/// Measurement files that can be read, and what is to be said about the others.
pub(crate) struct Measurements {
    dir: PathBuf,
    /// As the files say.
    run_id: String,
    sources: Vec<Source>,
    /// How many files there were.
    files: u64,
    shard: Option<Shard>,
    warnings: Warnings,
}

impl Measurements {
    /// Looks into the files of a run directory and takes all of them, or a part. A process is in one part, with all copies
    /// of its file.
    ///
    /// # Errors
    /// [`Error::NothingReadable`] and [`Error::MixedRuns`], whatever the part.
    pub fn of(dir: &Path, files: &[PathBuf], shard: Option<Shard>) -> Result<Measurements, Error> {
        let (mut sources, mut unreadable) = open_all(files);
        if let (true, Some(first)) = (sources.is_empty(), unreadable.first()) {
            return Err(Error::NothingReadable {
                path: dir.to_owned(),
                count: files.len(),
                first: first.line(),
            });
        }
        check_one_run(&sources)?;
        let run_id = sources.first().map(Source::run_id).unwrap_or_default();
        // The one part of one is the whole.
        let shard = shard.filter(|shard| shard.of > 1);
        if let Some(shard) = shard {
            sources.sort_by_key(Source::identity);
            let mut identities: Vec<_> = sources.iter().map(Source::identity).collect();
            identities.dedup();
            let processes = identities.len();
            let range = part(shard, processes);
            sources.retain(|s| {
                identities.binary_search(&s.identity()).is_ok_and(|place| range.contains(&place))
            });
            unreadable = unreadable.drain(part(shard, unreadable.len())).collect();
        }
        let files = (sources.len() + unreadable.len()) as u64;
        let mut warnings = Warnings::default();
        unreadable.iter().for_each(|file| file.warn(&mut warnings));
        let sources = without_copies(sources, &mut warnings);
        Ok(Measurements { dir: dir.to_owned(), run_id, sources, files, shard, warnings })
    }

    /// What the database of these says it was made of.
    pub fn provenance(&self, options: &OpenOptions) -> Provenance {
        let run = RunInfo::read(&self.dir);
        Provenance {
            run_id: if self.run_id.is_empty() { run.run_id } else { self.run_id.clone() },
            command: run.command,
            created: run.created,
            sources: self.sources.iter().map(Source::state).collect(),
            files: self.files,
            debug_paths: options.debug_paths.iter().map(|p| p.to_string_lossy().into_owned()).collect(),
            path_maps: options.path_maps.clone(),
            graft_openmp: options.graft_openmp,
            by_section: options.by_section,
            shards: self.shard.into_iter().collect(),
            run: run.json,
            history: Vec::new(),
            inputs_health: None,
        }
    }

    /// Merges them into a database directory, in memory for the tree and not for the tree times the locations.
    ///
    /// # Errors
    /// [`Error::DatabaseWrite`].
    pub fn merge_into(&self, dir: &Path, options: &OpenOptions) -> Result<Database, Error> {
        let failed = |e: io::Error| Error::DatabaseWrite { path: dir.to_owned(), reason: e.to_string() };
        let unfinished = Unfinished::begin(dir)?;
        let Merge { head, section_values, mut values, .. } =
            self.merge(options, Logged::Waits, Sorter::in_dir(unfinished.dir())).map_err(failed)?;
        unfinished.finish(head, &section_values, None, &mut || values.next().map_err(failed))
    }

    /// Merges them for want of a place to write to.
    ///
    /// # Errors
    /// None that is known: nothing is written.
    pub fn merge_in_memory(&self, options: &OpenOptions) -> io::Result<Database> {
        self.merged(options, Logged::Waits).map(|(database, _)| database)
    }

    /// Merges them in memory, with what was logged of MPI's calls, if anything; what these waited for is not looked for.
    ///
    /// # Errors
    /// [`Error::NoRoom`]: nothing else is written.
    pub fn with_calls(&self, options: &OpenOptions) -> Result<(Database, Option<PlacedCalls>), Error> {
        let failed = |e: io::Error| Error::NoRoom { path: self.dir.clone(), reason: e.to_string() };
        self.merged(options, Logged::Calls).map_err(failed)
    }

    fn merged(&self, options: &OpenOptions, logged: Logged) -> io::Result<(Database, Option<PlacedCalls>)> {
        let Merge { head, section_values, mut values, calls } =
            self.merge(options, logged, Sorter::in_memory())?;
        let mut all = Vec::new();
        while let Some(values) = values.next()? {
            all.extend(values);
        }
        Ok((Database::in_memory(head, all).with_section_rows(section_values), calls))
    }

    fn merge(&self, options: &OpenOptions, logged: Logged, sorter: Sorter) -> io::Result<Merge> {
        merge(&self.sources, self.provenance(options), self.warnings.clone(), options, logged, sorter)
    }
}

/// Which of `n` things are in a part.
fn part(shard: Shard, n: usize) -> Range<usize> {
    let bound = |index: u32| (n as u64 * u64::from(index) / u64::from(shard.of.max(1))) as usize;
    bound(shard.index.saturating_sub(1))..bound(shard.index.min(shard.of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_each_thing_once() {
        for (n, of) in [(0, 3), (1, 3), (7, 3), (100, 7)] {
            let parts = (1..=of).flat_map(|index| part(Shard { index, of }, n));
            assert!(parts.eq(0..n), "{n} in {of}");
        }
    }
}
