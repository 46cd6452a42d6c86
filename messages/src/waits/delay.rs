//! Who brought waiting about.

use rustc_hash::FxHashMap;

use super::epoch::{Indexed, Place, Wait};
use super::split::split;
use super::{Metric, Paths, Severities};

/// What somebody was late with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Computation of a call path.
    Computation(u32),
    /// Time in MPI in which it did not wait.
    Communication,
    /// Waiting in calls of a call path.
    Waiting(u32),
}

/// Waiting at a call path, and what made it wait, nearest cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Blame {
    /// The call path that waited.
    pub waiting: u32,
    /// The location that it waited for.
    pub location: u32,
    /// What that was late with.
    pub cause: Cause,
}

/// Nanoseconds of each [`Blame`].
pub(super) type Blames = FxHashMap<Blame, u64>;

/// What one did more than the other between two moments at which they were level: in proportion to these a wait is shared.
struct Excess {
    /// Computation, nanoseconds by call path, ascending.
    computation: Vec<(u32, u64)>,
    /// In MPI, without waiting.
    communication: u64,
    /// Waiting, all together.
    waiting: u64,
    /// The waits that this was, by number.
    waits: Vec<usize>,
}

/// Shares out every wait of an epoch: delay costs after Böhme et al., "Identifying the root causes of wait states in large-scale
/// parallel applications", ICPP 2010.
///
/// Between the last time that both were level and the wait, the one that came late did more of something than the one that
/// waited: it computed at some call paths, was in MPI, or waited itself. The wait is shared in proportion to these differences.
/// What goes to computation and to MPI is short-term cost; what goes to an earlier wait is handed to what made that one wait, and
/// there is long-term cost. If there is no difference, communication is to blame. All short-term and long-term costs together are all waiting.
///
/// Computation of 10, 6 and 4 before a barrier: waits of 0, 4 and 6, and a short-term cost of 10 for the computation of the first.
pub(super) fn share_out(
    indexed: &Indexed<'_>,
    paths: &impl Paths,
    costs: &mut Severities,
    blames: &mut Blames,
) {
    let waits = &indexed.epoch.waits;
    // What others lost because of each wait. A wait comes after those that its cause waited in: backwards, it is whole when read.
    let mut handed_on = vec![0u64; waits.len()];
    for (number, wait) in waits.iter().enumerate().rev().filter(|(_, wait)| wait.ns > 0) {
        let excess = Excess::new(indexed, paths, wait);
        let (own, later) = (wait.ns, handed_on[number]);
        let (path, late) = (indexed.epoch.step(wait.at).path, wait.cause.location);
        let blame = |cause| Blame { waiting: path, location: late, cause };

        let (direct, propagated) = excess.parts(own);
        let (long, propagated_again) = excess.parts(later);
        for ((place, ns), long) in excess.places().zip(&direct).zip(&long) {
            let (at, short_term, long_term, cause) = match place {
                Some(at) => (at, Metric::ShortTerm, Metric::LongTerm, Cause::Computation(at)),
                None => (
                    indexed.epoch.step(wait.cause).path,
                    Metric::ShortTermCommunication,
                    Metric::LongTermCommunication,
                    Cause::Communication,
                ),
            };
            costs.add(late, at, short_term, *ns);
            costs.add(late, at, long_term, *long);
            if *ns > 0 {
                *blames.entry(blame(cause)).or_default() += ns;
            }
        }
        costs.add(wait.at.location, path, Metric::DirectWait, own - propagated);
        costs.add(wait.at.location, path, Metric::IndirectWait, propagated);
        let effect = if later > 0 { Metric::PropagatingWait } else { Metric::TerminalWait };
        costs.add(wait.at.location, path, effect, own);

        let lengths = || excess.waits.iter().map(|earlier| waits[*earlier].ns);
        let shares = split(propagated, lengths().collect::<Vec<_>>());
        let shares_again = split(propagated_again, lengths().collect::<Vec<_>>());
        for ((earlier, share), again) in excess.waits.iter().zip(shares).zip(shares_again) {
            handed_on[*earlier] += share + again;
            if share > 0 {
                let path = indexed.epoch.step(waits[*earlier].at).path;
                *blames.entry(blame(Cause::Waiting(path))).or_default() += share;
            }
        }
    }
}

impl Excess {
    fn new(indexed: &Indexed<'_>, paths: &impl Paths, wait: &Wait) -> Self {
        let (from, late_from) = indexed.level(wait);
        let waits: Vec<usize> = indexed.waits_between(late_from, wait.cause).collect();
        let length = |numbers: &mut dyn Iterator<Item = usize>| -> u64 {
            numbers.map(|number| indexed.epoch.waits[number].ns).sum()
        };
        let waited = length(&mut indexed.waits_between(from, wait.at));
        let mut computation: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        computed(indexed, paths, (late_from, wait.cause), |path, ns| {
            computation.entry(path).or_default().0 += ns
        });
        computed(indexed, paths, (from, wait.at), |path, ns| computation.entry(path).or_default().1 += ns);
        let more = |(path, (late, waiting)): (u32, (u64, u64))| (path, late.saturating_sub(waiting));
        let mut computation: Vec<_> = computation.into_iter().map(more).filter(|(_, ns)| *ns > 0).collect();
        computation.sort_unstable();
        Self {
            computation,
            communication: communicated(indexed, late_from, wait.cause)
                .saturating_sub(communicated(indexed, from, wait.at)),
            waiting: length(&mut waits.iter().copied()).saturating_sub(waited),
            waits,
        }
    }

    /// Call paths that computed more, and last `None` for communication.
    fn places(&self) -> impl Iterator<Item = Option<u32>> {
        self.computation.iter().map(|(path, _)| Some(*path)).chain([None])
    }

    /// Shares out nanoseconds among [`Self::places`]; the second is what goes to earlier waits.
    fn parts(&self, ns: u64) -> (Vec<u64>, u64) {
        let computation = self.computation.iter().map(|(_, ns)| *ns);
        let weights: Vec<u64> = computation.chain([self.communication, self.waiting]).collect();
        let mut parts = split(ns, weights.iter().copied());
        let waiting = parts.pop().unwrap_or(0);
        if weights.iter().all(|weight| *weight == 0) {
            parts[self.computation.len()] = ns;
        }
        (parts, waiting)
    }
}

/// Tells of the computation of a location after the call at one place and before that at another.
fn computed(
    indexed: &Indexed<'_>,
    paths: &impl Paths,
    (from, to): (Place, Place),
    mut tell: impl FnMut(u32, u64),
) {
    for step in from.step + 1..=to.step {
        indexed.epoch.computation(Place { step, ..from }, paths, &mut tell);
    }
}

/// Nanoseconds that a location was in MPI without waiting, from the call at one place to before that at another.
fn communicated(indexed: &Indexed<'_>, from: Place, to: Place) -> u64 {
    // The record begins after its first call's wait, and so does everything that is level from there on.
    let steps =
        &indexed.epoch.tracks[from.location as usize][from.step as usize..to.step.max(from.step) as usize];
    steps.iter().map(|step| (step.leave - step.enter).saturating_sub(step.wait)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::SamePaths;
    use crate::waits::epoch::Epoch;
    use crate::waits::epoch::tests::{epoch, track};

    /// Location, call path, metric, nanoseconds.
    type Cost = (u32, u32, Metric, u64);

    fn shared_out(epoch: &Epoch) -> (Vec<Cost>, Vec<(Blame, u64)>) {
        let (mut costs, mut blames) = (Severities::default(), Blames::default());
        share_out(&Indexed::new(epoch), &SamePaths, &mut costs, &mut blames);
        let mut blames: Vec<_> = blames.into_iter().collect();
        blames.sort_unstable();
        (costs.sorted(), blames)
    }

    fn costs(epoch: &Epoch) -> Vec<Cost> {
        let mut costs = shared_out(epoch).0;
        costs.retain(|(_, _, metric, _)| metric.is_within(Metric::DelayCost));
        costs
    }

    #[test]
    fn computation_of_10_6_and_4_before_a_barrier() {
        let tracks = [10, 6, 4].map(|enter| track(&[(7, enter, 11)])).to_vec();
        let epoch = epoch(tracks, &[((1, 1), (0, 1), 4), ((2, 1), (0, 1), 6)]);
        assert_eq!(costs(&epoch), [(0, 7, Metric::ShortTerm, 10)]);
        let (all, blames) = shared_out(&epoch);
        assert!(
            all.contains(&(1, 7, Metric::DirectWait, 4)) && all.contains(&(2, 7, Metric::TerminalWait, 6))
        );
        assert_eq!(blames, [(Blame { waiting: 7, location: 0, cause: Cause::Computation(7) }, 10)]);
    }

    /// The first sends 4 late to the second, which sends on to the third.
    #[test]
    fn a_wait_that_makes_another_wait_hands_its_cost_on() {
        let tracks = vec![track(&[(1, 4, 4)]), track(&[(2, 0, 4), (3, 4, 4)]), track(&[(4, 0, 4)])];
        let epoch = epoch(tracks, &[((1, 1), (0, 1), 4), ((2, 1), (1, 2), 4)]);
        assert_eq!(costs(&epoch), [(0, 1, Metric::ShortTerm, 4), (0, 1, Metric::LongTerm, 4)]);
        let (all, blames) = shared_out(&epoch);
        let waits: Vec<_> =
            all.into_iter().filter(|(_, _, metric, _)| !metric.is_within(Metric::DelayCost)).collect();
        assert_eq!(
            waits,
            [
                (1, 2, Metric::DirectWait, 4),
                (1, 2, Metric::PropagatingWait, 4),
                (2, 4, Metric::IndirectWait, 4),
                (2, 4, Metric::TerminalWait, 4),
            ]
        );
        assert!(blames.contains(&(Blame { waiting: 4, location: 1, cause: Cause::Waiting(2) }, 4)));
    }

    #[test]
    fn call_paths_share_a_wait_by_what_each_did_more() {
        let late = track(&[(1, 6, 6), (2, 10, 10)]);
        let waits = track(&[(1, 3, 3), (2, 4, 10)]);
        let epoch = epoch(vec![late, waits], &[((1, 2), (0, 2), 6)]);
        assert_eq!(costs(&epoch), [(0, 1, Metric::ShortTerm, 3), (0, 2, Metric::ShortTerm, 3)]);
    }

    #[test]
    fn time_in_mpi_can_be_to_blame_and_is_where_nothing_else_is() {
        let slow_call =
            epoch(vec![track(&[(1, 0, 5), (2, 5, 6)]), track(&[(2, 0, 6)])], &[((1, 1), (0, 2), 5)]);
        assert_eq!(costs(&slow_call), [(0, 2, Metric::ShortTermCommunication, 5)]);
        let nothing = epoch(vec![track(&[(1, 0, 6)]), track(&[(2, 0, 6)])], &[((1, 1), (0, 1), 5)]);
        assert_eq!(costs(&nothing), [(0, 1, Metric::ShortTermCommunication, 5)]);
    }

    #[test]
    fn what_both_waited_for_is_nobodys_delay() {
        // Both wait 10 for the third; then the first computes 4 more.
        let tracks = vec![
            track(&[(1, 0, 10), (2, 14, 14)]),
            track(&[(1, 0, 10), (2, 10, 14)]),
            track(&[(1, 10, 10), (1, 10, 10)]),
        ];
        let epoch = epoch(tracks, &[((0, 1), (2, 1), 10), ((1, 1), (2, 2), 10), ((1, 2), (0, 2), 4)]);
        assert_eq!(costs(&epoch), [(0, 2, Metric::ShortTerm, 4), (2, 1, Metric::ShortTerm, 20)]);
    }
}
