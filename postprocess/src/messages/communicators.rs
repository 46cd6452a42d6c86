//! Communicators of all processes under one numbering.

use falloff_format::events::CommunicatorRecord;
use falloff_messages::{CommId, Communicator};
use rustc_hash::FxHashMap;

/// What makes a communicator or window the same in all processes: scope, hashes of both groups in their order, ordinal.
type Key = (u32, u64, u64, u32);

/// Communicators and windows of a run.
#[derive(Debug)]
pub(super) struct Communicators {
    all: Vec<Communicator>,
    known: FxHashMap<Key, u32>,
}

/// An ordered list of ranks of one process's file.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// Hash of the list, equal in all processes.
    pub hash: u64,
    /// Ranks of the run.
    pub ranks: Vec<u32>,
}

impl Communicators {
    /// With that of all ranks, whatever the files say.
    pub fn of_ranks(ranks: u32) -> Communicators {
        let world = Communicator { members: (0..ranks).collect(), others: Vec::new() };
        Communicators { all: vec![world], known: FxHashMap::default() }
    }

    /// The number of a process's communicator among all of the run.
    pub fn number(&mut self, record: &CommunicatorRecord, group: &Group, others: Option<&Group>) -> CommId {
        let world = record.scope == falloff_format::events::SCOPE_COMMUNICATOR && record.ordinal == 0;
        if world && others.is_none() && group.ranks == self.all[0].members {
            return CommId(0);
        }
        // Both sides of a communicator between two groups name their own first.
        let empty = Group::default();
        let other = others.unwrap_or(&empty);
        let own_first = others.is_none() || group.hash <= other.hash;
        let (first, second) = if own_first { (group, other) } else { (other, group) };
        let key = (record.scope, first.hash, second.hash, record.ordinal);
        let number = *self.known.entry(key).or_insert_with(|| {
            self.all.push(Communicator { members: first.ranks.clone(), others: second.ranks.clone() });
            (self.all.len() - 1) as u32
        });
        CommId(number)
    }

    /// All of them, by their numbers.
    pub fn finish(self) -> Vec<Communicator> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use falloff_format::events::{SCOPE_COMMUNICATOR, SCOPE_WINDOW};

    use super::*;

    fn record(scope: u32, ordinal: u32) -> CommunicatorRecord {
        CommunicatorRecord { id: 1, scope, group: 1, others: 0, ordinal, rank: 0, parent: 0, reserved: 0 }
    }

    fn group(hash: u64, ranks: &[u32]) -> Group {
        Group { hash, ranks: ranks.to_vec() }
    }

    #[test]
    fn equal_ones_have_one_number_in_all_processes() {
        let mut all = Communicators::of_ranks(4);
        let (world, left, right) = (group(9, &[0, 1, 2, 3]), group(5, &[0, 1]), group(3, &[2, 3]));
        assert_eq!(all.number(&record(SCOPE_COMMUNICATOR, 0), &world, None), CommId(0));
        let copy = all.number(&record(SCOPE_COMMUNICATOR, 1), &world, None);
        let window = all.number(&record(SCOPE_WINDOW, 0), &world, None);
        let between = all.number(&record(SCOPE_COMMUNICATOR, 0), &left, Some(&right));
        assert_eq!((copy, window, between), (CommId(1), CommId(2), CommId(3)));
        assert_eq!(all.number(&record(SCOPE_COMMUNICATOR, 0), &right, Some(&left)), between);
        assert_eq!(all.number(&record(SCOPE_COMMUNICATOR, 1), &world, None), copy);
        let all = all.finish();
        assert_eq!(all[3], Communicator { members: vec![2, 3], others: vec![0, 1] });
        assert_eq!(all[2].members, [0, 1, 2, 3]);
    }
}
