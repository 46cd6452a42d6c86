//! What is kept of calls to say who brought waiting about: the record between two moments at which all waited for one.

use rustc_hash::FxHashMap;

use super::Paths;

/// A call of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    /// Which location.
    pub(super) location: u32,
    /// Which of its steps.
    pub(super) step: u32,
}

/// A call with the computation before it. The first step of a location is where the record begins: only what comes after it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The call's path.
    pub(super) path: u32,
    /// When it began, nanoseconds.
    pub(super) enter: u64,
    /// When it ended.
    pub(super) leave: u64,
    /// How long it waited, from its beginning on.
    pub(super) wait: u64,
}

/// A call that waited until another one began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// What waited.
    pub(super) at: Place,
    /// For what.
    pub(super) cause: Place,
    /// How long; 0 if both began at the same time.
    pub(super) ns: u64,
}

/// Calls and waits of all locations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Epoch {
    /// The steps of each location.
    pub(super) tracks: Vec<Vec<Step>>,
    /// Every wait, after those that may have made its cause late; no more than one for each call.
    pub(super) waits: Vec<Wait>,
    /// Operations after which none of these is ahead of another, each in ascending order of places.
    pub(super) meetings: Vec<Vec<Place>>,
}

impl Epoch {
    /// The step at a place.
    pub(super) fn step(&self, place: Place) -> Step {
        self.tracks[place.location as usize][place.step as usize]
    }

    /// Tells of the computation between a step and the one before it: call paths and nanoseconds.
    pub(super) fn computation(&self, place: Place, paths: &impl Paths, tell: &mut dyn FnMut(u32, u64)) {
        let (step, before) = (self.step(place), self.step(Place { step: place.step - 1, ..place }));
        let ns = step.enter.saturating_sub(before.leave);
        paths.burst(place.location as usize, before.path, step.path, ns, tell);
    }
}

/// An [`Epoch`] with what is looked up in it again and again.
pub(super) struct Indexed<'a> {
    /// What this is of.
    pub(super) epoch: &'a Epoch,
    /// Of each location, the waits by step.
    waits: Vec<Vec<(u32, usize)>>,
    /// Of each location, the meetings by step.
    meetings: Vec<Vec<(u32, usize)>>,
    /// Of each two locations, the lower one first, the steps at which one waited for the other, ascending.
    pairs: FxHashMap<(u32, u32), Vec<(u32, u32)>>,
}

impl<'a> Indexed<'a> {
    /// Looks through an epoch once.
    pub(super) fn new(epoch: &'a Epoch) -> Self {
        let mut new = Self {
            epoch,
            waits: vec![Vec::new(); epoch.tracks.len()],
            meetings: vec![Vec::new(); epoch.tracks.len()],
            pairs: FxHashMap::default(),
        };
        for (number, wait) in epoch.waits.iter().enumerate() {
            new.waits[wait.at.location as usize].push((wait.at.step, number));
            let (first, second) = ordered(wait.at, wait.cause);
            new.pairs.entry((first.location, second.location)).or_default().push((first.step, second.step));
        }
        for (number, meeting) in epoch.meetings.iter().enumerate() {
            meeting.iter().for_each(|place| new.meetings[place.location as usize].push((place.step, number)));
        }
        new.waits.iter_mut().chain(&mut new.meetings).for_each(|of| of.sort_unstable());
        new.pairs.values_mut().for_each(|steps| steps.sort_unstable());
        new
    }

    /// The wait of a step, if it has one.
    pub(super) fn wait_at(&self, place: Place) -> Option<&'a Wait> {
        let waits = &self.waits[place.location as usize];
        let found = waits.binary_search_by_key(&place.step, |(step, _)| *step).ok()?;
        Some(&self.epoch.waits[waits[found].1])
    }

    /// Waits of a location at steps after `from` and before `to`, by their numbers.
    pub(super) fn waits_between(&self, from: Place, to: Place) -> impl Iterator<Item = usize> + Clone {
        let waits = &self.waits[from.location as usize];
        let first = waits.partition_point(|(step, _)| *step <= from.step);
        waits[first..].iter().take_while(move |(step, _)| *step < to.step).map(|(_, number)| *number)
    }

    /// Where neither of the two of a wait was ahead of the other for the last time before it: their steps, the waiting one's
    /// first. That is where one of them waited for the other, or a meeting of both, or where the record begins.
    pub(super) fn level(&self, wait: &Wait) -> (Place, Place) {
        let mut level = (Place { step: 0, ..wait.at }, Place { step: 0, ..wait.cause });
        let (first, second) = ordered(wait.at, wait.cause);
        if let Some(steps) = self.pairs.get(&(first.location, second.location)) {
            let end = steps.partition_point(|(step, _)| *step < first.step);
            if let Some((a, b)) = steps[..end].iter().rev().find(|(_, step)| *step < second.step) {
                let (a, b) = (Place { step: *a, ..first }, Place { step: *b, ..second });
                level = if first == wait.at { (a, b) } else { (b, a) };
            }
        }
        let meetings = &self.meetings[wait.at.location as usize];
        let end = meetings.partition_point(|(step, _)| *step < wait.at.step);
        for (step, number) in meetings[..end].iter().rev().take_while(|(step, _)| *step > level.0.step) {
            let members = &self.epoch.meetings[*number];
            let member = members.binary_search_by_key(&wait.cause.location, |place| place.location);
            if let Some(there) =
                member.ok().map(|at| members[at]).filter(|there| there.step < wait.cause.step)
            {
                return (Place { step: *step, ..wait.at }, there);
            }
        }
        level
    }
}

/// Two places, that of the lower location first.
fn ordered(a: Place, b: Place) -> (Place, Place) {
    if a.location <= b.location { (a, b) } else { (b, a) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A place.
    pub(crate) fn place(location: u32, step: u32) -> Place {
        Place { location, step }
    }

    /// A location's steps of (path, enter, leave), after a beginning at 0.
    pub(crate) fn track(calls: &[(u32, u64, u64)]) -> Vec<Step> {
        let step = |(path, enter, leave): &(u32, u64, u64)| Step {
            path: *path,
            enter: *enter,
            leave: *leave,
            wait: 0,
        };
        std::iter::once(&(0, 0, 0)).chain(calls).map(step).collect()
    }

    /// Location and step of who waits, the same of the cause, and nanoseconds.
    pub(crate) type Waited = ((u32, u32), (u32, u32), u64);

    /// An epoch with waits.
    pub(crate) fn epoch(tracks: Vec<Vec<Step>>, waits: &[Waited]) -> Epoch {
        let mut epoch = Epoch { tracks, ..Epoch::default() };
        for (at, cause, ns) in waits {
            let (at, cause) = (place(at.0, at.1), place(cause.0, cause.1));
            epoch.tracks[at.location as usize][at.step as usize].wait = *ns;
            epoch.waits.push(Wait { at, cause, ns: *ns });
        }
        epoch
    }

    #[test]
    fn two_are_level_after_their_last_wait_or_meeting() {
        let calls = [(1, 10, 11), (1, 20, 21), (1, 30, 31), (1, 40, 41)];
        let mut epoch =
            epoch(vec![track(&calls); 3], &[((0, 1), (1, 2), 1), ((1, 3), (0, 2), 1), ((0, 4), (1, 4), 1)]);
        let last = epoch.waits[2];
        assert_eq!(Indexed::new(&epoch).level(&last), (place(0, 2), place(1, 3)));
        assert_eq!(Indexed::new(&epoch).level(&epoch.waits[1]), (place(1, 2), place(0, 1)));
        assert_eq!(Indexed::new(&epoch).level(&epoch.waits[0]), (place(0, 0), place(1, 0)));
        epoch.meetings = vec![vec![place(0, 3), place(2, 3)], vec![place(0, 3), place(1, 1)]];
        assert_eq!(Indexed::new(&epoch).level(&last), (place(0, 3), place(1, 1)));
    }
}
