//! Which call paths the time between two calls of MPI belongs to.

use std::cell::RefCell;
use std::rc::Rc;

use falloff_messages::waits::{Paths, split};
use rustc_hash::{FxHashMap, FxHashSet};

/// Call paths among which a burst is shared, at most.
const SHARES_MAX: usize = 8;

/// Contexts, with how many nanoseconds of samples each has.
type Shares = Rc<[(u32, u64)]>;

/// A log knows where MPI was called, and samples know what was computed: a burst lies between two calls, below the innermost caller
/// that both have in common, and is shared by the call paths there in which samples of that thread were taken outside of MPI, in their
/// proportion.
///
/// Only the eight that have most get a share of their own; the rest belongs to the common caller, as do bursts below which no sample was taken.
pub struct Bursts {
    /// Caller of each context of the tree that is being made.
    parents: Vec<u32>,
    depths: Vec<u32>,
    /// By location: contexts outside of MPI in which samples were taken, with nanoseconds.
    sampled: Vec<Vec<(u32, u64)>>,
    /// What was found before, by location and common caller.
    known: RefCell<FxHashMap<(usize, u32), Shares>>,
}

impl Bursts {
    /// Over a tree whose callers have smaller numbers; `calls` are the contexts in which MPI was called, `sampled` has, by location, the
    /// nanoseconds of each context.
    pub(super) fn new(
        parents: Vec<u32>,
        calls: &FxHashSet<u32>,
        sampled: Vec<FxHashMap<u32, u64>>,
    ) -> Bursts {
        let mut depths = vec![0u32; parents.len()];
        let mut in_mpi = vec![false; parents.len()];
        for context in 1..parents.len() {
            let parent = parents[context] as usize;
            depths[context] = depths[parent] + 1;
            in_mpi[context] = in_mpi[parent] || calls.contains(&(context as u32));
        }
        let outside = |of: FxHashMap<u32, u64>| {
            let mut outside: Vec<(u32, u64)> =
                of.into_iter().filter(|(context, _)| !in_mpi[*context as usize]).collect();
            outside.sort_unstable();
            outside
        };
        let sampled = sampled.into_iter().map(outside).collect();
        Bursts { parents, depths, sampled, known: RefCell::default() }
    }

    /// The innermost context that two have in common, themselves included.
    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if self.depths[a as usize] >= self.depths[b as usize] {
                a = self.parents[a as usize];
            } else {
                b = self.parents[b as usize];
            }
        }
        a
    }

    fn is_within(&self, mut context: u32, above: u32) -> bool {
        while self.depths[context as usize] > self.depths[above as usize] {
            context = self.parents[context as usize];
        }
        context == above
    }

    /// Contexts below a caller that have most samples, with how many nanoseconds of them; at last the caller with those of the rest.
    fn shares(&self, location: usize, caller: u32) -> Shares {
        let find = || {
            let of = self.sampled[location].iter().filter(|(context, _)| self.is_within(*context, caller));
            let mut shares: Vec<(u32, u64)> = of.copied().collect();
            shares.sort_by_key(|(context, ns)| (std::cmp::Reverse(*ns), *context));
            let rest = shares.split_off(shares.len().min(SHARES_MAX)).iter().map(|(_, ns)| ns).sum();
            shares.push((caller, rest));
            shares.into()
        };
        self.known.borrow_mut().entry((location, caller)).or_insert_with(find).clone()
    }
}

impl Paths for Bursts {
    fn path(&self, _: usize, context: u32) -> u32 {
        context
    }

    fn burst(&self, location: usize, before: u32, after: u32, ns: u64, tell: &mut dyn FnMut(u32, u64)) {
        // A call that is made again in a loop has its caller in common with itself.
        let caller = match self.common(before, after) {
            same if same == before || same == after => self.parents[same as usize],
            caller => caller,
        };
        let shares = self.shares(location, caller);
        if shares.iter().all(|(_, weight)| *weight == 0) {
            return tell(caller, ns);
        }
        let parts = split(ns, shares.iter().map(|(_, weight)| *weight).collect::<Vec<_>>());
        for ((context, _), part) in shares.iter().zip(parts).filter(|(_, part)| *part > 0) {
            tell(*context, part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 root, 1 main, 2 send, 3 receive, 4 work, 5 poll in receive, 6 elsewhere.
    fn bursts(sampled: &[(u32, u64)]) -> Bursts {
        let calls = FxHashSet::from_iter([2, 3]);
        Bursts::new(vec![0, 0, 1, 1, 1, 3, 0], &calls, vec![sampled.iter().copied().collect()])
    }

    fn told(bursts: &Bursts, before: u32, after: u32, ns: u64) -> Vec<(u32, u64)> {
        let mut told = Vec::new();
        bursts.burst(0, before, after, ns, &mut |path, ns| told.push((path, ns)));
        told
    }

    #[test]
    fn a_burst_goes_where_samples_outside_of_mpi_were_taken_below_the_common_caller() {
        let bursts = bursts(&[(1, 100), (4, 300), (5, 900), (6, 500)]);
        assert_eq!(told(&bursts, 2, 3, 40), [(4, 30), (1, 10)]);
        assert_eq!(told(&bursts, 2, 2, 40), [(4, 30), (1, 10)]);
    }

    #[test]
    fn without_samples_it_is_the_common_callers() {
        assert_eq!(told(&bursts(&[(5, 900)]), 2, 3, 40), [(1, 40)]);
        assert_eq!(told(&bursts(&[]), 3, 3, 7), [(1, 7)]);
    }
}
