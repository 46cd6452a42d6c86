//! Noise that was measured, as a file has it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use falloff_messages::{Distribution, Noise};

use super::detour_file::detours;
use crate::error::{Error, Result};
use crate::noise::{Signature, Trace};

/// The detours of a file, to go on all the time in a run of so many ranks: of a signature of as many ranks those of each rank, of another
/// those of the rank that lost most for all; of a trace in two columns that for all. Of a signature only what is `beyond` that of another
/// file, if one is given: what the run had itself is in its log.
///
/// # Errors
/// A file cannot be read, is neither of the two, its detours leave no time for anything else, or `beyond` is given and one of the two is
/// no signature.
pub fn noise_of_file(
    path: &Path,
    beyond: Option<&Path>,
    ranks: usize,
    is_co_scheduled: bool,
) -> Result<Noise> {
    let wrong = |reason: String| Error::Detours { path: path.to_owned(), reason };
    let bytes = fs::read(path).map_err(|error| Error::io("read", path, error))?;
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let detours = if is_json || beyond.is_some() {
        let usual = beyond.map(|path| traces(path, ranks)).transpose()?.unwrap_or_default();
        let overlay = |(rank, trace): (usize, Trace)| match usual.get(rank).or(usual.last()) {
            Some(usual) => trace.beyond(usual).overlay(),
            None => trace.overlay(),
        };
        let detours =
            traces(path, ranks)?.into_iter().enumerate().map(overlay).collect::<std::result::Result<_, _>>();
        detours.map_err(|error| wrong(error.to_string()))?
    } else {
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
            wrong(format!("line {line}: it is no text"))
        })?;
        vec![detours(text).map_err(wrong)?]
    };
    Ok(Noise::Overlay { detours: Arc::new(detours), is_co_scheduled })
}

/// The detours of each rank of a signature of so many; of another one those of the rank that lost most.
fn traces(path: &Path, ranks: usize) -> Result<Vec<Trace>> {
    let mut all = Signature::read(path)?.ranks;
    if all.len() != ranks {
        all.sort_by(|a, b| b.detours.lost_percent.total_cmp(&a.detours.lost_percent));
        all.truncate(1);
    }
    Ok(all.into_iter().map(|rank| rank.detours.trace).collect())
}

/// By how much the shortest messages of a signature take longer than their median, to draw from.
///
/// # Errors
/// The file cannot be read, is no signature, or has no messages.
pub fn latency_noise_of_file(path: &Path) -> Result<Distribution> {
    let signature = Signature::read(path)?;
    let sizes = signature.messages.iter().flat_map(|messages| &messages.pairs).flat_map(|pair| &pair.sizes);
    let wrong = |reason: String| Error::Signature { path: path.to_owned(), reason };
    let shortest = sizes.min_by_key(|times| times.bytes).ok_or_else(|| {
        wrong("it has no messages; measure between ranks, `mpirun -n 2 falloff noise -o FILE`".to_owned())
    })?;
    shortest.one_way_ns.beyond_median().map_err(|error| wrong(error.to_string()))
}
