//! Opening whatever an earlier command wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::database::{Database, MANIFEST_FILE, Provenance, Shard, check_place, read_manifest};
use crate::error::Error;
use crate::load::find;
use crate::measurements::Measurements;
use crate::symbols::Debuginfod;

/// Where the database of a run is kept, in the run's directory.
const DATABASE: &str = "database";

/// Where to look for debug information, what to call source files, and how to place threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Directories with debug files and binaries, searched by build id and name.
    pub debug_paths: Vec<PathBuf>,
    /// Beginnings of source paths, and what they become.
    pub path_maps: Vec<(String, String)>,
    /// Directory where resolved symbols are kept for the next run of the same build; `None` keeps none.
    pub symbol_cache: Option<PathBuf>,
    /// Servers that are asked for debug files and binaries that are not on this machine.
    pub debuginfod: Option<Debuginfod>,
    /// Whether the paths of OpenMP workers (of libgomp and libomp) go under the parallel regions that they work for.
    pub graft_openmp: bool,
    /// Whether call paths go under the sections that they ran in.
    pub by_section: bool,
}

/// Opens a run directory or a database directory, with all values.
///
/// A run is merged on first use and the database kept in `DIR/database`; it is used again while it is newer than
/// all measurement files and was made of the same ones with the same options.
///
/// # Errors
/// [`Error::NoMeasurements`], [`Error::MixedRuns`] and the others of reading; damage to single measurement files
/// is a warning of the database instead.
pub fn open(dir: &Path, options: &OpenOptions) -> Result<Database, Error> {
    let database = open_lazily(dir, options)?;
    database.load()?;
    Ok(database)
}

/// As [`open`], but the values of each location are read when they are asked for: see [`Database::open_lazily`].
///
/// # Errors
/// Those of [`open`].
pub fn open_lazily(dir: &Path, options: &OpenOptions) -> Result<Database, Error> {
    if Database::is_in(dir) {
        return open_kept(dir, options);
    }
    let kept = dir.join(DATABASE);
    let files = match find(dir) {
        // The measurement files may have been put away when the database was there.
        Err(Error::NoMeasurements { .. }) if Database::is_in(&kept) => {
            return open_kept(&kept, options);
        }
        files => files?,
    };
    let measurements = Measurements::of(dir, &files, None)?;
    if let Some(database) = reusable(&kept, &files, &measurements.provenance(options)) {
        return Ok(database);
    }
    measurements.merge_into(&kept, options).or_else(|error| {
        let merged = measurements.merge_in_memory(options);
        let database =
            merged.map_err(|e| Error::DatabaseWrite { path: kept.clone(), reason: e.to_string() })?;
        Ok(database.with_warning(format!("{error}; it will be made again on next use")))
    })
}

/// Whether opening a directory only reads a database that is there, as far as can be told without reading: the run was merged
/// before.
pub fn is_merged(dir: &Path) -> bool {
    Database::is_in(dir) || Database::is_in(&dir.join(DATABASE))
}

/// Merges the measurement files of a run, or a part of them, into a database directory. A database of the same run is
/// replaced.
///
/// # Errors
/// Those of [`open`], and [`Error::DatabaseWrite`].
pub fn merge_into(
    run: &Path,
    options: &OpenOptions,
    shard: Option<Shard>,
    place: &Path,
) -> Result<Database, Error> {
    let measurements = Measurements::of(run, &find(run)?, shard)?;
    check_place(place, &measurements.provenance(options).run_id)?;
    measurements.merge_into(place, options)
}

/// A database without its measurement files, with a warning if it is not what was asked for.
fn open_kept(dir: &Path, options: &OpenOptions) -> Result<Database, Error> {
    let database = Database::open_lazily(dir)?;
    let of = database.provenance();
    let unlike = |is: bool, asked: bool, what: &str| {
        let not = if is { "" } else { "not " };
        (is != asked).then(|| what.replace("{}", not))
    };
    let unlike = [
        unlike(of.graft_openmp, options.graft_openmp, "OpenMP worker stacks are {}grafted"),
        unlike(of.by_section, options.by_section, "call paths are {}below their sections"),
    ];
    let name = dir.display();
    Ok(unlike.into_iter().flatten().fold(database, |database, is| {
        database.with_warning(format!(
            "{name}: {is}: it was made so, and is opened without its measurement files"
        ))
    }))
}

/// The kept database, if it is of these files as they are now.
fn reusable(kept: &Path, files: &[PathBuf], now: &Provenance) -> Option<Database> {
    let changed = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    let made = changed(&kept.join(MANIFEST_FILE))?;
    let newest: SystemTime = files.iter().filter_map(|f| changed(f)).max()?;
    let then = read_manifest(kept).ok()?.provenance;
    let default_options = now.debug_paths.is_empty() && now.path_maps.is_empty();
    let same_options = (&then.debug_paths, &then.path_maps) == (&now.debug_paths, &now.path_maps);
    let same_paths = then.has_paths_of(now);
    let same_files = (then.files, &then.sources) == (now.files, &now.sources);
    (made > newest && same_files && same_paths && (same_options || default_options))
        .then(|| Database::open_lazily(kept).ok())?
}
