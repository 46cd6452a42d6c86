//! One process of the demonstration.

use std::path::Path;

use super::phases::Process;
use super::shared::Shared;
use crate::{Error, Result};

/// Cells of the whole problem; their numbers are summed up in every step.
const CELLS: u64 = 1_000_000;

/// Rank and number of processes, as the launcher tells them; one process alone if it does not.
pub fn rank_and_size(variable: impl Fn(&str) -> Option<String>) -> Result<(u64, u64)> {
    let number = |name: &str, default: u64| match variable(name) {
        None => Ok(default),
        Some(text) => {
            text.parse().map_err(|_| Error::Demo(format!("{name} is `{text}`, which is no number")))
        }
    };
    let (rank, size) = (number("PMI_RANK", 0)?, number("PMI_SIZE", 1)?);
    if size == 0 || size > 4096 || rank >= size {
        return Err(Error::Demo(format!("rank {rank} of {size} makes no sense")));
    }
    Ok((rank, size))
}

/// Goes through the first `steps` steps, all of which are [`STEPS`], together with the other processes, which meet in
/// the file `shared`. Gives a line to print from rank 0, the same for every process count.
///
/// [`STEPS`]: super::planted::STEPS
pub fn work(shared: &Path, rank: u64, size: u64, steps: u64) -> Result<Option<String>> {
    let failed = |e: std::io::Error| Error::Demo(format!("rank {rank}: `{}`: {e}", shared.display()));
    let shared = Shared::join(shared, rank, size).map_err(failed)?;
    let mut barriers = 1;
    let mut barrier = || {
        barriers += 1;
        shared.barrier(barriers).map_err(failed)
    };
    let mut kept = 0u64;
    let mut sum = 0;
    for step in 0..steps {
        let process = Process { shared: &shared, rank, size, step };
        kept ^= process.update_own_cells();
        kept ^= process.rebuild_whole_table();
        kept ^= process.serial_output();
        kept ^= process.refine_uneven_region();
        process.publish(CELLS);
        barrier()?;
        if !process.borders_are_right() {
            return Err(Error::Demo(format!("rank {rank} got wrong data from a neighbour in step {step}")));
        }
        kept ^= process.exchange_borders();
        sum = process.gather_all_sums();
        // Nobody may write the next step's data before all have read this step's.
        barrier()?;
    }
    std::hint::black_box(kept);
    let wanted = CELLS * (CELLS - 1) / 2;
    if sum != wanted {
        return Err(Error::Demo(format!("rank {rank} has the sum {sum}, not {wanted}")));
    }
    Ok((rank == 0).then(|| format!("sum of {CELLS} cells after {steps} steps: {sum}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_come_from_the_launcher() {
        let told = |name: &str| Some(if name == "PMI_RANK" { "2" } else { "3" }.to_owned());
        assert_eq!(rank_and_size(told).unwrap(), (2, 3));
        assert_eq!(rank_and_size(|_| None).unwrap(), (0, 1));
        assert!(rank_and_size(|_| Some("4".into())).is_err());
        assert!(rank_and_size(|_| Some("x".into())).is_err());
    }
}
