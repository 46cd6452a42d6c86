//! A database as a directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::column::Kind;
use super::manifest::{MANIFEST_FILE, Manifest, SCHEMA, VERSION};
use super::model::{Database, Head};
use super::section_values::SectionValues;
use super::summary::{Summariser, Summary};
use super::table::{Reader, Table};
use super::totals::Totals;
use super::v2::sections::{self, SECTION_TABLES};
use super::values::{Stored, Values};
use super::{counted, v1, v2};
use crate::error::Error;
use crate::sections::Sections;

impl Database {
    /// Whether a directory holds a database, of whatever version.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(MANIFEST_FILE).exists()
    }

    /// Reads the database in a directory and checks all of it.
    ///
    /// # Errors
    /// [`Error::DatabaseVersion`] for a later major version, [`Error::DatabaseDamaged`] for anything that is
    /// missing or does not fit together.
    pub fn open(dir: &Path) -> Result<Database, Error> {
        let database = Database::open_lazily(dir)?;
        database.load()?;
        Ok(database)
    }

    /// As [`Database::open`], but the values of each location are read when they are asked for, and nothing of their
    /// table is checked before but its columns and its number of rows. Sums over all locations need none of it. Who asks
    /// for [`Database::values`] calls [`Database::load`] first and tells what is damaged.
    ///
    /// # Errors
    /// Those of [`Database::open`].
    pub fn open_lazily(dir: &Path) -> Result<Database, Error> {
        let manifest = read_manifest(dir)?;
        let files = Files { dir, manifest: &manifest };
        let tree = files.read(v2::CONTEXTS, v2::contexts)?;
        let locations = files.read(v2::LOCATIONS, v2::locations)?;
        let first = manifest.version == 1;
        let metrics = files.read(v2::METRICS, if first { v1::metrics } else { v2::metrics })?;
        let modules = files.read(v2::MODULES, v2::modules)?;
        let sections = files.sections(locations.len())?;
        let head = Head {
            tree,
            metrics,
            locations,
            modules,
            warnings: manifest.warnings.clone(),
            provenance: manifest.provenance(),
            sections,
        };
        if first {
            let bounds = Stored::of(dir, &head).bounds;
            let values = files.read(v2::VALUES, |table| v1::values(table, bounds))?;
            return Ok(Database::in_memory(head, values).with_health(manifest.health));
        }
        files.check(v2::VALUES, &table_path(dir, v2::VALUES), v2::columns(v2::VALUES)).map(drop)?;
        let totals = files.totals(&head)?;
        let values = Values::stored(Stored::of(dir, &head));
        let section_values = SectionValues::stored(dir, &head);
        if !head.sections.is_empty() {
            let name = sections::SECTION_VALUES;
            files.check(name, &table_path(dir, name), v2::columns(name)).map(drop)?;
        }
        let database = Database::new(head, totals, values).with_section_values(section_values);
        Ok(database.with_health(manifest.health))
    }

    /// Statistics of every context and metric with any cost, sorted by these. Threads that the program did not start are
    /// in no statistic. They are read from the database's directory, or made if it is in memory.
    ///
    /// # Errors
    /// [`Error::DatabaseDamaged`].
    pub fn summaries(&self) -> Result<Vec<Summary>, Error> {
        let Some(path) = self.values.directory().map(|dir| table_path(dir, v2::SUMMARY)) else {
            let mut summariser = Summariser::new(self.tree(), self.metrics().len(), self.locations());
            summariser.add(self.values.get()?);
            return Ok(summariser.finish());
        };
        let locations = counted(self.locations()).into_iter().filter(|counts| *counts).count() as u32;
        let table = Table::read(&path, v2::columns(v2::SUMMARY));
        let mut summaries =
            v2::summaries(table.map_err(|reason| Error::DatabaseDamaged { path, reason })?, locations);
        if let Some(left_out) = &self.left_out {
            summaries.retain(|s| s.inclusive.participants > 0 || s.exclusive.participants > 0);
            for summary in &mut summaries {
                summary.context = left_out.places.get(summary.context as usize).copied().unwrap_or_default();
                summary.helper_sum = 0;
            }
        }
        Ok(summaries)
    }
}

/// Reads and checks the manifest of a database directory.
pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest, Error> {
    let path = dir.join(MANIFEST_FILE);
    let damaged = |reason: String| Error::DatabaseDamaged { path: path.clone(), reason };
    let bytes = fs::read(&path).map_err(|e| damaged(e.to_string()))?;
    let mut json: serde_json::Value = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
    if json["schema"] != SCHEMA {
        return Err(damaged(format!("its schema is not `{SCHEMA}`")));
    }
    let found = json["version"].as_u64().ok_or_else(|| damaged("it has no version".into()))?;
    if !(1..=VERSION).contains(&found) {
        return Err(Error::DatabaseVersion { path: dir.to_owned(), found, known: VERSION });
    }
    if found == 1 {
        v1::manifest(&mut json);
    }
    serde_json::from_value(json).map_err(|e| damaged(e.to_string()))
}

struct Files<'a> {
    dir: &'a Path,
    manifest: &'a Manifest,
}

impl Files<'_> {
    fn read<T>(&self, name: &str, rows: impl FnOnce(Table) -> Result<T, String>) -> Result<T, Error> {
        let path = table_path(self.dir, name);
        let columns = if self.manifest.version == 1 { v1::columns(name) } else { v2::columns(name) };
        let reader = self.check(name, &path, columns)?;
        let read = || {
            let table = reader.read(0..reader.groups())?;
            if table.rows() as u64 != reader.rows() {
                return Err(format!("it has {} rows instead of {}", table.rows(), reader.rows()));
            }
            rows(table)
        };
        read().map_err(|reason| Error::DatabaseDamaged { path, reason })
    }

    /// Opens a table whose number of rows must be that of the manifest.
    fn check(
        &self,
        name: &str,
        path: &Path,
        columns: &'static [(&'static str, Kind)],
    ) -> Result<Reader, Error> {
        let open = || {
            let reader = Reader::open(path, columns)?;
            let expected = self.manifest.tables.get(name).copied();
            if expected == Some(reader.rows()) {
                return Ok(reader);
            }
            let expected = expected.map_or("no number".to_owned(), |n| n.to_string());
            Err(format!("it has {} rows, the manifest says {expected}", reader.rows()))
        };
        open().map_err(|reason| Error::DatabaseDamaged { path: path.to_owned(), reason })
    }

    /// The sections, none if the database has none.
    fn sections(&self, locations: usize) -> Result<Sections, Error> {
        if !self.manifest.tables.contains_key(SECTION_TABLES[0]) {
            return Ok(Sections::default());
        }
        let mut tables = SECTION_TABLES.map(|_| Table::default());
        for (name, table) in SECTION_TABLES.iter().zip(&mut tables) {
            *table = self.read(name, Ok)?;
        }
        sections::read(tables, locations).map_err(|(table, reason)| {
            let path = table_path(self.dir, SECTION_TABLES[table]);
            Error::DatabaseDamaged { path, reason }
        })
    }

    fn totals(&self, head: &Head) -> Result<Totals, Error> {
        let path = table_path(self.dir, v2::SUMMARY);
        let reader = self.check(v2::SUMMARY, &path, v2::SUMS)?;
        let totals = || Totals::of_rows(head, v2::sums(reader.read(0..reader.groups())?));
        totals().map_err(|reason| Error::DatabaseDamaged { path, reason })
    }
}

pub(super) fn table_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.parquet"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{database, database_with_helper, time_database};

    #[test]
    fn a_database_comes_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("db");
        let database = database();
        database.write(&path).unwrap();
        assert_eq!(Database::open(&path).unwrap(), database);
        database.write(&path).unwrap();
        assert_eq!(Database::open(&path).unwrap(), database);
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["db"]);
    }

    #[test]
    fn a_database_that_is_opened_lazily_is_the_same() {
        let dir = tempfile::tempdir().unwrap();
        for (name, database) in
            [("a", database()), ("b", database_with_helper(false)), ("c", time_database())]
        {
            let path = dir.path().join(name);
            database.write(&path).unwrap();
            let lazy = || Database::open_lazily(&path).unwrap();
            for (stored, made) in
                [(lazy(), database.clone()), (lazy().without_helpers(), database.without_helpers())]
            {
                assert_eq!(stored.summaries().unwrap(), made.summaries().unwrap());
                for metric in made.metrics() {
                    assert_eq!(stored.exclusive_totals(&metric.name), made.exclusive_totals(&metric.name));
                    let left_out = |d: &Database| d.left_out(&metric.name, |_| true);
                    assert_eq!(left_out(&stored), left_out(&made));
                }
                assert_eq!(stored, made);
                let one = |d: &Database| d.left_out("cpu", |l| l.rank == Some(1));
                assert_eq!(one(&stored), one(&made));
            }
        }
    }

    #[test]
    fn values_that_do_not_fit_are_found_when_they_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let good = database();
        good.write(&a).unwrap();
        // As many values, one of them another.
        let mut values = good.values().to_vec();
        values[3].exclusive += 1;
        Database::in_memory(good.head.clone(), values).write(&b).unwrap();
        fs::copy(b.join("values.parquet"), a.join("values.parquet")).unwrap();
        let lazy = Database::open_lazily(&a).unwrap();
        assert_eq!(lazy.exclusive_totals("cpu"), good.exclusive_totals("cpu"));
        let error = lazy.load().unwrap_err();
        assert!(error.to_string().contains("values.parquet: its sums are not those"), "{error}");
        fs::write(a.join("values.parquet"), b"PAR1").unwrap();
        assert!(Database::open_lazily(&a).unwrap_err().to_string().contains("values.parquet"));
    }

    #[test]
    fn a_directory_of_something_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "x").unwrap();
        let error = database().write(dir.path()).unwrap_err();
        assert!(error.to_string().contains("is not a database"), "{error}");
        assert!(dir.path().join("thesis.tex").exists());
    }

    #[test]
    fn damage_is_told_with_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("db");
        let reopened = |name: &str, bytes: &[u8]| {
            database().write(&path).unwrap();
            fs::write(path.join(name), bytes).unwrap();
            Database::open(&path).unwrap_err()
        };
        let manifest = |version: &str| format!(r#"{{"schema":"falloff.database","version":{version}}}"#);
        let newer = reopened(MANIFEST_FILE, manifest("3").as_bytes());
        assert!(matches!(newer, Error::DatabaseVersion { found: 3, known: 2, .. }), "{newer}");
        let incomplete = reopened(MANIFEST_FILE, manifest("2").as_bytes());
        assert!(incomplete.to_string().contains("missing field"), "{incomplete}");
        let foreign = reopened(MANIFEST_FILE, b"[]");
        assert!(foreign.to_string().contains("schema"), "{foreign}");
        let table = reopened("values.parquet", b"PAR1 no table PAR1");
        assert!(table.to_string().contains("values.parquet"), "{table}");
        database().write(&path).unwrap();
        fs::remove_file(path.join("locations.parquet")).unwrap();
        assert!(Database::open(&path).unwrap_err().to_string().contains("locations.parquet"));
        // A table of another database.
        database().write(&path).unwrap();
        fs::copy(path.join("metrics.parquet"), path.join("modules.parquet")).unwrap();
        assert!(Database::open(&path).unwrap_err().to_string().contains("modules.parquet"));
    }

    #[test]
    fn changed_bytes_never_panic() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("db");
        database().write(&path).unwrap();
        let mut random = 7u64;
        for name in ["contexts", "values", "locations", "metrics", "summary"] {
            let file = path.join(format!("{name}.parquet"));
            let good = fs::read(&file).unwrap();
            for _ in 0..200 {
                let mut bytes = good.clone();
                for _ in 0..3 {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    let at = (random >> 33) as usize % bytes.len();
                    bytes[at] = (random >> 17) as u8;
                }
                fs::write(&file, bytes).unwrap();
                // Right or wrong, but never a panic.
                let _ = Database::open(&path).and_then(|database| database.summaries());
            }
            fs::write(&file, good).unwrap();
        }
    }
}
