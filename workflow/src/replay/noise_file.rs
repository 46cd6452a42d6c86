//! Noise that was measured, as a file has it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use falloff_messages::{Distribution, Noise};

use super::detour_file::detours;
use crate::error::{Error, Result};
use crate::noise::{RankNoise, Signature};

/// The detours of a file, to go on all the time in a run of so many ranks: of a signature of as many ranks those of each rank, of another
/// those of the rank that lost most for all; of a trace in two columns that for all.
///
/// # Errors
/// The file cannot be read, is neither of the two, or its detours leave no time for anything else.
pub fn noise_of_file(path: &Path, ranks: usize, is_co_scheduled: bool) -> Result<Noise> {
    let wrong = |reason: String| Error::Detours { path: path.to_owned(), reason };
    let bytes = fs::read(path).map_err(|error| Error::io("read", path, error))?;
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let detours = if is_json {
        let signature = Signature::read(path)?;
        let overlay =
            |rank: &RankNoise| rank.detours.trace.overlay().map_err(|error| wrong(error.to_string()));
        if signature.ranks.len() == ranks {
            signature.ranks.iter().map(overlay).collect::<Result<_>>()?
        } else {
            let lost = |rank: &&RankNoise| rank.detours.lost_percent;
            let most = signature.ranks.iter().max_by(|a, b| lost(a).total_cmp(&lost(b)));
            most.into_iter().map(overlay).collect::<Result<_>>()?
        }
    } else {
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
            wrong(format!("line {line}: it is no text"))
        })?;
        vec![detours(text).map_err(wrong)?]
    };
    Ok(Noise::Overlay { detours: Arc::new(detours), is_co_scheduled })
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
