//! Which of the ranks of a job this process is: falloff has the rank of the program that it starts.

use std::env;

use falloff_format::job;

/// The rank that a launcher gave; `None` if none did.
pub(crate) fn own_rank() -> Option<i32> {
    rank().map(|(rank, _)| rank)
}

fn rank() -> Option<(i32, i32)> {
    let number = |name: &[u8]| env::var(str::from_utf8(name).ok()?).ok()?.parse().ok();
    job::rank(number)
}

/// This process's rank and the number of ranks as its launcher says; `None` without a launcher that says both.
pub fn rank_of_many() -> Option<(i32, i32)> {
    rank().filter(|(_, ranks)| *ranks > 0)
}

/// Whether a launcher started this process as one of several ranks.
pub fn is_one_of_many() -> bool {
    own_rank().is_some()
}

/// Whether this process is the one of a job that says what is the same for all: rank 0, or alone.
pub fn is_spokesman() -> bool {
    own_rank().is_none_or(|rank| rank == 0)
}
