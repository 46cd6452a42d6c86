//! What an export keeps apart: processes, ranks, threads, or nothing.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::database::Location;

/// What is kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Nothing: all locations together.
    #[default]
    None,
    /// `NAME:pid`.
    Process,
    /// `rank N`; `NAME:pid` for processes that have no rank.
    Rank,
    /// `NAME:pid:tid`.
    Thread,
}

impl By {
    /// The label of every location; locations of one label belong together.
    pub(crate) fn labels(self, locations: &[Location]) -> Vec<String> {
        locations.iter().zip(images(locations)).map(|(l, i)| self.label(l, i)).collect()
    }

    fn label(self, location: &Location, image: usize) -> String {
        // A process that executes another image of the same name is two profiles.
        let suffix = if image > 0 { format!("#{}", image + 1) } else { String::new() };
        let process = || format!("{}:{}{suffix}", location.program(), location.pid);
        match (self, location.rank) {
            (By::None, _) => String::new(),
            (By::Rank, Some(rank)) => format!("rank {rank}"),
            (By::Process | By::Rank, _) => process(),
            (By::Thread, _) => format!("{}:{}", process(), location.tid),
        }
    }
}

/// For each location, how many images of its program's name its process had executed before.
fn images(locations: &[Location]) -> Vec<usize> {
    fn key(location: &Location) -> (&str, u32, &str) {
        (&location.host, location.pid, location.program())
    }
    let mut starts: FxHashMap<_, BTreeSet<u64>> = FxHashMap::default();
    for location in locations {
        starts.entry(key(location)).or_default().insert(location.start_ns);
    }
    let before = |l: &Location| starts.get(&key(l)).map_or(0, |s| s.range(..l.start_ns).count());
    locations.iter().map(before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_one_process_are_told_apart() {
        let mut locations = vec![crate::synthetic::database().locations()[0].clone(); 3];
        locations[1].start_ns += 5;
        locations[2].start_ns += 5;
        locations[2].image = "/bin/other".into();
        assert_eq!(By::Process.labels(&locations), ["app:100", "app:100#2", "other:100"]);
    }
}
