//! At which place of a communicator a rank stands.

use crate::{CommId, Communicator, Log};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The members of all communicators, in their order; those of an intercommunicator's first group before those of the other.
pub(crate) struct Members {
    orders: Vec<Order>,
    /// By communicator: members of the first of two groups, 0 if there is one.
    firsts: Vec<usize>,
}

enum Order {
    /// Rank and place are the same.
    Ranks(usize),
    /// Place by rank.
    Places(FxHashMap<u32, u32>, Vec<u32>),
}

impl Members {
    pub fn new<L: Log + ?Sized>(log: &L) -> Members {
        let communicators = log.communicators();
        let first = |of: &Communicator| if of.others.is_empty() { 0 } else { of.members.len() };
        Members {
            orders: communicators.iter().map(Order::new).collect(),
            firsts: communicators.iter().map(first).collect(),
        }
    }

    /// Of a communicator between two groups, the places of the group that a rank is not in.
    pub fn opposite(&self, comm: CommId, rank: u32) -> Option<Range<usize>> {
        let first = self.firsts.get(comm.0 as usize).copied().filter(|first| *first > 0)?;
        let is_in_first = self.place(comm, rank)? < first;
        Some(if is_in_first { first..self.count(comm) } else { 0..first })
    }

    /// How many there are; 0 for an unknown communicator.
    #[inline]
    pub fn count(&self, comm: CommId) -> usize {
        match self.orders.get(comm.0 as usize) {
            Some(Order::Ranks(count)) => *count,
            Some(Order::Places(_, ranks)) => ranks.len(),
            None => 0,
        }
    }

    /// The place of a rank, if it is a member.
    #[inline]
    pub fn place(&self, comm: CommId, rank: u32) -> Option<usize> {
        match self.orders.get(comm.0 as usize)? {
            Order::Ranks(count) => Some(rank as usize).filter(|place| place < count),
            Order::Places(places, _) => places.get(&rank).map(|&place| place as usize),
        }
    }

    /// The rank at a place that is below [`Members::count`].
    pub fn rank(&self, comm: CommId, place: usize) -> u32 {
        match self.orders.get(comm.0 as usize) {
            Some(Order::Places(_, ranks)) => ranks[place],
            _ => place as u32,
        }
    }
}

impl Order {
    fn new(communicator: &Communicator) -> Order {
        let ranks: Vec<u32> = communicator.members.iter().chain(&communicator.others).copied().collect();
        if ranks.iter().enumerate().all(|(place, &rank)| place == rank as usize) {
            return Order::Ranks(ranks.len());
        }
        Order::Places(ranks.iter().enumerate().map(|(place, &rank)| (rank, place as u32)).collect(), ranks)
    }
}
