//! Waiting for one another's memory, where windows are synchronised by some of their members.
//!
//! A log tells when who opened, began, ended and locked, but not for whom: groups are known by their size. What can be said
//! without guessing is said: an origin's times of access with transfers to a target are those in which the target opened its
//! memory if there are as many of the one as of the other, and one who comes out of a call after another gave up a lock on the
//! same memory, and gives it up later, waited for it.

use std::collections::BTreeMap;

use super::{Metric, wait_until};
use crate::{CommId, Synchronisation};

/// A call that did something with a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deed {
    /// Whose call.
    pub(super) location: u32,
    /// Its path.
    pub(super) path: u32,
    /// When it began, nanoseconds.
    pub(super) enter: u64,
    /// When it ended.
    pub(super) leave: u64,
    /// What it did.
    pub(super) what: What,
}

/// What is done with a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// It is synchronised.
    Synchronise(Synchronisation),
    /// Something is transferred from or to this rank.
    Transfer(u32),
}

/// What all locations did with all windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows(BTreeMap<CommId, BTreeMap<u32, Vec<Deed>>>);

/// From beginning to end of access to a target, with all that may wait in between.
struct Access<'a> {
    begin: &'a Deed,
    within: &'a [Deed],
    end: &'a Deed,
    is_exclusive: bool,
}

impl Windows {
    /// Keeps what a call did. Of transfers to one target in a row the first is enough.
    pub(super) fn note(&mut self, window: CommId, deed: Deed) {
        let deeds = self.0.entry(window).or_default().entry(deed.location).or_default();
        if deeds.last().is_none_or(|last| last.what != deed.what || !matches!(deed.what, What::Transfer(_))) {
            deeds.push(deed);
        }
    }

    /// The waits of calls; several of one call are told one after the other, and the longest counts. `ranks` has the rank of
    /// each location.
    pub(super) fn waits(&self, ranks: &[u32], mut tell: impl FnMut(&Deed, Metric, u64)) {
        for deeds in self.0.values() {
            opened(deeds, ranks, &mut tell);
            locked(deeds, &mut tell);
        }
    }
}

/// Waits for a target to open its memory, and of a target for the last access to end.
fn opened(deeds: &BTreeMap<u32, Vec<Deed>>, ranks: &[u32], tell: &mut impl FnMut(&Deed, Metric, u64)) {
    for (target, of_target) in deeds {
        let exposures =
            times(of_target, |how| matches!(how, Synchronisation::Post(_)), Synchronisation::Wait);
        let rank = ranks.get(*target as usize).copied();
        // When the last access to each exposure ended.
        let mut last_end = vec![0; exposures.len()];
        for of_origin in deeds.values() {
            let mut accesses =
                times(of_origin, |how| matches!(how, Synchronisation::Start(_)), Synchronisation::Complete);
            let reaches = |deed: &Deed| matches!(deed.what, What::Transfer(to) if Some(to) == rank);
            accesses.retain(|access| access.within.iter().any(reaches));
            if accesses.len() != exposures.len() {
                continue;
            }
            for ((access, exposure), end) in accesses.iter().zip(&exposures).zip(&mut last_end) {
                let opened = exposure.begin.enter;
                for call in access.calls().filter(|call| call.leave >= opened) {
                    tell(call, Metric::LatePost, wait_until(call.enter, call.leave, opened).wait);
                }
                *end = access.end.enter.max(*end);
            }
        }
        for (exposure, end) in exposures.iter().zip(last_end) {
            let wait = exposure.end;
            tell(wait, Metric::EarlyWait, wait_until(wait.enter, wait.leave, end).wait);
        }
    }
}

/// Waits for a lock that another holds.
fn locked(deeds: &BTreeMap<u32, Vec<Deed>>, tell: &mut impl FnMut(&Deed, Metric, u64)) {
    let mut held: BTreeMap<u32, Vec<Access<'_>>> = BTreeMap::new();
    for of_one in deeds.values() {
        locks(of_one, &mut held);
    }
    for accesses in held.values_mut() {
        accesses.sort_unstable_by_key(|access| (access.end.enter, access.end.location));
        for own in accesses.iter() {
            for call in own.calls() {
                let given_up = accesses.partition_point(|other| other.end.enter <= call.leave);
                let before =
                    accesses[..given_up].iter().rev().take_while(|other| other.end.enter > call.enter);
                let held_before = |other: &&Access<'_>| {
                    other.end.location != own.end.location
                        && other.end.leave < own.end.leave
                        && (other.is_exclusive || own.is_exclusive)
                };
                if let Some(other) = { before }.find(held_before) {
                    let found = wait_until(call.enter, call.leave, other.end.enter);
                    tell(call, Metric::LockContention, found.wait);
                }
            }
        }
    }
}

impl Access<'_> {
    /// All calls that may wait.
    fn calls(&self) -> impl Iterator<Item = &Deed> {
        [self.begin].into_iter().chain(self.within).chain([self.end])
    }
}

/// The times between what begins and the next that ends them.
fn times(deeds: &[Deed], begins: impl Fn(Synchronisation) -> bool, ends: Synchronisation) -> Vec<Access<'_>> {
    let mut found = Vec::new();
    let mut begun = None;
    for (at, deed) in deeds.iter().enumerate() {
        match deed.what {
            What::Synchronise(how) if begins(how) => begun = Some(at),
            What::Synchronise(how) if how == ends => {
                if let Some(begin) = begun.take() {
                    let within = &deeds[begin + 1..at];
                    found.push(Access { begin: &deeds[begin], within, end: deed, is_exclusive: false });
                }
            }
            _ => {}
        }
    }
    found
}

/// Adds the times for which one location locks targets, to those of each target.
fn locks<'a>(deeds: &'a [Deed], held: &mut BTreeMap<u32, Vec<Access<'a>>>) {
    let mut begun: BTreeMap<u32, (usize, bool)> = BTreeMap::new();
    for (at, deed) in deeds.iter().enumerate() {
        match deed.what {
            What::Synchronise(Synchronisation::Lock { target, exclusive }) => {
                begun.insert(target, (at, exclusive));
            }
            What::Synchronise(Synchronisation::Unlock(target)) => {
                if let Some((begin, is_exclusive)) = begun.remove(&target) {
                    let within = &deeds[begin + 1..at];
                    held.entry(target).or_default().push(Access {
                        begin: &deeds[begin],
                        within,
                        end: deed,
                        is_exclusive,
                    });
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of (location, enter, leave, what), and the waits that come of them: location, enter of the call, metric, nanoseconds.
    fn waits(calls: &[(u32, u64, u64, What)]) -> Vec<(u32, u64, Metric, u64)> {
        let mut windows = Windows::default();
        for (location, enter, leave, what) in calls.iter().copied() {
            windows.note(CommId(1), Deed { location, path: 0, enter, leave, what });
        }
        let mut found = Vec::new();
        windows.waits(&[0, 1, 2], |call, metric, ns| {
            if ns > 0 {
                found.push((call.location, call.enter, metric, ns));
            }
        });
        found
    }

    use Synchronisation::{Complete, Lock, Post, Start, Unlock, Wait};

    fn how(how: Synchronisation) -> What {
        What::Synchronise(how)
    }

    #[test]
    fn origins_wait_for_a_post_where_their_calls_do() {
        let target = [(1, 8, 9, how(Post(1))), (1, 10, 30, how(Wait))];
        let blocks = [(0, 2, 9, how(Start(1))), (0, 10, 11, What::Transfer(1)), (0, 25, 26, how(Complete))];
        let found = waits(&[&target[..], &blocks].concat());
        assert_eq!(found, [(0, 2, Metric::LatePost, 6), (1, 10, Metric::EarlyWait, 15)]);
        let lazy = [(0, 2, 3, how(Start(1))), (0, 3, 4, What::Transfer(1)), (0, 5, 12, how(Complete))];
        assert_eq!(waits(&[&target[..], &lazy].concat()), [(0, 5, Metric::LatePost, 3)]);
    }

    #[test]
    fn times_that_do_not_belong_together_tell_nothing() {
        let target = [
            (1, 8, 9, how(Post(1))),
            (1, 10, 30, how(Wait)),
            (1, 31, 32, how(Post(1))),
            (1, 33, 50, how(Wait)),
        ];
        let origin = [(0, 2, 9, how(Start(1))), (0, 10, 11, What::Transfer(1)), (0, 25, 26, how(Complete))];
        assert_eq!(waits(&[&target[..], &origin].concat()), []);
    }

    #[test]
    fn who_comes_out_after_another_has_unlocked_waited_for_it() {
        let lock = |exclusive| how(Lock { target: 2, exclusive });
        let unlock = how(Unlock(2));
        let first = [(0, 0, 1, lock(true)), (0, 20, 21, unlock)];
        let second = [(1, 2, 22, lock(true)), (1, 23, 24, unlock)];
        assert_eq!(waits(&[&first[..], &second].concat()), [(1, 2, Metric::LockContention, 18)]);
        let lazy = [(1, 2, 3, lock(false)), (1, 4, 24, unlock)];
        assert_eq!(waits(&[&first[..], &lazy].concat()), [(1, 4, Metric::LockContention, 16)]);
        let shared =
            [[(0, 0, 1, lock(false)), (0, 20, 21, unlock)], [(1, 2, 22, lock(false)), (1, 23, 24, unlock)]];
        assert_eq!(waits(&shared.concat()), []);
    }
}
