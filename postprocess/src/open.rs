//! Opening whatever an earlier command wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::cct::Merger;
use crate::database::{Database, MANIFEST_FILE, ModuleInfo, Parts, Provenance, read_manifest};
use crate::error::Error;
use crate::load::{Code, ModuleKey, Process, Source, Warnings, check_one_run, decode, find, open_all};
use crate::openmp::graft;
use crate::run_info::RunInfo;
use crate::symbols::{ModuleSymbols, resolve_module};

/// Where the database of a run is kept, in the run's directory.
const DATABASE: &str = "database";

/// Where to look for debug information, what to call source files, and how to place threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Directories with debug files and binaries, searched by build id and name.
    pub debug_paths: Vec<PathBuf>,
    /// Beginnings of source paths, and what they become.
    pub path_maps: Vec<(String, String)>,
    /// Whether the paths of OpenMP workers (of libgomp and libomp) go under the parallel regions that they work for.
    pub graft_openmp: bool,
}

/// Opens a run directory or a database directory.
///
/// A run is merged on first use and the database kept in `DIR/database`; it is used again while it is newer than
/// all measurement files and was made of the same ones with the same options.
///
/// # Errors
/// [`Error::NoMeasurements`], [`Error::MixedRuns`] and the others of reading; damage to single measurement files
/// is a warning of the database instead.
pub fn open(dir: &Path, options: &OpenOptions) -> Result<Database, Error> {
    if dir.join(MANIFEST_FILE).exists() {
        return open_kept(dir, options);
    }
    let kept = dir.join(DATABASE);
    let files = match find(dir) {
        // The measurement files may have been put away when the database was there.
        Err(Error::NoMeasurements { .. }) if kept.join(MANIFEST_FILE).exists() => {
            return open_kept(&kept, options);
        }
        files => files?,
    };
    let mut warnings = Warnings::default();
    let sources = open_all(&files, &mut warnings);
    if sources.is_empty() {
        let first = warnings.lines().into_iter().next().unwrap_or_default();
        return Err(Error::NothingReadable { path: dir.to_owned(), count: files.len(), first });
    }
    check_one_run(&sources)?;
    let provenance = provenance(dir, &sources, files.len(), options);
    if let Some(database) = reusable(&kept, &files, &provenance) {
        return Ok(database);
    }
    let database = merge(&sources, provenance, warnings, options);
    match database.write(&kept) {
        Ok(()) => Ok(database),
        Err(error) => Ok(database.with_warning(format!("{error}; it will be made again on next use"))),
    }
}

/// A database without its measurement files, with a warning if it is not what was asked for.
fn open_kept(dir: &Path, options: &OpenOptions) -> Result<Database, Error> {
    let database = Database::open(dir)?;
    let grafted = database.provenance().graft_openmp;
    if grafted == options.graft_openmp {
        return Ok(database);
    }
    let is = if grafted { "are grafted" } else { "are not grafted" };
    let name = dir.display();
    Ok(database.with_warning(format!(
        "{name}: OpenMP worker stacks {is}: it was made so, and is opened without its measurement files"
    )))
}

fn provenance(dir: &Path, sources: &[Source], files: usize, options: &OpenOptions) -> Provenance {
    let run = RunInfo::read(dir);
    let id = sources.first().map(Source::run_id).unwrap_or_default();
    Provenance {
        run_id: if id.is_empty() { run.run_id } else { id },
        command: run.command,
        created: run.created,
        sources: sources.iter().map(Source::state).collect(),
        files: files as u64,
        debug_paths: options.debug_paths.iter().map(|p| p.to_string_lossy().into_owned()).collect(),
        path_maps: options.path_maps.clone(),
        graft_openmp: options.graft_openmp,
        run: run.json,
        history: Vec::new(),
    }
}

/// The kept database, if it is of these files as they are now.
fn reusable(kept: &Path, files: &[PathBuf], now: &Provenance) -> Option<Database> {
    let changed = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    let made = changed(&kept.join(MANIFEST_FILE))?;
    let newest: SystemTime = files.iter().filter_map(|f| changed(f)).max()?;
    let then = read_manifest(kept).ok()?.provenance;
    let default_options = now.debug_paths.is_empty() && now.path_maps.is_empty();
    let same_options = (&then.debug_paths, &then.path_maps) == (&now.debug_paths, &now.path_maps);
    let same_paths = then.graft_openmp == now.graft_openmp;
    let same_files = (then.files, &then.sources) == (now.files, &now.sources);
    (made > newest && same_files && same_paths && (same_options || default_options))
        .then(|| Database::open(kept).ok())?
}

/// Decodes, resolves and merges. Every file is decoded twice, so that memory holds the tree and not the files.
pub(crate) fn merge(
    sources: &[Source],
    mut provenance: Provenance,
    mut warnings: Warnings,
    options: &OpenOptions,
) -> Database {
    let mut modules = ModuleTable::default();
    for batch in sources.chunks(BATCH) {
        let processes: Vec<Process> = batch.par_iter().map(decode).collect();
        processes.iter().for_each(|p| modules.collect(p));
    }
    let symbols: Vec<ModuleSymbols> =
        modules.keys.par_iter().zip(&modules.addresses).map(|(k, a)| resolve_module(k, a, options)).collect();
    let mut merger = Merger::new(&symbols);
    for batch in sources.chunks(BATCH) {
        let processes: Vec<Process> = batch.par_iter().map(decode).collect();
        for mut process in processes {
            let indices = modules.indices(&process);
            if options.graft_openmp {
                process = graft(process, |module, address| {
                    symbols[indices[module as usize] as usize].function_start(address)
                });
            }
            merger.add(&process, &indices);
            warnings.extend(process.warnings);
        }
    }
    let merged = merger.finish();
    if let Some(first) = merged.locations.iter().min_by_key(|l| l.start_ns) {
        if provenance.command.is_empty() {
            provenance.command = first.argv.clone();
        }
        if provenance.created.is_empty() {
            provenance.created = first.start_ns.to_string();
        }
    }
    let mut infos: Vec<ModuleInfo> = Vec::new();
    for (module, addresses) in symbols.into_iter().zip(&modules.addresses) {
        if !addresses.is_empty() {
            infos.push(module.info);
            warnings.extend(module.warnings);
        }
    }
    infos.sort();
    // Code of no file that has no names is the same for all processes.
    infos.dedup();
    Database::from_parts(Parts {
        tree: merged.tree,
        metrics: merged.metrics,
        locations: merged.locations,
        values: merged.values,
        modules: infos,
        warnings: warnings.lines(),
        provenance,
    })
}

/// Files that are decoded side by side.
const BATCH: usize = 16;

/// Modules of all processes, each once, with the addresses that call paths go through.
#[derive(Default)]
struct ModuleTable {
    keys: Vec<ModuleKey>,
    index: FxHashMap<ModuleKey, u32>,
    /// Sorted, each once.
    addresses: Vec<Vec<u64>>,
}

impl ModuleTable {
    fn collect(&mut self, process: &Process) {
        for key in &process.modules {
            if !self.index.contains_key(key) {
                self.index.insert(key.clone(), self.keys.len() as u32);
                self.keys.push(key.clone());
                self.addresses.push(Vec::new());
            }
        }
        let indices = self.indices(process);
        for node in &process.nodes {
            if let Code::Module { module, address } = node.code {
                self.addresses[indices[module as usize] as usize].push(address);
            }
        }
        for module in indices {
            let addresses = &mut self.addresses[module as usize];
            addresses.sort_unstable();
            addresses.dedup();
        }
    }

    fn indices(&self, process: &Process) -> Vec<u32> {
        process.modules.iter().map(|m| self.index.get(m).copied().unwrap_or(0)).collect()
    }
}
