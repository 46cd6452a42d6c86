//! Merging the measurement files of a run, which may be more than the memory holds.

use std::io;

use rayon::prelude::*;

use crate::cct::{Merged, Merger};
use crate::database::{Head, ModuleInfo, Provenance, Sorted, Sorter};
use crate::load::{Process, Source, Warnings, decode};
use crate::messages::{PlacedCalls, Waiting};
use crate::module_table::ModuleTable;
use crate::open::OpenOptions;
use crate::openmp::graft;
use crate::sections::SectionValue;
use crate::symbols::{ModuleSymbols, resolve_module};

/// Files that are decoded side by side,
const BATCH_FILES: usize = 16;
/// if they are not larger together.
const BATCH_BYTES: u64 = 32 << 20;

/// What a merge gives: everything but the values, and these in order.
pub(crate) struct Merge {
    pub head: Head,
    pub section_values: Vec<SectionValue>,
    pub values: Sorted,
    /// What was logged of MPI's calls, in the contexts of the tree.
    pub calls: Option<PlacedCalls>,
}

/// What is wanted of a log of MPI's calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logged {
    /// What ranks waited for, as metrics.
    Waits,
    /// Only the calls, for whoever goes through them.
    Calls,
}

/// Decodes, resolves and merges; calls of MPI are looked at if the files are all of a run. Every file is decoded
/// twice, and values go through `sorter`, so that memory holds the tree and a few files.
///
/// # Errors
/// Those of the sorter; if calls are wanted, that there is no room to inflate them. What ranks waited for is left out then, with a
/// warning.
pub(crate) fn merge(
    sources: &[Source],
    mut provenance: Provenance,
    mut warnings: Warnings,
    options: &OpenOptions,
    logged: Logged,
    sorter: Sorter,
) -> io::Result<Merge> {
    let is_whole = provenance.shards.is_empty();
    // Before all else, since what it inflates is inflated for the others too.
    let waiting = if is_whole { Waiting::of(sources, options.by_section) } else { Ok(None) };
    let mut waiting = match (waiting, logged) {
        (Ok(waiting), _) => waiting,
        (Err(reason), Logged::Calls) => return Err(io::Error::new(io::ErrorKind::StorageFull, reason)),
        (Err(reason), Logged::Waits) => {
            warnings.add("MPI log", format!("left out: {reason}"));
            None
        }
    };
    let mut table = ModuleTable::default();
    for batch in batches(sources) {
        decoded(batch).iter().for_each(|process| table.collect(process));
    }
    let symbols: Vec<(ModuleSymbols, bool)> = table
        .modules()
        .into_par_iter()
        .map(|(key, addresses, since_ns)| {
            (resolve_module(key, &addresses, since_ns, options), !addresses.is_empty())
        })
        .collect();
    let (symbols, used): (Vec<ModuleSymbols>, Vec<bool>) = symbols.into_iter().unzip();
    let mut merger = Merger::new(&symbols, sorter, options.by_section);
    for batch in batches(sources) {
        let callers = waiting.as_ref().map(|waiting| waiting.callers(batch)).unwrap_or_default();
        let mut callers = callers.into_iter();
        for process in decoded(batch) {
            let indices = table.indices(&process);
            let called = waiting
                .as_mut()
                .zip(callers.next())
                .map(|(waiting, callers)| waiting.place(&mut merger, callers, &process, &indices));
            let process = match options.graft_openmp {
                true => graft(process, |module, address| {
                    symbols[indices[module as usize]? as usize].function_start(address)
                }),
                false => process,
            };
            match waiting.as_mut().zip(called) {
                Some((waiting, called)) => waiting.add(&mut merger, called, &process, &indices)?,
                None => {
                    merger.add(&process, &indices, &mut |_, _| {})?;
                }
            }
            warnings.extend(process.warnings);
        }
    }
    let found = |waiting: Waiting| match logged {
        Logged::Waits => waiting.find(&mut merger, &mut warnings),
        Logged::Calls => Ok(waiting.finish()),
    };
    let calls = waiting.map(found).transpose()?;
    let Merged { tree, locations, values, sections, section_values, contexts, location_places } =
        merger.finish()?;
    let calls = calls.map(|calls| calls.renumbered(&contexts, &location_places));
    drop(table);
    provenance.fill(&locations);
    let mut modules: Vec<ModuleInfo> = Vec::new();
    for (module, _) in symbols.into_iter().zip(used).filter(|(_, used)| *used) {
        modules.push(module.info);
        warnings.extend(module.warnings);
    }
    modules.sort();
    // Code of no file that has no names is the same for all processes.
    modules.dedup();
    let head = Head { tree, metrics: values.metrics(), locations, modules, warnings, provenance, sections };
    Ok(Merge { head, section_values, values, calls })
}

fn decoded(batch: &[Source]) -> Vec<Process> {
    batch.par_iter().map(decode).collect()
}

/// Files that are in memory at one time.
fn batches(sources: &[Source]) -> impl Iterator<Item = &[Source]> {
    let mut rest = sources;
    std::iter::from_fn(move || {
        let mut bytes = 0u64;
        let fits = |source: &&Source| {
            bytes = bytes.saturating_add(source.used_bytes());
            bytes <= BATCH_BYTES
        };
        let count = rest.iter().take(BATCH_FILES).take_while(fits).count().max(1).min(rest.len());
        let (batch, after) = rest.split_at(count);
        rest = after;
        Some(batch).filter(|batch| !batch.is_empty())
    })
}
