//! Ranks and threads by number, as formats with a system tree or a rank for each row want them.

use rustc_hash::FxHashMap;

use super::profile::Profile;
use crate::database::Location;

/// Where a group of locations stands in the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The rank that the launcher gave. Processes without one have the numbers from the one after the largest rank on.
    pub rank: u32,
    /// Number of the group among those of its rank, from 0.
    pub thread: u32,
}

/// The place of every group of a profile that has locations, by its first one; in the order of the groups.
pub(super) fn places(profile: &Profile) -> Vec<Place> {
    let firsts = profile.groups().iter().filter_map(|group| profile.locations(group).next());
    places_of(firsts, profile.database().locations())
}

/// The place of each of some locations among all.
pub(super) fn places_of<'a>(some: impl Iterator<Item = &'a Location>, all: &[Location]) -> Vec<Place> {
    let mut free = all.iter().filter_map(|l| l.rank).max().map_or(0, |rank| rank.saturating_add(1));
    let mut unranked = FxHashMap::default();
    let mut threads: FxHashMap<u32, u32> = FxHashMap::default();
    some.map(|location| {
        let rank = location.rank.unwrap_or_else(|| {
            *unranked.entry(process(location)).or_insert_with(|| {
                free = free.saturating_add(1);
                free - 1
            })
        });
        let thread = threads.entry(rank).or_default();
        *thread += 1;
        Place { rank, thread: *thread - 1 }
    })
    .collect()
}

fn process(location: &Location) -> (&str, u32, u64, &str) {
    (&location.host, location.pid, location.start_ns, &location.image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::By;
    use crate::synthetic::{database, database_with_helper, time_database};

    #[test]
    fn threads_are_counted_within_their_rank() {
        let place = |rank, thread| Place { rank, thread };
        let of = |database: &crate::Database, by| places(&Profile::new(database, &["cpu"], by));
        let helper = database_with_helper(false);
        assert_eq!(of(&helper, By::Thread), [place(0, 0), place(1, 0), place(1, 1)]);
        assert_eq!(of(&database(), By::Rank), [place(0, 0), place(1, 0)]);
        assert_eq!(of(&database(), By::None), [place(0, 0)]);
        assert_eq!(of(&time_database(), By::Process), [place(0, 0)]);
    }
}
