//! A database as a directory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::column::Kind;
use super::manifest::{MANIFEST_FILE, Manifest, SCHEMA, VERSION, manifest_of};
use super::model::{Database, Parts};
use super::table::Table;
use super::{v1, v2};
use crate::error::Error;

impl Database {
    /// Reads the database in a directory and checks all of it.
    ///
    /// # Errors
    /// [`Error::DatabaseVersion`] for a later major version, [`Error::DatabaseDamaged`] for anything that is
    /// missing or does not fit together.
    pub fn open(dir: &Path) -> Result<Database, Error> {
        let manifest = read_manifest(dir)?;
        let reader = Reader { dir, manifest: &manifest };
        let tree = reader.read(v2::CONTEXTS, v2::contexts)?;
        let locations = reader.read(v2::LOCATIONS, v2::locations)?;
        let first = manifest.version == 1;
        let metrics = reader.read(v2::METRICS, if first { v1::metrics } else { v2::metrics })?;
        let modules = reader.read(v2::MODULES, v2::modules)?;
        let read_values = if first { v1::values } else { v2::values };
        let values = reader
            .read(v2::VALUES, |table| read_values(table, tree.len(), locations.len(), metrics.len()))?;
        let Manifest { provenance, warnings, .. } = manifest;
        Ok(Database::from_parts(Parts { tree, metrics, locations, values, modules, warnings, provenance }))
    }

    /// Writes the database to a directory, whole or not at all. A database that is there is replaced; a directory
    /// that holds something else is left alone.
    ///
    /// # Errors
    /// [`Error::DatabaseWrite`].
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let failed = |reason: String| Error::DatabaseWrite { path: dir.to_owned(), reason };
        if !may_replace(dir) {
            return Err(failed("the directory exists and is not a database".into()));
        }
        let unfinished = beside(dir, "unfinished");
        let written = self.write_tables(&unfinished).and_then(|()| replace(dir, &unfinished));
        if written.is_err() {
            // Best effort: what is left has a name that nothing else uses.
            let _ = fs::remove_dir_all(&unfinished);
        }
        written.map_err(failed)
    }

    fn write_tables(&self, dir: &Path) -> Result<(), String> {
        let text = |e: std::io::Error| e.to_string();
        fs::create_dir_all(dir).map_err(text)?;
        let tables = v2::tables(self);
        for (name, table) in &tables {
            table.write(&table_path(dir, name)).map_err(|e| e.to_string())?;
        }
        let rows = tables.iter().map(|(name, table)| ((*name).to_owned(), table.rows() as u64)).collect();
        let mut json = serde_json::to_vec_pretty(&manifest_of(self, rows)).map_err(|e| e.to_string())?;
        json.push(b'\n');
        let mut file = fs::File::create(dir.join(MANIFEST_FILE)).map_err(text)?;
        file.write_all(&json).and_then(|()| file.sync_all()).map_err(text)
    }
}

/// Reads and checks the manifest of a database directory.
pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest, Error> {
    let path = dir.join(MANIFEST_FILE);
    let damaged = |reason: String| Error::DatabaseDamaged { path: path.clone(), reason };
    let bytes = fs::read(&path).map_err(|e| damaged(e.to_string()))?;
    let json: serde_json::Value = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
    if json["schema"] != SCHEMA {
        return Err(damaged(format!("its schema is not `{SCHEMA}`")));
    }
    let found = json["version"].as_u64().ok_or_else(|| damaged("it has no version".into()))?;
    if !(1..=VERSION).contains(&found) {
        return Err(Error::DatabaseVersion { path: dir.to_owned(), found, known: VERSION });
    }
    serde_json::from_value(json).map_err(|e| damaged(e.to_string()))
}

struct Reader<'a> {
    dir: &'a Path,
    manifest: &'a Manifest,
}

impl Reader<'_> {
    fn columns(&self, table: &str) -> &'static [(&'static str, Kind)] {
        if self.manifest.version == 1 { v1::columns(table) } else { v2::columns(table) }
    }

    fn read<T>(&self, name: &str, rows: impl FnOnce(Table) -> Result<T, String>) -> Result<T, Error> {
        let path = table_path(self.dir, name);
        let read = || {
            let table = Table::read(&path, self.columns(name))?;
            let expected = self.manifest.tables.get(name).copied();
            if expected != Some(table.rows() as u64) {
                let expected = expected.map_or("no number".to_owned(), |n| n.to_string());
                return Err(format!("it has {} rows, the manifest says {expected}", table.rows()));
            }
            rows(table)
        };
        read().map_err(|reason| Error::DatabaseDamaged { path: path.clone(), reason })
    }
}

fn table_path(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.parquet"))
}

/// A name in the same directory, so that a rename is atomic.
fn beside(dir: &Path, what: &str) -> PathBuf {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    dir.with_file_name(format!(".{name}.{what}-{}", std::process::id()))
}

/// Whether the place is free, empty or holds a database.
fn may_replace(dir: &Path) -> bool {
    match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_none() || dir.join(MANIFEST_FILE).exists(),
        Err(_) => !dir.exists(),
    }
}

fn replace(dir: &Path, unfinished: &Path) -> Result<(), String> {
    let old = beside(dir, "old");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::database;

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
        for name in ["contexts", "values", "locations"] {
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
                let _ = Database::open(&path);
            }
            fs::write(&file, good).unwrap();
        }
    }
}
