//! What a database holds of sections.

use std::sync::Arc;

use falloff_format::sections::members_hash;

use super::instance::Instance;

/// A section: a label, entered on a communicator within another section.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Section {
    /// Index of the section that it was entered in, an earlier one.
    pub parent: Option<u32>,
    /// The program's word for it.
    pub label: Arc<str>,
    /// Index of the communicator; `None` for a section that each thread enters by itself.
    pub communicator: Option<u32>,
}

/// A group of processes that enter sections together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Communicator {
    /// Number of members.
    pub size: u32,
    /// Hash of the members' ranks among all processes, in order.
    pub members: u64,
}

/// More ranks than any machine runs. A damaged file may tell of four thousand million, and they are not counted up.
const RANKS_MAX: u32 = 1 << 25;

impl Communicator {
    /// The first ranks of the job in their order, as in `MPI_COMM_WORLD`.
    pub fn of_first(size: u32) -> Option<Communicator> {
        let members = || (0..size).fold(u64::from(size), members_hash);
        (size <= RANKS_MAX).then(|| Communicator { size, members: members() })
    }
}

/// What a process did on a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Index of the communicator; `None` for calls without one.
    pub communicator: Option<u32>,
    /// Index of the first location of the process.
    pub location: u32,
    /// Which member it is.
    pub rank: u32,
    /// Calls that entered or left a section.
    pub calls: u64,
    /// Hash of these calls in their order.
    pub order: u64,
    /// Sections that were closed by the exit of one around them, or by the end.
    pub unclosed: u64,
    /// Exits of sections that were not open.
    pub stray: u64,
    /// Entries for which there was no section: too many sections, or too deep.
    pub beyond: u64,
}

/// What a member had called on a communicator after a number of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Checkpoint {
    /// Index of the communicator.
    pub communicator: u32,
    /// Index of the first location of the process.
    pub location: u32,
    /// Calls so far.
    pub calls: u64,
    /// Hash of these calls in their order.
    pub order: u64,
}

/// What a location has spent in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dwell {
    /// Index of the section.
    pub section: u32,
    /// Index of the location.
    pub location: u32,
    /// Instances that have ended.
    pub count: u64,
    /// Wall time from entry to exit, ns, summed.
    pub dwell_ns: u64,
    /// Of that, time in sections within.
    pub nested_ns: u64,
    /// Instances of which only the sums are known.
    pub unlogged: u64,
}

/// Part of the exclusive value of a context, over all locations but helpers, that was sampled in a section, not within a
/// section in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectionValue {
    /// Index of the section.
    pub section: u32,
    /// Index of the context.
    pub context: u32,
    /// Index of the metric.
    pub metric: u32,
    /// The value, to be divided as any of the metric.
    pub exclusive: i64,
}

/// All of it but the values. Empty where the program has marked nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// In pre-order, those of one parent by label and communicator.
    pub sections: Vec<Section>,
    /// Largest first.
    pub communicators: Vec<Communicator>,
    /// Sorted.
    pub members: Vec<Member>,
    /// Sorted.
    pub checkpoints: Vec<Checkpoint>,
    /// Sorted by section and location.
    pub dwells: Vec<Dwell>,
    /// Sorted by section and number.
    pub instances: Vec<Instance>,
}

impl Sections {
    /// The communicator of all ranks: of those that are there, the one in their order that nobody is larger than. `MPI_MAIN`
    /// is on it, so it is there wherever MPI is.
    pub fn world(&self) -> Option<u32> {
        let all = Communicator::of_first(self.communicators.iter().map(|c| c.size).max()?)?;
        self.communicators.iter().position(|c| *c == all).map(|index| index as u32)
    }

    /// The sum of a count over all locations; the largest number where damaged counts add up to more.
    pub fn total(&self, count: impl Fn(&Member) -> u64) -> u64 {
        self.members.iter().map(count).fold(0, u64::saturating_add)
    }

    /// Whether nothing was marked.
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Labels from the outermost section to this one.
    pub fn path(&self, section: u32) -> Vec<&str> {
        let parent = |index: &u32| self.sections.get(*index as usize)?.parent;
        let mut path: Vec<&str> = std::iter::successors(Some(section), parent)
            .filter_map(|index| Some(&*self.sections.get(index as usize)?.label))
            .collect();
        path.reverse();
        path
    }

    /// The sections within this one, however deep, and itself.
    pub fn within(&self, section: u32) -> impl Iterator<Item = u32> {
        let inside = move |index: &u32| {
            let parent = |index: &u32| self.sections.get(*index as usize)?.parent;
            std::iter::successors(Some(*index), parent).any(|around| around == section)
        };
        (0..self.sections.len() as u32).filter(inside)
    }
}

/// Values of the same place added up, in order, without those that are 0.
pub(crate) fn summed(mut values: Vec<SectionValue>) -> Vec<SectionValue> {
    values.sort_unstable();
    values.dedup_by(|next, kept| {
        let same = (next.section, next.context, next.metric) == (kept.section, kept.context, kept.metric);
        if same {
            kept.exclusive = kept.exclusive.saturating_add(next.exclusive);
        }
        same
    });
    values.retain(|value| value.exclusive != 0);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_is_all_ranks_in_order() {
        let of = |ranks: &[u32]| Communicator {
            size: ranks.len() as u32,
            members: ranks.iter().fold(ranks.len() as u64, |hash, rank| members_hash(hash, *rank)),
        };
        let world = |communicators: &[Communicator]| {
            Sections { communicators: communicators.into(), ..Sections::default() }.world()
        };
        assert_eq!(world(&[of(&[1, 0, 2]), of(&[0, 1, 2]), of(&[0, 1])]), Some(1));
        assert_eq!(world(&[of(&[0])]), Some(0));
        assert_eq!((world(&[of(&[0, 2]), of(&[0])]), world(&[of(&[1])]), world(&[])), (None, None, None));
        assert_eq!(world(&[Communicator { size: u32::MAX, members: 0 }, of(&[0, 1])]), None);
    }

    #[test]
    fn paths_and_what_is_within() {
        let section = |parent, label: &str| Section { parent, label: label.into(), communicator: None };
        let sections =
            vec![section(None, "a"), section(Some(0), "b"), section(Some(1), "c"), section(None, "d")];
        let all = Sections { sections, ..Sections::default() };
        assert_eq!(all.path(2), ["a", "b", "c"]);
        assert_eq!(all.within(0).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(all.within(3).collect::<Vec<_>>(), [3]);
    }
}
