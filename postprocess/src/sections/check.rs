//! Whether the members of a communicator entered and left their sections in the same order.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::model::{Communicator, Member, Sections};

/// Ranks that are named in a sentence.
const NAMED: usize = 8;

/// Members of a communicator that did not do what most did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Whose members.
    pub communicator: Communicator,
    /// Whether that is the one of all ranks.
    pub all_ranks: bool,
    /// The lowest ranks in it that entered no section, or are not in the database: as many as are named.
    pub absent: Vec<u32>,
    /// How many such ranks there are.
    pub absent_count: usize,
    /// Ranks in it whose calls were others, or in another order, than those of [`Disagreement::usual`].
    pub unlike: Vec<u32>,
    /// The lowest of the ranks that did what most did.
    pub usual: u32,
    /// The calls, counted from 0, among which the first is that differs between `usual` and the first of `unlike`.
    pub calls: Range<u64>,
}

impl Disagreement {
    /// What is wrong, for people.
    pub fn sentence(&self) -> String {
        let size = self.communicator.size;
        let name =
            if self.all_ranks { format!("all {size} ranks") } else { format!("a communicator of {size}") };
        let mut parts = Vec::new();
        if !self.absent.is_empty() {
            parts
                .push(format!("{} entered none or are not measured", ranks(&self.absent, self.absent_count)));
        }
        if !self.unlike.is_empty() {
            parts.push(format!(
                "{} made other calls than rank {}, first between calls {} and {}",
                ranks(&self.unlike, self.unlike.len()),
                self.usual,
                self.calls.start + 1,
                self.calls.end
            ));
        }
        format!("sections of {name}: {}", parts.join("; "))
    }
}

impl Sections {
    /// Communicators whose members did not all do the same. Nothing was sent while the program ran: each member has kept a
    /// hash of its calls and of its first 1,024, 2,048, … calls.
    pub fn disagreements(&self) -> Vec<Disagreement> {
        let world = self.world();
        let of = |index: usize| {
            let communicator = *self.communicators.get(index)?;
            let is_of = |m: &&Member| m.communicator == Some(index as u32);
            let mut members: Vec<&Member> = self.members.iter().filter(is_of).collect();
            members.sort_by_key(|m| (m.rank, m.location));
            let usual = usual(&members)?;
            let present: BTreeSet<u32> =
                members.iter().map(|m| m.rank).filter(|rank| *rank < communicator.size).collect();
            let absent_count = communicator.size as usize - present.len();
            let absent: Vec<u32> =
                (0..communicator.size).filter(|rank| !present.contains(rank)).take(NAMED).collect();
            let others = members.iter().filter(|m| (m.calls, m.order) != (usual.calls, usual.order));
            let others: Vec<&Member> = others.copied().collect();
            let calls = others.first().map_or(0..0, |other| self.window(index as u32, usual, other));
            let unlike: Vec<u32> = others.iter().map(|m| m.rank).collect();
            (!absent.is_empty() || !unlike.is_empty()).then_some(Disagreement {
                communicator,
                all_ranks: Some(index as u32) == world,
                absent,
                absent_count,
                unlike,
                usual: usual.rank,
                calls,
            })
        };
        (0..self.communicators.len()).filter_map(of).collect()
    }

    /// The calls among which two members part, by their checkpoints.
    fn window(&self, communicator: u32, a: &Member, b: &Member) -> Range<u64> {
        let of = |member: &Member| {
            let from = self
                .checkpoints
                .partition_point(|c| (c.communicator, c.location) < (communicator, member.location));
            let same = move |c: &&super::model::Checkpoint| {
                (c.communicator, c.location) == (communicator, member.location)
            };
            self.checkpoints
                .iter()
                .skip(from)
                .take_while(same)
                .map(|c| (c.calls, c.order))
                .collect::<Vec<_>>()
        };
        let mut start = 0;
        for (of_a, of_b) in of(a).into_iter().zip(of(b)) {
            if of_a != of_b {
                return start..of_a.0.min(of_b.0).max(start + 1);
            }
            start = of_a.0;
        }
        start..a.calls.max(b.calls).max(start + 1)
    }
}

/// The first of the members that did what most did.
fn usual<'a>(members: &[&'a Member]) -> Option<&'a Member> {
    let mut counts: FxHashMap<(u64, u64), usize> = FxHashMap::default();
    members.iter().for_each(|m| *counts.entry((m.calls, m.order)).or_default() += 1);
    let count = |m: &Member| counts.get(&(m.calls, m.order)).copied().unwrap_or_default();
    members.iter().copied().rev().max_by_key(|m| count(m))
}

/// Names the first of `count` ranks.
fn ranks(ranks: &[u32], count: usize) -> String {
    let named: Vec<String> = ranks.iter().take(NAMED).map(u32::to_string).collect();
    let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
    format!("{} {}{more}", if count == 1 { "rank" } else { "ranks" }, named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::model::Checkpoint;
    use super::*;

    /// A rank, its calls, their order, and the calls and order at its checkpoints.
    type RankOrder<'a> = (u32, u64, u64, &'a [(u64, u64)]);

    fn sections(size: u32, members: &[RankOrder]) -> Sections {
        let member = |&(rank, calls, order, _): &RankOrder| Member {
            communicator: Some(0),
            location: rank,
            rank,
            calls,
            order,
            unclosed: 0,
            stray: 0,
            beyond: 0,
        };
        let checkpoint = |location: u32, &(calls, order): &(u64, u64)| Checkpoint {
            communicator: 0,
            location,
            calls,
            order,
        };
        Sections {
            communicators: vec![Communicator { size, members: 1 }],
            members: members.iter().map(member).collect(),
            checkpoints: members.iter().flat_map(|m| m.3.iter().map(move |c| checkpoint(m.0, c))).collect(),
            ..Sections::default()
        }
    }

    #[test]
    fn members_that_agree_are_not_mentioned() {
        assert_eq!(sections(2, &[(0, 4, 9, &[]), (1, 4, 9, &[])]).disagreements(), []);
    }

    #[test]
    fn the_first_window_that_differs_is_told() {
        let all = sections(
            5,
            &[
                (0, 3000, 9, &[(1024, 1), (2048, 2)]),
                (1, 3000, 9, &[(1024, 1), (2048, 2)]),
                (2, 3000, 7, &[(1024, 1), (2048, 8)]),
            ],
        );
        let found = all.disagreements();
        assert_eq!((found[0].usual, found[0].calls.clone()), (0, 1024..2048));
        assert_eq!(
            found[0].sentence(),
            "sections of a communicator of 5: ranks 3, 4 entered none or are not measured; rank 2 made other calls than \
             rank 0, first between calls 1025 and 2048"
        );
    }

    #[test]
    fn a_size_that_lies_costs_nothing() {
        let found = &sections(u32::MAX, &[(1, 2, 5, &[])]).disagreements()[0];
        assert_eq!(
            found.sentence(),
            "sections of a communicator of 4294967295: ranks 0, 2, 3, 4, 5, 6, 7, 8 and 4294967286 more entered none or \
             are not measured"
        );
    }

    #[test]
    fn most_are_right() {
        let all = sections(3, &[(0, 2, 5, &[]), (1, 4, 9, &[]), (2, 4, 9, &[])]);
        let found = &all.disagreements()[0];
        assert_eq!((&*found.unlike, found.usual, found.calls.clone()), (&[0][..], 1, 0..4));
    }
}
