//! Locations of several databases side by side: paired one by one, or gathered.

use std::collections::{BTreeMap, BTreeSet};

use super::gathered::{Gathering, gathered};
use crate::database::{Database, Location};
use crate::error::Error;

/// What becomes of the locations of several databases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locations {
    /// Paired if all databases have the same ranks with the same threads, else collapsed.
    #[default]
    PairIfAlike,
    /// Paired; databases that have other ranks or threads are refused.
    Pair,
    /// Collapsed to one.
    Collapse,
}

/// Locations of the result, and each database's places among them.
pub(super) struct Placed {
    pub locations: Vec<Location>,
    pub places: Vec<Vec<u32>>,
    /// What was done.
    pub words: &'static str,
}

/// What tells a location from others in every run of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Rank, number of the process in its rank, number of the thread in its process.
    Thread {
        rank: Option<u32>,
        process: usize,
        ordinal: u32,
    },
    Gathered {
        rank: Option<u32>,
        host: String,
        helper: bool,
    },
}

/// Puts the locations of databases side by side. Databases without any location are as good as absent.
///
/// # Errors
/// [`Error::UnlikeLocations`] if they are to be paired and cannot be.
pub(super) fn placed(databases: &[&Database], how: Locations) -> Result<Placed, Error> {
    let lists: Vec<&[Location]> = databases.iter().map(|d| d.locations()).collect();
    let keys: Vec<Vec<Key>> = lists.iter().map(|l| keys(l)).collect();
    let of_program = |(keys, locations): (&'_ Vec<Key>, &&[Location])| -> Option<BTreeSet<Key>> {
        let own = keys.iter().zip(*locations).filter(|(_, l)| !l.helper).map(|(key, _)| key.clone());
        (!locations.is_empty()).then(|| own.collect())
    };
    let sets: Vec<BTreeSet<Key>> = keys.iter().zip(&lists).filter_map(of_program).collect();
    let unlike = sets.windows(2).any(|w| w[0] != w[1]);
    match how {
        Locations::Pair if unlike => Err(Error::UnlikeLocations),
        Locations::PairIfAlike if unlike => {
            Ok(collapsed(&lists, Gathering::All, "locations collapsed, since their ranks or threads differ"))
        }
        Locations::Collapse => Ok(collapsed(&lists, Gathering::All, "locations collapsed")),
        Locations::Pair | Locations::PairIfAlike => Ok(together(&lists, &keys, "locations paired")),
    }
}

/// Gathers the locations of databases.
pub(super) fn collapsed(lists: &[&[Location]], gathering: Gathering, words: &'static str) -> Placed {
    let key = |l: &Location| Key::Gathered {
        rank: l.rank.filter(|_| gathering == Gathering::Ranks),
        host: if gathering == Gathering::Hosts { l.host.clone() } else { String::new() },
        helper: l.helper,
    };
    let keys: Vec<Vec<Key>> = lists.iter().map(|l| l.iter().map(key).collect()).collect();
    together(lists, &keys, words)
}

fn keys(locations: &[Location]) -> Vec<Key> {
    let mut processes: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    let mut last: Option<&Location> = None;
    locations
        .iter()
        .map(|l| {
            let Location { rank, ordinal, helper, .. } = *l;
            if l.is_gathered() {
                return Key::Gathered { rank, host: l.host.clone(), helper };
            }
            let process = processes.entry(rank).or_default();
            if !last.is_some_and(|before| before.rank == rank && before.same_process(l)) {
                *process += 1;
            }
            last = Some(l);
            Key::Thread { rank, process: *process, ordinal }
        })
        .collect()
}

/// One location for each key, in canonical order.
fn together(lists: &[&[Location]], keys: &[Vec<Key>], words: &'static str) -> Placed {
    let mut members: BTreeMap<&Key, Vec<&Location>> = BTreeMap::new();
    let mut processes: BTreeMap<(Option<u32>, usize), &Location> = BTreeMap::new();
    for (key, location) in keys.iter().zip(lists).flat_map(|(keys, list)| keys.iter().zip(*list)) {
        members.entry(key).or_default().push(location);
        if let Key::Thread { rank, process, .. } = key {
            processes.entry((*rank, *process)).or_insert(location);
        }
    }
    let one = |key: &Key, members: &[&Location]| match key {
        Key::Thread { rank, process, .. } => {
            // A thread that only a later database has belongs to the first one's process all the same.
            let of = processes.get(&(*rank, *process)).copied().unwrap_or(members[0]);
            Location {
                host: of.host.clone(),
                start_ns: of.start_ns,
                pid: of.pid,
                ppid: of.ppid,
                image: of.image.clone(),
                argv: of.argv.clone(),
                ..gathered(members, None)
            }
        }
        Key::Gathered { rank: Some(_), .. } => gathered(members, Some(Gathering::Ranks)),
        Key::Gathered { host, .. } if !host.is_empty() => gathered(members, Some(Gathering::Hosts)),
        Key::Gathered { .. } => gathered(members, Some(Gathering::All)),
    };
    let mut all: Vec<(Location, &Key)> =
        members.iter().map(|(key, members)| (one(key, members), *key)).collect();
    all.sort();
    let place: BTreeMap<&Key, u32> = all.iter().zip(0..).map(|((_, key), at)| (*key, at)).collect();
    let places = keys.iter().map(|keys| keys.iter().map(|key| place[key]).collect()).collect();
    Placed { locations: all.iter().map(|(location, _)| location.clone()).collect(), places, words }
}
