//! What the length of a run hung on.

use super::epoch::{Epoch, Indexed, Place};
use super::{Metric, Paths, Severities};

/// Where on the critical path somebody stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// At the end of a call.
    Leave(Place),
    /// At its beginning.
    Enter(Place),
}

/// Follows the critical path back from where it ends, and counts what lies on it: a call that waited hung on the one it waited
/// for, everything else on what the same location did before. Waiting is never on it. With clocks that agree, its length is the
/// time from its beginning to its end, without a gap.
pub(super) fn follow(indexed: &Indexed<'_>, end: Stand, paths: &impl Paths, times: &mut Severities) {
    let mut stand = end;
    loop {
        stand = match stand {
            Stand::Leave(at) => {
                let step = indexed.epoch.step(at);
                let in_mpi = (step.leave - step.enter).saturating_sub(step.wait);
                times.add(at.location, step.path, Metric::CriticalMpi, in_mpi);
                match indexed.wait_at(at) {
                    // The wait at the first step was for what the epoch before ended with.
                    _ if at.step == 0 => return,
                    Some(wait) => Stand::Enter(wait.cause),
                    None => Stand::Enter(at),
                }
            }
            Stand::Enter(at) if at.step == 0 => return,
            Stand::Enter(at) => {
                indexed.epoch.computation(at, paths, &mut |path, ns| {
                    times.add(at.location, path, Metric::CriticalComputation, ns);
                });
                Stand::Leave(Place { step: at.step - 1, ..at })
            }
        };
    }
}

/// The end of the last location to finish, the lowest of several.
pub(super) fn last(epoch: &Epoch) -> Option<Stand> {
    let ends = epoch.tracks.iter().zip(0..).filter_map(|(steps, location)| {
        let last = steps.last()?;
        Some((last.leave, std::cmp::Reverse(location), steps.len() as u32 - 1))
    });
    ends.max().map(|(_, location, step)| Stand::Leave(Place { location: location.0, step }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::SamePaths;
    use crate::waits::epoch::tests::{epoch, track};

    #[test]
    fn the_path_goes_to_whoever_was_waited_for() {
        // The second computes 3, waits for the first until 10, is 2 more in the call, and computes 5.
        let tracks = vec![track(&[(1, 10, 11)]), track(&[(2, 3, 12), (3, 17, 18)])];
        let epoch = epoch(tracks, &[((1, 1), (0, 1), 7)]);
        let mut times = Severities::default();
        let end = last(&epoch).unwrap();
        follow(&Indexed::new(&epoch), end, &SamePaths, &mut times);
        assert_eq!(
            times.sorted(),
            [
                (0, 1, Metric::CriticalComputation, 10),
                (1, 2, Metric::CriticalMpi, 2),
                (1, 3, Metric::CriticalComputation, 5),
                (1, 3, Metric::CriticalMpi, 1),
            ]
        );
        assert_eq!(times.total(Metric::CriticalPath), 18);
    }

    #[test]
    fn of_several_that_end_last_it_is_the_first() {
        let epoch = epoch(vec![track(&[(1, 1, 2)]), track(&[(1, 1, 5)]), track(&[(1, 1, 5)])], &[]);
        assert_eq!(last(&epoch), Some(Stand::Leave(Place { location: 1, step: 1 })));
    }
}
