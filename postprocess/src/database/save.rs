//! Writing a database: whole, or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::files::{read_manifest, table_path};
use super::health::Health;
use super::manifest::{MANIFEST_FILE, manifest_of};
use super::metric::Value;
use super::model::{Database, Head};
use super::section_values::SectionValues;
use super::summary::{Summariser, Summary};
use super::table::Writer;
use super::totals::Totals;
use super::v2::{self, sections, write};
use super::values::{Stored, Values};
use crate::error::Error;
use crate::sections::SectionValue;

/// Rows of a row group of values and summaries: what is in memory of a table that is written.
const ROW_GROUP: usize = 1 << 17;

/// A database that is being written, in a directory beside its place.
pub(crate) struct Unfinished {
    place: PathBuf,
    dir: PathBuf,
}

impl Unfinished {
    /// Begins one that is to be in `place`. A database that is there will be replaced; a directory that holds something
    /// else is left alone.
    ///
    /// # Errors
    /// [`Error::DatabaseWrite`].
    pub fn begin(place: &Path) -> Result<Unfinished, Error> {
        let failed = |reason: String| Error::DatabaseWrite { path: place.to_owned(), reason };
        if !may_replace(place) {
            return Err(failed("the directory exists and is not a database".into()));
        }
        let dir = free_beside(place).map_err(|e| failed(e.to_string()))?;
        Ok(Unfinished { place: place.to_owned(), dir })
    }

    /// Where files may be that are needed meanwhile.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes everything and puts it in its place. `section_values` are those of the head's sections; `health` is the state of the measurement if locations and values do not
    /// tell it; `next` gives the values in order, all of one or more contexts at a time, until there are none.
    ///
    /// # Errors
    /// [`Error::DatabaseWrite`], and what `next` says.
    pub fn finish(
        self,
        head: Head,
        section_values: &[SectionValue],
        health: Option<Health>,
        next: &mut dyn FnMut() -> Result<Option<Vec<Value>>, Error>,
    ) -> Result<Database, Error> {
        let failed = |reason: String| Error::DatabaseWrite { path: self.place.clone(), reason };
        let mut rows = BTreeMap::new();
        let heads = [
            (v2::CONTEXTS, write::contexts(&head.tree)),
            (v2::LOCATIONS, write::locations(&head.locations)),
            (v2::METRICS, write::metrics(&head.metrics)),
            (v2::MODULES, write::modules(&head.modules)),
        ];
        let mut marked = Vec::new();
        if !head.sections.is_empty() {
            marked.extend(sections::tables(&head.sections));
            marked.push((sections::SECTION_VALUES, sections::values(section_values)));
        }
        for (name, table) in heads.into_iter().chain(marked) {
            table.write(&table_path(&self.dir, name)).map_err(|e| failed(e.to_string()))?;
            rows.insert(name.to_owned(), table.rows() as u64);
        }
        let mut values = ValuesTable::create(&table_path(&self.dir, v2::VALUES)).map_err(failed)?;
        let mut summariser = Summariser::new(&head.tree, head.metrics.len(), &head.locations);
        while let Some(chunk) = next()? {
            summariser.add(&chunk);
            values.add(chunk).map_err(failed)?;
        }
        rows.insert(v2::VALUES.to_owned(), values.finish().map_err(failed)?);
        let summaries = summariser.finish();
        write_summaries(&table_path(&self.dir, v2::SUMMARY), &summaries).map_err(failed)?;
        rows.insert(v2::SUMMARY.to_owned(), summaries.len() as u64);
        let totals = Totals::of_summaries(&head, &summaries);
        drop(summaries);
        let stored = Stored::of(&self.place, &head);
        let section_values = SectionValues::stored(&self.place, &head);
        let database =
            Database::new(head, totals, Values::stored(stored)).with_section_values(section_values);
        let health = health.unwrap_or_else(|| database.health());
        let database = database.with_health(health);
        self.write_manifest(&database, rows)
            .and_then(|()| replace(&self.place, &self.dir))
            .map_err(failed)?;
        Ok(database)
    }

    fn write_manifest(&self, database: &Database, rows: BTreeMap<String, u64>) -> Result<(), String> {
        let mut json = serde_json::to_vec_pretty(&manifest_of(database, rows)).map_err(|e| e.to_string())?;
        json.push(b'\n');
        let mut file = fs::File::create(self.dir.join(MANIFEST_FILE)).map_err(|e| e.to_string())?;
        file.write_all(&json).and_then(|()| file.sync_all()).map_err(|e| e.to_string())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Best effort: once the database is in its place there is nothing here, and what is left of another has a name
        // that nothing else uses.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A place is free, empty or has a database of this run.
///
/// # Errors
/// [`Error::DatabaseWrite`].
pub(crate) fn check_place(place: &Path, run_id: &str) -> Result<(), Error> {
    if Database::is_in(place) && read_manifest(place)?.provenance.run_id != run_id {
        let reason = "the directory holds the database of another run".into();
        return Err(Error::DatabaseWrite { path: place.to_owned(), reason });
    }
    Ok(())
}

impl Database {
    /// Writes the database to a directory, whole or not at all. A database that is there is replaced; a directory
    /// that holds something else is left alone.
    ///
    /// # Errors
    /// [`Error::DatabaseWrite`]; [`Error::DatabaseDamaged`] if the values cannot be read.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let mut values = Some(self.values.get()?.to_vec());
        let section_values = self.section_values()?;
        Unfinished::begin(dir)?
            .finish(self.head.clone(), &section_values, Some(self.health()), &mut || Ok(values.take()))
            .map(drop)
    }
}

/// The table of values; its row groups are the same in whatever pieces the values come.
struct ValuesTable {
    writer: Writer,
    waiting: Vec<Value>,
    rows: u64,
}

impl ValuesTable {
    fn create(path: &Path) -> Result<ValuesTable, String> {
        let writer = Writer::create(path, &write::values(&[])).map_err(|e| e.to_string())?;
        Ok(ValuesTable { writer, waiting: Vec::new(), rows: 0 })
    }

    fn add(&mut self, values: Vec<Value>) -> Result<(), String> {
        if self.waiting.is_empty() {
            self.waiting = values;
        } else {
            self.waiting.extend(values);
        }
        let whole = self.waiting.len() / ROW_GROUP * ROW_GROUP;
        self.flush(whole)
    }

    fn finish(mut self) -> Result<u64, String> {
        self.flush(self.waiting.len())?;
        self.writer.finish().map_err(|e| e.to_string())?;
        Ok(self.rows)
    }

    fn flush(&mut self, rows: usize) -> Result<(), String> {
        for group in self.waiting[..rows].chunks(ROW_GROUP) {
            self.writer.write(&write::values(group)).map_err(|e| e.to_string())?;
        }
        self.waiting.drain(..rows);
        self.rows += rows as u64;
        Ok(())
    }
}

fn write_summaries(path: &Path, summaries: &[Summary]) -> Result<(), String> {
    let written = || {
        let mut writer = Writer::create(path, &write::summaries(&[]))?;
        summaries.chunks(ROW_GROUP).try_for_each(|group| writer.write(&write::summaries(group)))?;
        writer.finish()
    };
    written().map_err(|e: parquet::errors::ParquetError| e.to_string())
}

/// A new directory beside a place, so that a rename is atomic. Processes of other hosts may have the same number.
fn free_beside(place: &Path) -> io::Result<PathBuf> {
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let mut tried = 0u32;
    loop {
        let dir = place.with_file_name(format!(".{name}.unfinished-{}-{tried}", std::process::id()));
        match fs::create_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => tried += 1,
            created => return created.map(|()| dir),
        }
    }
}

/// Whether the place is free, empty or holds a database.
fn may_replace(dir: &Path) -> bool {
    match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_none() || dir.join(MANIFEST_FILE).exists(),
        Err(_) => !dir.exists(),
    }
}

fn replace(dir: &Path, unfinished: &Path) -> Result<(), String> {
    let old = unfinished.with_extension("old");
    let had_old = dir.exists();
    if had_old {
        fs::rename(dir, &old).map_err(|e| e.to_string())?;
    }
    if let Err(error) = fs::rename(unfinished, dir) {
        if had_old {
            // Puts back what was there; the error that counts is the first.
            let _ = fs::rename(&old, dir);
        }
        return Err(error.to_string());
    }
    if had_old {
        // The new database is in place; a remainder of the old one does no harm.
        let _ = fs::remove_dir_all(&old);
    }
    Ok(())
}
