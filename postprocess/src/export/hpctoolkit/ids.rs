//! Id tuples: which location a part belongs to.

use super::section::Section;
use crate::database::Location;
use crate::export::places::{Place, places_of};

/// Level of an id. The numbers are those of hpcprof, whose list readers know by heart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A host.
    Node = 1,
    /// A process.
    Rank = 2,
    /// A thread.
    Thread = 3,
}

/// Names of all kinds by their numbers.
pub(super) const KIND_NAMES: [&str; 8] =
    ["SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"];

/// One id of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    /// Its level.
    pub kind: Kind,
    /// Its number there.
    pub number: u32,
}

/// Ids of every location: host by its place among the hosts' names, rank, thread.
///
/// A process without a rank has the next number after the ranks. Threads of all processes that share a rank, such as
/// children that it started, are numbered together, so that no two locations have the same ids.
pub(super) fn of_locations(locations: &[Location]) -> Vec<Vec<Id>> {
    let mut hosts: Vec<&str> = locations.iter().map(|l| l.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let ids_of = |(location, place): (&Location, Place)| {
        let host = hosts.partition_point(|host| *host < location.host.as_str()) as u32;
        [(Kind::Node, host), (Kind::Rank, place.rank), (Kind::Thread, place.thread)]
            .map(|(kind, number)| Id { kind, number })
            .to_vec()
    };
    locations.iter().zip(places_of(locations.iter(), locations)).map(ids_of).collect()
}

/// Appends a tuple to a section and gives its address.
pub(super) fn write(ids: &[Id], section: &mut Section) -> u64 {
    section.align(8);
    let start = section.here();
    section.u16(ids.len() as u16);
    section.align(8);
    for id in ids {
        section.u8(id.kind as u8);
        section.u8(0);
        section.u16(0);
        section.u32(id.number);
        section.u64(u64::from(id.number));
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(locations: &[Location]) -> Vec<[u32; 3]> {
        of_locations(locations).iter().map(|ids| [ids[0].number, ids[1].number, ids[2].number]).collect()
    }

    #[test]
    fn no_two_locations_are_the_same() {
        let of = |host: &str, rank, pid| Location { host: host.into(), rank, pid, ..Location::default() };
        let locations = [
            of("b", Some(0), 1),
            of("b", Some(0), 1),
            of("b", Some(0), 2),
            of("a", Some(3), 3),
            of("a", None, 4),
            of("a", None, 4),
            of("a", None, 5),
        ];
        let expected = [[1, 0, 0], [1, 0, 1], [1, 0, 2], [0, 3, 0], [0, 4, 0], [0, 4, 1], [0, 5, 0]];
        assert_eq!(numbers(&locations), expected);
    }
}
