//! What an export keeps apart: processes, ranks, threads, or nothing.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::database::Location;

/// What is kept apart. Where several hosts are in a database, `NAME` is `HOST/NAME`: process ids are a host's own.
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
        let several_hosts = locations.windows(2).any(|pair| pair[0].host != pair[1].host);
        let images = images(locations);
        locations.iter().zip(images).map(|(l, image)| self.label(l, image, several_hosts)).collect()
    }

    fn label(self, location: &Location, image: usize, several_hosts: bool) -> String {
        // A process that executes another image of the same name is two profiles.
        let suffix = if image > 0 { format!("#{}", image + 1) } else { String::new() };
        let host = if several_hosts { format!("{}/", location.host) } else { String::new() };
        let process = || format!("{host}{}:{}{suffix}", location.program(), location.pid);
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

    #[test]
    fn processes_of_several_hosts_are_told_apart() {
        let mut locations = vec![crate::synthetic::database().locations()[0].clone(); 3];
        locations[1].host = "other".into();
        locations[2].rank = None;
        assert_eq!(By::Process.labels(&locations), ["node/app:100", "other/app:100", "node/app:100"]);
        assert_eq!(
            By::Thread.labels(&locations),
            ["node/app:100:100", "other/app:100:100", "node/app:100:100"]
        );
        assert_eq!(By::Rank.labels(&locations), ["rank 0", "rank 0", "node/app:100"]);
    }
}
