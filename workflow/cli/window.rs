//! Which calls of MPI are looked at: a time from the first call of the run on, and some of its ranks.

use std::collections::BTreeSet;
use std::path::Path;

use falloff_messages::{Broken, Call, Log};
use falloff_postprocess::Location;
use falloff_postprocess::messages::RunLog;
use falloff_postprocess::views::Selection;

use crate::failure::Failure;

/// When the first call of a run began, by its rank's clock. The log is left as it was: at its beginning.
pub fn begin(log: &mut RunLog) -> Result<u64, Broken> {
    let mut begin = u64::MAX;
    let mut call = Call::default();
    for location in 0..log.locations().len() {
        if log.next(location, &mut call)? {
            begin = begin.min(call.enter);
        }
    }
    log.rewind();
    Ok(begin)
}

/// The ranks that all of these select, if there are any; `action` is what fails if no rank is.
pub fn ranks(
    dir: &Path,
    selections: &[Selection],
    log: &RunLog,
    action: &str,
) -> Result<Option<BTreeSet<u32>>, Failure> {
    let Some(first) = selections.first() else { return Ok(None) };
    let chosen: BTreeSet<u32> =
        (0..log.locations().len()).filter_map(|location| chosen(log, location, selections)).collect();
    if chosen.is_empty() {
        return Err(Failure::usage(
            format!("failed to {action} `{}`: no rank is `{first}`", dir.display()),
            "see which there are with `falloff view DIR --by rank`",
        ));
    }
    Ok(Some(chosen))
}

/// The rank of a location, if it is selected.
fn chosen(log: &RunLog, location: usize, selections: &[Selection]) -> Option<u32> {
    let rank = log.locations()[location].rank;
    let logged = log.logged(location)?;
    let place =
        Location { rank: Some(rank), pid: logged.pid, host: logged.host.into(), ..Location::default() };
    selections.iter().all(|selection| selection.holds(&place)).then_some(rank)
}
